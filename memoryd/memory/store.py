"""The memories of one project: looking at them, changing them, taking changes back.

Whoever changes a memory looks first (``scan``), decides, and hands in the change together with
what was seen (``apply``). Under the lock of the directory each file is compared with that; what
the client or a person did meanwhile wins, and the change to that file is dropped. The journal holds
the bytes before and after, on disk, before a file is touched. Topics come first, the index second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import assert_never

from memoryd.clock import Clock
from memoryd.errors import MemoryConflict, MemorydError, NotFound, UnsafePath
from memoryd.extraction.operations import Evidence
from memoryd.memory import external, upkeep
from memoryd.memory.changes import (
    Applied,
    AppliedGroup,
    Change,
    Dropped,
    Planned,
    Remove,
    Write,
    plan,
)
from memoryd.memory.directory import MemoryDirectory, OnStep
from memoryd.memory.journal import Action, Draft, EntryState, Journal
from memoryd.memory.snapshot import Snapshot, scan

LOCK_WAIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Recovered:
    """What ``recover`` settled.

    Attributes:
        done: entries whose change had reached the disk.
        aborted: entries whose change had not; what is on disk was kept.
        snapshot: the directory afterwards.
    """

    done: tuple[int, ...]
    aborted: tuple[int, ...]
    snapshot: Snapshot


def _silent(_step: str) -> None:
    """Tell nobody."""


class MemoryStore:
    """One memory directory.

    Args:
        directory: absolute; it is made at the first write.
        project_root: the project that the memories written here are about.
        journal: where changes are kept.
        clock: the time.
        rng: source of the names of groups and temporary files.
        on_step: told before each step of a change that may be the last; tests stop it there.
        lock_wait_s: how long another writer is waited for: a command and a job, or the jobs of
            two projects with one directory, may meet.
    """

    def __init__(
        self,
        directory: Path,
        *,
        project_root: str,
        journal: Journal,
        clock: Clock,
        rng: Random,
        on_step: OnStep = _silent,
        lock_wait_s: float = LOCK_WAIT_S,
    ) -> None:
        self.directory = directory
        self.project_root = project_root
        self._journal = journal
        self._clock = clock
        self._rng = rng
        self._on_step = on_step
        self._lock_wait_s = lock_wait_s

    def scan(self, previous: Snapshot | None = None) -> Snapshot:
        """Look at the directory; what did not change since ``previous`` is not read again.

        A missing directory is an empty one. What cannot be read becomes a warning.

        Raises:
            UnsafePath: the directory is a link or not the user's own.
            MemorydError: it cannot be listed.
        """
        with MemoryDirectory.open(self.directory) as folder:
            return scan(self.directory, folder, previous)

    def apply(
        self,
        changes: Sequence[Change],
        *,
        based_on: Snapshot,
        actor: str,
        group: str | None = None,
    ) -> AppliedGroup:
        """Make changes decided on the sight of ``based_on``.

        A change whose file is no longer as seen, or that cannot be made (broken frontmatter, an
        unsafe name), is dropped and journaled as rejected; the others go on. A change that
        leaves the bytes as they are is not written. Making the same changes again changes nothing.

        Args:
            changes: at most one per memory.
            based_on: what the decision was based on.
            actor: who decides, for the journal.
            group: id that keeps these changes together; a new one when ``None``.

        Raises:
            MemoryBusy: another writer holds the directory; nothing was done.
            UnsafePath: the directory is a link or not the user's own; nothing was done.
            MemorydError: a file could not be written; ``recover`` settles what was begun.
            ValueError: two changes of the same memory.
        """
        if len({change.name for change in changes}) != len(changes):
            raise ValueError("two changes of the same memory in one group")
        group = group or self._token()
        creates = any(isinstance(change, Write) for change in changes)
        with self._locked(create=creates) as folder:
            now = self._settled(folder, based_on)
            planned: list[Planned] = []
            dropped: list[Dropped] = []
            unchanged: list[str] = []
            for change in changes:
                try:
                    made = plan(change, based_on, now, at=self._clock.now())
                except MemorydError as error:
                    self.reject(
                        change.name,
                        action=_action(change, now),
                        reason=str(error),
                        actor=actor,
                        evidence=change.evidence,
                        group=group,
                    )
                    dropped.append(Dropped(change.name, error))
                else:
                    if made is None:
                        unchanged.append(change.name)
                    else:
                        planned.append(made)
            applied, conflicts = self._carry_out(folder, planned, actor=actor, group=group)
            after, warnings = self._index(folder, now, planned)
            self._journal.commit([entry.id for entry in applied])
            self._on_step("committed")
        return AppliedGroup(
            group=group,
            applied=applied,
            dropped=(*dropped, *conflicts),
            unchanged=tuple(unchanged),
            warnings=warnings,
            snapshot=after,
        )

    def undo(self, entry: int, *, actor: str = "person") -> AppliedGroup:
        """Take a change back: the bytes and the mtime of before. That is journaled too.

        Raises:
            NotFound: this directory's journal has no such change.
            MemoryConflict: the memory changed since, or was taken back already.
            MemoryBusy: another writer holds the directory.
            MemorydError: it cannot be written.
        """
        found = self._journal.get(entry)
        if found.directory != str(self.directory):
            raise NotFound(f"change {entry} is not about a memory of {self.directory}")
        if found.state is not EntryState.DONE:
            raise NotFound(f"change {entry} was never made ({found.state})")
        group = self._token()
        with self._locked(create=found.before is not None) as folder:
            now = self._settled(folder, None)
            topic = now.topics.get(found.name)
            if (topic.raw if topic is not None else None) != found.after:
                raise MemoryConflict(
                    f"the memory {found.name!r} changed since change {entry} was made",
                    hint="take back the later changes first: memoryctl log shows them",
                )
            back = Planned(
                name=found.name,
                before=topic,
                after=found.before,
                after_mtime_ns=found.before_mtime_ns,
                reason=f"takes back change {entry}",
                evidence=found.evidence,
                undoes=entry,
            )
            applied, conflicts = self._carry_out(folder, [back], actor=actor, group=group)
            if conflicts:
                raise conflicts[0].error
            after, warnings = self._index(folder, now, [back])
            self._journal.commit([made.id for made in applied])
            self._on_step("committed")
        return AppliedGroup(
            group=group,
            applied=applied,
            dropped=(),
            unchanged=(),
            warnings=warnings,
            snapshot=after,
        )

    def recover(self) -> Recovered:
        """Settle what a writer that died left behind; call at start, harmless at any time.

        An intent whose bytes are on disk is done; any other is aborted, and what is on disk stays.
        Temporary files go, changes by others are journaled, and the index is made to agree.

        Raises:
            MemoryBusy: another writer holds the directory.
            UnsafePath: the directory is a link or not the user's own.
            MemorydError: it cannot be read or written.
        """
        with self._locked(create=False) as folder:
            done, aborted = self._settle(folder)
            if folder is not None:
                folder.sweep()
            now = scan(self.directory, folder, None)
            self._record_external(now)
            after, _ = self._index(folder, now, ())
        return Recovered(done, aborted, after)

    def record_external(self, snapshot: Snapshot | None = None) -> Snapshot:
        """Journal what the client or a person changed since the journal's last knowledge.

        Args:
            snapshot: an earlier look, to save reading what did not change since.

        Returns:
            The directory as it was journaled.

        Raises:
            MemoryBusy: another writer holds the directory.
            UnsafePath: the directory is a link or not the user's own.
            MemorydError: it cannot be read.
        """
        with self._locked(create=False) as folder:
            return self._settled(folder, snapshot)

    def reject(
        self,
        name: str,
        *,
        action: Action,
        reason: str,
        actor: str,
        evidence: tuple[Evidence, ...] = (),
        content: bytes | None = None,
        group: str | None = None,
    ) -> int:
        """Journal a change that was refused; return the id of the entry.

        Args:
            name: of the memory it was about.
            action: what it would have been.
            reason: why not, in words.
            actor: who asked for it.
            evidence: what it stood on.
            content: bytes the file would have had, if worth keeping.
            group: id of the changes it came with.
        """
        return self._journal.reject(
            Draft(
                group=group or self._token(),
                at=self._clock.now(),
                directory=str(self.directory),
                project_root=self.project_root,
                name=name,
                action=action,
                actor=actor,
                reason=reason,
                after=content,
                evidence=evidence,
            )
        )

    @contextmanager
    def _locked(self, *, create: bool) -> Iterator[MemoryDirectory | None]:
        with MemoryDirectory.open(self.directory, create=create) as folder:
            if folder is None:
                yield None
                return
            with folder.lock(self._lock_wait_s):
                self._on_step("locked")
                yield folder

    def _settled(self, folder: MemoryDirectory | None, previous: Snapshot | None) -> Snapshot:
        """Return the directory now, after intents and changes by others are in the journal."""
        self._settle(folder)
        now = scan(self.directory, folder, previous)
        self._record_external(now)
        return now

    def _settle(self, folder: MemoryDirectory | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
        done: list[int] = []
        aborted: list[int] = []
        for intent in self._journal.intents(str(self.directory)):
            try:
                found = None if folder is None else folder.read(f"{intent.name}.md")
            except UnsafePath as error:
                self._journal.abort(intent.id, str(error))
                aborted.append(intent.id)
                continue
            raw = None if found is None else found.raw
            if raw == intent.after:
                done.append(intent.id)
            else:
                self._journal.abort(
                    intent.id,
                    "the writer stopped before it"
                    if raw == intent.before
                    else "somebody else changed the file; what is on disk was kept",
                )
                aborted.append(intent.id)
        self._journal.commit(done)
        return tuple(done), tuple(aborted)

    def _carry_out(
        self,
        folder: MemoryDirectory | None,
        planned: Sequence[Planned],
        *,
        actor: str,
        group: str,
    ) -> tuple[tuple[Applied, ...], tuple[Dropped, ...]]:
        """Journal all intents at once, then touch the files one by one."""
        if folder is None or not planned:
            return (), ()
        ids = self._journal.begin([self._draft(made, actor, group) for made in planned])
        self._on_step("journaled")
        applied: list[Applied] = []
        dropped: list[Dropped] = []
        for number, made in zip(ids, planned, strict=True):
            try:
                self._touch(folder, made)
            except (MemoryConflict, UnsafePath) as error:
                self._journal.abort(number, str(error))
                dropped.append(Dropped(made.name, error))
            else:
                applied.append(Applied(number, made.name, made.action))
            self._on_step(f"touched {made.name}")
        return tuple(applied), tuple(dropped)

    def _touch(self, folder: MemoryDirectory, made: Planned) -> None:
        before = None if made.before is None else made.before.raw
        if made.after is not None:
            folder.write(
                f"{made.name}.md",
                made.after,
                expected=before,
                mtime_ns=made.after_mtime_ns,
                token=self._token(),
                on_step=self._on_step,
            )
        elif before is not None:
            folder.remove(f"{made.name}.md", expected=before)

    def _draft(self, made: Planned, actor: str, group: str) -> Draft:
        return Draft(
            group=group,
            at=self._clock.now(),
            directory=str(self.directory),
            project_root=self.project_root,
            name=made.name,
            action=made.action,
            actor=actor,
            reason=made.reason,
            before=None if made.before is None else made.before.raw,
            before_mtime_ns=None if made.before is None else made.before.mtime_ns,
            after=made.after,
            after_mtime_ns=made.after_mtime_ns,
            evidence=made.evidence,
            undoes=made.undoes,
        )

    def _record_external(self, now: Snapshot) -> None:
        directory = str(self.directory)
        suspects = external.suspects(now, self._journal.known(directory))
        if not suspects:
            return
        drafts = external.drafts(
            now,
            suspects,
            self._journal.latest(directory, suspects),
            project_root=self.project_root,
            at=self._clock.now(),
            group=self._token(),
        )
        if drafts:
            self._journal.record(drafts)

    def _index(
        self, folder: MemoryDirectory | None, earlier: Snapshot, made: Sequence[Planned]
    ) -> tuple[Snapshot, tuple[str, ...]]:
        """Make the index agree with the topics; return the directory, and its warnings."""
        after = scan(self.directory, folder, earlier)
        if folder is None:
            return after, ()
        self._on_step("index")
        return upkeep.keep_index(
            folder,
            after,
            self._journal,
            changed={change.name for change in made},
            token=self._token,
            on_step=self._on_step,
        )

    def _token(self) -> str:
        return f"{self._rng.getrandbits(64):016x}"


def _action(change: Change, now: Snapshot) -> Action:
    match change:
        case Write():
            return Action.UPDATE if change.name in now.topics else Action.CREATE
        case Remove():
            return Action.DELETE
        case _:
            assert_never(change)
