"""Directories, disk, and the system's limits."""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from memoryd.db.filesystem import MOUNT_TABLE, NETWORK_FILE_SYSTEMS, filesystem_type
from memoryd.doctor.finding import Finding, broken, fine, note
from memoryd.paths import Paths

_INOTIFY = Path("/proc/sys/fs/inotify")
_LITTLE = 200 << 20
_TOO_LITTLE = 20 << 20
_FEW_DESCRIPTORS = 256
_LISTED = 5


def directories(paths: Paths) -> Iterator[Finding]:
    """Look at the directories that memoryd makes or needs."""
    for subject, path in (("state", paths.state), ("runtime", paths.runtime)):
        yield from _own(subject, path)
    projects = paths.projects
    if not projects.exists():
        yield note("projects", f"{projects} is not there yet; it is picked up when it appears")
    elif not os.access(projects, os.R_OK | os.X_OK):
        yield broken("projects", f"{projects} cannot be read", f"chmod u+rx {_quoted(projects)}")
    else:
        yield fine("projects", str(projects))


def disk(paths: Paths) -> Iterator[Finding]:
    """Look at the file systems that hold state and memories."""
    mounts = ""
    if MOUNT_TABLE.exists():
        mounts = MOUNT_TABLE.read_text(encoding="utf-8", errors="surrogateescape")
    for subject, path in (("state disk", paths.state), ("client disk", paths.config)):
        place = _existing(path)
        kind = filesystem_type(mounts, PurePosixPath(place.resolve()))
        if kind in NETWORK_FILE_SYSTEMS:
            text = f"{path} is on a network file system ({kind})"
            if subject == "state disk":
                yield broken(subject, text, "set MEMORYD_STATE_DIR to a directory on a local disk")
            else:
                yield note(subject, f"{text}: changes are seen by looking, not by events")
        free = shutil.disk_usage(place).free
        text = f"{free >> 20:,} MiB free for {path}"
        if free < _TOO_LITTLE:
            yield broken(subject, text, f"make room; see: df -h {_quoted(place)}")
        elif free < _LITTLE:
            yield note(subject, text, f"make room; see: df -h {_quoted(place)}")
        else:
            yield fine(subject, text)


def limits(paths: Paths) -> Iterator[Finding]:
    """Compare the system's limits with what the service needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < _FEW_DESCRIPTORS:
        raised = _FEW_DESCRIPTORS * 4 if hard == resource.RLIM_INFINITY else hard
        yield note("open files", f"the limit is {soft} a process", f"ulimit -n {raised}")
    else:
        yield fine("open files", f"the limit is {soft}")
    try:
        watches = int((_INOTIFY / "max_user_watches").read_text())
        instances = int((_INOTIFY / "max_user_instances").read_text())
    except (OSError, ValueError):
        return  # The system has no inotify.
    needed = 1 + sum(len(folders) for _, folders, _ in os.walk(paths.projects))
    text = f"{needed:,} directories to watch, {watches:,} watches allowed to all your programs"
    if needed > watches:
        more = f"sudo sysctl fs.inotify.max_user_watches={max(needed * 2, 65536)}"
        yield note("file events", f"{text}: the others are looked at every few seconds", more)
    elif instances < 1:
        yield note("file events", "none allowed", "sudo sysctl fs.inotify.max_user_instances=128")
    else:
        yield fine("file events", text)


def transcripts(paths: Paths) -> Iterator[Finding]:
    """Look for what the service may not read below the projects directory."""
    closed: list[str] = []
    count = 0
    if not os.access(paths.projects, os.R_OK | os.X_OK):
        return
    for folder, folders, files in os.walk(paths.projects):
        closed += [
            f"{folder}/{name}"
            for name in folders
            if not os.access(f"{folder}/{name}", os.R_OK | os.X_OK)
        ]
        for name in files:
            if name.endswith(".jsonl"):
                count += 1
                if not os.access(f"{folder}/{name}", os.R_OK):
                    closed.append(f"{folder}/{name}")
    for place in closed[:_LISTED]:
        yield broken("transcripts", f"{place} cannot be read", f"chmod u+rX {_quoted(place)}")
    if len(closed) > _LISTED:
        more = f"chmod -R u+rX {_quoted(paths.projects)}"
        yield broken("transcripts", f"{len(closed) - _LISTED} more cannot be read", more)
    if not closed:
        yield fine("transcripts", f"{count:,} can be read")


def _own(subject: str, path: Path) -> Iterator[Finding]:
    try:
        found = path.lstat()
    except FileNotFoundError:
        yield note(subject, f"{path} is not there; memoryd start makes it")
        return
    except OSError as error:
        yield broken(subject, f"{path}: {error.strerror}", f"ls -ld {_quoted(path)}")
        return
    variable = "MEMORYD_STATE_DIR" if subject == "state" else "MEMORYD_RUNTIME_DIR"
    elsewhere = f"set {variable} to another directory"
    if stat.S_ISLNK(found.st_mode):
        yield broken(subject, f"{path} is a symbolic link; memoryd does not follow it", elsewhere)
    elif not stat.S_ISDIR(found.st_mode):
        yield broken(subject, f"{path} is no directory", elsewhere)
    elif found.st_uid != os.geteuid():
        yield broken(subject, f"{path} belongs to another user", elsewhere)
    elif stat.S_IMODE(found.st_mode) & 0o077:
        yield broken(subject, f"{path} is open to other users", f"chmod 700 {_quoted(path)}")
    elif not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        yield broken(subject, f"{path} cannot be written", f"chmod 700 {_quoted(path)}")
    else:
        yield fine(subject, str(path))


def _existing(path: Path) -> Path:
    return next(place for place in (path, *path.parents) if place.exists())


def _quoted(path: Path | str) -> str:
    return shlex.quote(str(path))
