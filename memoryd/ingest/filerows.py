"""What becomes of the row of a file, given what was read of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_never

from memoryd.ingest.classify import SessionFile, SubagentFile
from memoryd.ingest.cursor import Mark, encode_mark
from memoryd.ingest.reader import Portion
from memoryd.ingest.turns import Current
from memoryd.stores.transcripts import File, FileKind


@dataclass(slots=True)
class FileEnd:
    """What a file's row is to become; ``turn`` has its id once the turns are written."""

    portion: Portion
    old: File
    kind: FileKind
    baseline_to: int
    turn: Current | None


def columns(end: FileEnd, now: float) -> dict[str, Any]:
    """Return the columns of the row behind a portion; its turn becomes that of the progress."""
    portion, old, progress = end.portion, end.old, end.portion.progress
    progress.turn = 0 if end.turn is None else end.turn.id
    mark = Mark(progress.turn, progress.reread_to, portion.anchor, portion.reader)
    return {
        "id": old.id,
        "kind": end.kind.value,
        "session_id": session_of(portion) if end.kind is not FileKind.FOREIGN else None,
        "device": portion.found.device,
        "inode": portion.found.inode,
        "size": portion.found.size if portion.last else portion.offset,
        "offset": portion.offset,
        "head_length": portion.head_length,
        "head_hash": portion.head_hash,
        "baseline_to": end.baseline_to,
        "state": encode_mark(mark),
        "records": old.records + portion.records,
        "skipped": old.skipped + portion.skipped,
        "oversize": old.oversize + portion.oversize,
        "pending_since": _pending_since(old, portion, now),
        "missing_since": None,
    }


def each_once(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Part rows so that no id comes twice in a part: two files may have one stem."""
    parts: list[dict[str, dict[str, Any]]] = []
    for row in rows:
        part = next((part for part in parts if row["id"] not in part), None)
        if part is None:
            part = {}
            parts.append(part)
        part[row["id"]] = row
    return [list(part.values()) for part in parts]


def new_row(portion: Portion) -> dict[str, Any]:
    """Return the row of a file that was not known, before anything of it is recorded."""
    return {
        "path": portion.path,
        "kind": FileKind.UNKNOWN.value,
        "device": portion.found.device,
        "inode": portion.found.inode,
        "size": 0,
        "offset": 0,
        "baseline_to": portion.baseline_to,
    }


def session_of(portion: Portion) -> str | None:
    """Return the id of the session that a file is of, or whose subagent's."""
    match portion.what:
        case SessionFile(session=session):
            return session
        case SubagentFile(parent=parent):
            return parent or portion.session.parent_session
        case _:
            assert_never(portion.what)


def baseline_to(old: File, portion: Portion) -> int:
    """Keep the baseline, except in a replaced file: what was handled is known by its uuids."""
    if not portion.restart:
        return old.baseline_to
    return min(old.baseline_to, portion.found.size) if old.offset < old.baseline_to else 0


def _pending_since(old: File, portion: Portion, now: float) -> float | None:
    if not portion.pending or not portion.last:
        return None
    unchanged = old.pending_since is not None and old.size == portion.found.size
    return old.pending_since if unchanged else now
