"""One pass over one transcript file: from its cursor to the end that it had at the start."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from stat import S_ISDIR, S_ISREG

import msgspec

from memoryd.ingest.classify import SubagentFile, Transcript, classify
from memoryd.ingest.cursor import (
    ANCHOR_BYTES,
    HEAD_BYTES,
    Found,
    Mark,
    Position,
    Verdict,
    decode_mark,
    digest,
    judge,
    signed,
)
from memoryd.stores.transcripts import File
from memoryd.transcript.events import Activity, AssistantText, Event, HumanPrompt
from memoryd.transcript.reader import TranscriptReader
from memoryd.transcript.state import SessionState

CHUNK_BYTES = 256 * 1024
PORTION_BYTES = 64 * 1024 * 1024
"""Bytes of transcripts that are committed at once, at most: a commit waits for the disk."""

HELD_BYTES = 4 * 1024 * 1024
"""About the memory that what was read may take before it is committed."""

_EVENT_BYTES = 160
_SAID = (HumanPrompt, AssistantText)


class Unopened(StrEnum):
    """Why a path is not read."""

    GONE = "gone"
    """There is nothing of that name."""
    NO_FILE = "no-file"
    """It is a link, a pipe, a device, a directory, or stands behind a link."""


@dataclass(slots=True)
class Progress:
    """What is committed of a file, carried from one portion to the next.

    Attributes:
        file_id: row id, ``None`` before the first commit.
        turn: as in `Mark`.
        reread_to: as in `Mark`.
    """

    file_id: int | None
    turn: int
    reread_to: int


@dataclass(slots=True, kw_only=True)
class Portion:
    """A stretch of whole lines and what they say; committed all or nothing.

    Attributes:
        path: absolute.
        relative: below the projects directory.
        what: session or subagent.
        file: the row as it was before this pass, ``None`` for a new file.
        moved: ``file`` is known under another path.
        baseline_to: bytes up to here count as written before the first start (new files only).
        restart: the file was replaced; this portion begins at its start.
        progress: of this file.
        found: the file on the disk.
        start: position of the first byte.
        offset: position behind the last byte that is handled.
        events: in file order.
        said: those of them with a text.
        held: about the memory they take, in bytes.
        records: whole objects read in this portion.
        skipped: unknown types and bad pieces in this portion.
        oversize: shortened records in this portion.
        session: state of the session behind the portion.
        reader: the transcript reader's state behind the portion.
        head_length: bytes covered by ``head_hash``.
        head_hash: digest of the first bytes of the file.
        anchor: digest of the bytes before ``offset``.
        pending: bytes of an unterminated line behind ``offset``.
        last: the file has been read to its end.
    """

    path: str
    relative: str
    what: Transcript
    file: File | None
    moved: bool
    baseline_to: int
    restart: bool
    progress: Progress
    found: Found
    start: int
    offset: int
    events: list[Event]
    said: list[HumanPrompt | AssistantText]
    held: int
    records: int
    skipped: int
    oversize: int
    session: SessionState
    reader: bytes
    head_length: int
    head_hash: bytes | None
    anchor: bytes
    pending: int
    last: bool

    @property
    def share(self) -> float:
        """What part it is of as much as may be committed at once."""
        return max((self.offset - self.start) / PORTION_BYTES, self.held / HELD_BYTES)


class Source:
    """An open transcript, to be closed.

    Args:
        root: the projects directory.
        relative: path below it.
        descriptor: of the open file.
    """

    def __init__(self, root: str, relative: str, descriptor: int) -> None:
        self.path = f"{root}/{relative}"
        self.relative = relative
        self._descriptor = descriptor
        self.status = os.fstat(descriptor)
        self.found = Found(
            signed(self.status.st_dev), signed(self.status.st_ino), self.status.st_size
        )

    @classmethod
    def open(cls, root: str, relative: str) -> Source | Unopened:
        """Open the file without following links or waiting for whatever else it may be.

        Raises:
            OSError: it is there but cannot be read.
        """
        directory = root
        for part in relative.split("/")[:-1]:
            directory = f"{directory}/{part}"
            try:
                mode = os.lstat(directory).st_mode
            except FileNotFoundError:
                return Unopened.GONE
            if not S_ISDIR(mode):
                return Unopened.NO_FILE
        path = f"{root}/{relative}"
        try:
            if not S_ISREG(os.lstat(path).st_mode):
                return Unopened.NO_FILE
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return Unopened.GONE
        source = cls(root, relative, descriptor)
        if not S_ISREG(source.status.st_mode):
            source.close()
            return Unopened.NO_FILE
        return source

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._descriptor)

    def read(self, position: int, count: int) -> bytes:
        """Return up to ``count`` bytes from ``position``."""
        return os.pread(self._descriptor, count, position)

    def verdict(self, file: File) -> Verdict:
        """Say what became of the file since ``file`` was written."""
        mark = decode_mark(file.state)
        if mark is None or _resumed(mark, file.offset, subagent=False) is None:
            # State of another version: what was learned is known by its uuids.
            return Verdict.REPLACED
        position = Position(
            file.device, file.inode, file.offset, file.head_length, file.head_hash, mark.anchor
        )
        return judge(position, self.found, self.read(0, file.head_length), self.before(file.offset))

    def before(self, offset: int) -> bytes:
        """Return the last bytes before ``offset`` that an anchor covers."""
        count = min(offset, ANCHOR_BYTES)
        return self.read(offset - count, count)


def portions(
    source: Source,
    what: Transcript,
    file: File | None,
    *,
    moved: bool = False,
    baseline_to: int = 0,
    take_tail: bool = False,
) -> Iterator[Portion]:
    """Yield what is new in a file, as much at a time as may be committed at once.

    Nothing is yielded for a file that has not changed since ``file`` was written. The portion
    before must be committed before the next is asked for.

    Args:
        source: the open file.
        what: session or subagent.
        file: its row, ``None`` for a new file.
        moved: the row has another path.
        baseline_to: for a new file, bytes that count as written before the first start.
        take_tail: also take an unterminated last line if it parses whole.

    Raises:
        OSError: reading failed.
    """
    verdict = Verdict.GROWN if file is None else source.verdict(file)
    restart = verdict is Verdict.REPLACED
    mark = Mark() if file is None else decode_mark(file.state) or Mark()
    if file is not None and restart:
        # The new file may be the longer one: with something put in front of what was read.
        mark = Mark(reread_to=max(file.offset, mark.reread_to, source.found.size))
    subagent = isinstance(what, SubagentFile)
    begin = 0 if file is None or restart else file.offset
    reader = _resumed(mark, begin, subagent=subagent) or TranscriptReader(subagent=subagent)
    progress = Progress(None if file is None else file.id, mark.turn, mark.reread_to)
    head = (0, None) if file is None or restart else (file.head_length, file.head_hash)
    position, start, read = begin, begin, 0
    events: list[Event] = []
    said: list[HumanPrompt | AssistantText] = []
    held = 0
    counted = (reader.stats.records, reader.stats.skipped, reader.stats.oversize)
    while True:
        chunk = source.read(position, min(CHUNK_BYTES, source.found.size - position))
        position += len(chunk)
        read += len(chunk)
        last = not chunk or position >= source.found.size
        new = reader.feed(chunk) if chunk else []
        if last and take_tail:
            new += reader.take_tail()
        # Most are signs of activity, and to ask `isinstance` of a struct in vain takes long.
        texts = [e for e in new if type(e) is not Activity and isinstance(e, _SAID)]
        events += new
        said += texts
        held += len(new) * _EVENT_BYTES + sum(len(event.text) for event in texts)
        enough = read >= PORTION_BYTES or held >= HELD_BYTES
        if not last and (not enough or reader.offset == start):
            continue
        offset = reader.offset
        if last and _nothing_new(file, source.found, offset, moved=moved, restart=restart):
            return
        if head[0] < HEAD_BYTES:
            length = min(offset, HEAD_BYTES)
            head = (length, digest(source.read(0, length)) if length else None)
        stats = reader.stats
        yield Portion(
            path=source.path,
            relative=source.relative,
            what=what,
            file=file,
            moved=moved and start == begin,
            baseline_to=baseline_to,
            restart=restart and start == begin,
            progress=progress,
            found=source.found,
            start=start,
            offset=offset,
            events=events,
            said=said,
            held=held,
            records=stats.records - counted[0],
            skipped=stats.skipped - counted[1],
            oversize=stats.oversize - counted[2],
            session=reader.session,
            reader=reader.state(),
            head_length=head[0],
            head_hash=head[1],
            anchor=digest(source.before(offset)) if offset else b"",
            pending=reader.pending_bytes,
            last=last,
        )
        if last:
            return
        start, read, held, events, said = offset, 0, 0, [], []
        counted = (stats.records, stats.skipped, stats.oversize)


def moved_from(
    source: Source, what: Transcript, candidates: Sequence[File], root: str
) -> File | None:
    """Return the row of a file that had another path before.

    Args:
        source: the open file.
        what: session or subagent.
        candidates: rows with its device and inode.
        root: the projects directory.
    """
    for file in candidates:
        before = classify(file.path[len(root) + 1 :])
        try:
            still_there = os.path.samestat(os.lstat(file.path), source.status)
        except OSError:
            still_there = False
        # An inode number is used again, and a hard link has the same: neither is a move.
        if (
            not still_there
            and type(before) is type(what)
            and source.verdict(file) is not Verdict.REPLACED
        ):
            return file
    return None


def _nothing_new(
    file: File | None, found: Found, offset: int, *, moved: bool, restart: bool
) -> bool:
    if file is None or moved or restart or file.missing_since is not None:
        return False
    return offset == file.offset and found.size == file.size


def _resumed(mark: Mark, offset: int, *, subagent: bool) -> TranscriptReader | None:
    """Return a reader that goes on at ``offset``, ``None`` if its state does not stand there."""
    try:
        reader = TranscriptReader(subagent=subagent, state=mark.reader)
    except msgspec.MsgspecError:
        return None
    return reader if reader.offset == offset else None
