"""The commands that programs start again and again, without the time that click takes to load.

The options are read here by hand. Whatever is not plainly right (an error, ``--help``) is left
to click, which knows the same options; a test holds the two equal.
"""

from __future__ import annotations

# What only annotations need is not imported: ``typing`` alone would cost a cold client 4 ms.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    Syntax = tuple[bool, dict[str, Callable[[str], Any]], dict[str, str]]

MAX_LIMIT = 1000
MAX_TIMEOUT_S = 24 * 3600.0


def limit(text: str) -> int:
    """Read a ``--limit``.

    Raises:
        ValueError: not from 1 to ``MAX_LIMIT``.
    """
    number = int(text)
    if not 1 <= number <= MAX_LIMIT:
        raise ValueError
    return number


def seconds(text: str) -> float:
    """Read a ``--timeout``.

    Raises:
        ValueError: not from 0 to ``MAX_TIMEOUT_S``.
    """
    number = float(text)
    if not 0 <= number <= MAX_TIMEOUT_S:
        raise ValueError
    return number


# By command: whether words follow (joined to ``query``), options with a value, flags.
_SYNTAX: dict[str, Syntax] = {
    "recall": (
        True,
        {"project": str, "limit": limit},
        {"all-projects": "all_projects", "offline": "offline", "json": "as_json"},
    ),
    "status": (False, {}, {"json": "as_json"}),
    "wait": (False, {"timeout": seconds}, {}),
}


def parse(arguments: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """Return the command and its keyword arguments, or ``None`` to leave it to click."""
    if not arguments or arguments[0] not in _SYNTAX:
        return None
    takes_words, options, flags = _SYNTAX[arguments[0]]
    try:
        words, found = _split(iter(arguments[1:]), options, flags)
    except (ValueError, KeyError, StopIteration):
        return None
    query = " ".join(words)
    if bool(words) != takes_words or (takes_words and not query.strip()):
        return None
    if takes_words:
        found["query"] = query
    return arguments[0], found


def _split(
    rest: Iterator[str], options: dict[str, Callable[[str], Any]], flags: dict[str, str]
) -> tuple[list[str], dict[str, Any]]:
    """Part words from options.

    Raises:
        ValueError, KeyError, StopIteration: a value is wrong, an option unknown, a value missing.
    """
    words: list[str] = []
    found: dict[str, Any] = {}
    for argument in rest:
        if argument == "--":
            words.extend(rest)
        elif not argument.startswith("-") or argument == "-":
            words.append(argument)
        else:
            option, equals, value = argument.partition("=")
            name = option.removeprefix("--")
            if option == name:
                raise ValueError(option)
            if name in flags and not equals:
                found[flags[name]] = True
            else:
                found[name] = options[name](value if equals else next(rest))
    return words, found


def run(command: str, keywords: dict[str, Any]) -> int:
    """Run a parsed command and return its exit code."""
    if command == "recall":
        from memoryd.cli.recall import recall  # noqa: PLC0415 - only what this command needs

        return recall(**keywords)
    from memoryd.cli.status import status, wait  # noqa: PLC0415 - as above

    return status(**keywords) if command == "status" else wait(**keywords)
