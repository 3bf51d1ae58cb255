"""A clock that is set days forward and back."""

from pathlib import Path
from random import Random

from memoryd.clock import ManualClock
from memoryd.db.engine import Database
from memoryd.jobs.cleanup import cleanup_if_due
from memoryd.queue.queue import Queue

from support.ingest import Bench, prompt, reply

DAYS_S = 3 * 86_400.0
TALK = prompt("h1", "Where is the port set?") + reply("a1", "It is 8080.")


def test_what_was_due_meanwhile_is_queued_once(sqlite_database: Database) -> None:
    clock = ManualClock()
    queue = Queue(sqlite_database, clock, Random(1))
    for jump in (DAYS_S, 0.0, -DAYS_S, 0.0, DAYS_S):
        clock.jump(jump)
        cleanup_if_due(sqlite_database, queue, clock)

    assert sum(queue.counts().values()) == 1


def test_transcripts_are_read_on_and_turns_end(tmp_path: Path, sqlite_database: Database) -> None:
    bench = Bench(tmp_path, sqlite_database)
    bench.write(TALK)
    bench.scan()
    for number, jump in enumerate((DAYS_S, -2 * DAYS_S, DAYS_S)):
        bench.append(prompt(f"j{number}", "And now?"))
        bench.manual.jump(jump)
        bench.ingest.run_once()
        bench.later(601)

    assert bench.turns("uuid", "state") == [(uuid, "ended") for uuid in ("h1", "j0", "j1", "j2")]
