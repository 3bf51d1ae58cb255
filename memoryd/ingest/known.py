"""The rows of files that are about to be read, looked up together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memoryd.db.engine import Database
from memoryd.stores import transcripts
from memoryd.stores.transcripts import File


def look_up(
    database: Database, root: str, names: Sequence[str], inodes: Mapping[str, tuple[int, int]]
) -> tuple[dict[str, File], dict[tuple[int, int], list[File]]]:
    """Return the rows of paths; for unknown paths, those with the same device and inode.

    Args:
        database: to look in.
        root: the projects directory.
        names: paths below it.
        inodes: device and inode of those that are there.
    """
    cut = len(root) + 1
    strangers: dict[tuple[int, int], list[File]] = {}
    with database.read() as connection:
        by_path = transcripts.files_at(connection, [f"{root}/{name}" for name in names])
        rows = {path[cut:]: row for path, row in by_path.items()}
        unknown = {inodes[name] for name in names if name not in rows and name in inodes}
        for device in {device for device, _ in unknown}:
            same = transcripts.files_with_inodes(
                connection, device, [inode for of, inode in unknown if of == device]
            )
            strangers |= {(device, inode): files for inode, files in same.items()}
    return rows, strangers
