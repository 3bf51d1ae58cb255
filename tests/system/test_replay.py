"""Real transcripts replayed in random pieces while the service runs, and killed at random."""

from __future__ import annotations

import random
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.corpus_tree import count_records, count_sessions, lay_out, session_of
from support.service import Service

pytestmark = [pytest.mark.corpus, pytest.mark.system]

# Three final lines have no newline: they are taken after 20 s of quiet, which no test waits for.
UNTERMINATED = "final lines without a newline"


@pytest.fixture(scope="module")
def tree(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus as a projects directory; every file ends in a newline."""
    target = tmp_path_factory.mktemp("corpus") / "projects"
    lay_out(corpus, target)
    for file in target.rglob("*.jsonl"):
        content = file.read_bytes()
        if content and not content.endswith(b"\n"):
            file.write_bytes(content + b"\n")
    return target


def rows(service: Service, query: str) -> list[tuple[Any, ...]]:
    with closing(
        sqlite3.connect(f"file:{service.state}/memoryd.db?mode=ro", uri=True)
    ) as connection:
        return connection.execute(query).fetchall()


def outcome(service: Service) -> dict[str, Any]:
    """Return everything that must not depend on how the bytes arrived."""
    ingest = service.json("status")["ingest"]
    return {
        "records": ingest["records"],
        "skipped": ingest["skipped"],
        "oversize": ingest["oversize"],
        "bytes": ingest["bytes"],
        "files": rows(
            service, 'SELECT path, kind, records, skipped, "offset" FROM files ORDER BY path'
        ),
        "turns": rows(service, "SELECT uuid, state, headless FROM turns ORDER BY uuid"),
        "indexed": len(indexed(service)),
        "memories": sorted(
            str(path.relative_to(service.projects))
            for path in service.projects.glob("*/memory/*.md")
        ),
    }


def indexed(service: Service) -> set[str]:
    with closing(sqlite3.connect(f"file:{service.state}/text.db?mode=ro", uri=True)) as connection:
        return {uuid for (uuid,) in connection.execute("SELECT uuid FROM entries")}


def replayed(tmp_path: Path, tree: Path, *, seed: int, piece: int) -> Service:
    service = Service(tmp_path / f"home-{seed}")
    service.projects.mkdir(parents=True)
    service.start()
    service.replay(tree, seed=seed, piece=piece)
    service.wait()
    return service


@pytest.mark.timeout(400)
def test_every_way_of_cutting_gives_the_same(tmp_path: Path, tree: Path) -> None:
    outcomes = []
    for seed, piece in ((1, 1_000_000), (2, 65_536), (3, 4_000)):
        service = replayed(tmp_path, tree, seed=seed, piece=piece)
        try:
            status = service.json("status")
            assert status["ingest"]["lag_bytes"] == 0
            assert status["ingest"]["index_lag"] == 0
            assert status["jobs"]["dead"] == 0
            assert count_records(tree) == status["ingest"]["records"]
            assert count_sessions(tree) == status["sessions"]
            found = outcome(service)
            found["files"] = [
                (path.replace(str(service.home), ""), *rest) for path, *rest in found["files"]
            ]
            outcomes.append(found)
        finally:
            service.stop()

    assert outcomes[0] == outcomes[1]
    assert outcomes[0] == outcomes[2]


@pytest.mark.timeout(200)
def test_forks_glue_and_subagents(tmp_path: Path, tree: Path) -> None:
    service = replayed(tmp_path, tree, seed=4, piece=30_000)
    try:
        sessions = {entry["session"] for entry in service.json("sessions")}
        turns = Counter(uuid for (uuid,) in rows(service, "SELECT uuid FROM turns"))
        glued = rows(
            service,
            f"SELECT records FROM files WHERE session_id = '{session_of('H07b')}'",
        )
        subagents = rows(service, "SELECT count(*) FROM files WHERE kind = 'subagent'")
    finally:
        service.stop()

    assert not [name for name in sessions if name.startswith("agent-")]
    assert turns
    assert max(turns.values()) == 1
    assert glued == [(294,)]
    assert subagents == [(5,)]


@pytest.mark.timeout(600)
def test_killed_twenty_times(tmp_path: Path, tree: Path) -> None:
    """What a run without kills finds, a run with twenty of them finds, nothing twice."""
    calm = replayed(tmp_path, tree, seed=5, piece=65_536)
    expected = outcome(calm)
    calm.stop()

    rng = random.Random(7)
    service = Service(tmp_path / "killed")
    service.projects.mkdir(parents=True)
    service.start()
    replay = subprocess.Popen(
        service.replay_command(tree, seed=6, piece=65_536, pause=0.02), env=service.environment
    )
    kills = 0
    try:
        while kills < 20:
            pid = service.pid()
            # A random instant: after a random number of requests has been answered.
            for _ in range(rng.randrange(1, 12)):
                service.json("status")
            service.kill(pid)
            service.start()
            kills += 1
        assert replay.wait(300) == 0
        service.wait()
        found = outcome(service)
        dead = service.json("status")["jobs"]["dead"]
        with closing(sqlite3.connect(f"{service.state}/memoryd.db")) as connection:
            integrity = connection.execute("PRAGMA integrity_check").fetchall()
        unsettled = rows(service, "SELECT count(*) FROM journal WHERE state = 'intent'")
        twice = rows(
            service,
            "SELECT name, count(*) FROM journal WHERE state = 'done' AND action = 'create' "
            "AND actor = 'extract' GROUP BY directory, name HAVING count(*) > 1",
        )
    finally:
        replay.kill()
        replay.wait()
        service.stop()

    assert dead == 0
    assert integrity == [("ok",)]
    assert unsettled == [(0,)]
    assert twice == []
    for part in ("records", "skipped", "bytes", "turns", "indexed"):
        assert expected[part] == found[part], part
    assert [path.replace(str(calm.home), "") for path in expected["memories"]] == found["memories"]
