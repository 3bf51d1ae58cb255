"""What the queue promises, held on both databases."""

import threading
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from memoryd.clock import ManualClock
from memoryd.db.engine import Database
from memoryd.db.schema import jobs, meta, metadata
from memoryd.errors import LeaseLost, NotFound
from memoryd.queue.jobs import (
    Cancel,
    Done,
    Job,
    JobKind,
    JobState,
    PermanentFailure,
    Priority,
    Snooze,
    TransientFailure,
)
from memoryd.queue.queue import KEEP_S, Lease, Queue, Signal
from sqlalchemy import Connection, func, select

from support.jobs import job, make_queue

LEASE_S = 60.0


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def queue(database: Database, clock: ManualClock) -> Queue:
    return make_queue(database, clock)


def claim(queue: Queue, worker: str = "w1") -> Job:
    claimed = queue.claim(worker, lease_s=LEASE_S)
    assert claimed is not None
    return claimed


def nothing_to_claim(queue: Queue) -> bool:
    return queue.claim("other", lease_s=LEASE_S) is None


# Coming in


def test_a_job_comes_out_as_it_went_in(queue: Queue, clock: ManualClock) -> None:
    job_id = queue.enqueue_now(
        job("p", payload={"session": "s", "n": [1]}, dedupe_key="d", priority=7, max_attempts=3)
    )
    claimed = claim(queue)
    assert claimed == queue.get(job_id)
    assert (claimed.id, claimed.kind, claimed.key) == (job_id, JobKind.EXTRACT, "p")
    assert (claimed.dedupe_key, claimed.payload) == ("d", {"session": "s", "n": [1]})
    assert (claimed.state, claimed.worker, claimed.attempt) == (JobState.RUNNING, "w1", 1)
    assert (claimed.priority, claimed.max_attempts) == (7, 3)
    assert claimed.lease_until == clock.now() + LEASE_S
    assert claimed.created_at == claimed.started_at == clock.now()


def test_a_job_is_committed_with_its_cause_or_not_at_all(database: Database, queue: Queue) -> None:
    def cause(key: str, *, fails: bool) -> None:
        with database.write() as connection:
            connection.execute(meta.insert().values(key=key, value=1))
            queue.enqueue(connection, job(key))
            if fails:
                raise ZeroDivisionError

    cause("a", fails=False)
    with pytest.raises(ZeroDivisionError):
        cause("b", fails=True)
    assert [one.key for one in queue.list()] == ["a"]


def test_debounce_slides_until_the_first_deadline(queue: Queue, clock: ManualClock) -> None:
    start = clock.now()
    new = job(dedupe_key="d", delay_s=20.0, deadline_s=50.0)
    first = queue.enqueue_now(new)
    for passed, run_at in ((10, 30), (20, 40), (30, 50), (40, 50)):
        clock.advance(start + passed - clock.now())
        assert queue.enqueue_now(new) == first
        assert queue.get(first).run_at == start + run_at
    assert nothing_to_claim(queue)
    clock.advance(10)
    assert claim(queue).id == first


def test_what_comes_during_a_run_is_a_job_of_its_own(queue: Queue) -> None:
    first = queue.enqueue_now(job(dedupe_key="d"))
    running = claim(queue)
    second = queue.enqueue_now(job(dedupe_key="d"))
    assert second != first
    assert nothing_to_claim(queue)  # the key is busy
    queue.finish(running, Done())
    assert claim(queue).id == second


def test_an_explicit_request_overtakes_its_own_debounce(queue: Queue, clock: ManualClock) -> None:
    waiting = queue.enqueue_now(job(dedupe_key="d", delay_s=20.0, deadline_s=50.0))
    explicit = job(dedupe_key="d", priority=Priority.EXPLICIT, payload={"explicit": True})
    assert queue.enqueue_now(explicit) == waiting
    claimed = claim(queue)
    assert (claimed.id, claimed.priority) == (waiting, Priority.EXPLICIT)
    assert claimed.payload == {"explicit": True}
    assert claimed.run_at == clock.now()


# Claiming


def test_the_most_urgent_then_the_longest_due_goes_first(queue: Queue, clock: ManualClock) -> None:
    low = queue.enqueue_now(job("a", priority=Priority.LOW))
    late = queue.enqueue_now(job("b", delay_s=2.0))
    early = queue.enqueue_now(job("c", delay_s=1.0))
    explicit = queue.enqueue_now(job("d", priority=Priority.EXPLICIT, delay_s=3.0))
    clock.advance(3)
    assert [claim(queue).id for _ in range(4)] == [explicit, early, late, low]


def test_one_key_runs_once_at_a_time_and_others_go_on(queue: Queue) -> None:
    first = queue.enqueue_now(job("a"))
    second = queue.enqueue_now(job("a"))
    other = queue.enqueue_now(job("b"))
    running = claim(queue)
    assert running.id == first
    assert claim(queue, "w2").id == other
    assert nothing_to_claim(queue)
    queue.finish(running, Done())
    assert claim(queue).id == second


def test_a_worker_takes_only_what_it_is_there_for(queue: Queue) -> None:
    queue.enqueue_now(job("a"))
    cleanup = queue.enqueue_now(job("b", kind=JobKind.CLEANUP, priority=Priority.LOW))
    assert queue.claim("w", lease_s=1, max_priority=Priority.EXPLICIT) is None
    claimed = queue.claim("w", lease_s=1, kinds=[JobKind.CLEANUP])
    assert claimed is not None
    assert claimed.id == cleanup
    assert queue.claim("w", lease_s=1, kinds=[]) is None


def test_threads_never_run_one_key_twice_at_once(queue: Queue) -> None:
    total = 90
    for number in range(total):
        queue.enqueue_now(job(f"key{number % 3}"))
    running: set[str] = set()
    guard = threading.Lock()
    clashes: list[str] = []
    finished: list[int] = []

    def work(worker: str) -> None:
        while True:
            claimed = queue.claim(worker, lease_s=LEASE_S)
            with guard:
                if claimed is None:
                    if len(finished) == total:
                        return
                    continue
                if claimed.key in running:
                    clashes.append(claimed.key)
                running.add(claimed.key)
            with guard:
                running.discard(claimed.key)
            queue.finish(claimed, Done())
            with guard:
                finished.append(claimed.id)

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clashes == []
    assert len(set(finished)) == len(finished) == total
    assert queue.counts()[JobState.DONE] == total


# Finishing


def test_effects_are_committed_with_the_job(database: Database, queue: Queue) -> None:
    job_id = queue.enqueue_now(job())

    def effects(connection: Connection) -> None:
        connection.execute(meta.insert().values(key="effect", value=1))

    assert queue.finish(claim(queue), Done(effects, {"memories": 2})) is JobState.DONE
    done = queue.get(job_id)
    assert (done.state, done.result, done.worker) == (JobState.DONE, {"memories": 2}, None)
    assert effect_count(database) == 1


def effect_count(database: Database) -> int:
    with database.read() as connection:
        return connection.scalar(select(func.count()).select_from(meta)) or 0


def test_effects_that_fail_leave_the_job_running_and_nothing_else(
    database: Database, queue: Queue
) -> None:
    queue.enqueue_now(job())
    running = claim(queue)

    def effects(connection: Connection) -> None:
        connection.execute(meta.insert().values(key="effect", value=1))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        queue.finish(running, Done(effects))
    assert effect_count(database) == 0
    assert queue.get(running.id).state is JobState.RUNNING
    assert queue.fail(running, ZeroDivisionError()) is JobState.QUEUED


def test_a_stale_worker_changes_nothing(
    database: Database, queue: Queue, clock: ManualClock
) -> None:
    queue.enqueue_now(job())
    stale = claim(queue)
    clock.advance(LEASE_S)
    assert queue.rescue(clock.now()) == 1
    current = claim(queue, "w2")
    assert current.id == stale.id

    def effects(connection: Connection) -> None:
        connection.execute(meta.insert().values(key="effect", value=1))

    stale_moves: list[Callable[[], object]] = [
        lambda: queue.finish(stale, Done(effects)),
        lambda: queue.finish(stale, Snooze(clock.now() + 9, "later")),
        lambda: queue.finish(stale, Cancel("no reason")),
        lambda: queue.fail(stale, ValueError()),
        lambda: queue.release(stale),
    ]
    for stale_move in stale_moves:
        with pytest.raises(LeaseLost):
            stale_move()
    assert queue.heartbeat(stale, LEASE_S) is Lease.LOST
    assert queue.get(current.id) == current
    assert effect_count(database) == 0
    assert queue.finish(current, Done(effects)) is JobState.DONE
    assert effect_count(database) == 1


def test_a_snooze_costs_no_attempt(queue: Queue, clock: ManualClock) -> None:
    job_id = queue.enqueue_now(job(max_attempts=1))
    for times in range(1, 4):
        until = clock.now() + 100
        assert queue.finish(claim(queue), Snooze(until, "budget")) is JobState.QUEUED
        snoozed = queue.get(job_id)
        assert (snoozed.attempt, snoozed.snoozes, snoozed.snoozed) == (0, times, True)
        assert (snoozed.run_at, snoozed.error) == (until, "budget")
        assert nothing_to_claim(queue)
        clock.advance(100)
    running = claim(queue)
    assert not running.snoozed
    queue.finish(running, Done())


def test_a_snooze_into_the_past_is_no_busy_loop(queue: Queue, clock: ManualClock) -> None:
    queue.enqueue_now(job())
    queue.finish(claim(queue), Snooze(0.0, "odd"))
    assert nothing_to_claim(queue)
    clock.advance(1)
    assert claim(queue).snoozes == 1


def test_cancel_as_an_outcome(queue: Queue) -> None:
    job_id = queue.enqueue_now(job())
    assert queue.finish(claim(queue), Cancel("the project is gone")) is JobState.CANCELLED
    assert queue.why(job_id) == "Cancelled: the project is gone."


def test_failures_are_tried_again_with_jitter_until_they_are_not(
    queue: Queue, clock: ManualClock
) -> None:
    job_id = queue.enqueue_now(job(max_attempts=3))
    for attempt in (1, 2):
        running = claim(queue)
        assert running.attempt == attempt
        assert queue.fail(running, TransientFailure("status 529")) is JobState.QUEUED
        waiting = queue.get(job_id)
        assert clock.now() <= waiting.run_at <= clock.now() + 5 * 2**attempt
        assert waiting.error == "status 529"
        clock.advance(waiting.run_at - clock.now())
    assert queue.fail(claim(queue), ValueError()) is JobState.DEAD
    assert queue.get(job_id).error == "ValueError"


def test_a_permanent_failure_is_the_end(queue: Queue) -> None:
    queue.enqueue_now(job())
    assert queue.fail(claim(queue), PermanentFailure("status 400")) is JobState.DEAD


def test_a_retry_takes_in_what_was_queued_during_the_run(queue: Queue, clock: ManualClock) -> None:
    first = queue.enqueue_now(job(dedupe_key="d", payload={"n": 1}))
    running = claim(queue)
    second = queue.enqueue_now(job(dedupe_key="d", payload={"n": 2}))
    queue.fail(running, TransientFailure("later", retry_after_s=100))
    merged = queue.get(first)
    assert (merged.state, merged.attempt, merged.payload) == (JobState.QUEUED, 1, {"n": 2})
    assert merged.run_at >= clock.now() + 100
    assert queue.why(second) == f"Cancelled: merged into #{first}."
    assert nothing_to_claim(queue)


def test_an_explicit_request_during_a_run_does_not_wait_for_its_snooze(queue: Queue) -> None:
    first = queue.enqueue_now(job(dedupe_key="d"))
    running = claim(queue)
    queue.enqueue_now(job(dedupe_key="d", priority=Priority.EXPLICIT))
    queue.finish(running, Snooze(running.run_at + 3600, "budget"))
    claimed = claim(queue)
    assert (claimed.id, claimed.priority) == (first, Priority.EXPLICIT)


# Leases


def test_a_heartbeat_keeps_the_job(queue: Queue, clock: ManualClock) -> None:
    queue.enqueue_now(job())
    running = claim(queue)
    for _ in range(5):
        clock.advance(LEASE_S - 1)
        assert queue.heartbeat(running, LEASE_S) is Lease.HELD
        assert queue.rescue(clock.now()) == 0
    queue.finish(running, Done())
    assert queue.heartbeat(running, LEASE_S) is Lease.LOST


def test_a_job_that_kills_its_worker_every_time_is_dead_in_the_end(
    queue: Queue, clock: ManualClock
) -> None:
    job_id = queue.enqueue_now(job(max_attempts=5))
    runs = 0
    while queue.get(job_id).state is not JobState.DEAD:
        clock.advance(1000)
        if queue.claim("doomed", lease_s=LEASE_S):
            runs += 1
        clock.advance(LEASE_S)
        queue.rescue(clock.now())
    assert runs == 5
    assert "its worker vanished" in queue.why(job_id)


def test_the_first_loss_goes_on_at_once_and_the_second_backs_off(
    queue: Queue, clock: ManualClock
) -> None:
    job_id = queue.enqueue_now(job())
    claim(queue)
    clock.advance(LEASE_S)
    queue.rescue(clock.now())
    claim(queue)
    clock.advance(LEASE_S)
    queue.rescue(clock.now())
    assert queue.get(job_id).run_at > clock.now()


def test_a_clock_that_was_ahead_leaves_no_job_in_the_far_future(
    queue: Queue, clock: ManualClock
) -> None:
    start = clock.now()
    retried = queue.enqueue_now(job("retried"))
    clock.jump(86_400)
    queue.fail(claim(queue), ValueError())
    debounced = queue.enqueue_now(job("debounced", delay_s=5, deadline_s=60))
    clock.jump(start - clock.now())
    patient = queue.enqueue_now(job("patient", delay_s=5))
    queue.rescue(clock.now())

    assert queue.get(debounced).run_at == clock.now()
    assert queue.get(retried).run_at == clock.now()
    assert queue.get(patient).run_at == clock.now() + 5


def test_jobs_of_dead_workers_need_not_wait_for_their_lease(queue: Queue) -> None:
    dead = queue.enqueue_now(job("a"))
    alive = queue.enqueue_now(job("b"))
    claim(queue, "dead")
    claim(queue, "alive")
    assert queue.rescue_from(lambda worker: worker == "dead") == 1
    assert queue.get(dead).state is JobState.QUEUED
    assert queue.get(alive).state is JobState.RUNNING
    assert claim(queue).attempt == 2


def test_a_released_job_keeps_its_attempts(queue: Queue) -> None:
    queue.enqueue_now(job(max_attempts=1))
    assert queue.release(claim(queue)) is JobState.QUEUED
    assert claim(queue, "w2").attempt == 1


# What people ask for


def test_a_queued_job_is_cancelled_at_once(queue: Queue) -> None:
    job_id = queue.enqueue_now(job())
    assert queue.cancel(job_id)
    assert nothing_to_claim(queue)
    assert not queue.cancel(job_id)


@pytest.mark.parametrize("way", ["fail", "snooze", "release", "rescue"])
def test_a_running_job_that_was_cancelled_is_not_queued_again(
    queue: Queue, clock: ManualClock, way: str
) -> None:
    signals: list[Signal] = []
    job_id = queue.enqueue_now(job())
    running = claim(queue)
    queue.subscribe(signals.append)
    assert queue.cancel(job_id)
    assert Signal.CANCEL in signals
    assert queue.heartbeat(running, LEASE_S) is Lease.CANCEL_REQUESTED
    match way:
        case "fail":
            queue.fail(running, ValueError())
        case "snooze":
            queue.finish(running, Snooze(clock.now() + 9, "later"))
        case "release":
            queue.release(running)
        case _:
            clock.advance(LEASE_S)
            queue.rescue(clock.now())
    assert queue.get(job_id).state is JobState.CANCELLED


def test_retry_starts_a_dead_or_cancelled_job_anew(queue: Queue) -> None:
    job_id = queue.enqueue_now(job())
    queue.fail(claim(queue), PermanentFailure("no"))
    assert queue.retry(job_id)
    assert not queue.retry(job_id)
    again = claim(queue)
    assert (again.id, again.attempt, again.error, again.finished_at) == (job_id, 1, None, None)
    queue.cancel(job_id)
    queue.finish(again, Cancel("on request"))
    assert queue.retry(job_id)
    assert not queue.get(job_id).cancel_requested


def test_retry_beside_a_queued_twin(queue: Queue) -> None:
    first = queue.enqueue_now(job(dedupe_key="d"))
    queue.fail(claim(queue), PermanentFailure("no"))
    second = queue.enqueue_now(job(dedupe_key="d", payload={"n": 2}))
    assert queue.retry(first)
    assert queue.get(second).state is JobState.CANCELLED
    assert claim(queue).payload == {"n": 2}


def test_what_does_not_exist(queue: Queue) -> None:
    for ask in (queue.get, queue.why, queue.cancel, queue.retry):
        with pytest.raises(NotFound, match="there is no job 77"):
            ask(77)


def test_make_due_ends_debounce_but_not_retries_and_snoozes(
    queue: Queue, clock: ManualClock
) -> None:
    debounced = queue.enqueue_now(job("a", delay_s=500.0))
    retried = queue.enqueue_now(job("b"))
    queue.fail(claim(queue), TransientFailure("x", retry_after_s=100))
    snoozed = queue.enqueue_now(job("c"))
    queue.finish(claim(queue), Snooze(clock.now() + 100, "budget"))
    assert queue.unsettled(clock.now()) == 2
    assert queue.make_due(clock.now()) == 1
    assert claim(queue).id == debounced
    assert nothing_to_claim(queue)
    assert queue.get(retried).run_at >= clock.now() + 100
    assert queue.unsettled(clock.now()) == 2
    clock.advance(100)
    assert queue.get(snoozed).snoozed
    assert queue.unsettled(clock.now()) == 3


def test_why_says_in_a_sentence_what_a_job_waits_for(queue: Queue, clock: ManualClock) -> None:
    running = queue.enqueue_now(job("a"))
    assert queue.why(running) == "Due; waits for a free worker, 0 due before it."
    claimed = claim(queue)
    clock.advance(5)
    assert queue.why(running) == "Running for 5 s, attempt 1 of 5."
    blocked = queue.enqueue_now(job("a"))
    assert queue.why(blocked) == f"Due; waits for #{running}, which runs with the same key."
    later = queue.enqueue_now(job("b", delay_s=300))
    assert queue.why(later) == "Due in 5 min."
    queue.fail(claimed, TransientFailure("status 529", retry_after_s=7200 * 2))
    assert queue.why(running) == "Attempt 1 of 5 failed (status 529); tried again in 4 h."
    queue.finish(claim(queue), Snooze(clock.now() + 60, "hourly budget of calls is spent"))
    assert queue.why(blocked) == "Put off for another 60 s: hourly budget of calls is spent."
    clock.advance(60)
    queue.fail(claim(queue), PermanentFailure("status 400"))
    assert queue.why(blocked) == (
        f"Dead after attempt 1 of 5: status 400. `memoryctl jobs retry {blocked}` queues it again."
    )


def test_next_due_sees_only_what_could_be_claimed(queue: Queue, clock: ManualClock) -> None:
    assert queue.next_due() is None
    now = clock.now()
    queue.enqueue_now(job("a"))
    claimed = claim(queue)
    queue.enqueue_now(job("a"))
    assert queue.next_due() is None
    queue.enqueue_now(job("b", delay_s=30, priority=Priority.LOW))
    queue.enqueue_now(job("c", delay_s=60))
    assert queue.next_due() == now + 30
    assert queue.next_due(max_priority=Priority.NORMAL) == now + 60
    assert queue.next_due(kinds=[JobKind.CLEANUP]) is None
    queue.finish(claimed, Done())
    assert queue.next_due() == now


def test_counts_and_lists(queue: Queue) -> None:
    assert queue.counts() == dict.fromkeys(JobState, 0)
    ids = [queue.enqueue_now(job(f"k{number}")) for number in range(4)]
    cleanup = queue.enqueue_now(job("c", kind=JobKind.CLEANUP))
    queue.finish(claim(queue), Done())
    claim(queue)
    assert queue.counts() == {
        JobState.QUEUED: 3,
        JobState.RUNNING: 1,
        JobState.DONE: 1,
        JobState.DEAD: 0,
        JobState.CANCELLED: 0,
    }
    assert [one.id for one in queue.list(limit=2)] == [cleanup, ids[3]]
    assert [one.id for one in queue.list(states=[JobState.DONE, JobState.RUNNING])] == [
        ids[1],
        ids[0],
    ]
    assert [one.id for one in queue.list(kinds=[JobKind.CLEANUP])] == [cleanup]


def test_finished_jobs_are_pruned_after_their_time(
    database: Database, queue: Queue, clock: ManualClock
) -> None:
    now = clock.now()
    row = {
        "kind": JobKind.EXTRACT,
        "payload": {},
        "priority": 1,
        "max_attempts": 5,
        "created_at": 0.0,
        "run_at": 0.0,
    }
    old: list[dict[str, Any]] = [
        {**row, "key": "old", "state": state, "finished_at": now - keep_s}
        for state, keep_s in KEEP_S.items()
    ]
    young = [{**one, "key": "young", "finished_at": one["finished_at"] + 1.0} for one in old]
    many = [{**old[0], "key": f"m{number}"} for number in range(1100)]
    with database.write() as connection:
        connection.execute(jobs.insert(), old + young + many)
    queue.enqueue_now(job("waiting"))
    assert queue.prune(now) == 1103
    assert sorted(one.key for one in queue.list()) == ["waiting", "young", "young", "young"]


def test_subscribers_hear_of_work_after_it_is_there(database: Database, queue: Queue) -> None:
    heard: list[int] = []
    queue.subscribe(lambda _signal: heard.append(queue.counts()[JobState.QUEUED]))
    with database.write() as connection:
        queue.enqueue(connection, job("a"))
        assert heard == []
    assert heard == [1]
    queue.release(claim(queue))
    assert heard == [1, 1]


@pytest.mark.postgres
def test_two_processes_sharing_a_server_take_different_jobs(
    postgres_queue_pair: tuple[Queue, Queue],
) -> None:
    one, other = postgres_queue_pair
    for number in range(40):
        one.enqueue_now(job(f"key{number % 4}", dedupe_key=f"d{number}"))
    done: list[int] = []

    def work(queue: Queue, name: str) -> None:
        while queue.counts()[JobState.DONE] < 40:
            claimed = queue.claim(name, lease_s=LEASE_S)
            if claimed is not None:
                queue.enqueue_now(job(claimed.key, dedupe_key="shared", delay_s=1e6))
                queue.finish(claimed, Done())
                done.append(claimed.id)

    threads = [
        threading.Thread(target=work, args=(queue, name))
        for queue, name in ((one, "a"), (other, "b"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == sorted(set(done))
    assert len(done) == 40
    assert one.counts()[JobState.QUEUED] == 1


@pytest.fixture
def postgres_queue_pair(postgres_url: str) -> Iterator[tuple[Queue, Queue]]:
    """Two queues with locks of their own, as two processes have."""
    one, other = Database.open(postgres_url), Database.open(postgres_url)
    with one.write() as connection:
        metadata.create_all(connection)
    clock = ManualClock()
    yield Queue(one, clock, Random(1)), Queue(other, clock, Random(2))
    one.dispose()
    other.dispose()
