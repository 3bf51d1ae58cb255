"""The commands about what was said and where: search, sessions, projects."""

from __future__ import annotations

import click

from memoryd.cli.output import line, print_json
from memoryd.cli.places import IGNORED, asking, project_params
from memoryd.cli.shared import Command, filter_option, json_option, limit_option, words_argument
from memoryd.cli.tables import print_table
from memoryd.client import Client
from memoryd.protocol import MethodName

_SNIPPET = 400


@click.command(cls=Command)
@words_argument("query")
@limit_option(20)
@filter_option
@json_option
def search(query: str, limit: int, project: str | None, *, as_json: bool) -> int:
    """Search what was said in all sessions.

    Examples:
      memoryctl search connection pool timeout
      memoryctl search --project . --limit 5 "flaky test"
    """
    params = {"limit": limit, **project_params(project, everywhere=True)}
    session = asking()
    if session is not None:
        params["session"] = session
    with Client() as client:
        answer = client.search(query, **params)
    if as_json:
        print_json({name: value for name, value in answer.items() if name != "text"})
        return 0
    for hit in answer["hits"]:
        at = line(hit["timestamp"] or "-", 40)
        print(f"{at}  {line(hit['role'], 20)}  {line(hit['session'], 80)}")
        print(f"  {line(hit['project'] or '-', _SNIPPET)}")
        print(f"  {line(hit['snippet'], _SNIPPET)}")
    if not answer["hits"]:
        print(IGNORED if answer.get("ignored") else "nothing found")
    return 0


@click.command(cls=Command)
@filter_option
@json_option
def sessions(project: str | None, *, as_json: bool) -> int:
    """List the sessions, the latest first.

    Examples:
      memoryctl sessions
      memoryctl sessions --project . --json | jq '.[0].session'
    """
    with Client() as client:
        answer = client.call(MethodName.SESSIONS, project_params(project, everywhere=True))
    if as_json:
        print_json(answer)
        return 0
    rows = [
        (
            session["session"],
            session["last"],
            session["turns"],
            f"{session['context_tokens']:,}",
            "live" if session["live"] else session["state"],
            session["project"],
            session["title"],
        )
        for session in answer
    ]
    headings = ("SESSION", "LAST", "TURNS", "TOKENS", "STATE", "PROJECT", "TITLE")
    print_table(headings, rows, "no sessions yet")
    return 0


@click.command(cls=Command)
@json_option
def projects(*, as_json: bool) -> int:
    """List the projects.

    Examples:
      memoryctl projects
    """
    with Client() as client:
        answer = client.call(MethodName.PROJECTS)
    if as_json:
        print_json(answer)
        return 0
    rows = [
        (project["memories"], project["sessions"], project["last"], project["project"])
        for project in answer
    ]
    print_table(("MEMORIES", "SESSIONS", "LAST", "PROJECT"), rows, "no projects yet")
    return 0
