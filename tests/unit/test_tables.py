from __future__ import annotations

import os
import sys

import pytest
from memoryd.cli.tables import _laid_out
from rich.cells import cell_len

from support.terminal import run_on_terminal

HEADINGS = ["NAME", "TYPE", "DESCRIPTION"]
ROWS = [
    ["staging-database-port", "project", "The staging database listens on port 6544."],
    [
        "release-notes",
        "feedback",
        "发布说明一律用中文写，发布说明一律用中文写，发布说明一律用中文写。",
    ],
]


def test_without_a_terminal_every_row_is_one_whole_line() -> None:
    assert _laid_out([HEADINGS, *ROWS], None) == [
        "NAME                   TYPE      DESCRIPTION",
        "staging-database-port  project   The staging database listens on port 6544.",
        "release-notes          feedback  " + ROWS[1][2],
    ]


@pytest.mark.parametrize("room", [40, 57, 60, 79, 80, 200])
def test_on_a_terminal_names_stay_whole_and_nothing_overflows(room: int) -> None:
    texts = _laid_out([HEADINGS, *ROWS], room)
    for text, row in zip(texts[1:], ROWS, strict=True):
        assert all(cell_len(part) <= room for part in text.split("\n"))
        assert text.startswith(row[0] + " ")
        assert row[1] in text
        assert row[2][:9] in text


def test_a_last_column_is_cut_where_something_of_it_is_seen_else_it_gets_its_own_line() -> None:
    assert _laid_out([HEADINGS, ROWS[0]], 60)[1] == (
        "staging-database-port  project  The staging database listen…"
    )
    assert _laid_out([HEADINGS, ROWS[0]], 50) == [
        "NAME                   TYPE\n  DESCRIPTION",
        "staging-database-port  project\n  The staging database listens on port 6544.",
    ]


def test_a_row_without_a_second_line_has_none() -> None:
    rows = [["ID", "ERROR"], ["1" * 30, ""], ["2" * 30, "x" * 30]]
    assert _laid_out(rows, 40)[1:] == ["1" * 30, f"{'2' * 30}\n  {'x' * 30}"]


TABLE = """
from memoryd.cli.tables import print_table
print_table(("ID", "MARKS", "WORDS"), [(1, "", "one"), (2, "", "two")], "none")
"""


@pytest.mark.parametrize(
    ("extra", "heading"),
    [
        ({}, "\x1b[1mID  WORDS\x1b[0m"),
        ({"NO_COLOR": "1"}, "ID  WORDS"),
        ({"TERM": "dumb"}, "ID  WORDS"),
    ],
)
def test_empty_columns_are_left_out_on_a_terminal(extra: dict[str, str], heading: str) -> None:
    code, shown = run_on_terminal(
        [sys.executable, "-c", TABLE],
        columns=60,
        environment={
            **{k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")},
            **extra,
        },
    )
    assert (code, shown.splitlines()) == (0, [heading, "1   one", "2   two"])
