"""The job that learns: ended turns of one project in, changed memory files out.

Decide (`propose`, then `check`), apply (`MemoryStore`), and only then, in one transaction with
the end of the job, mark the turns as handled. A crash before that repeats the job; proposing again
on what is already kept proposes nothing, so nothing is learned twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from memoryd.admission import Admission
from memoryd.clock import Clock
from memoryd.db.engine import Database
from memoryd.errors import MemoryBusy, MemoryConflict, MemorydError
from memoryd.extraction.checks import MOST_OPERATIONS, check
from memoryd.extraction.operations import (
    Delete,
    ExtractionInput,
    Operation,
    Rejected,
    TurnInput,
    Verdict,
)
from memoryd.jobs.applying import action_of, change_of, distinct, existing, graves, own
from memoryd.jobs.reading import TurnGone, TurnMoved, read_turn
from memoryd.memory.journal import Action
from memoryd.memory.library import MemoryLibrary
from memoryd.memory.snapshot import Snapshot
from memoryd.memory.store import MemoryStore
from memoryd.queue.jobs import (
    Done,
    Job,
    Outcome,
    PermanentFailure,
    Snooze,
    TransientFailure,
)
from memoryd.queue.queue import Queue
from memoryd.queue.requests import extract_job
from memoryd.queue.worker import JobContext
from memoryd.stores.backlog import DueTurn, due_turns, mark_handled
from memoryd.stores.journal import SqlJournal
from memoryd.stores.projects import by_id

ACTOR = "extract"
TURNS_AT_ONCE = 50
BYTES_AT_ONCE = 32 * 2**20
BUSY_S = 5.0
UNWRITABLE_S = 600.0
PAUSED_S = 3600.0
_TRIES = 3

Propose = Callable[[ExtractionInput], list[Operation]]


@dataclass(slots=True)
class _Found:
    """Turns as they stand in their files, and those whose files cannot be read, with the reason."""

    turns: list[tuple[DueTurn, TurnInput]] = field(default_factory=list)
    unreadable: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Report:
    """What a run did, for ``memoryctl jobs show``."""

    turns: int = 0
    gone: int = 0
    failed: int = 0
    withheld: int = 0
    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    rejected: int = 0
    skipped: str = ""
    warnings: list[str] = field(default_factory=list)


class Extract:
    """The handler of `JobKind.EXTRACT`.

    Args:
        database: where the turns are.
        queue: for the next portion.
        library: the memory directories.
        journal: for tombstones.
        transcripts: the projects directory.
        propose: who reads the turns and proposes operations.
        clock: the time.
        withheld: returns those of some sessions from which nothing is to be learned.
        admission: what may be learned from.
    """

    def __init__(
        self,
        *,
        database: Database,
        queue: Queue,
        library: MemoryLibrary,
        journal: SqlJournal,
        transcripts: Path,
        propose: Propose,
        clock: Clock,
        withheld: Callable[[Collection[str]], set[str]],
        admission: Callable[[], Admission] = Admission,
    ) -> None:
        self._database = database
        self._queue = queue
        self._library = library
        self._journal = journal
        self._transcripts = transcripts
        self._propose = propose
        self._clock = clock
        self._withheld = withheld
        self._admission = admission

    def __call__(self, context: JobContext, job: Job) -> Outcome:
        """Learn from a portion of the project's ended turns; the rest becomes the next job.

        Raises:
            TransientFailure: a file changed under the job; the queue tries again.
            PermanentFailure: the job names no project.
        """
        with self._database.read() as connection:
            project = by_id(connection, int(job.payload["project"]))
            if project is None:
                raise PermanentFailure(f"there is no project {job.payload['project']}")
            due = due_turns(connection, project.id, limit=TURNS_AT_ONCE + 1)
        portion = _portion(due)
        report = _Report()
        handled = [turn.id for turn in portion]
        if portion and self._admission().paused(project.root):
            return Snooze(self._clock.now() + PAUSED_S, "paused; go on with: memoryctl resume")
        report.skipped = self._skipped(project.root)
        if report.skipped:
            report.turns = len(portion)
        elif portion:
            if not self._transcripts.is_dir():
                # More likely not mounted than emptied: the turns wait.
                reason = f"{self._transcripts} is not there"
                return Snooze(self._clock.now() + UNWRITABLE_S, reason)
            last_attempt = job.attempt >= job.max_attempts
            withheld = self._withheld({turn.session for turn in portion})
            told = [turn for turn in portion if turn.session not in withheld]
            report.withheld = len(portion) - len(told)
            found = self._read(told, report, last_attempt=last_attempt)
            context.check_cancelled()
            store = self._library.store(project.root)
            try:
                learned = self._learn_from(store, found.turns, report, one_by_one=last_attempt)
            except MemoryBusy as error:
                return Snooze(self._clock.now() + BUSY_S, str(error))
            except MemoryConflict as error:
                raise TransientFailure(str(error)) from error
            except MemorydError as error:
                # A directory that cannot be written is a person's to mend; the turns wait.
                return Snooze(self._clock.now() + UNWRITABLE_S, str(error))
            left = {due.id for due, _ in found.turns[learned:]} | found.unreadable.keys()
            handled = [turn for turn in handled if turn not in left]
            report.turns = len(handled)
            if found.unreadable and len(left) == len(found.unreadable):
                # The others must not wait for what a person has to mend.
                with self._database.write() as connection:
                    mark_handled(connection, handled, now=self._clock.now())
                reason = next(iter(found.unreadable.values()))
                return Snooze(self._clock.now() + UNWRITABLE_S, reason)
        return Done(
            effects=partial(self._finish, project.id, handled, len(due)),
            result={
                name: value
                for name, value in (
                    ("turns", report.turns),
                    ("gone", report.gone),
                    ("failed", report.failed),
                    ("withheld", report.withheld),
                    ("created", report.created),
                    ("updated", report.updated),
                    ("deleted", report.deleted),
                    ("rejected", report.rejected),
                    ("skipped", report.skipped),
                    ("warnings", report.warnings),
                )
                if value
            },
        )

    def _skipped(self, root: str) -> str:
        """Return why nothing may be learned in a project, or an empty string."""
        if self._admission().excludes(root):
            return "the settings exclude the project"
        forbidden = self._library.may_write(root)
        return "" if forbidden is None else f"the client's auto-memory is off: {forbidden.why}"

    def _finish(
        self, project_id: int, handled: Sequence[int], due: int, connection: Connection
    ) -> None:
        mark_handled(connection, handled, now=self._clock.now())
        if due > len(handled):
            rest = due_turns(connection, project_id, limit=1)
            if rest:
                self._queue.enqueue(connection, extract_job(project_id, explicit=False))

    def _read(self, portion: Sequence[DueTurn], report: _Report, *, last_attempt: bool) -> _Found:
        found = _Found()
        for due in portion:
            try:
                found.turns.append((due, read_turn(self._transcripts, due)))
            except (TurnGone, TurnMoved) as error:
                # Unless ingestion knows that it was deleted, it was moved and will be found again.
                if not due.missing and not last_attempt:
                    raise TransientFailure(str(error)) from error
                report.gone += 1
            except OSError as error:
                found.unreadable[due.id] = f"cannot read {due.path}: {error.strerror}"
        return found

    def _learn_from(
        self,
        store: MemoryStore,
        found: Sequence[tuple[DueTurn, TurnInput]],
        report: _Report,
        *,
        one_by_one: bool,
    ) -> int:
        """Learn from the first turns, as many as one batch of operations holds; return how many.

        A turn that breaks the extractor would block its project for ever: on the job's last
        attempt the turns are tried one by one and the culprit is passed over, counted.
        """
        turns = [turn for _, turn in found]
        if not one_by_one:
            return self._learn(store, turns, report) if turns else 0
        for turn in turns:
            try:
                self._learn(store, [turn], report)
            except MemorydError:
                raise
            except Exception:  # noqa: BLE001 - whatever it is, the other turns must go on
                report.failed += 1
        return len(turns)

    def _learn(self, store: MemoryStore, turns: Sequence[TurnInput], report: _Report) -> int:
        """Propose, check and apply; again on a fresh look when a memory changed meanwhile.

        Returns:
            How many of the turns were looked at: fewer if all would make too many operations.

        Raises:
            MemorydError: the memory directory cannot be written, or keeps changing.
        """
        conflict: MemorydError | None = None
        for _ in range(_TRIES):
            seen = store.record_external()
            given = self._given(store, seen, turns)
            proposed = self._propose(given)
            while len(proposed) > MOST_OPERATIONS and len(given.turns) > 1:
                given = replace(given, turns=given.turns[: len(given.turns) // 2])
                proposed = self._propose(given)
            verdict = check(given, proposed)
            accepted = self._not_taken_back(store, verdict)
            self._bury(store, seen, accepted)
            taken = set(seen.topics) | seen.unreadable
            group = store.apply(
                [change_of(operation) for operation in distinct(accepted, taken)],
                based_on=seen,
                actor=ACTOR,
            )
            for refused in verdict.rejected:
                store.reject(
                    refused.operation.name,
                    action=action_of(refused.operation),
                    reason=refused.reason,
                    actor=ACTOR,
                    evidence=refused.operation.evidence,
                    group=group.group,
                )
            report.rejected += len(verdict.rejected)
            report.warnings = list(group.warnings)
            for made in group.applied:
                names = {
                    Action.CREATE: report.created,
                    Action.UPDATE: report.updated,
                    Action.DELETE: report.deleted,
                }[made.action]
                names.append(made.name)
            conflict = next(
                (lost.error for lost in group.dropped if isinstance(lost.error, MemoryConflict)),
                None,
            )
            if conflict is None:
                return len(given.turns)
        assert conflict is not None  # noqa: S101 - the loop ends in no other way
        raise conflict

    def _not_taken_back(self, store: MemoryStore, verdict: Verdict) -> list[Operation]:
        """Return the accepted operations without those that were made before, from these words.

        They are proposed again after a crash, and only if somebody took them back meanwhile.
        """
        directory = str(store.directory)
        fresh = []
        for operation in verdict.accepted:
            if all(self._journal.has_evidence(directory, one) for one in operation.evidence):
                reason = "what was made of this evidence was taken back since"
                verdict.rejected.append(Rejected(operation, reason))
            else:
                fresh.append(operation)
        return fresh

    def _given(
        self, store: MemoryStore, seen: Snapshot, turns: Sequence[TurnInput]
    ) -> ExtractionInput:
        return ExtractionInput(
            turns=tuple(turns),
            memories=tuple(existing(topic) for topic in own(self._journal, store, seen).values()),
            tombstones=self._journal.tombstones(store.project_root),
            today=self._clock.now(),
        )

    def _bury(self, store: MemoryStore, seen: Snapshot, accepted: Iterable[Operation]) -> None:
        """Leave tombstones before what a person asked to forget is removed."""
        dug = [
            grave
            for operation in accepted
            if isinstance(operation, Delete)
            and operation.explicit
            and (topic := seen.topics.get(operation.name)) is not None
            for grave in graves(self._journal, store, topic, at=self._clock.now())
        ]
        if dug:
            self._journal.bury(store.project_root, dug)


def _portion(due: Sequence[DueTurn]) -> list[DueTurn]:
    """Return the first turns, as many as one run should read; at least one."""
    portion: list[DueTurn] = []
    size = 0
    for turn in due[:TURNS_AT_ONCE]:
        size += turn.end - turn.start
        if portion and size > BYTES_AT_ONCE:
            break
        portion.append(turn)
    return portion
