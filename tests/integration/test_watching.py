"""File events at their limits: none, not all, lost, elsewhere; and waiting during a long read."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from memoryd.clock import SystemClock
from memoryd.db.engine import Database
from memoryd.ingest.service import Ingest, IngestSettings
from memoryd.ingest.watching import Watching
from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, InotifyFD, WatchDescriptor

from support.ingest import Bench, prompt, reply

WAIT_S = 30.0
TALK = prompt("h1", "Where is the port set?") + reply("a1", "It is 8080.")


class Told:
    """Hears what the reader's thread does, and can hold it at something."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.news = threading.Condition()
        self.hold_at: Callable[[str], bool] = lambda _name: False
        self.held = threading.Event()
        self.release = threading.Event()
        ingest = bench.ingest
        ingest._on_event = ingest._pipeline._on_event = ingest._watching._on_event = self

    def __call__(self, name: str, **facts: Any) -> None:
        with self.news:
            self.bench.events.append((name, facts))
            self.news.notify_all()
        if self.hold_at(name):
            self.held.set()
            assert self.release.wait(WAIT_S)

    def until(self, fact: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WAIT_S
        with self.news:
            while not fact():
                left = deadline - time.monotonic()
                assert left > 0, self.bench.events[-10:]
                self.news.wait(min(left, 0.1))

    def heard(self, name: str) -> int:
        return sum(1 for event, _ in self.bench.events if event == name)


@pytest.fixture
def told(tmp_path: Path, sqlite_database: Database) -> Iterator[Told]:
    """A bench whose thread is not started yet."""
    bench = Bench(
        tmp_path, sqlite_database, clock=SystemClock(), settings=IngestSettings(check_s=0.05)
    )
    told = Told(bench)
    yield told
    told.release.set()
    assert bench.ingest.stop(WAIT_S)


def watching_of(ingest: Ingest) -> Watching:
    return ingest._watching


def inotify_of(ingest: Ingest) -> Any:
    watcher = watching_of(ingest)._watcher
    assert watcher is not None
    return watcher._source


def test_a_directory_of_another_machine_is_polled_and_status_says_so(
    tmp_path: Path, sqlite_database: Database
) -> None:
    mounts = "/dev/root / ext4 rw 0 0\n"
    bench = Bench(tmp_path, sqlite_database, settings=IngestSettings())
    watching_of(bench.ingest)._mounts = lambda: mounts
    bench.scan()
    assert bench.ingest.status().watching
    assert bench.ingest.run_once() > 10

    mounts += f"server:/home {tmp_path} nfs4 rw 0 0\n"
    bench.scan()
    status = bench.ingest.status()
    assert not status.watching
    assert "(nfs4)" in status.warnings[0]
    assert "every 10 seconds" in status.warnings[0]
    assert bench.ingest.run_once() <= 10

    mounts = "/dev/root / ext4 rw 0 0\n"
    bench.scan()
    assert bench.ingest.status().watching
    assert bench.ingest.status().warnings == ()
    assert bench.ingest.stop()


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """Directories whose paths end as given cannot be watched: the limit is reached."""
    refused = [b"-nowhere-app"]
    original = InotifyFD.add_callback

    def refuse(source: InotifyFD, path: bytes, *rest: Any) -> WatchDescriptor:
        if path.endswith(tuple(refused)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return original(source, path, *rest)

    monkeypatch.setattr(InotifyFD, "add_callback", refuse)
    return iter([refused])


def test_a_limit_met_below_the_root_is_noticed_told_and_tried_again(
    tmp_path: Path, sqlite_database: Database, crowded: Iterator[list[bytes]]
) -> None:
    refused = next(crowded)
    bench = Bench(tmp_path, sqlite_database, settings=IngestSettings())
    bench.write(TALK)
    bench.scan()
    status = bench.ingest.status()
    assert not status.watching
    assert "fs.inotify.max_user_watches" in status.warnings[0]
    assert "every 10 seconds" in status.warnings[0]
    bench.append(prompt("h2", "And more."))
    bench.later(10)
    assert len(bench.turns()) == 2

    refused[:] = [b"nowhere else"]
    bench.later(100)
    assert not bench.ingest.status().watching
    bench.later(200)
    assert bench.ingest.status().watching
    assert bench.ingest.status().warnings == ()
    assert bench.ingest.stop()


def test_a_limit_met_by_a_new_directory_is_noticed_at_once(
    told: Told, crowded: Iterator[list[bytes]]
) -> None:
    next(crowded)
    bench = told.bench
    bench.ingest.start()
    told.until(lambda: told.heard("scanned") == 1)
    assert bench.ingest.status().watching
    bench.write(TALK)
    told.until(lambda: told.heard("watch-failed") == 1 and len(bench.turns()) == 1)

    assert not bench.ingest.status().watching
    assert "max_user_watches" in bench.ingest.status().warnings[0]


def test_a_reading_thread_that_died_is_noticed_and_replaced(told: Told) -> None:
    bench = told.bench
    bench.ingest.start()
    told.until(lambda: told.heard("scanned") == 1)
    dead = inotify_of(bench.ingest)
    dead.stop()
    dead.join()
    bench.write(TALK)
    told.until(lambda: told.heard("watcher-replaced") == 1 and len(bench.turns()) == 1)
    told.until(lambda: bench.ingest.status().watching)
    scans = bench.ingest.status().scans
    bench.append(prompt("h2", "And more."))
    told.until(lambda: len(bench.turns()) == 2)

    assert bench.ingest.status().scans == scans


def test_dropped_events_cause_a_walk(told: Told) -> None:
    bench = told.bench
    bench.ingest.start()
    told.until(lambda: told.heard("scanned") == 1)
    lost = InotifyEvent(WatchDescriptor(-1), InotifyConstants.IN_Q_OVERFLOW, 0, b"")
    inotify_of(bench.ingest).handle_event(lost)
    told.until(lambda: told.heard("scanned") == 2)

    bench.write(TALK)
    told.until(lambda: len(bench.turns()) == 1)
    assert bench.ingest.status().scans == 2


def test_a_directory_renamed_while_it_is_written_loses_nothing(told: Told) -> None:
    bench = told.bench
    bench.ingest.start()
    told.until(lambda: told.heard("scanned") == 1)
    path = bench.write(TALK)
    with path.open("ab", buffering=0) as stream:
        for number in range(20):
            stream.write(prompt(f"r{number}", "On and on."))
            bench.file(project=f"-moved-{number - 1}" if number else "-nowhere-app").parent.rename(
                bench.projects / f"-moved-{number}"
            )
    told.until(lambda: len(bench.turns()) == 21 and bench.ingest.status().lag_bytes == 0)

    assert bench.sessions("id", "state") == [("s", "present")]
    assert bench.files("path") == [(str(bench.file(project="-moved-19")),)]


def spread(bench: Bench, rng: Random, directories: int, appends: int) -> list[str]:
    """Append turns to files in many directories, some made just before; return their uuids."""
    uuids = []
    for number in range(appends):
        name = f"s{rng.randrange(4)}-{(place := rng.randrange(directories))}"
        bench.append(prompt(f"u{number}", "Next."), name, f"-project-{place}")
        uuids.append(f"u{number}")
    return sorted(uuids)


def test_appends_everywhere_arrive_by_events_alone(told: Told) -> None:
    bench = told.bench
    bench.ingest.start()
    told.until(lambda: told.heard("scanned") == 1)
    uuids = spread(bench, Random(3), directories=60, appends=600)
    told.until(lambda: len(bench.turns()) == len(uuids))

    assert sorted(uuid for (uuid,) in bench.turns("uuid")) == uuids
    assert bench.ingest.status().scans == 1


def test_appends_everywhere_arrive_without_any_event(
    tmp_path: Path, sqlite_database: Database
) -> None:
    bench = Bench(tmp_path, sqlite_database)
    bench.scan()
    rng, uuids = Random(4), set[str]()
    for place in range(3):
        uuids |= {f"{place}-{uuid}" for uuid in spread_once(bench, rng, place)}
        bench.later(10)

    assert {uuid for (uuid,) in bench.turns("uuid")} == uuids
    assert bench.ingest.status().lag_bytes == 0


def spread_once(bench: Bench, rng: Random, part: int) -> list[str]:
    names = [f"u{number}" for number in range(200)]
    for name in names:
        place = rng.randrange(40)
        bench.append(prompt(f"{part}-{name}", "Next."), f"s{place}", f"-project-{place}")
    return names


def test_waiting_needs_no_end_of_a_read_that_goes_on(told: Told) -> None:
    bench = told.bench
    bench.write(TALK)
    told.hold_at = lambda name: name == "committed"
    bench.ingest.start()
    assert told.held.wait(WAIT_S)

    # The reader's thread stands still in the middle of its work all the time.
    assert bench.settle()
    assert bench.turns("uuid", "state") == [("h1", "ended")]
    assert bench.indexed() == ["a1", "h1"]


def test_waiting_waits_for_what_was_there_at_the_call(told: Told) -> None:
    bench = told.bench
    bench.write(TALK)
    told.hold_at = lambda name: name == "committed" and not told.held.is_set()
    bench.ingest.start()
    assert told.held.wait(WAIT_S)
    bench.write(prompt("h2", "Hello."), "other")
    assert not bench.ingest.settle(bench.clock.monotonic() + 0.5)

    told.release.set()
    assert bench.settle()
    assert bench.turns("uuid", "state") == [("h1", "ended"), ("h2", "ended")]


def test_lag_counts_what_events_told_and_nobody_read(told: Told) -> None:
    bench = told.bench
    bench.write(TALK)
    told.hold_at = lambda name: name == "committed"
    bench.ingest.start()
    assert told.held.wait(WAIT_S)
    more = prompt("h2", "Hello.")
    bench.append(more)
    bench.write(TALK, "other", "-elsewhere")
    told.until(lambda: bench.ingest.status().lag_bytes == len(more) + len(TALK))

    told.release.set()
    assert bench.settle()
    assert bench.ingest.status().lag_bytes == 0
