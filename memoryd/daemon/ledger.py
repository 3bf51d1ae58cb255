"""What each session was given of memory, what its model met of it itself, and who ignores memory.

It is kept in memory and written to the database behind what happens: an answer never waits for a
write transaction, and a service that is killed loses at most the last second. What it lost, and
what happened without it (a fork, a restored database, another machine's hook), it finds in the
transcript, where the client writes down what hooks gave and what the model did.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from io import RawIOBase
from pathlib import Path
from typing import assert_never

from memoryd.clock import Clock
from memoryd.daemon.failures import failure_facts
from memoryd.daemon.kept import Kept
from memoryd.daemon.parentage import parent_of
from memoryd.db.engine import Database
from memoryd.projects import slug
from memoryd.recall.ignoring import Wish, wish
from memoryd.recall.recollection import Held, How, Recollection
from memoryd.regular import open_regular
from memoryd.stores.recollections import (
    ignoring_among,
    put_recollection,
    recollection,
    withheld_among,
)
from memoryd.stores.transcripts import session_path
from memoryd.transcript.framing import LineFramer
from memoryd.transcript.human import typed_words
from memoryd.transcript.memories import Compacted, Given, Remembrance, Said, Touched, remembrances

DELAY_S = 0.5
"""Seconds that a change waits for others before it is written."""

SESSIONS = 256
"""Sessions that are kept in memory beyond those with changes to write."""

_RETRY_S = 5.0
_STEP = 1 << 20


class SessionLedger:
    """Answers what a session has in front of it. For any thread; nothing here waits for a write.

    Args:
        database: with its tables.
        clock: the time.
        transcripts: the projects directory.
        is_memory: whether a path is one of a memory file.
        on_event: told when a write failed.
    """

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        transcripts: Path,
        is_memory: Callable[[str], bool],
        on_event: Callable[..., None],
    ) -> None:
        self._database = database
        self._clock = clock
        self._transcripts = os.path.abspath(transcripts)  # noqa: PTH100 - resolve() would follow links
        self._is_memory = is_memory
        self._on_event = on_event
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._flushing = threading.Lock()
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._writer: threading.Thread | None = None
        self._stopping = False

    # What a session has.

    def given(self, session: str) -> frozenset[str]:
        """Return the memory files that were given to the session or that its model met itself."""
        kept = self._load(session)
        with self._lock:
            return frozenset(kept.known.held)

    def given_bytes(self, session: str) -> int:
        """Return how many bytes of memories were given to the session."""
        kept = self._load(session)
        with self._lock:
            return kept.known.spent

    def was_compacted(self, session: str) -> bool:
        """Whether the conversation of the session was ever compacted, as far as is known."""
        return self._load(session).known.compacted_at > 0

    def ignoring(self, session: str) -> bool:
        """Whether the person said in this session that memory is to be ignored."""
        return self._load(session).known.ignoring

    def ignoring_among(self, sessions: Collection[str]) -> set[str]:
        """Return those of some sessions that ignore memory."""
        with self._database.read() as connection:
            found = ignoring_among(connection, sessions)
        return self._newest(sessions, found, lambda known: known.ignoring)

    def withheld_among(self, sessions: Collection[str]) -> set[str]:
        """Return those of some sessions from which nothing is to be learned."""
        with self._database.read() as connection:
            found = withheld_among(connection, sessions)
        return self._newest(sessions, found, lambda known: known.withheld)

    def _newest(
        self, sessions: Collection[str], found: set[str], is_so: Callable[[Recollection], bool]
    ) -> set[str]:
        """Correct what the database says by what it does not have yet."""
        with self._lock:
            kept = {name: self._kept[name].known for name in sessions if name in self._kept}
            return (found - kept.keys()) | {name for name, known in kept.items() if is_so(known)}

    # What happens to it.

    def give(
        self, session: str, sizes: Mapping[str, int], *, capped: bool = True
    ) -> frozenset[str]:
        """Decide which memories may be given to a session now, and note them as given.

        Whatever is asked at once, each memory is granted once.

        Args:
            session: its id.
            sizes: UTF-8 bytes of the text of each, by absolute path of the memory file, best first.
            capped: heed the limit of a session.
        """
        kept = self._load(session)
        now = self._clock.now()
        with self._lock:
            kept = self._kept.setdefault(session, kept)
            granted = kept.known.give(sizes, now=now, capped=capped)
            if granted:
                kept.changed |= granted
                self._touch(kept)
        return granted

    def note_given(self, session: str, sizes: Mapping[str, int]) -> None:
        """Note memories that were given whether the session had them or not.

        Args:
            session: its id.
            sizes: UTF-8 bytes given, by absolute path of the memory file.
        """
        now = self._clock.now()
        self._note(session, {path: Held(How.GIVEN, size, now) for path, size in sizes.items()})

    def note_touched(self, session: str, path: str, how: How | str) -> None:
        """Note that the model itself read, wrote or edited a file; only memories are kept.

        Args:
            session: its id.
            path: absolute.
            how: ``read``, ``written`` or ``edited``.
        """
        if path.startswith("/") and self._is_memory(path):
            self._note(session, {os.path.normpath(path): Held(How(how), 0, self._clock.now())})

    def hear(self, session: str, prompt: str) -> None:
        """Listen to a prompt of a person: "ignore memory", or that it may be used again.

        What programs put into a prompt, commands and notifications are not listened to.
        """
        text = typed_words(prompt)
        said = wish(text) if text else None
        if said is not None:
            self._decide(session, said, self._clock.now())

    def withhold(self, session: str, withheld: bool) -> None:
        """Note whether nothing is to be learned from a session; what is noted last counts."""
        kept = self._load(session)
        with self._lock:
            if kept.known.withheld != withheld:
                kept.known.withheld = withheld
                self._touch(kept)

    def compacted(self, session: str) -> None:
        """Note that the conversation was compacted: what its model had before it is gone."""
        self._compact(session, self._clock.now())

    # The transcript.

    def locate(self, session: str, transcript: str) -> None:
        """Say where the transcript of a session is; a path outside the projects is not believed."""
        plain = os.path.normpath(transcript)
        if plain.startswith(f"{self._transcripts}/") and plain.endswith(f"/{session}.jsonl"):
            kept = self._load(session)
            kept.transcript, kept.located = plain, True

    def follow(self, session: str, roots: Iterable[str]) -> None:
        """Take in what the transcript of a session says since it was last looked at.

        Whoever needs an answer at once does not call it: the first look at a transcript of
        100 MB takes a fraction of a second.

        Args:
            session: its id.
            roots: of the projects that it may belong to, for a transcript that was not read yet.
        """
        kept = self._load(session)
        with kept.reading:
            for path in self._candidates(session, kept, roots):
                try:
                    self._read(session, kept, path)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    self._on_event("transcript_unread", session=session, **failure_facts(error))
                    return
                kept.transcript = path
                return
            if not kept.located:
                kept.transcript = None
            self._inherit(session, kept)

    def is_near(self, session: str) -> bool:
        """Tell whether `follow` would have little to read."""
        return self._load(session).is_near()

    def forked(self, session: str, transcript: str, context_tokens: int) -> None:
        """Note that a session begins with a copy of another's history.

        Until it is in the session's own transcript, what it tells is taken from the other's.

        Args:
            session: its id.
            transcript: path of its own transcript, which need not exist.
            context_tokens: of the copied conversation, as the client says.
        """
        kept = self._load(session)
        with self._lock:
            kept.copied = transcript, context_tokens

    def _inherit(self, session: str, kept: Kept) -> None:
        with self._lock:
            copied, kept.copied = kept.copied, None
        parent = None if copied is None else parent_of(*copied)
        if parent is None:
            return
        try:
            with open_regular(parent) as file:
                self._look_through(session, file, LineFramer(0))
        except OSError as error:
            self._on_event("transcript_unread", session=session, **failure_facts(error))

    def _candidates(self, session: str, kept: Kept, roots: Iterable[str]) -> Iterator[str]:
        """Yield where the transcript may be, the likeliest place first."""
        if kept.transcript is not None:
            yield kept.transcript
        if kept.located:
            return
        with self._database.read() as connection:
            known = session_path(connection, session)
        if known is not None:
            yield known
        for root in roots:
            yield f"{self._transcripts}/{slug(root)}/{session}.jsonl"

    def _read(self, session: str, kept: Kept, path: str) -> None:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size == kept.known.read_to:
                return
            # A shorter file is another one; what was learned of the old one stays.
            framer = LineFramer(kept.known.read_to if size > kept.known.read_to else 0)
            file.seek(framer.offset)
            self._look_through(session, file, framer)
        with self._lock:
            kept = self._kept.setdefault(session, kept)
            if kept.known.read_to != framer.offset:
                kept.known.read_to = framer.offset
                self._touch(kept)

    def _look_through(self, session: str, file: RawIOBase, framer: LineFramer) -> None:
        while chunk := file.read(_STEP):
            for line in framer.feed(chunk):
                for told in remembrances(line.data):
                    self._take(session, told)

    def _take(self, session: str, told: Remembrance) -> None:
        match told:
            case Given(path=path, size=size, at=at):
                self._note(session, {path: Held(How.GIVEN, size, at)})
            case Touched(path=path, use=use, at=at):
                if path.startswith("/") and self._is_memory(path):
                    self._note(session, {os.path.normpath(path): Held(How(use), 0, at)})
            case Said(text=text, at=at):
                said = wish(text)
                if said is not None:
                    self._decide(session, said, at)
            case Compacted(at=at):
                self._compact(session, at)
            case _:
                assert_never(told)

    # Inside.

    def _load(self, session: str) -> Kept:
        with self._lock:
            kept = self._kept.get(session)
            if kept is not None:
                self._kept.move_to_end(session)
                return kept
        with self._database.read() as connection:
            known = recollection(connection, session) or Recollection()
        with self._lock:
            kept = self._kept.setdefault(session, Kept(known))
            self._kept.move_to_end(session)
            self._make_room()
            return kept

    def _make_room(self) -> None:
        spare = len(self._kept) - SESSIONS
        if spare > 0:
            clean = [name for name, kept in self._kept.items() if not (kept.dirty or kept.writes)]
            for name in clean[: min(spare, len(clean) - 1)]:
                del self._kept[name]

    def _note(self, session: str, held: Mapping[str, Held]) -> None:
        kept = self._load(session)
        with self._lock:
            kept = self._kept.setdefault(session, kept)
            noted = {path for path, new in held.items() if kept.known.note(path, new)}
            if noted:
                kept.changed |= noted
                self._touch(kept)

    def _decide(self, session: str, said: Wish, at: float) -> None:
        kept = self._load(session)
        with self._lock:
            kept = self._kept.setdefault(session, kept)
            if kept.known.decide(said, at):
                self._touch(kept)

    def _compact(self, session: str, at: float) -> None:
        kept = self._load(session)
        with self._lock:
            kept = self._kept.setdefault(session, kept)
            if kept.known.compact(at):
                kept.changed &= kept.known.held.keys()
                self._touch(kept)

    # Writing behind.

    def flush(self) -> None:
        """Write what the database does not have yet.

        Raises:
            MemorydError, DBAPIError: it could not be written; it is still known here.
        """
        with self._flushing:  # Or an older state could be written over a newer one.
            self._write()

    def _write(self) -> None:
        batch = []
        with self._lock:
            for session, kept in self._kept.items():
                if kept.dirty:
                    changed = {path: kept.known.held[path] for path in kept.changed}
                    batch.append((session, kept, replace(kept.known, held={}), changed))
                    kept.dirty, kept.changed = False, set()
                    kept.writes += 1
        if not batch:
            return
        now = self._clock.now()
        written = False
        try:
            with self._database.write() as connection:
                for session, _, known, changed in batch:
                    put_recollection(connection, session, known, changed=changed, now=now)
            written = True
        finally:
            with self._lock:
                for _, kept, _, changed in batch:
                    kept.writes -= 1
                    if not written:
                        kept.changed |= changed.keys() & kept.known.held.keys()
                        kept.dirty = True
                self._make_room()

    def stop(self, drain_s: float) -> None:
        """Write what is left; then nothing is written any more."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()
            writer = self._writer
        if writer is not None:
            writer.join(drain_s)
        self.flush()

    def _touch(self, kept: Kept) -> None:
        """Have a session written soon; the lock is held."""
        kept.dirty = True
        if self._writer is None and not self._stopping:
            self._writer = threading.Thread(target=self._run, name="ledger", daemon=True)
            self._writer.start()
        self._wake.notify_all()

    def _run(self) -> None:
        pause = DELAY_S
        while True:
            with self._wake:
                while not self._stopping and not any(k.dirty for k in self._kept.values()):
                    self._wake.wait()
                if not self._stopping:
                    self._wake.wait_for(lambda: self._stopping, pause)
                if self._stopping:
                    return
            try:
                self.flush()
                pause = DELAY_S
            except Exception as error:  # noqa: BLE001 - it stays known, and is tried again
                pause = _RETRY_S
                self._on_event("ledger_not_written", **failure_facts(error))
