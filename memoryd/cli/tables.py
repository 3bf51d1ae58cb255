"""Tables for people: aligned columns that fit the terminal; names and ids are never cut."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence

from memoryd.cli.output import line

_CELL = 300
_GAP = "  "
_LEAST = 24  # A last column cut below this says nothing: it gets a line of its own.


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]], empty: str) -> None:
    """Print rows under headings, or ``empty`` when there are none.

    On a terminal, columns without content are left out, columns that do not fit follow on an
    indented line, and only the last column is cut. Elsewhere every row is one whole line with
    every column: a program may read it.

    Args:
        headings: one a column.
        rows: cells, made safe for a terminal here.
        empty: a sentence.
    """
    if not rows:
        print(empty)
        return
    cells = [[line("" if cell is None else str(cell), _CELL) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        print("\n".join(_laid_out([list(headings), *cells], None)))
        return
    filled = [number for number in range(len(headings)) if any(row[number] for row in cells)]
    table = [[row[number] for number in filled] for row in (list(headings), *cells)]
    first, *others = _laid_out(table, shutil.get_terminal_size().columns)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    print(first if plain else "\n".join(f"\x1b[1m{text}\x1b[0m" for text in first.split("\n")))
    if others:
        print("\n".join(others))


def _laid_out(rows: Sequence[Sequence[str]], room: int | None) -> list[str]:
    """Return each row as one line or, where it does not fit into ``room`` cells, several."""
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415 - only tables pay for it

    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = _columns_of_lines(widths, room)
    result = []
    for row in rows:
        texts = []
        for number, columns in enumerate(lines):
            padded = [row[c] + " " * (widths[c] - cell_len(row[c])) for c in columns]
            text = (_GAP if number else "") + _GAP.join(padded).rstrip()
            if room is not None and number == len(lines) - 1 and cell_len(text) > room:
                text = set_cell_size(text, room - 1).rstrip() + "…"
            texts.append(text)
        result.append("\n".join(text for text in texts if text.strip()))
    return result


def _columns_of_lines(widths: Sequence[int], room: int | None) -> list[list[int]]:
    """Part the columns into lines, as many on each as fit."""
    if room is None:
        return [list(range(len(widths)))]
    lines: list[list[int]] = [[]]
    left = room
    for column, width in enumerate(widths):
        last = column == len(widths) - 1
        if lines[-1] and (min(width, _LEAST) if last else width) > left:
            lines.append([])
            left = room - len(_GAP)
        lines[-1].append(column)
        left -= width + len(_GAP)
    return lines
