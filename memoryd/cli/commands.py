"""Every command of ``memoryctl``, for click. What they share stands in ``cli.options``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from memoryd import __version__
from memoryd.cli import quick, topics
from memoryd.cli import recall as recalling
from memoryd.cli import status as statuses
from memoryd.cli.doctor import doctor
from memoryd.cli.install import install, uninstall
from memoryd.cli.instructions import context, trust
from memoryd.cli.jobs import jobs
from memoryd.cli.mcp import mcp
from memoryd.cli.memories import forget, list_, log, remember, show, undo
from memoryd.cli.operations import config, metrics, pause, resume
from memoryd.cli.sessions import projects, search, sessions
from memoryd.cli.shared import (
    HELP,
    Group,
    Seconds,
    all_projects_option,
    json_option,
    limit_option,
    project_option,
    words_argument,
)
from memoryd.cli.summary import summary
from memoryd.cli.tables import print_table


@click.group(cls=Group, context_settings=HELP)
@click.version_option(__version__, prog_name="memoryctl")
def memoryctl() -> None:
    """Ask and direct memoryd, the long-term memory of your terminal agents.

    Exit codes: 0 done (also: nothing found), 1 failed, 2 wrong usage, 3 the service does not run.
    """


@memoryctl.command()
@words_argument("query")
@project_option
@all_projects_option
@limit_option(None, most=quick.MAX_LIMIT)
@click.option("--offline", is_flag=True, help="Choose without a model.")
@json_option
def recall(**keywords: Any) -> int:
    """Show the memories that help with QUERY.

    Examples:
      memoryctl recall which database do we use
      memoryctl recall --project ~/src/shop --limit 3 "deploy steps"
      memoryctl recall --json "test command" | jq -r '.memories[].name'
    """
    return recalling.recall(**keywords)


@memoryctl.command()
@json_option
def status(**keywords: Any) -> int:
    """Show what the service does and knows, and what is wrong.

    Examples:
      memoryctl status
      memoryctl status --json | jq .ingest.lag_bytes
    """
    return statuses.status(**keywords)


@memoryctl.command(short_help="Wait until everything written so far is handled.")
@click.option(
    "--timeout",
    type=Seconds(0, quick.MAX_TIMEOUT_S),
    metavar="S",
    default=60,
    show_default=True,
    help="Give up after S seconds.",
)
def wait(**keywords: Any) -> int:
    """Wait until everything written so far is read, indexed and learned from.

    Debounced work is done at once. Exits 1 at the timeout.

    Examples:
      memoryctl wait --timeout 30 && memoryctl list
    """
    return statuses.wait(**keywords)


for _command in (
    remember,
    forget,
    list_,
    show,
    log,
    undo,
    search,
    sessions,
    summary,
    projects,
    context,
    trust,
    jobs,
    pause,
    resume,
    metrics,
    config,
    doctor,
    install,
    uninstall,
    mcp,
):
    memoryctl.add_command(_command)


@memoryctl.command("help")
@click.argument("topic", required=False)
def help_(topic: str | None) -> int:
    """Show the documentation of a TOPIC, or the list of topics.

    Examples:
      memoryctl help
      memoryctl help protocol
    """
    if topic is None:
        print_table(("TOPIC", "ABOUT"), list(topics.topics().items()), "no documentation found")
        print("\nmemoryctl help TOPIC shows one; memoryctl --help lists the commands.")
    else:
        topics.show(topics.page(topic))
    return 0


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; usage errors are printed here."""
    try:
        code = memoryctl.main(list(arguments), prog_name="memoryctl", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("stopped, nothing changed", err=True)
        return 1
    return code if isinstance(code, int) else 0
