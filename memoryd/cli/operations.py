"""``memoryctl pause``, ``resume``, ``metrics`` and ``config``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from memoryd import settings as configuration
from memoryd.cli.output import line, print_json
from memoryd.cli.places import project_params
from memoryd.cli.shared import Command, json_option, unasked_option
from memoryd.cli.tables import print_table
from memoryd.client import Client
from memoryd.errors import NotFound
from memoryd.paths import Paths
from memoryd.protocol import MethodName

_LINE = 1000

paused_option = click.option(
    "--project", metavar="DIR", help="Only this project (default: everything)."
)


@click.command(cls=Command, short_help="Stop reading, indexing and learning for a while.")
@paused_option
@unasked_option
@json_option
def pause(project: str | None, *, as_json: bool, **_: Any) -> int:
    """Stop reading, indexing and learning, of everything or of one project, until resumed.

    What is written meanwhile counts as handled. The pause outlives restarts of the service.

    Examples:
      memoryctl pause
      memoryctl pause --project ~/src/client
    """
    return _change(MethodName.PAUSE, project, as_json=as_json)


@click.command(cls=Command, short_help="End a pause.")
@paused_option
@unasked_option
@json_option
def resume(project: str | None, *, as_json: bool, **_: Any) -> int:
    """Take in again what is written from now on; without --project every pause ends.

    What was written during the pause is not read.

    Examples:
      memoryctl resume
      memoryctl resume --project ~/src/client
    """
    return _change(MethodName.RESUME, project, as_json=as_json)


def _change(method: MethodName, project: str | None, *, as_json: bool) -> int:
    with Client() as client:
        answer = client.call(method, project_params(project, everywhere=True))
    if as_json:
        print_json(answer)
        return 0
    if not answer["changed"]:
        print("nothing changed")
    for one in answer["paused"]:
        what = one["project"] or "everything"
        print(line(f"paused: {what}, since {one['since']}", _LINE))
    if not answer["paused"]:
        ended = method == MethodName.RESUME and answer["changed"]
        print("nothing is paused any more" if ended else "nothing is paused")
    return 0


@click.command(cls=Command, short_help="Print the service's numbers for a monitoring system.")
def metrics() -> int:
    """Print the service's numbers in the OpenMetrics format; no name or text of yours is in them.

    Examples:
      memoryctl metrics
      memoryctl metrics > /var/lib/node_exporter/memoryd.prom
    """
    with Client() as client:
        print(client.call(MethodName.METRICS)["text"], end="")
    return 0


@click.command(cls=Command, short_help="Show settings and where each value comes from.")
@click.argument("key", required=False)
@click.option("--project", metavar="DIR", help="As they are for this project.")
@click.option("--path", "show_path", is_flag=True, help="Print the path of your settings file.")
@json_option
def config(key: str | None, project: str | None, *, show_path: bool, as_json: bool) -> int:
    """Show the setting KEY, or all of them, each with its origin; works without the service.

    A running service may still use older values: memoryd reload.

    Examples:
      memoryctl config
      memoryctl config recall.max_memories --project ~/src/shop
      ${EDITOR:-vi} "$(memoryctl config --path)"
    """
    paths = Paths.from_environment(os.environ)
    if show_path:
        print(paths.settings)
        return 0
    found = configuration.read(paths.settings, os.environ, home=paths.home)
    if project is not None:
        found = found.for_project(Path(project_params(project)["project"]))
    values = found.values()
    if key is not None and key not in values:
        raise NotFound(f"there is no setting {key!r}", hint="memoryctl config lists them")
    shown = {
        name: {
            "value": _shown(name, value),
            "origin": found.origins[name],
            "locked": name in found.locked,
        }
        for name, value in values.items()
        if key in (None, name)
    }
    if as_json:
        print_json(shown)
    elif key is not None:
        print(line(f"{_plain(shown[key]['value'])} ({_origin(shown[key])})", _LINE))
    else:
        rows = [(name, _plain(one["value"]), _origin(one)) for name, one in shown.items()]
        print_table(("KEY", "VALUE", "ORIGIN"), rows, "no settings")
    return 0


def _shown(name: str, value: Any) -> Any:
    """Return a value as JSON knows it, without the password of a URL."""
    if name == "database_url" and "@" in value:
        scheme, _, rest = value.partition("://")
        access, _, place = rest.rpartition("@")
        user = access.partition(":")[0]
        return f"{scheme}://{user}{':***' if ':' in access else ''}@{place}"
    return list(value) if isinstance(value, tuple) else value


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(value) or "-"
    return f"{value:g}" if isinstance(value, float) else str(value) or "-"


def _origin(one: dict[str, Any]) -> str:
    return str(one["origin"]) + (", locked" if one["locked"] else "")
