"""``memoryctl install`` and ``uninstall``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from memoryd.cli.output import line
from memoryd.cli.shared import Command, confirm, yes_option
from memoryd.daemon import background
from memoryd.errors import MemorydError
from memoryd.install.manager import Manager
from memoryd.install.plan import Background, Plan, Step
from memoryd.paths import Paths

F = TypeVar("F", bound=Callable[..., Any])

_LINE = 1000


def _options(command: F) -> F:
    for option in (
        click.option("--dry-run", is_flag=True, help="Only show what would be done."),
        click.option("--no-service", is_flag=True, help="Leave the service out."),
        yes_option,
    ):
        command = option(command)
    return command


@click.command(cls=Command, short_help="Have the service start by itself.")
@_options
def install(*, yes: bool, no_service: bool, dry_run: bool) -> int:
    """Have the service start by itself when you log in; shows what it will do and asks.

    It is run by systemd's user manager. Where there is none, it is started in the background, and
    you are told how to start it at login.

    Examples:
      memoryctl install
      memoryctl install --dry-run
      memoryctl install --yes
    """
    if no_service:
        print("there is nothing to install besides the service")
        return 0
    steps, notes = _plan().install()
    return _carry_out(steps, notes, "Install?", "all is installed", yes=yes, dry_run=dry_run)


@click.command(cls=Command, short_help="Take back what install did.")
@_options
def uninstall(*, yes: bool, no_service: bool, dry_run: bool) -> int:
    """Take back what install did; shows what it will do and asks. Memories and state stay.

    Examples:
      memoryctl uninstall
      memoryctl uninstall --dry-run
    """
    if no_service:
        print("there is nothing to uninstall besides the service")
        return 0
    steps, notes = _plan().uninstall()
    return _carry_out(steps, notes, "Uninstall?", "nothing is installed", yes=yes, dry_run=dry_run)


def _plan() -> Plan:
    paths = Paths.from_environment(os.environ)

    def start() -> None:
        command = [sys.executable, "-m", "memoryd.cli.service", "start"]
        background.start(command, paths, os.environ)

    return Plan(
        paths,
        os.environ,
        Manager(os.environ),
        Background(
            running=lambda: background.find(paths) is not None,
            start=start,
            stop=lambda: (background.stop(paths), None)[1],
        ),
    )


def _carry_out(
    steps: Sequence[Step],
    notes: Sequence[str],
    question: str,
    nothing: str,
    *,
    yes: bool,
    dry_run: bool,
) -> int:
    if not steps:
        print(nothing)
    for step in steps:
        print(f"- {line(step.text, _LINE)}")
    if dry_run:
        for note in notes:
            print(note)
        return 0
    if steps:
        sys.stdout.flush()
        confirm(question, yes=yes)
    done: list[str] = []
    for step in steps:
        try:
            step.do()
        except (MemorydError, OSError) as error:
            hint = getattr(error, "hint", "") or "mend that and run it again"
            before = f"; done before: {'; '.join(done)}" if done else ""
            raise MemorydError(f"{error}{before}", hint=hint) from error
        done.append(step.text)
    for note in notes:
        print(note)
    if steps:
        print("done")
    return 0
