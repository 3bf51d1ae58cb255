"""``memoryctl jobs``: the work that the service does by itself."""

from __future__ import annotations

import json
from typing import Any

import click

from memoryd.cli.output import line, print_json
from memoryd.cli.places import project_params
from memoryd.cli.shared import (
    Group,
    filter_option,
    id_argument,
    json_option,
    limit_option,
    unasked_option,
)
from memoryd.cli.tables import print_table
from memoryd.client import Client
from memoryd.protocol import MethodName

_LINE = 2000
_STATES = ("queued", "running", "done", "dead", "cancelled")


@click.group(cls=Group)
def jobs() -> None:
    """See and direct the work that the service does by itself."""


@jobs.command("list")
@click.option("--state", type=click.Choice(_STATES), help="Only jobs in this state.")
@filter_option
@limit_option(50)
@json_option
def list_jobs(state: str | None, project: str | None, limit: int, *, as_json: bool) -> int:
    """List jobs, the latest first.

    Examples:
      memoryctl jobs list
      memoryctl jobs list --state dead --json | jq -r '.[].error'
    """
    params = {"limit": limit, **project_params(project, everywhere=True)}
    if state is not None:
        params["state"] = state
    with Client() as client:
        answer = client.call(MethodName.JOBS_LIST, params)
    if as_json:
        print_json(answer)
        return 0
    rows = [
        (
            job["id"],
            job["kind"],
            job["state"],
            job["attempt"],
            job["run_at"],
            job["project"] or "-",
            job["error"],
        )
        for job in answer
    ]
    print_table(("ID", "KIND", "STATE", "TRY", "DUE", "PROJECT", "ERROR"), rows, "no jobs")
    return 0


@jobs.command("show")
@id_argument
@json_option
def show_job(id_: int, *, as_json: bool) -> int:
    """Show everything about the job ID.

    Examples:
      memoryctl jobs show 12
    """
    answer = _ask(MethodName.JOBS_SHOW, id_)
    if as_json:
        print_json(answer)
    else:
        for name, value in answer.items():
            print(f"{line(name, 40):<16} {line(_plain(value), _LINE)}")
    return 0


@jobs.command()
@id_argument
@json_option
def why(id_: int, *, as_json: bool) -> int:
    """Explain why the job ID is not running now.

    Examples:
      memoryctl jobs why 12
    """
    answer = _ask(MethodName.JOBS_WHY, id_)
    if as_json:
        print_json(answer)
    else:
        print(line(answer["why"], _LINE))
    return 0


@jobs.command()
@id_argument
@unasked_option
def retry(id_: int, **_: Any) -> int:
    """Queue the dead or cancelled job ID again.

    Examples:
      memoryctl jobs retry 12
    """
    _print_change(_ask(MethodName.JOBS_RETRY, id_))
    return 0


@jobs.command()
@id_argument
@unasked_option
def cancel(id_: int, **_: Any) -> int:
    """Cancel the job ID; one that runs ends at its next step.

    Examples:
      memoryctl jobs cancel 12
    """
    _print_change(_ask(MethodName.JOBS_CANCEL, id_))
    return 0


def _plain(value: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _print_change(answer: dict[str, Any]) -> None:
    unchanged = "" if answer["changed"] else "nothing changed: "
    print(f"{unchanged}job {answer['id']} is {line(answer['state'], 20)}")


def _ask(method: MethodName, id_: int) -> dict[str, Any]:
    with Client() as client:
        answer: dict[str, Any] = client.call(method, {"id": id_})
        return answer
