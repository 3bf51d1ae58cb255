"""``memoryctl summary``: what a session is about."""

from __future__ import annotations

from typing import Any

import click

from memoryd.cli.output import line, print_json
from memoryd.cli.places import IGNORED, asking, project_params
from memoryd.cli.shared import Command, json_option, project_option
from memoryd.client import Client
from memoryd.text import for_terminal

_TIMEOUT_S = 120.0


@click.command(cls=Command)
@click.argument("session", required=False)
@project_option
@json_option
def summary(session: str | None, project: str | None, *, as_json: bool) -> int:
    """Show the summary of SESSION, brought up to date.

    SESSION is an id, or as much of its beginning as tells it from others; without it, the newest
    session of the project is meant.

    Examples:
      memoryctl summary
      memoryctl summary 0b5c1f9e
      memoryctl summary --project ~/src/shop --json | jq -r .sections.task
    """
    params: dict[str, Any] = {}
    if session is None or project is not None:
        params = project_params(project)
    asker = asking()
    if asker is not None:
        params["asking"] = asker
    with Client(timeout=_TIMEOUT_S) as client:
        answer = client.summary(session, **params)
    if as_json:
        print_json({name: value for name, value in answer.items() if name != "context"})
        return 0
    if answer.get("ignored"):
        print(IGNORED)
        return 0
    told = f"session {answer['session']}, updated {answer['updated']}, {answer['tokens']:,} tokens"
    print(f"{line(told, 400)}\n")
    print(for_terminal(answer["text"]).strip())
    return 0
