"""SIGSTOP in the middle of a memory write, beyond the lease: the late end changes nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from memoryd.clock import ManualClock, SystemClock
from memoryd.db.engine import Database, sqlite_url
from memoryd.queue.jobs import Done, JobState
from memoryd.queue.queue import Queue

from support.proofs.home import Home, dying, until
from support.proofs.talk import Talk

LEASE_S = 60.0
_STEPS = 6


def stop(scratch: Path, *, seed: int, count: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Let a service sleep beyond the lease of its job ``count`` times; return figures.

    Raises:
        AssertionError: the late end was not refused, or something was learned twice.
    """
    rng = Random(seed)
    home = Home(scratch, projects=1)
    talk = Talk(rng, home.folders)
    home.start().wait_ready()
    home.end()
    refused = 0
    try:
        for number in range(count):
            _sleep_beyond(home, talk, rng, number)
            refused += 1
            if refused % 5 == 0:
                tell(f"{refused} late ends refused")
    finally:
        home.end()
    created = home.rows(
        "SELECT name, count(*) FROM journal WHERE state = 'done' AND action = 'create' "
        "GROUP BY name HAVING count(*) > 1"
    )
    assert created == [], created
    assert home.rows("SELECT count(*) FROM turns WHERE state <> 'handled'") == [(0,)]
    assert home.rows("SELECT id FROM journal WHERE state = 'intent'") == []
    topics = [path for path in home.memory(home.folders[0]).glob("*.md") if path.stem != "MEMORY"]
    assert len(topics) == len(talk.kept), (len(topics), len(talk.kept))
    return {"refused": refused, "memories": len(topics)}


def _sleep_beyond(home: Home, talk: Talk, rng: Random, number: int) -> None:
    (folder,) = home.folders
    before = len(talk.kept)
    lines = b""
    while len(talk.kept) == before:
        lines = talk.turn(f"session-{number}", folder)
        home.transcript(f"session-{number}", folder).open("ab").write(lines)
    child = home.start(dying(rng.randint(1, _STEPS), signal.SIGSTOP))
    assert until(lambda: child.ended(stopped=True), 30), "it never came to a memory write"

    # Another process of the same queue, to which the lease has run out meanwhile.
    database = Database.open(sqlite_url(home.paths.database))
    try:
        clock = ManualClock(SystemClock().now() + LEASE_S + 1)
        queue = Queue(database, clock, Random(1))
        assert queue.rescue(clock.now()) == 1
        other = queue.claim("another worker", lease_s=LEASE_S)
        assert other is not None
        assert other.attempt > 1
        os.kill(child.pid, signal.SIGCONT)
        log = home.paths.log
        said = f'"job": {other.id}, "kind": "extract"'
        assert until(
            lambda: any(
                said in line and '"lease_lost"' in line for line in log.read_text().splitlines()
            ),
            30,
        ), "the late end was not refused"
        assert queue.get(other.id).worker == "another worker"
        assert queue.finish(other, Done()) is JobState.DONE
    finally:
        database.dispose()
    child.kill()
    # The turn was not marked by whoever had lost the job, nor by the other, which did nothing.
    last = home.start()
    last.wait_ready()
    home.transcript(f"more-{number}", folder).write_bytes(talk.turn(f"more-{number}", folder))
    with home.client() as client:
        assert client.call("wait", {"timeout_s": 60}, timeout=70)["done"], client.call("status")
    last.kill(signal.SIGTERM)
