"""What every command prints with: JSON, ages and sizes. Imports nothing that a cold start feels."""

from __future__ import annotations

import json
import sys

from memoryd.text import for_terminal, one_line

# What only annotations need is not imported: ``typing`` alone would cost a cold client 4 ms.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KIB = 1024
_ERROR = 1000


def print_json(value: Any) -> None:
    """Print a result as JSON; on a terminal everything but ASCII is escaped."""
    print(json.dumps(value, ensure_ascii=sys.stdout.isatty(), indent=2))


def print_error(program: str, message: str, hint: str = "") -> None:
    """Print one line on standard error."""
    text = f"{program}: {message.rstrip('.')}" + (f"; {hint}" if hint else "")
    print(line(text, _ERROR), file=sys.stderr)


def line(text: str, limit: int) -> str:
    """Return foreign text on one line of at most ``limit`` characters, safe for a terminal."""
    return one_line(for_terminal(text), limit)


def age(days: float) -> str:
    """Return an age in words: ``today``, ``3 days``, ``5 months``."""
    for limit, unit, divisor in ((60.0, "day", 1.0), (730.0, "month", 30.44)):
        if days < limit:
            count = int(days / divisor)
            if count < 1:
                return "today"
            return counted(count, unit)
    return f"{int(days / 365.25)} years"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 project``, ``2,000 projects``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def size(count: int) -> str:
    """Return a number of bytes in words: ``512 B``, ``1.5 MiB``."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < _KIB:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= _KIB
    return f"{amount:.1f} TiB"


def duration(seconds: float) -> str:
    """Return a span of time in words: ``45 s``, ``2 h 5 min``, ``3 d 4 h``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
