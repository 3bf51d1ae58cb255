"""What the commands have in common: options, asking before doing, help in the order of use."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

HELP = {"help_option_names": ["-h", "--help"]}

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
project_option = click.option(
    "--project", metavar="DIR", help="The project (default: that of the working directory)."
)
filter_option = click.option("--project", metavar="DIR", help="Only this project (default: all).")
all_projects_option = click.option("--all-projects", is_flag=True, help="All projects.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
unasked_option = click.option("--yes", is_flag=True, help="Accepted; this never asks.")


class Number(click.IntRange):
    """A whole number in bounds, named so in messages."""

    name = "whole number"


class Seconds(click.FloatRange):
    """A number of seconds in bounds, named so in messages."""

    name = "number of seconds"


id_argument = click.argument("id_", metavar="ID", type=Number(1))


def words_argument(name: str) -> Callable[[F], F]:
    """Return an argument of one or more words, joined by spaces; blank is wrong usage."""
    return click.argument(name, nargs=-1, required=True, metavar=name.upper(), callback=_joined)


def _joined(_: click.Context, parameter: click.Parameter, words: Sequence[str]) -> str:
    text = " ".join(words)
    if not text.strip():
        raise click.BadParameter("is empty", param=parameter)
    return text


def limit_option(default: int | None, *, most: int = 10_000) -> Callable[[F], F]:
    """Return ``--limit`` with a default."""
    return click.option(
        "--limit",
        type=Number(1, most),
        metavar="N",
        default=default,
        show_default=default is not None,
        help="At most this many.",
    )


def confirm(question: str, *, yes: bool) -> None:
    """Ask on a terminal.

    Raises:
        click.UsageError: nobody can be asked, and ``--yes`` was not given.
        click.Abort: the answer was no.
    """
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("this needs a yes: run it on a terminal, or with --yes")
    click.confirm(question, abort=True)


class Command(click.Command):
    """A command whose examples are shown as they are written, after the options.

    They stand at the end of the help under ``Examples:``.
    """

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        text, _, self.examples = (self.help or "").partition("Examples:\n")
        self.help = text.strip()

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the examples."""
        with formatter.section("Examples"):
            for example in self.examples.strip().splitlines():
                formatter.write(f"  {example.strip()}\n")


class Group(click.Group):
    """A group that lists its commands in the order they were added and knows near misses."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in order of use."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or say which one may be meant."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], self.commands, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)
