"""The reader's thread: events, polling, trouble with the system, and kill -9 at any instant."""

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from memoryd.clock import SystemClock
from memoryd.db.engine import Database, sqlite_url
from memoryd.ingest.service import IngestSettings
from memoryd.ingest.watcher import Watcher
from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
)
from watchdog.observers.api import BaseObserver

from support.ingest import Bench, prompt, reply

WAIT_S = 30.0
TALK = prompt("h1", "Where is the port set?") + reply("a1", "It is 8080.")


class Threaded:
    """A bench whose ingestion runs in its thread, with a way to wait for facts."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._news = threading.Condition()
        bench.ingest._on_event = bench.ingest._pipeline._on_event = self._told

    def _told(self, name: str, **facts: Any) -> None:
        with self._news:
            self.bench.events.append((name, facts))
            self._news.notify_all()

    def until(self, fact: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WAIT_S
        with self._news:
            while not fact():
                left = deadline - time.monotonic()
                assert left > 0, self.bench.events[-10:]
                self._news.wait(min(left, 0.2))

    def heard(self, name: str) -> int:
        return sum(1 for event, _ in self.bench.events if event == name)


def threaded(
    tmp_path: Path, database: Database, settings: IngestSettings | None = None
) -> Threaded:
    bench = Bench(
        tmp_path, database, clock=SystemClock(), settings=settings or IngestSettings(watch=True)
    )
    return Threaded(bench)


@pytest.fixture
def running(tmp_path: Path, sqlite_database: Database) -> Iterator[Threaded]:
    service = threaded(tmp_path, sqlite_database)
    service.bench.ingest.start()
    service.until(lambda: service.heard("scanned") > 0)
    yield service
    assert service.bench.ingest.stop(WAIT_S)


def test_an_append_is_read_because_of_its_event(running: Threaded) -> None:
    bench = running.bench
    assert bench.ingest.status().watching
    scans = bench.ingest.status().scans
    bench.write(TALK)
    running.until(lambda: len(bench.turns()) == 1 and bench.indexed() == ["a1", "h1"])
    bench.append(prompt("h2", "And more."))
    running.until(lambda: len(bench.turns()) == 2)

    assert bench.ingest.status().scans == scans


def test_directories_that_come_whole_are_read(running: Threaded, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere" / "-project"
    (outside / "s" / "subagents").mkdir(parents=True)
    (outside / "s.jsonl").write_bytes(TALK)
    (outside / "s" / "subagents" / "agent-1.jsonl").write_bytes(TALK)
    outside.rename(running.bench.projects / "-project")
    running.until(lambda: len(running.bench.files()) == 2)

    assert running.bench.sessions("id") == [("s",)]


def test_a_moved_directory_and_a_deleted_file_are_noticed(running: Threaded) -> None:
    bench = running.bench
    path = bench.write(TALK, "s")
    bench.write(prompt("h5", "Other."), "gone")
    running.until(lambda: len(bench.sessions()) == 2)
    bench.file("gone").unlink()
    path.parent.rename(bench.projects / "-moved")
    running.until(
        lambda: (
            bench.sessions("id", "state") == [("gone", "gone"), ("s", "present")]
            and (str(bench.file(project="-moved")),) in bench.files("path")
        )
    )


def test_writes_beside_transcripts_wake_nobody(running: Threaded) -> None:
    bench = running.bench
    memory = bench.projects / "-nowhere-app" / "memory"
    memory.mkdir(parents=True)
    bench.write(TALK)
    running.until(lambda: len(bench.turns()) == 1)
    before = len(bench.events)
    (memory / "MEMORY.md").write_text("- x\n")
    (memory / "x.jsonl").write_bytes(TALK)
    assert bench.settle()

    # The request to settle walks once; nothing else happened.
    assert [name for name, _ in bench.events[before:]] == ["scanned"]


def test_settling_from_another_thread_reads_what_no_event_told(
    tmp_path: Path, sqlite_database: Database
) -> None:
    service = threaded(tmp_path, sqlite_database, IngestSettings(watch=False))
    bench = service.bench
    bench.ingest.start()
    service.until(lambda: service.heard("scanned") > 0)
    bench.write(prompt("h1", "Hello."))

    assert bench.settle()
    assert bench.turns("uuid", "state") == [("h1", "ended")]
    assert not bench.ingest.status().watching
    assert bench.ingest.stop(WAIT_S)


@pytest.mark.parametrize("number", [28, 24])
def test_without_file_events_it_polls_and_says_so(
    tmp_path: Path,
    sqlite_database: Database,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    def refuse(*_arguments: object, **_named: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(BaseObserver, "schedule", refuse)
    bench = Bench(tmp_path, sqlite_database, settings=IngestSettings())
    bench.scan()
    bench.write(TALK)
    assert bench.ingest.run_once() <= 10
    bench.later(10)

    assert len(bench.turns()) == 1
    assert "every 10 seconds" in bench.ingest.status().warnings[0]


def test_the_observer_never_hears_of_opens_and_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    original = BaseObserver.schedule

    def spy(observer: BaseObserver, *arguments: Any, **named: Any) -> Any:
        asked.append(named["event_filter"])
        return original(observer, *arguments, **named)

    monkeypatch.setattr(BaseObserver, "schedule", spy)
    watcher = Watcher(
        str(tmp_path), on_hint=lambda _path, _is_directory: None, on_overflow=lambda: None
    )
    watcher.start()
    watcher.stop()

    assert asked == [
        [
            FileCreatedEvent,
            FileModifiedEvent,
            FileMovedEvent,
            FileDeletedEvent,
            DirCreatedEvent,
            DirMovedEvent,
            DirDeletedEvent,
        ]
    ]


def test_a_projects_directory_made_anew_is_watched_again(
    tmp_path: Path, sqlite_database: Database
) -> None:
    bench = Bench(tmp_path, sqlite_database, settings=IngestSettings())
    bench.scan()
    bench.projects.rename(tmp_path / "away")
    bench.scan()
    assert not bench.ingest.status().watching
    bench.write(TALK)
    bench.later(10)

    assert bench.ingest.status().watching
    assert len(bench.turns()) == 1
    assert bench.ingest.stop()


def test_a_suspended_machine_is_looked_at_after_it_wakes(
    tmp_path: Path, sqlite_database: Database
) -> None:
    bench = Bench(tmp_path, sqlite_database)
    bench.scan()
    bench.write(TALK)
    bench.manual.jump(3600)
    bench.ingest.run_once()

    assert len(bench.turns()) == 1


def test_a_clock_set_back_delays_no_turn_for_ever(
    tmp_path: Path, sqlite_database: Database
) -> None:
    bench = Bench(tmp_path, sqlite_database)
    bench.write(prompt("h1", "Hello."))
    bench.scan()
    bench.manual.jump(-86_400)
    bench.ingest.run_once()
    bench.later(601)

    assert bench.turns("state") == [("ended",)]


def test_a_clock_set_back_while_it_was_off_delays_no_turn_for_ever(
    tmp_path: Path, sqlite_database: Database
) -> None:
    bench = Bench(tmp_path, sqlite_database)
    bench.write(prompt("h1", "Hello."))
    bench.append(prompt("h2", "Are you there?").rstrip(), name="tail")
    bench.scan()
    bench.manual.jump(-86_400)
    bench.ingest = bench.restart()
    bench.scan()
    bench.later(601)

    assert bench.turns("uuid") == [("h1",), ("h2",)]
    assert bench.turns("state")[0] == ("ended",)


def test_a_locked_database_delays_but_loses_nothing(
    tmp_path: Path, sqlite_database: Database
) -> None:
    assert sqlite_database.path is not None
    impatient = Database.open(sqlite_url(sqlite_database.path), busy_s=0.05, give_up_s=0.05)
    bench = Bench(tmp_path, impatient)
    bench.scan()
    bench.write(TALK)
    holder = sqlite3.connect(sqlite_database.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    bench.ingest.rescan()
    assert bench.ingest.run_once() == 5.0
    assert "nothing is lost" in bench.ingest.status().warnings[0]
    assert bench.ingest.status().lag_bytes == len(TALK)
    holder.execute("COMMIT")
    holder.close()
    bench.later(5)

    assert bench.turns("state") == [("ended",)]
    assert bench.ingest.status().warnings == ()
    impatient.dispose()


UNREADABLE = """
import os, sys, tempfile
from pathlib import Path
from memoryd.db.engine import Database, sqlite_url
from memoryd.db.schema import metadata
from support.ingest import Bench, prompt
with tempfile.TemporaryDirectory() as name:
    # The other user may be unable to read Python's own modules: all are loaded before.
    database = Database.open(sqlite_url(Path(name) / "memoryd.db"))
    with database.write() as connection:
        metadata.create_all(connection)
    bench = Bench(Path(name), database)
    bench.ingest.baseline_if_new()
    bench.write(prompt("x", "Hello."))
    bench.settle()
    database.dispose()
os.setuid(65534)
folder = Path(sys.argv[1])
bench = Bench(folder, Database.open(sqlite_url(folder / "memoryd.db")))
bench.ingest.baseline_if_new()
bench.scan()
print(sorted(row[1] for row in bench.turns()))
print(len(bench.ingest.status().warnings), "chmod u+r" in bench.ingest.status().warnings[0])
sys.stdout.flush()
sys.stdin.readline()
bench.later(300)
print(sorted(row[1:] for row in bench.turns()))
print(bench.ingest.status().warnings)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.system
def test_what_cannot_be_read_is_told_and_tried_again(
    sqlite_database: Database,
) -> None:
    # Not below the test's own directory, which only this user may enter.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert sqlite_database.path is not None
        sqlite_database.checkpoint()
        (folder / "memoryd.db").write_bytes(sqlite_database.path.read_bytes())
        projects = folder / "config" / "projects"
        for project, uuid in (("-a", "ha"), ("-b", "hb"), ("-c", "hc")):
            (projects / project).mkdir(parents=True)
            (projects / project / f"{uuid}.jsonl").write_bytes(prompt(uuid, "Hello."))
        for path in (folder, *folder.rglob("*")):
            os.chown(path, 65534, 65534)
        (projects / "-a").chmod(0)
        (projects / "-b" / "hb.jsonl").chmod(0)
        here = Path(__file__).resolve()
        child = subprocess.Popen(
            [sys.executable, "-c", UNREADABLE, str(folder)],
            env={
                **os.environ,
                "PYTHONPATH": f"{here.parents[1]}:{here.parents[2]}",
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        first = [child.stdout.readline().strip() for _ in range(2)]
        (projects / "-a").chmod(0o700)
        (projects / "-b" / "hb.jsonl").chmod(0o600)
        rest, _ = child.communicate("go\n", timeout=60)

    assert first == ["['hc']", "2 True"]
    # All three were there before the first start, although two could not be read then.
    assert rest.splitlines() == [
        "[('ha', 'baseline'), ('hb', 'baseline'), ('hc', 'baseline')]",
        "()",
    ]


KILLED = """
import os, signal, sys
from pathlib import Path
from memoryd.db.engine import Database, sqlite_url
from memoryd.ingest import pipeline, reader
from support.ingest import Bench
folder, count, where = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
reader.PORTION_BYTES = 600
pipeline._AT_ONCE = 2
bench = Bench(folder, Database.open(sqlite_url(folder / "memoryd.db")))
owner, name = {
    "before": (bench.ingest._pipeline._recorder, "_ask_for_extraction"),
    "after": (bench.ingest._pipeline._follower, "add"),
}[where]
original = getattr(owner, name)
left = [count]
def spy(*arguments):
    left[0] -= 1
    if left[0] <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*arguments)
setattr(owner, name, spy)
bench.settle()
"""


@pytest.mark.system
@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_kill_9_between_commits_loses_no_turn_and_learns_none_twice(
    tmp_path: Path, sqlite_database: Database, count: int, where: str
) -> None:
    bench = Bench(tmp_path, sqlite_database)
    for number in range(8):
        bench.write(
            b"".join(
                prompt(f"h{number}-{turn}", f"Question {turn}.")
                + reply(f"a{number}-{turn}", "Yes.")
                for turn in range(4)
            ),
            f"s{number}",
        )
    here = Path(__file__).resolve()
    child = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(count), where],
        env={**os.environ, "PYTHONPATH": f"{here.parents[1]}:{here.parents[2]}"},
        check=False,
        timeout=60,
    )
    assert child.returncode == -signal.SIGKILL
    bench.restart()
    assert bench.settle()

    expected = sorted(f"h{number}-{turn}" for number in range(8) for turn in range(4))
    assert sorted(uuid for _, uuid, _ in bench.turns()) == expected
    assert {state for _, _, state in bench.turns()} == {"ended"}
    assert bench.indexed() == sorted(expected + [uuid.replace("h", "a") for uuid in expected])
    assert bench.ingest.status().records == 64
    assert len(bench.jobs()) == 1
    assert bench.ingest.status().index_lag == 0
