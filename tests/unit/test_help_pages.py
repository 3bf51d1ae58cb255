"""The documentation says what the program does, and names nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
from memoryd.cli import topics
from memoryd.cli.commands import memoryctl
from memoryd.daemon.connection import Limits
from memoryd.protocol import ErrorCode, MethodName
from memoryd.settings import KEYS


def commands(group: click.Group, prefix: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}"


def test_every_method_and_no_other_is_described() -> None:
    headings = re.findall(r"^### (.+)$", topics.page("protocol"), re.MULTILINE)
    assert {name for heading in headings for name in heading.split(", ")} == set(MethodName)


def test_every_error_code_is_described() -> None:
    found = re.findall(r"^\| (-\d+) \|", topics.page("protocol"), re.MULTILINE)
    assert sorted(map(int, found)) == sorted(ErrorCode)


def test_limits_are_those_of_the_server() -> None:
    limits = Limits()
    page = topics.page("protocol")
    for row in (
        f"| a request line | {limits.request_bytes >> 20} MiB |",
        f"to its newline | {limits.request_s:g} s |",
        f"does not read its answer | {limits.idle_s:g} s |",
        f"| connections | {limits.connections} |",
        f"| requests handled at once | {limits.threads} |",
        f"| requests of `wait` at once | {limits.waiters} |",
    ):
        assert row in page


def test_every_setting_is_described_with_its_default_and_variable() -> None:
    rows = re.findall(
        r"^\| `([a-z._]+)` \| (.+?) \|.*\| `(MEMORYD_\w+)` \|$",
        topics.page("settings"),
        re.MULTILINE,
    )
    assert {name: (default.strip('`"'), variable) for name, default, variable in rows} == {
        key.name: (
            str(key.default).lower()
            if isinstance(key.default, bool)
            else f"{key.default:g}"
            if isinstance(key.default, float)
            else str(key.default),
            key.variable,
        )
        for key in KEYS.values()
    }


def test_every_command_and_no_other_is_described() -> None:
    rows = re.findall(
        r"^\| `(memoryctl [a-z ]+?)(?: [A-Z|\\]+)?` \|", topics.page("commands"), re.MULTILINE
    )
    assert sorted(rows) == sorted(commands(memoryctl, "memoryctl"))
