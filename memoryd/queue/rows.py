"""Between rows of the table ``jobs`` and values: conditions, conversion, what an error may say."""

from __future__ import annotations

import traceback
from pathlib import PurePath
from typing import Any

from sqlalchemy import ColumnElement, Row, Table, literal_column
from sqlalchemy.sql.selectable import NamedFromClause

from memoryd.db.schema import jobs
from memoryd.errors import MemorydError
from memoryd.queue.jobs import Job, JobKind, JobState, PermanentFailure, TransientFailure

_ERROR_CHARACTERS = 300


def in_state(state: JobState, table: Table | NamedFromClause = jobs) -> ColumnElement[bool]:
    """Return the condition that a row is in ``state``.

    The state is part of the statement's text: SQLite uses a partial index only then.
    """
    return table.c.state == literal_column(f"'{state.value}'")


def as_job(row: Row[Any]) -> Job:
    """Convert a whole row."""
    columns = row._asdict()
    return Job(**{**columns, "kind": JobKind(columns["kind"]), "state": JobState(columns["state"])})


def describe(error: BaseException) -> str:
    """Return what may be stored and logged about ``error``.

    Only errors of memoryd's own speak for themselves; the message of any other may quote a
    transcript, so it is named by its type and the line that raised it.
    """
    if isinstance(error, MemorydError | PermanentFailure | TransientFailure):
        return (str(error) or type(error).__name__)[:_ERROR_CHARACTERS]
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
