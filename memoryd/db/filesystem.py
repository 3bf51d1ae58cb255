"""Which file system a path is on, and what works there: the write-ahead log, events of changes."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from memoryd.errors import ConfigError

MOUNT_TABLE = Path("/proc/mounts")

NETWORK_FILE_SYSTEMS = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "davfs",
        "drvfs",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb3",
        "smbfs",
    }
)
"""Types without the shared memory and the locks that the write-ahead log needs."""

_WITHOUT_EVENTS = NETWORK_FILE_SYSTEMS | {
    "acfs", "cephfs", "cvmfs", "gpfs", "prl_fs", "vboxsf", "virtiofs", "vmhgfs",
}  # fmt: skip
"""Types that do not tell of changes made by other machines, or by the host of this one."""


def filesystem_type(mount_table: str, path: PurePosixPath) -> str | None:
    """Return the type of the file system that holds ``path``, or ``None`` when it is not listed.

    Args:
        mount_table: text in the format of ``/proc/mounts``.
        path: absolute, without symbolic links.
    """
    found: str | None = None
    depth = -1
    for line in mount_table.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:  # noqa: PLR2004 - device, mount point, type
            continue
        mount_point = PurePosixPath(_unescape(fields[1]))
        # A later line of the same mount point covers the earlier one.
        if path.is_relative_to(mount_point) and len(mount_point.parts) >= depth:
            found, depth = fields[2], len(mount_point.parts)
    return found


def without_events(mount_table: str, path: PurePosixPath) -> str | None:
    """Return the type of a file system at or below ``path`` that does not tell of every change.

    Args:
        mount_table: text in the format of ``/proc/mounts``.
        path: absolute, without symbolic links.

    Returns:
        ``None`` if all of them do, as far as the table says.
    """
    kinds = {filesystem_type(mount_table, path)}
    for line in mount_table.splitlines():
        fields = line.split(" ")
        if len(fields) >= 3:  # noqa: PLR2004 - device, mount point, type
            mount_point = PurePosixPath(_unescape(fields[1]))
            if mount_point.is_relative_to(path):
                kinds.add(filesystem_type(mount_table, mount_point))
    found = {kind for kind in kinds if kind is not None}
    return min((k for k in found if k in _WITHOUT_EVENTS or k.startswith("fuse.")), default=None)


def refuse_network_file_system(path: Path) -> None:
    """Raise `ConfigError` if ``path`` is on a network file system.

    Where the system has no mount table (macOS), nothing is refused.
    """
    if not MOUNT_TABLE.exists():
        return
    mount_table = MOUNT_TABLE.read_text(encoding="utf-8", errors="surrogateescape")
    kind = filesystem_type(mount_table, PurePosixPath(path.resolve()))
    if kind in NETWORK_FILE_SYSTEMS:
        raise ConfigError(
            f"The database {path} is on a network file system ({kind}); "
            "SQLite's write-ahead log does not work there.",
            hint="Set MEMORYD_STATE_DIR to a directory on a local disk, "
            "or MEMORYD_DATABASE_URL to a PostgreSQL database.",
        )


def _unescape(text: str) -> str:
    r"""Undo the octal escapes of the mount table (a space is ``\040``)."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
