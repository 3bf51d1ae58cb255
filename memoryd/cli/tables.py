"""Tables for people: aligned columns, colours only on a terminal (and not with ``NO_COLOR``)."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from memoryd.cli.output import line

_WIDE = 10_000  # Off a terminal nothing is cut: a program may read it.
_CELL = 300


def print_table(headings: Sequence[str], rows: Sequence[Sequence[object]], empty: str) -> None:
    """Print rows under headings, or ``empty`` when there are none.

    Args:
        headings: one a column; the last column takes what is left of the width.
        rows: cells, made safe for a terminal here.
        empty: a sentence.
    """
    from rich.console import Console  # noqa: PLC0415 - 40 ms that only tables pay
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    if not rows:
        print(empty)
        return
    terminal = sys.stdout.isatty()
    table = Table(box=None, pad_edge=False, header_style="bold" if terminal else "")
    for number, heading in enumerate(headings):
        last = number == len(headings) - 1
        table.add_column(heading, no_wrap=True, overflow="ellipsis", ratio=1 if last else None)
    for row in rows:
        table.add_row(*(Text(line("" if cell is None else str(cell), _CELL)) for cell in row))
    console = Console(width=None if terminal else _WIDE, highlight=False)
    if terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    print("\n".join(row.rstrip() for row in captured.get().splitlines()))
