"""The documentation says what the program does, and names nothing else."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from memoryd.cli import topics
from memoryd.cli.commands import memoryctl
from memoryd.cli.service import memoryd
from memoryd.daemon.connection import Limits
from memoryd.protocol import ErrorCode, MethodName
from memoryd.settings import KEYS
from rich.console import Console
from rich.markdown import Markdown

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


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


def test_every_setting_is_described_with_its_default() -> None:
    rows = re.findall(r"^\| `([a-z._]+)` \| (.+?) \|", topics.page("settings"), re.MULTILINE)
    assert {name: default.strip('`"') for name, default in rows} == {
        key.name: (
            str(key.default).lower()
            if isinstance(key.default, bool)
            else f"{key.default:g}"
            if isinstance(key.default, float)
            else str(list(key.default))
            if isinstance(key.default, tuple)
            else str(key.default)
        )
        for key in KEYS.values()
    }


def test_variables_of_settings_are_named_by_the_rule_of_the_page() -> None:
    assert "`MEMORYD_` and its name in capitals, with `_` for the point" in topics.page("settings")
    for key in KEYS.values():
        assert key.variable == "MEMORYD_" + key.name.upper().replace(".", "_")


def test_every_command_and_no_other_is_described() -> None:
    rows = re.findall(
        r"^\| `(memoryctl [a-z ]+?)(?: [A-Z|\\]+)?` \|", topics.page("commands"), re.MULTILINE
    )
    assert sorted(rows) == sorted(commands(memoryctl, "memoryctl"))


def test_the_readme_lists_every_topic_and_no_other() -> None:
    listed = README.partition("`memoryctl help TOPIC` explains:")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"`(\w+)`", listed)) == sorted(topics.topics())


def test_titles_say_more_than_the_name_of_the_topic() -> None:
    assert all(len(title.split()) > 1 for title in topics.topics().values())


@pytest.mark.parametrize("page", ["README", *topics.topics()])
def test_named_commands_scripts_and_topics_exist(page: str) -> None:
    text = README if page == "README" else topics.page(page)
    for program, first, second in re.findall(
        r"(?:^ +|`|\$ )(memoryctl|memoryd) ([a-z]+)(?: ([a-z]+))?", text, re.MULTILINE
    ):
        group = memoryctl if program == "memoryctl" else memoryd
        assert first in group.commands, (program, first)
        if first == "jobs":
            assert second in memoryctl.commands["jobs"].commands  # type: ignore[attr-defined]
        if first == "help" and second:
            assert second in topics.topics()
    for script in re.findall(r"scripts/([a-z-]+)", text):
        assert (ROOT / "scripts" / script).exists(), script


@pytest.mark.parametrize("page", topics.topics())
def test_a_terminal_of_80_columns_shows_all_of_a_page(page: str) -> None:
    shown = io.StringIO()
    Console(file=shown, width=80).print(Markdown(topics.page(page)))
    assert shown.getvalue().count("…") == topics.page(page).count("…")
