"""The commands as completion scripts need them."""

from __future__ import annotations

import click

from memoryd.cli import topics
from memoryd.install.completions import Option, Value, Words

_HELP = Option(("-h", "--help"), "Show this message and exit.", Value.NONE)


def words(command: click.Command, name: str) -> Words:
    """Return all that may follow a command.

    Args:
        command: of click.
        name: by which it is called.
    """
    below = command.commands if isinstance(command, click.Group) else {}
    options = [
        Option(
            (*option.opts, *option.secondary_opts),
            (option.help or "").partition("\n")[0],
            _takes(option),
        )
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden
    ]
    known = tuple(topics.topics()) if name == "help" else ()
    return Words(
        name,
        command.get_short_help_str(limit=100),
        (*options, _HELP),
        tuple(words(one, key) for key, one in below.items() if not one.hidden),
        known,
    )


def _takes(option: click.Option) -> Value | tuple[str, ...]:
    if option.is_flag or option.count:
        return Value.NONE
    if isinstance(option.type, click.Choice):
        return tuple(map(str, option.type.choices))
    return Value.DIRECTORY if option.metavar == "DIR" else Value.ANY
