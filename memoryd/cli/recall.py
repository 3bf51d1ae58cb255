"""``memoryctl recall``: what is known that helps."""

from __future__ import annotations

import json

from memoryd.cli.output import age, line, print_json
from memoryd.cli.places import IGNORED, asking, project_params
from memoryd.client import Client
from memoryd.text import for_terminal

# What only annotations need is not imported: ``typing`` alone would cost a cold client 4 ms.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LINE = 160


def recall(
    *,
    query: str,
    project: str | None = None,
    all_projects: bool = False,
    limit: int | None = None,
    offline: bool = False,
    as_json: bool = False,
) -> int:
    """Ask and print; returns the exit code."""
    params = project_params(project, all_projects=all_projects)
    if limit is not None:
        params["limit"] = limit
    if offline:
        params["selector"] = "offline"
    session = asking()
    if session is not None:
        params |= {"session": session, "repeat": True}
    with Client() as client:
        answer = client.recall(query, **params)
    if as_json:
        print_json({name: value for name, value in answer.items() if name != "text"})
    else:
        print(render(answer))
    return 0


def render(answer: dict[str, Any]) -> str:
    """Return the memories of an answer for a person."""
    if answer.get("ignored"):
        return IGNORED
    if not answer["memories"]:
        return "nothing known that helps with that"
    return "\n\n".join(
        "\n".join(_memory(number, memory)) for number, memory in enumerate(answer["memories"], 1)
    )


def _memory(number: int, memory: dict[str, Any]) -> list[str]:
    facts = [str(memory["type"] or "untyped"), age(memory["age_days"]), *memory["marks"]]
    lines = [
        f"{number}. {line(memory['name'], 80)}  ({line(', '.join(facts), _LINE)})",
        f"   {line(memory['description'], _LINE)}",
    ]
    lines += [f"   | {row}".rstrip() for row in for_terminal(memory["text"]).splitlines()]
    lines += [f"   ! no longer holds: {_claim(claim)}" for claim in memory["stale"]]
    lines.append(f"   {line(memory['path'], 400)}")
    return lines


def _claim(claim: Any) -> str:
    text = claim if isinstance(claim, str) else json.dumps(claim, ensure_ascii=False)
    return line(text, _LINE)
