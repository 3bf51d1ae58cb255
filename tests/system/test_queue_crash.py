"""Real processes that die or sleep in the middle of a job."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from memoryd.clock import ManualClock
from memoryd.db.engine import Database, sqlite_url
from memoryd.db.schema import meta, metadata
from memoryd.queue.identity import is_dead
from memoryd.queue.jobs import Done, JobState
from memoryd.queue.queue import Queue
from sqlalchemy import select

from support import queue_child
from support.jobs import job

pytestmark = pytest.mark.system

LEASE_S = 60.0


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database.open(sqlite_url(tmp_path / "memoryd.db"))
    with database.write() as connection:
        metadata.create_all(connection)
    yield database
    assert database.integrity_check() == []
    database.dispose()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def queue(database: Database, clock: ManualClock) -> Queue:
    return Queue(database, clock, Random(1))


class Child:
    """The program of support/queue_child.py, with its job claimed."""

    def __init__(self, database: Database, clock: ManualClock) -> None:
        self.process = subprocess.Popen(
            [sys.executable, queue_child.__file__, database.url, str(clock.now())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.name, self.job = self.process.stdout.readline().split()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def go_on(self) -> str:
        """Let the child finish its job; return what it says about that."""
        said, _ = self.process.communicate("\n")
        return said.strip()


@pytest.fixture
def child(database: Database, queue: Queue, clock: ManualClock) -> Iterator[Child]:
    queue.enqueue_now(job())
    child = Child(database, clock)
    yield child
    child.kill()


def effects(database: Database) -> list[str]:
    with database.read() as connection:
        return list(connection.scalars(select(meta.c.key)))


def test_a_job_that_goes_well(database: Database, queue: Queue, child: Child) -> None:
    assert child.go_on() == "done"
    assert queue.get(int(child.job)).state is JobState.DONE
    assert effects(database) == ["effect of the child"]


def test_a_killed_worker_keeps_its_job_until_the_lease_is_over(
    database: Database, queue: Queue, clock: ManualClock, child: Child
) -> None:
    child.kill()
    left = queue.get(int(child.job))
    assert (left.state, left.worker) == (JobState.RUNNING, child.name)
    queue.enqueue_now(job())
    clock.advance(LEASE_S - 1)
    assert queue.claim("second", lease_s=LEASE_S) is None
    assert queue.rescue(clock.now()) == 0
    clock.advance(1)
    assert queue.rescue(clock.now()) == 1
    again = queue.claim("second", lease_s=LEASE_S)
    assert again is not None
    assert (again.id, again.attempt) == (left.id, 2)
    assert effects(database) == []


def test_after_a_restart_the_jobs_of_a_dead_process_need_no_wait(
    queue: Queue, child: Child
) -> None:
    assert queue.rescue_from(is_dead) == 0
    child.kill()
    assert queue.rescue_from(is_dead) == 1
    assert queue.get(int(child.job)).state is JobState.QUEUED


def test_a_worker_that_slept_beyond_its_lease_changes_nothing(
    database: Database, queue: Queue, clock: ManualClock, child: Child
) -> None:
    child.process.send_signal(signal.SIGSTOP)
    clock.advance(LEASE_S)
    assert queue.rescue(clock.now()) == 1
    current = queue.claim("second", lease_s=LEASE_S)
    assert current is not None
    child.process.send_signal(signal.SIGCONT)
    assert child.go_on() == "lease lost"
    assert effects(database) == []
    assert queue.get(current.id) == current
    assert queue.finish(current, Done()) is JobState.DONE
