"""SIGKILL, again and again, while people talk; afterwards nothing is lost, doubled or half."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from memoryd.memory.frontmatter import State, parse

from support.proofs.home import Home, Writer, dying, until
from support.proofs.talk import Talk

_IN_A_ROW = 3
"""A job whose worker dies five times is dead by intention: three, then a run that ends."""
_STEPS = 14


def kills(scratch: Path, *, seed: int, count: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Kill a service ``count`` times and look at everything it left; return figures.

    Raises:
        AssertionError: something is not as it must be.
    """
    rng = Random(seed)
    home = Home(scratch, projects=6)
    talk = Talk(rng, home.folders)
    writer = Writer(home, rng, sessions=18, next_turn=talk.turn)
    first = home.start()
    first.wait_ready()
    first.kill()
    steps: Counter[str] = Counter()
    done, told = 1, time.monotonic()
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    try:
        while done < count:
            for _ in range(min(_IN_A_ROW, count - done)):
                if rng.random() < 0.5:
                    _kill_at_step(home, writer, rng, writing)
                else:
                    _kill_at_instant(home, writer, rng)
                done += 1
            if done < count:
                _kill_settled(home, writer, rng)
                done += 1
            steps.update(_read(reading))
            if time.monotonic() - told > 10:
                told = time.monotonic()
                tell(f"{done} kills, {len(talk.turns)} turns, {len(talk.kept)} memories")
    finally:
        home.end()
        os.close(reading)
        os.close(writing)
    writer.finish()
    last = home.start()
    try:
        last.wait_ready()
        with home.client() as client:
            answer = client.call("wait", {"timeout_s": 120}, timeout=130)
            assert answer["done"], client.call("status")
            status = client.call("status")
    finally:
        last.kill(signal.SIGTERM)
    check(home, talk, writer, status)
    return {
        "kills": done,
        "turns": len(talk.turns),
        "memories": len(talk.kept),
        "forgotten": len(talk.forgotten),
        "at_steps": dict(sorted(steps.items())),
        "attempts": dict(home.rows("SELECT attempt, count(*) FROM jobs GROUP BY attempt")),
    }


def _kill_at_step(home: Home, writer: Writer, rng: Random, report: int) -> None:
    for _ in range(rng.randint(2, 6)):
        writer.piece()
    child = home.start(dying(rng.randint(1, _STEPS), signal.SIGKILL, report))
    until(child.ended, 0.6)
    child.kill()


def _kill_at_instant(home: Home, writer: Writer, rng: Random) -> None:
    writer.piece()
    child = home.start()
    end = time.monotonic() + rng.uniform(0.0, 0.6)
    while time.monotonic() < end:
        writer.piece()
        time.sleep(rng.uniform(0.0, 0.1))
    child.kill()


def _kill_settled(home: Home, writer: Writer, rng: Random) -> None:
    child = home.start()
    child.wait_ready()
    for _ in range(rng.randint(1, 4)):
        writer.piece()
    with home.client() as client:
        answer = client.call("wait", {"timeout_s": 60}, timeout=70)
        assert answer["done"], client.call("status")
    child.kill()


def _read(descriptor: int) -> list[str]:
    try:
        return os.read(descriptor, 65536).decode().split()
    except BlockingIOError:
        return []


def check(home: Home, talk: Talk, writer: Writer, status: dict[str, Any]) -> None:
    """Look at every row and every file."""
    assert home.rows("PRAGMA integrity_check") == [("ok",)]
    assert home.rows("PRAGMA integrity_check", index=True) == [("ok",)]
    assert status["ingest"]["lag_bytes"] == status["ingest"]["index_lag"] == 0, status
    assert status["ingest"]["records"] == 2 * len(talk.turns), status["ingest"]
    assert status["ingest"]["skipped"] == 0, status["ingest"]

    turns = Counter(home.rows("SELECT uuid, state FROM turns"))
    assert turns == Counter((uuid, "handled") for uuid in talk.turns), "turns"
    indexed = Counter(uuid for (uuid,) in home.rows("SELECT uuid FROM entries", index=True))
    assert indexed == Counter(talk.turns + talk.replies), "text index"
    assert home.rows("SELECT count(*) FROM seen") == [(2 * len(talk.turns),)]
    cursors = dict(home.rows('SELECT path, "offset" FROM files WHERE missing_since IS NULL'))
    sizes = {str(path): path.stat().st_size for path in writer.paths if path.exists()}
    assert cursors == sizes, "cursors"
    assert home.rows("SELECT count(*) FROM files WHERE missing_since IS NOT NULL") == [(0,)]
    sessions = home.rows("SELECT id FROM sessions WHERE state = 'present'")
    assert len(sessions) == sum(size > 0 for size in sizes.values()), sessions

    # Every job ended well, and every row of the journal is settled.
    jobs = home.rows(
        "SELECT id, state, error FROM jobs WHERE state <> 'done' "
        "AND NOT (state = 'cancelled' AND error LIKE 'merged into #%')"
    )
    assert jobs == [], jobs
    assert home.rows("SELECT id FROM jobs WHERE finished_at IS NULL") == []
    assert home.rows("SELECT id FROM journal WHERE state = 'intent'") == []
    actors = {actor for (actor,) in home.rows("SELECT DISTINCT actor FROM journal")}
    assert actors <= {"extract"}, actors
    twice = home.rows(
        "SELECT directory, name, count(*) FROM journal WHERE state = 'done' AND action = 'create' "
        "GROUP BY directory, name HAVING count(*) > 1"
    )
    assert twice == [], twice
    _check_memories(home, talk)


def _check_memories(home: Home, talk: Talk) -> None:
    found: dict[str, str] = {}
    for folder in home.folders:
        memory = home.memory(folder)
        files = sorted(memory.iterdir()) if memory.is_dir() else []
        assert all(file.suffix == ".md" or file.name.startswith(".") for file in files), files
        assert [file for file in files if file.suffix not in (".md", ".lock", "")] == [], files
        topics = [file for file in files if file.suffix == ".md" and file.name != "MEMORY.md"]
        for file in topics:
            text = file.read_text()
            assert parse(file.read_bytes()).state is State.PRESENT, file.name
            tokens = [token for token in talk.kept if token in text]
            assert len(tokens) == 1, (file.name, tokens)
            assert tokens[0] not in found, (file.name, tokens)
            found[tokens[0]] = folder
            assert not [token for token in talk.forgotten if token in text], file.name
        if topics:
            lines = (memory / "MEMORY.md").read_text().splitlines()
            named = [line.partition("](")[2].partition(")")[0] for line in lines]
            assert len(lines) == min(len(topics), 200), (len(lines), len(topics))
            assert len(set(named)) == len(named), "index"
            assert set(named) <= {file.name for file in topics}, "index"
    assert found == talk.kept, {
        "lost": sorted(set(talk.kept) - set(found))[:5],
        "too many": sorted(set(found) - set(talk.kept))[:5],
    }
