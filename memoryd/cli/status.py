"""``memoryctl status`` and ``memoryctl wait``."""

from __future__ import annotations

import sys

from memoryd.cli.output import counted, duration, line, print_json, size
from memoryd.client import Client

# What only annotations need is not imported: ``typing`` alone would cost a cold client 4 ms.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

_LINE = 160
_WARNINGS = 8


def status(*, as_json: bool = False) -> int:
    """Ask and print; returns the exit code."""
    with Client() as client:
        answer = client.status()
    if as_json:
        print_json(answer)
    else:
        print(render(answer))
    return 0


def wait(*, timeout: float = 60.0) -> int:
    """Wait for the service to be done; returns 1 at the timeout."""
    with Client() as client:
        if client.wait(timeout):
            return 0
    print(f"memoryctl: not done within {timeout:g} s", file=sys.stderr)
    return 1


def render(answer: dict[str, Any]) -> str:
    """Return a status for a person; it fits a screen."""
    jobs, ingest = answer["jobs"], answer["ingest"]
    rows = [
        ("memoryd", f"{answer['version']}, pid {answer['pid']}, up {duration(answer['uptime_s'])}"),
        ("provider", str(answer["provider"])),
        ("socket", str(answer["socket"])),
        ("knows", _knows(answer)),
        ("jobs", _counts(jobs, jobs)),
        ("read", f"{size(ingest['bytes'])}, {_counts(ingest, ('records', 'skipped', 'oversize'))}"),
        ("to read", f"{size(ingest['lag_bytes'])}, unfinished {size(ingest['pending_bytes'])}"),
        ("to index", f"{ingest['index_lag']:,}"),
    ]
    rows += [("budget", _budget(answer["budget"]))] if answer.get("budget") else []
    rows += [("paused", _pause(pause)) for pause in answer.get("paused", ())[:_WARNINGS]]
    if answer.get("exclude"):
        rows.append(("excluded", ", ".join(answer["exclude"])))
    warnings = answer["warnings"]
    rows += [("warning", str(warning)) for warning in warnings[:_WARNINGS]]
    if len(warnings) > _WARNINGS:
        rows.append(("", f"and {len(warnings) - _WARNINGS} more: memoryctl status --json"))
    return "\n".join(f"{name:<9} {line(text, _LINE)}" for name, text in rows)


def _counts(values: Mapping[str, int], names: Iterable[str]) -> str:
    return ", ".join(f"{values[name]:,} {name}" for name in names)


def _knows(answer: Mapping[str, int]) -> str:
    memories = "1 memory" if answer["memories"] == 1 else f"{answer['memories']:,} memories"
    others = (counted(answer[f"{noun}s"], noun) for noun in ("session", "project"))
    return ", ".join((memories, *others))


def _pause(pause: Mapping[str, Any]) -> str:
    return f"{pause['project'] or 'everything'} since {pause['since']}"


def _budget(budget: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in budget.items())
