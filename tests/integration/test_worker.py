"""The loop that runs jobs. Nothing here sleeps: tests wait for what the worker tells."""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from memoryd.clock import ManualClock
from memoryd.db.engine import Database
from memoryd.errors import LeaseLost
from memoryd.queue.heartbeats import Heartbeats
from memoryd.queue.jobs import (
    Cancel,
    Done,
    Job,
    JobKind,
    JobState,
    Outcome,
    PermanentFailure,
    Priority,
    Snooze,
)
from memoryd.queue.queue import Queue
from memoryd.queue.worker import GIVE_WAY_S, Handler, JobContext, Worker
from sqlalchemy import Connection

from support.jobs import Events, job, make_queue

DRAIN_S = 20.0
LONG_S = 3600.0


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def queue(sqlite_database: Database, clock: ManualClock) -> Queue:
    return make_queue(sqlite_database, clock)


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
def heartbeats(queue: Queue, events: Events) -> Iterator[Heartbeats]:
    heartbeats = Heartbeats(queue, lease_s=LONG_S, on_event=events)
    heartbeats.start()
    yield heartbeats
    heartbeats.stop()


Start = Callable[..., Worker]


@pytest.fixture
def start(
    queue: Queue, clock: ManualClock, events: Events, heartbeats: Heartbeats
) -> Iterator[Start]:
    """Start a worker with handlers; it is stopped at the end of the test."""
    workers: list[Worker] = []

    def start(
        handler: Handler,
        *,
        name: str = "w",
        max_priority: int | None = None,
        first: Callable[[], bool] = lambda: False,
    ) -> Worker:
        handlers: Mapping[JobKind, Handler] = {JobKind.EXTRACT: handler}
        worker = Worker(
            queue,
            handlers,
            worker_id=name,
            clock=clock,
            heartbeats=heartbeats,
            max_priority=max_priority,
            first=first,
            on_event=events,
        )
        worker.start()
        workers.append(worker)
        return worker

    yield start
    for worker in workers:
        worker.stop(DRAIN_S)


def test_an_idle_worker_runs_a_job_as_soon_as_it_is_committed(
    sqlite_database: Database, queue: Queue, events: Events, start: Start
) -> None:
    start(lambda _context, got: Done(result=got.payload))
    events.wait_for("idle")
    with sqlite_database.write() as connection:
        job_id = queue.enqueue(connection, job(payload={"n": 1}))
    facts = events.wait_for("done")
    assert (facts["job"], facts["kind"], facts["key"]) == (job_id, JobKind.EXTRACT, "project")
    assert queue.get(job_id).result == {"n": 1}


class Reading:
    """Work that goes first, and how often a worker asked for it."""

    def __init__(self) -> None:
        self.goes_on = True
        self._asked = threading.Semaphore(0)

    def __call__(self) -> bool:
        self._asked.release()
        return self.goes_on

    def wait_for(self, times: int) -> None:
        for _ in range(times):
            assert self._asked.acquire(timeout=DRAIN_S)


def test_a_worker_begins_nothing_while_other_work_goes_first(
    queue: Queue, events: Events, start: Start
) -> None:
    reading = Reading()
    job_id = queue.enqueue_now(job())
    start(lambda _context, _job: Done(), first=reading)

    reading.wait_for(3)
    assert queue.get(job_id).state is JobState.QUEUED

    reading.goes_on = False
    events.wait_for("done")


def test_a_worker_does_not_give_way_for_ever(
    queue: Queue, clock: ManualClock, events: Events, start: Start
) -> None:
    reading = Reading()
    queue.enqueue_now(job())
    start(lambda _context, _job: Done(), first=reading)

    reading.wait_for(2)
    clock.advance(GIVE_WAY_S)
    events.wait_for("done")
    assert reading.goes_on


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Done(), JobState.DONE),
        (Snooze(9e9, "budget"), JobState.QUEUED),
        (Cancel("gone"), JobState.CANCELLED),
        (ValueError("private text"), JobState.QUEUED),
        (PermanentFailure("status 400"), JobState.DEAD),
    ],
)
def test_every_outcome_is_recorded_and_told(
    queue: Queue, events: Events, start: Start, outcome: Any, state: JobState
) -> None:
    def handler(_context: JobContext, _job: Job) -> Outcome:
        if isinstance(outcome, Exception):
            raise outcome
        settled: Outcome = outcome
        return settled

    job_id = queue.enqueue_now(job())
    start(handler)
    events.wait_for(state.value)
    assert queue.get(job_id).state is state
    assert "private text" not in f"{events.seen} {queue.get(job_id)}"


def test_effects_that_raise_fail_the_job(queue: Queue, events: Events, start: Start) -> None:
    def effects(_connection: Connection) -> None:
        raise PermanentFailure("the memory directory is gone")

    job_id = queue.enqueue_now(job())
    start(lambda _context, _job: Done(effects))
    events.wait_for("dead")
    assert queue.get(job_id).error == "the memory directory is gone"


def test_a_finished_job_frees_its_key_for_the_other_worker(
    queue: Queue, events: Events, start: Start
) -> None:
    entered, leave = threading.Semaphore(0), threading.Semaphore(0)

    def handler(_context: JobContext, _job: Job) -> Outcome:
        entered.release()
        leave.acquire()
        return Done()

    for _ in range(2):
        queue.enqueue_now(job("same"))
    start(handler, name="w1")
    start(handler, name="w2")
    entered.acquire()
    events.wait_for("idle")
    leave.release()
    events.wait_for("done", times=1)
    entered.acquire()
    leave.release()
    events.wait_for("done", times=2)


def test_a_reserved_worker_leaves_background_work_alone(
    queue: Queue, events: Events, start: Start
) -> None:
    start(lambda _context, _job: Done(), max_priority=Priority.EXPLICIT)
    queue.enqueue_now(job("a"))
    explicit = queue.enqueue_now(job("b", priority=Priority.EXPLICIT))
    assert events.wait_for("done")["job"] == explicit
    assert queue.counts()[JobState.QUEUED] == 1


def test_a_job_due_later_is_waited_for(
    queue: Queue, clock: ManualClock, events: Events, start: Start
) -> None:
    queue.enqueue_now(job(delay_s=10))
    worker = start(lambda _context, _job: Done())
    assert events.wait_for("idle")["due"] == clock.now() + 10
    clock.advance(10)
    worker.wake()
    events.wait_for("done")
    assert worker.last_tick == clock.monotonic()


def test_a_running_job_that_is_cancelled_stops_at_its_next_check(
    queue: Queue, events: Events, start: Start
) -> None:
    beaten = threading.Event()

    def handler(context: JobContext, _job: Job) -> Outcome:
        beaten.wait()
        context.check_cancelled()
        return Done()

    job_id = queue.enqueue_now(job())
    worker = start(handler)
    events.wait_for("claimed")
    assert worker.busy
    queue.cancel(job_id)
    events.wait_for("heartbeat")
    beaten.set()
    events.wait_for("cancelled")
    assert queue.get(job_id).state is JobState.CANCELLED


def test_stop_lets_the_running_job_finish(queue: Queue, events: Events, start: Start) -> None:
    leave = threading.Event()

    def handler(_context: JobContext, _job: Job) -> Outcome:
        leave.wait()
        return Done()

    first = queue.enqueue_now(job("a"))
    second = queue.enqueue_now(job("b"))
    worker = start(handler)
    events.wait_for("claimed")
    leave.set()
    assert worker.stop(DRAIN_S)
    assert queue.get(first).state is JobState.DONE
    assert events.names()[-1] == "stopped"
    assert queue.get(second).state in {JobState.QUEUED, JobState.DONE}


def test_stop_gives_a_job_back_that_does_not_end_in_time(
    queue: Queue, events: Events, start: Start
) -> None:
    leave = threading.Event()

    def handler(_context: JobContext, _job: Job) -> Outcome:
        leave.wait()
        return Done()

    job_id = queue.enqueue_now(job())
    worker = start(handler)
    events.wait_for("claimed")
    assert not worker.stop(0.0)
    events.wait_for("released")
    released = queue.get(job_id)
    assert (released.state, released.attempt, released.worker) == (JobState.QUEUED, 0, None)
    leave.set()
    events.wait_for("lease_lost")
    assert queue.get(job_id).state is JobState.QUEUED


def test_a_lost_lease_ends_the_handler_and_its_result_is_dropped(
    queue: Queue, clock: ManualClock, events: Events, start: Start
) -> None:
    leave = threading.Event()
    raised: list[type[Exception]] = []

    def handler(context: JobContext, got: Job) -> Outcome:
        if got.attempt > 1:
            return Done()
        leave.wait()
        try:
            context.check_cancelled()
        except LeaseLost as error:
            raised.append(type(error))
            raise
        return Done()

    job_id = queue.enqueue_now(job())
    start(handler)
    events.wait_for("claimed")
    clock.advance(LONG_S)
    assert queue.rescue(clock.now()) == 1
    thief = queue.claim("thief", lease_s=LONG_S)
    assert thief is not None
    queue.cancel(job_id)  # makes the heartbeat look at once
    events.wait_for("heartbeat")
    leave.set()
    events.wait_for("lease_lost")
    assert raised == [LeaseLost]
    assert queue.get(job_id).worker == "thief"


def test_a_locked_database_does_not_throw_finished_work_away(
    sqlite_database: Database, clock: ManualClock
) -> None:
    assert sqlite_database.path is not None
    impatient = Database.open(sqlite_database.url, busy_s=0.01, give_up_s=0.01)
    queue = make_queue(impatient, clock)
    other = sqlite3.connect(sqlite_database.path, isolation_level=None, check_same_thread=False)
    events = Events()
    runs: list[int] = []

    def handler(_context: JobContext, got: Job) -> Outcome:
        runs.append(got.id)
        other.execute("BEGIN IMMEDIATE")
        return Done()

    def on_event(name: str, **facts: Any) -> None:
        if name == "database_busy" and other.in_transaction:
            other.execute("ROLLBACK")
        events(name, **facts)

    job_id = queue.enqueue_now(job())
    heartbeats = Heartbeats(queue, lease_s=LONG_S, on_event=events)
    heartbeats.start()
    worker = Worker(
        queue,
        {JobKind.EXTRACT: handler},
        worker_id="w",
        clock=clock,
        heartbeats=heartbeats,
        on_event=on_event,
    )
    worker.start()
    events.wait_for("done")
    worker.stop(DRAIN_S)
    heartbeats.stop()
    other.close()
    assert runs == [job_id]
    assert "database_busy" in events.names()
    impatient.dispose()


def test_trouble_with_the_database_is_told_and_does_not_end_the_loop(
    sqlite_database: Database, queue: Queue, events: Events, start: Start
) -> None:
    with sqlite_database.write() as connection:
        connection.exec_driver_sql("ALTER TABLE jobs RENAME TO away")
    worker = start(lambda _context, _job: Done())
    assert events.wait_for("worker_error")["error"].startswith("OperationalError")
    with sqlite_database.write() as connection:
        connection.exec_driver_sql("ALTER TABLE away RENAME TO jobs")
    queue.enqueue_now(job())
    worker.wake()
    events.wait_for("done")
