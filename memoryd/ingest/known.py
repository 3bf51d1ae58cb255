"""The rows of files that are about to be read, looked up together."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from memoryd.db.engine import Database
from memoryd.ingest.cursor import signed
from memoryd.stores import transcripts
from memoryd.stores.transcripts import File


def look_up(
    database: Database, root: str, names: Sequence[str]
) -> tuple[dict[str, File], dict[str, list[File]]]:
    """Return the rows of paths; for unknown paths, those with the same device and inode.

    Args:
        database: to look in.
        root: the projects directory.
        names: paths below it.
    """
    cut = len(root) + 1
    strangers: dict[tuple[int, int], list[File]] = {}
    inodes: dict[str, tuple[int, int]] = {}
    with database.read() as connection:
        by_path = transcripts.files_at(connection, [f"{root}/{name}" for name in names])
        rows = {path[cut:]: row for path, row in by_path.items()}
        for name in names:
            if name not in rows:
                with contextlib.suppress(OSError):
                    status = os.lstat(f"{root}/{name}")
                    inodes[name] = (signed(status.st_dev), signed(status.st_ino))
        unknown = set(inodes.values())
        for device in {device for device, _ in unknown}:
            same = transcripts.files_with_inodes(
                connection, device, [inode for of, inode in unknown if of == device]
            )
            strangers |= {(device, inode): files for inode, files in same.items()}
    return rows, {name: strangers[key] for name, key in inodes.items() if key in strangers}
