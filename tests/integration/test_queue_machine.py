"""Any sequence of moves leaves the queue as a small model in memory says."""

import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from memoryd.clock import ManualClock
from memoryd.db.engine import Database, sqlite_url
from memoryd.db.schema import metadata
from memoryd.errors import LeaseLost
from memoryd.queue.jobs import (
    Cancel,
    Done,
    Job,
    JobState,
    PermanentFailure,
    Priority,
    Snooze,
)
from memoryd.queue.queue import KEEP_S, Lease

from support.jobs import job, make_queue

LEASE_S = 60.0
MAX_ATTEMPTS = 3
FINISHED = set(KEEP_S)


class Move(StrEnum):
    DONE = "done"
    SNOOZE = "snooze"
    CANCEL = "cancel"
    FAIL = "fail"
    DIE = "die"
    RELEASE = "release"


ENDS = {
    Move.DONE: JobState.DONE,
    Move.CANCEL: JobState.CANCELLED,
    Move.DIE: JobState.DEAD,
}


@dataclass
class Row:
    """What the model knows of a job; instants of retries are the queue's own business."""

    key: str
    dedupe: str | None
    state: JobState = JobState.QUEUED
    attempt: int = 0
    worker: str = ""
    lease_until: float = 0.0
    cancel_requested: bool = False
    finished_at: float = 0.0


class QueueMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.database = Database.open(sqlite_url(Path(self.folder.name) / "q.db"))
        with self.database.write() as connection:
            metadata.tables["jobs"].create(connection)
        self.clock = ManualClock()
        self.queue = make_queue(self.database, self.clock)
        self.rows: dict[int, Row] = {}
        self.claims: list[Job] = []

    def teardown(self) -> None:
        assert self.database.integrity_check() == []
        self.database.dispose()
        self.folder.cleanup()

    # What the model expects

    def holds(self, claim: Job) -> bool:
        row = self.rows.get(claim.id)
        return row is not None and (row.state, row.worker, row.attempt) == (
            JobState.RUNNING,
            claim.worker,
            claim.attempt,
        )

    def end(self, row: Row, state: JobState) -> None:
        row.state, row.finished_at = state, self.clock.now()

    def wait_again(self, row: Row, attempt: int) -> None:
        if row.cancel_requested:
            self.end(row, JobState.CANCELLED)
            return
        for twin in self.rows.values():
            if row.dedupe and (twin.dedupe, twin.state) == (row.dedupe, JobState.QUEUED):
                self.end(twin, JobState.CANCELLED)
        row.state, row.attempt = JobState.QUEUED, attempt

    def fail_model(self, row: Row) -> None:
        if row.attempt >= MAX_ATTEMPTS:
            self.end(row, JobState.DEAD)
        else:
            self.wait_again(row, row.attempt)

    # Moves

    @initialize()
    def start(self) -> None:
        assert self.queue.next_due() is None

    @rule(
        key=st.sampled_from("ab"),
        dedupe=st.sampled_from([None, "x", "y"]),
        priority=st.sampled_from([Priority.EXPLICIT, Priority.NORMAL]),
        delay=st.sampled_from([0.0, 30.0]),
    )
    def enqueue(self, key: str, dedupe: str | None, priority: int, delay: float) -> None:
        # As in real use, a dedupe key belongs to one key.
        dedupe = f"{key}{dedupe}" if dedupe else None
        twins = [
            number
            for number, row in self.rows.items()
            if dedupe and (row.dedupe, row.state) == (dedupe, JobState.QUEUED)
        ]
        job_id = self.queue.enqueue_now(
            job(
                key,
                dedupe_key=dedupe,
                priority=priority,
                delay_s=delay,
                deadline_s=90.0,
                max_attempts=MAX_ATTEMPTS,
            )
        )
        if twins:
            assert [job_id] == twins
        else:
            assert job_id not in self.rows
            self.rows[job_id] = Row(key, dedupe)

    @rule(worker=st.sampled_from(["w1", "w2"]))
    def claim(self, worker: str) -> None:
        busy = {row.key for row in self.rows.values() if row.state is JobState.RUNNING}
        due = [
            one
            for one in self.queue.list(states=[JobState.QUEUED])
            if one.run_at <= self.clock.now() and one.key not in busy
        ]
        best = min(due, key=lambda one: (one.priority, one.run_at, one.id), default=None)
        claimed = self.queue.claim(worker, lease_s=LEASE_S)
        assert (claimed and claimed.id) == (best and best.id)
        if claimed is None:
            return
        row = self.rows[claimed.id]
        row.state, row.worker, row.attempt = JobState.RUNNING, worker, row.attempt + 1
        row.lease_until = self.clock.now() + LEASE_S
        assert claimed.attempt == row.attempt
        # A worker that claims again has dropped what it held before under the same numbers.
        self.claims = [
            old
            for old in self.claims
            if (old.id, old.worker, old.attempt) != (claimed.id, worker, claimed.attempt)
        ] + [claimed]

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def beat(self, data: st.DataObject) -> None:
        claim = data.draw(st.sampled_from(self.claims))
        held = self.holds(claim)
        lease = self.queue.heartbeat(claim, LEASE_S)
        assert (lease is not Lease.LOST) == held
        if held:
            row = self.rows[claim.id]
            assert (lease is Lease.CANCEL_REQUESTED) == row.cancel_requested
            row.lease_until = self.clock.now() + LEASE_S

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), move=st.sampled_from(Move))
    def settle(self, data: st.DataObject, move: Move) -> None:
        claim = data.draw(st.sampled_from(self.claims))
        held = self.holds(claim)
        try:
            self.make(move, claim)
        except LeaseLost:
            assert not held
            return
        assert held
        row = self.rows[claim.id]
        match move:
            case Move.DONE | Move.CANCEL | Move.DIE:
                self.end(row, ENDS[move])
            case Move.FAIL:
                self.fail_model(row)
            case Move.SNOOZE | Move.RELEASE:
                self.wait_again(row, row.attempt - 1)

    def make(self, move: Move, claim: Job) -> None:
        match move:
            case Move.DONE:
                self.queue.finish(claim, Done())
            case Move.SNOOZE:
                self.queue.finish(claim, Snooze(self.clock.now() + 45, "budget"))
            case Move.CANCEL:
                self.queue.finish(claim, Cancel("no reason left"))
            case Move.FAIL:
                self.queue.fail(claim, ValueError())
            case Move.DIE:
                self.queue.fail(claim, PermanentFailure("no"))
            case Move.RELEASE:
                self.queue.release(claim)

    @rule(seconds=st.sampled_from([1.0, 31.0, 61.0, 1000.0]))
    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule()
    def rescue(self) -> None:
        expired = [
            row
            for _, row in sorted(self.rows.items())
            if row.state is JobState.RUNNING and row.lease_until <= self.clock.now()
        ]
        assert self.queue.rescue(self.clock.now()) == len(expired)
        for row in expired:
            self.fail_model(row)

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.rows)))
        row = self.rows[number]
        assert self.queue.cancel(number) == (row.state not in FINISHED)
        if row.state is JobState.QUEUED:
            self.end(row, JobState.CANCELLED)
        elif row.state is JobState.RUNNING:
            row.cancel_requested = True

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.rows)))
        row = self.rows[number]
        again = row.state in {JobState.DEAD, JobState.CANCELLED}
        assert self.queue.retry(number) == again
        if again:
            row.cancel_requested = False
            self.wait_again(row, 0)
            # Attempts start anew, so claims of before are told apart by nothing but their end.
            self.claims = [one for one in self.claims if one.id != number]

    @rule()
    def prune(self) -> None:
        old = [
            number
            for number, row in self.rows.items()
            if row.state in FINISHED and row.finished_at <= self.clock.now() - KEEP_S[row.state]
        ]
        assert self.queue.prune(self.clock.now()) == len(old)
        for number in old:
            del self.rows[number]

    @rule()
    def a_day_passes(self) -> None:
        self.clock.advance(86_400.0)

    @invariant()
    def the_rows_are_the_models(self) -> None:
        found = {one.id: one for one in self.queue.list(limit=1000)}
        assert {number: (one.key, one.state, one.attempt) for number, one in found.items()} == {
            number: (row.key, row.state, row.attempt) for number, row in self.rows.items()
        }
        running = [one.key for one in found.values() if one.state is JobState.RUNNING]
        assert len(running) == len(set(running))


TestQueueMachine = QueueMachine.TestCase
TestQueueMachine.settings = settings(deadline=None, max_examples=40, stateful_step_count=40)
