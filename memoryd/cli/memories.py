"""The commands about memories: remember, forget, list, show, log, undo."""

from __future__ import annotations

import os
from typing import Any

import click

from memoryd.cli.output import age, line, print_json
from memoryd.cli.places import is_directory, project_params
from memoryd.cli.shared import (
    Command,
    all_projects_option,
    confirm,
    id_argument,
    json_option,
    limit_option,
    project_option,
    unasked_option,
    words_argument,
    yes_option,
)
from memoryd.cli.tables import print_table
from memoryd.client import Client
from memoryd.extraction.operations import MemoryType
from memoryd.protocol import MethodName
from memoryd.text import for_terminal

_LINE = 160
_VERBS = {"create": "created", "update": "updated", "delete": "removed"}


@click.command(cls=Command)
@words_argument("text")
@click.option(
    "--type",
    "type_",
    type=click.Choice([kind.value for kind in MemoryType]),
    help="Its kind (default: memoryd decides; see: memoryctl help memory).",
)
@project_option
@unasked_option
def remember(text: str, type_: str | None, project: str | None, **_: Any) -> int:
    """Keep TEXT as a memory of the project.

    Examples:
      memoryctl remember We deploy on Tuesdays, never on Fridays
      memoryctl remember --project ~/src/shop "Staging listens on port 6544"
      memoryctl remember --type feedback "Use pytest, not unittest"
    """
    if project is not None and not is_directory(project):
        raise click.BadParameter(f"there is no directory {project!r}", param_hint="'--project'")
    params = {**project_params(project), **_speaker()}
    if type_ is not None:
        params["type"] = type_
    with Client() as client:
        answer = client.remember(text, **params)
    _print_changes(answer)
    return 0


@click.command(cls=Command)
@words_argument("query")
@project_option
@unasked_option
def forget(query: str, project: str | None, **_: Any) -> int:
    """Remove the one memory that QUERY names or clearly means.

    When several fit, they are listed, nothing is removed, and the exit code is 1.

    Examples:
      memoryctl forget deploy-tuesdays-fridays
      memoryctl forget "the staging server"
    """
    with Client() as client:
        answer = client.forget(query, **project_params(project), **_speaker())
    if not answer["changed"] and not answer["matches"]:
        print(f"{line(answer['reason'], _LINE)}; memoryctl list shows what there is")
        return 0
    if not answer["changed"]:
        click.echo("several memories fit; name one of them:", err=True)
        rows = [(match["name"], match["description"]) for match in answer["matches"]]
        print_table(("NAME", "DESCRIPTION"), rows, "")
        return 1
    _print_changes(answer)
    return 0


@click.command("list", cls=Command)
@project_option
@all_projects_option
@json_option
def list_(project: str | None, *, all_projects: bool, as_json: bool) -> int:
    """List the memories of the project.

    Examples:
      memoryctl list
      memoryctl list --all-projects --json | jq length
    """
    params = project_params(project, all_projects=all_projects)
    with Client() as client:
        answer = client.call(MethodName.LIST, params)
    if as_json:
        print_json(answer)
        return 0
    headings = ["NAME", "TYPE", "AGE", "MARKS", "DESCRIPTION"]
    rows = [
        [
            memory["name"],
            memory["type"] or "-",
            age(memory["age_days"]),
            " ".join(memory["marks"]),
            memory["description"],
        ]
        for memory in answer
    ]
    if all_projects:
        headings.insert(4, "PROJECT")
        for row, memory in zip(rows, answer, strict=True):
            row.insert(4, memory["project"])
    print_table(headings, rows, f"no memories yet{_place(params)}")
    return 0


@click.command(cls=Command)
@click.argument("name")
@click.option("--why", is_flag=True, help="Also what it stands on: session, sentence, date.")
@project_option
@json_option
def show(name: str, project: str | None, *, why: bool, as_json: bool) -> int:
    """Show the memory NAME.

    Examples:
      memoryctl show deploy-tuesdays-fridays
      memoryctl show deploy-tuesdays-fridays --why
    """
    with Client() as client:
        answer = client.call(MethodName.SHOW, {"name": name, "why": why, **project_params(project)})
    if as_json:
        print_json(answer)
        return 0
    facts = [answer["type"] or "untyped", age(answer["age_days"]), *answer["marks"]]
    print(f"{line(answer['name'], 80)}  ({line(', '.join(facts), _LINE)})")
    print(line(answer["path"], 400))
    print()
    print(for_terminal(answer["text"]).strip())
    if why:
        print()
        rows = [
            (item["at"], item["source"], item["session"], item["sentence"])
            for item in answer["why"]
        ]
        print_table(("WHEN", "WHO", "SESSION", "SENTENCE"), rows, "its origin is not known")
    return 0


@click.command(cls=Command)
@project_option
@all_projects_option
@limit_option(20, most=1000)
@json_option
def log(project: str | None, limit: int, *, all_projects: bool, as_json: bool) -> int:
    """List the changes of memories, newest first.

    Examples:
      memoryctl log
      memoryctl log --all-projects --limit 100
    """
    params = {"limit": limit, **project_params(project, all_projects=all_projects)}
    with Client() as client:
        answer = client.call(MethodName.LOG, params)
    if as_json:
        print_json(answer)
        return 0
    rows = [
        (
            entry["id"],
            entry["at"],
            entry["actor"],
            entry["action"] if entry["state"] == "done" else f"{entry['action']} {entry['state']}",
            entry["name"],
            entry["reason"],
        )
        for entry in answer
    ]
    print_table(
        ("ID", "WHEN", "BY", "CHANGE", "NAME", "REASON"),
        rows,
        f"nothing changed yet{_place(params)}",
    )
    return 0


@click.command(cls=Command)
@id_argument
@yes_option
def undo(id_: int, *, yes: bool) -> int:
    """Take back the change ID (see: memoryctl log).

    The memory becomes what it was before that change, unless it was changed again since.

    Examples:
      memoryctl undo 17
      memoryctl undo 17 --yes
    """
    confirm(f"take back change {id_}?", yes=yes)
    with Client() as client:
        answer = client.call(MethodName.UNDO, {"id": id_})
    _print_changes(answer)
    return 0


def _speaker() -> dict[str, str]:
    """Return the parameter that says who asks, where it is not a person at a keyboard.

    What the client runs, its model has written: without this, a model could put its own words
    into a person's mouth by way of a shell.
    """
    return {"by": "assistant"} if os.environ.get("CLAUDECODE") else {}


def _place(params: dict[str, Any]) -> str:
    """Return which project was looked at; a mistyped one shows here."""
    place = params.get("project") or params.get("cwd")
    return "" if place is None else f" in the project of {line(place, 400)}"


def _print_changes(answer: dict[str, Any]) -> None:
    for change in answer["changed"]:
        verb = _VERBS.get(change["action"]) or line(change["action"], 20)
        print(f"{verb} {line(change['name'], 80)}  (change {change['journal_id']})")
    if not answer["changed"]:
        print(line(answer.get("reason") or "nothing changed", _LINE))
    for warning in answer.get("warnings", ()):
        click.echo(f"memoryctl: {line(warning, _LINE)}", err=True)
