"""What ingestion can say about itself."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from memoryd.ingest.scanner import Scan


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestStatus:
    """A snapshot.

    Attributes:
        bytes: of transcripts handled, over all files.
        records: whole objects read, repeats included.
        skipped: unknown types and bad pieces.
        oversize: records of which only the envelope and 64 KiB a text were kept.
        foreign: files that are no transcripts of the client.
        lag_bytes: known to be on the disk and not committed yet, unterminated last lines left out.
        pending_bytes: of unterminated last lines.
        index_lag: bytes read but not in the text index yet.
        scans: walks over the whole tree since the start.
        busy_s: seconds spent reading and committing since the start.
        files: transcripts on the disk at the last walk.
        sessions: known sessions.
        turns: known human turns.
        watching: the system tells of every change; otherwise the tree is walked more often.
        warnings: what is wrong and what to do, one sentence or two each.
    """

    bytes: int
    records: int
    skipped: int
    oversize: int
    foreign: int
    lag_bytes: int
    pending_bytes: int
    index_lag: int
    scans: int
    busy_s: float
    files: int
    sessions: int
    turns: int
    watching: bool
    warnings: tuple[str, ...]


@dataclass(slots=True)
class Counters:
    """Numbers for the status, kept up with every commit."""

    bytes: int = 0
    records: int = 0
    skipped: int = 0
    oversize: int = 0
    foreign: int = 0
    sessions: int = 0
    turns: int = 0
    scans: int = 0
    files: int = 0
    busy_s: float = 0.0


@dataclass(slots=True)
class Warnings:
    """What is wrong now, by subject; a subject that is put right loses its warning."""

    _by_subject: dict[str, str] = field(default_factory=dict)

    def put(self, subject: str, text: str | None) -> None:
        """Set the warning of a subject, or take it back with ``None``."""
        if text is None:
            self._by_subject.pop(subject, None)
        else:
            self._by_subject[subject] = text

    def keep(self, prefix: str, subjects: set[str]) -> None:
        """Take back the warnings whose subject begins with ``prefix``, except ``subjects``."""
        for subject in [s for s in self._by_subject if s.startswith(prefix)]:
            if subject not in subjects:
                del self._by_subject[subject]

    def texts(self, limit: int = 20) -> tuple[str, ...]:
        """Return the warnings, oldest first; beyond ``limit`` only their number."""
        texts = list(self._by_subject.values())
        if len(texts) <= limit:
            return tuple(texts)
        return (*texts[:limit], f"… and {len(texts) - limit} more warnings of this kind.")


def unreadable_directory(path: str, reason: str) -> str:
    """Return the warning about a directory that cannot be listed."""
    return (
        f"{path} cannot be listed ({reason}); its transcripts are not read. Give your user access "
        "(chmod u+rx); it is tried again by itself."
    )


def unreadable_file(path: str, reason: str) -> str:
    """Return the warning about a transcript that cannot be read."""
    return (
        f"{path} cannot be read ({reason}). Give your user access (chmod u+r); it is tried again "
        "by itself."
    )


def misnamed_file(path: str) -> str:
    """Return the warning about a transcript or directory whose name is not text."""
    return f"The name of {path} is not UTF-8; it is not read. Rename it to have it read."


def refused_file(path: str, reason: str) -> str:
    """Return the warning about a transcript that breaks what reads or keeps it."""
    return (
        f"{path} cannot be taken in ({reason}); the other transcripts go on. It is tried again by "
        "itself."
    )


def no_events(number: int, limit: str | None, value: int | None, poll_s: float) -> str:
    """Return the warning that the system does not tell of changes.

    Args:
        number: of the error.
        limit: the limit of inotify that is reached, ``None`` if it is something else.
        value: what it is set to, ``None`` if that cannot be found out.
        poll_s: how often is looked instead.
    """
    looked = f"transcripts are looked at every {poll_s:.0f} seconds instead"
    if limit is None:
        return f"The system gives no file events ({os.strerror(number)}); {looked}."
    is_set = "" if value is None else f", which is {value}"
    wanted = 1024 if limit == "max_user_instances" else 524288
    return (
        f"The system gives no more file events: fs.inotify.{limit}{is_set}, is reached; {looked}. "
        f"Raise it: sudo sysctl fs.inotify.{limit}={max(wanted, 2 * (value or 0))}"
    )


def remote_directory(path: str, kind: str, poll_s: float) -> str:
    """Return the warning that changes by other machines are not told."""
    return (
        f"{path} is on, or holds, a file system that does not tell of every change ({kind}); it "
        f"is looked at every {poll_s:.0f} seconds."
    )


def unwritable_database(reason: str) -> str:
    """Return the warning about a database that takes nothing."""
    return (
        f"The database cannot be written ({reason}); nothing is lost, what was appended is "
        "read again. Check the free space and who else has the file open."
    )


def tell_of_scan(warnings: Warnings, root: str, scan: Scan, *, whole: bool) -> None:
    """Warn of what a walk could not look at, and take back what is put right.

    Args:
        warnings: where they go.
        root: the projects directory.
        scan: what the walk found.
        whole: it went over the whole tree.
    """
    unreadable = {f"directory:{relative}": relative for relative in scan.unreadable}
    for subject, relative in unreadable.items():
        place = f"{root}/{relative}" if relative else root
        warnings.put(subject, unreadable_directory(place, scan.unreadable[relative]))
    misnamed = {f"name:{shown}": shown for shown in scan.misnamed}
    for subject, shown in misnamed.items():
        warnings.put(subject, misnamed_file(f"{root}/{shown}"))
    if whole:
        warnings.keep("directory:", set(unreadable))
        warnings.keep("name:", set(misnamed))
        absent = f"{root} does not exist yet; it is picked up when it appears."
        warnings.put("root", None if scan.root else absent)
