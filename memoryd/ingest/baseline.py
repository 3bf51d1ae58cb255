"""The first start: what exists counts as handled, everything later is learned from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from memoryd.db.engine import Database
from memoryd.ingest.classify import SubagentFile, classify
from memoryd.ingest.cursor import signed
from memoryd.ingest.scanner import Scanner
from memoryd.stores import transcripts
from memoryd.stores.transcripts import FileKind


def record_baseline(database: Database, root: str, *, now: float) -> bool:
    """Record the size of every existing transcript in one transaction, without reading any.

    Args:
        database: with its tables.
        root: the projects directory.
        now: seconds since 1970 UTC; the instant of the first start.

    Returns:
        Whether this was the first start; a second call does nothing.
    """
    with database.read() as connection:
        if transcripts.baseline(connection) is not None:
            return False
    scan = Scanner(root).scan()
    count = total = 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal count, total
        for row in _rows(root, scan.changed):
            count, total = count + 1, total + row["baseline_to"]
            yield row

    with database.write() as connection:
        if transcripts.baseline(connection) is not None:
            return False
        transcripts.add_files(connection, rows())
        transcripts.put_baseline(
            connection,
            {
                "at": now,
                "files": count,
                "bytes": total,
                # What cannot be listed now is older than the first start all the same.
                "unreadable": sorted(scan.unreadable),
            },
        )
    return True


def _rows(root: str, found: list[str]) -> Iterator[dict[str, Any]]:
    for relative in found:
        path = f"{root}/{relative}"
        what = classify(relative)
        if what is None:
            continue
        try:
            status = os.lstat(path)
        except OSError:
            continue
        kind = FileKind.SUBAGENT if isinstance(what, SubagentFile) else FileKind.UNKNOWN
        yield {
            "path": path,
            "kind": kind.value,
            "device": signed(status.st_dev),
            "inode": signed(status.st_ino),
            "size": 0,
            "offset": 0,
            "baseline_to": status.st_size,
        }
