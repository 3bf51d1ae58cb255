"""``memoryctl doctor``."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from pathlib import Path

import click

from memoryd.cli.output import line, print_json
from memoryd.cli.shared import Command, json_option

_LINE = 300
_INDENT = " " * 7
_LEVELS = {"broken": ("broken", "31"), "note": ("note", "33"), "fine": ("fine", "32")}


@click.command(cls=Command, short_help="Look for everything that can be wrong on this machine.")
@json_option
def doctor(*, as_json: bool) -> int:
    """Look for everything that can be wrong, each with the command that mends it.

    Works also while the service does not run. Exits 1 if something is broken.

    Examples:
      memoryctl doctor
      memoryctl doctor --json | jq -r '.[] | select(.level == "broken") | .mend'
    """
    # Beyond the protocol on purpose: it must see what is wrong when nobody answers.
    from memoryd.doctor.examination import examine  # noqa: PLC0415 - loads the database library

    try:
        here = str(Path.cwd())
    except FileNotFoundError:
        here = ""  # It was removed: there is no project to look at.
    found = examine(os.environ, here)
    if as_json:
        print_json(
            [
                {"level": one.level.value, "subject": one.subject, "text": one.text}
                | {"mend": one.mend}
                for one in found
            ]
        )
    else:
        for level in ("broken", "note"):
            for one in found:
                if one.level == level:
                    print(f"{_mark(level)} {_wrapped(f'{one.subject}: {line(one.text, _LINE)}')}")
                    if one.mend:
                        print(f"{_INDENT}{line(one.mend, _LINE)}")
        well = list(dict.fromkeys(one.subject for one in found if one.level == "fine"))
        if well:
            print(f"{_mark('fine')} {_wrapped(', '.join(well))}")
    return int(any(one.level == "broken" for one in found))


def _wrapped(text: str) -> str:
    """Return the text in lines that fit a terminal; elsewhere it stays one line."""
    if not sys.stdout.isatty():
        return text
    room = max(shutil.get_terminal_size().columns - len(_INDENT), 20)
    lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    return f"\n{_INDENT}".join(lines)


def _mark(level: str) -> str:
    word, colour = _LEVELS[level]
    plain = (
        not sys.stdout.isatty()
        or os.environ.get("NO_COLOR")
        or os.environ.get("TERM", "dumb") == "dumb"
    )
    return f"{word:<6}" if plain else f"\x1b[{colour}m{word:<6}\x1b[0m"
