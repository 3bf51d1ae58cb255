"""``memoryctl install`` and ``uninstall``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from memoryd import __version__
from memoryd.cli.completing import words
from memoryd.cli.output import line
from memoryd.cli.places import project_params
from memoryd.cli.shared import Command, confirm, yes_option
from memoryd.daemon import background
from memoryd.errors import MemorydError
from memoryd.install.completions import scripts
from memoryd.install.manager import Manager
from memoryd.install.plan import Plan, Scope
from memoryd.install.service import Background
from memoryd.install.step import Step, Steps
from memoryd.paths import Paths
from memoryd.projects import resolve
from memoryd.text import for_terminal

F = TypeVar("F", bound=Callable[..., Any])

_LINE = 1000


def _options(command: F) -> F:
    for option in (
        click.option("--dry-run", is_flag=True, help="Only show what would be done."),
        click.option("--no-service", is_flag=True, help="Leave the service out."),
        click.option("--project", metavar="DIR", help="The project of --scope project."),
        click.option(
            "--scope",
            type=click.Choice([scope.value for scope in Scope]),
            help="Tell the client for all your projects (user) or for one (project).",
        ),
        yes_option,
    ):
        command = option(command)
    return command


@click.command(cls=Command, short_help="Set up service, hooks, MCP server and completions.")
@_options
def install(
    *, yes: bool, scope: str | None, project: str | None, no_service: bool, dry_run: bool
) -> int:
    """Set up everything on this machine; shows what it will do and asks once.

    The service starts by itself, the client tells it what happens (hooks in its settings) and may
    ask it (MCP server), and your shells complete memoryctl. Nothing else in a file changes;
    memoryctl uninstall takes all of it back. The default scope is user.

    Examples:
      memoryctl install
      memoryctl install --dry-run
      memoryctl install --yes --no-service
      memoryctl install --scope project --project ~/src/shop
    """
    root = _root(scope, project)
    steps = _plan().install(root, service=not no_service)
    after = "done: the next session of the client has it; memoryctl doctor looks at all of it"
    return _carry_out(steps, "Install?", "all is installed", after, yes=yes, dry_run=dry_run)


@click.command(cls=Command, short_help="Take back what install did.")
@_options
def uninstall(
    *, yes: bool, scope: str | None, project: str | None, no_service: bool, dry_run: bool
) -> int:
    """Take back what install did; shows what it will do and asks. Memories and state stay.

    With --scope only what the client was told for it, and the rest when no other is left.

    Examples:
      memoryctl uninstall
      memoryctl uninstall --dry-run
      memoryctl uninstall --scope project --project ~/src/shop
    """
    root = _root(scope, project, gone=True)
    chosen = Scope(scope) if scope else None
    steps = _plan().uninstall(chosen, root, service=not no_service)
    after = "done: memories and state stay; see: memoryctl help install"
    return _carry_out(steps, "Uninstall?", "nothing is installed", after, yes=yes, dry_run=dry_run)


def _root(scope: str | None, project: str | None, *, gone: bool = False) -> str | None:
    """Return the root of the project that is meant, ``None`` for all projects."""
    if scope != Scope.PROJECT:
        if project is not None:
            raise click.UsageError("--project needs --scope project")
        return None
    place = str(next(iter(project_params(project).values())))
    found = resolve(place)
    if found is None:
        if not gone:
            raise MemorydError(f"{place} is no directory")
        return place
    return found.path


def _plan() -> Plan:
    # Not above: the commands import this module.
    from memoryd.cli.commands import memoryctl  # noqa: PLC0415 - as said

    paths = Paths.from_environment(os.environ)

    def start() -> None:
        background.start(background.PROGRAM, paths, os.environ)

    return Plan(
        paths,
        os.environ,
        Manager(os.environ),
        Background(
            running=lambda: background.find(paths) is not None,
            start=start,
            stop=lambda: (background.stop(paths), None)[1],
        ),
        scripts(words(memoryctl, "memoryctl"), __version__),
    )


def _carry_out(
    plan: Steps,
    question: str,
    nothing: str,
    after: str,
    *,
    yes: bool,
    dry_run: bool,
) -> int:
    steps, notes = plan.steps, list(dict.fromkeys(plan.notes))
    if not steps:
        print(nothing)
    for step in steps:
        print(f"- {line(step.text, _LINE)}")
        for shown in step.detail:
            print(f"    {for_terminal(shown)[:_LINE]}".rstrip())
    if steps and not dry_run:
        sys.stdout.flush()
        confirm(question, yes=yes)
        _do(steps)
    for note in notes:
        print(note)
    if steps and not dry_run:
        print(after)
    return 0


def _do(steps: list[Step]) -> None:
    done: list[str] = []
    for step in steps:
        try:
            step.do()
        except (MemorydError, OSError) as error:
            hint = getattr(error, "hint", "") or "mend that and run it again"
            before = f"; done before: {'; '.join(done)}" if done else ""
            raise MemorydError(f"{error}{before}", hint=hint) from error
        done.append(step.text)
