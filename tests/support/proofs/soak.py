"""A day of life in minutes: what the service holds open, in memory and on the disk stays flat."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from memoryd.client import Client

from support.proofs.home import Child, Home, Writer
from support.proofs.talk import Talk

RSS_MIB = 12.0
"""How much more the second half may hold than the first: what it has learned meanwhile, too."""
WAL_MIB = 8.0
DESCRIPTORS = 8
"""The pool of database connections fills up to its bound when requests meet, two for each."""


def soak(scratch: Path, *, seed: int, count: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Live ``count`` rounds; return figures of the first and of the last half.

    A round: people talk in several sessions, ask, search, look at the status, remember by command;
    now and then a session is deleted and the settings are read again.

    Raises:
        AssertionError: something grows.
    """
    rng = Random(seed)
    home = Home(scratch, projects=3)
    talk = Talk(rng, home.folders)
    writer = Writer(home, rng, sessions=9, next_turn=talk.turn)
    child = home.start()
    samples: list[dict[str, float]] = []
    try:
        child.wait_ready()
        with home.client() as client:
            for number in range(count):
                _round(home, client, talk, writer, number)
                if number % 10 == 9:
                    os.kill(child.pid, signal.SIGHUP)
                samples.append({"turns": len(talk.turns), **_sample(home, child)})
                if number % 20 == 19:
                    tell(f"round {number + 1}: {samples[-1]}")
            status = client.call("status")
    finally:
        home.end()
    half = samples[len(samples) // 2]
    last = samples[-1]
    assert status["jobs"]["dead"] == 0, status
    assert (
        max(s["descriptors"] for s in samples[len(samples) // 2 :])
        <= max(s["descriptors"] for s in samples[: len(samples) // 2]) + 2
    ), samples
    assert last["rss_mib"] - half["rss_mib"] <= RSS_MIB, (half, last)
    assert max(sample["wal_mib"] for sample in samples) <= WAL_MIB, samples
    assert last["threads"] <= half["threads"] + 2, (half, last)
    return {"half": half, "end": last, "rounds": count}


def _round(home: Home, client: Client, talk: Talk, writer: Writer, number: int) -> None:
    rng = talk.rng
    folder = rng.choice(home.folders)
    for _ in range(rng.randint(1, 20)):
        writer.piece()
    for _ in range(10):
        client.call("recall", {"query": "which port does the service listen on", "cwd": folder})
    client.call("search", {"query": "port service"})
    client.call("status")
    text = f"Deploys of release {number} happen at {number % 24} o'clock."
    client.call("memory.remember", {"text": text, "cwd": folder})
    if number % 7 == 0:
        passing = home.transcript(f"passing-{number}", folder)
        passing.write_bytes(talk.turn(f"passing-{number}", folder))
        client.call("wait", {"timeout_s": 60}, timeout=70)
        passing.unlink()
    answer = client.call("wait", {"timeout_s": 60}, timeout=70)
    assert answer["done"], client.call("status")


def _sample(home: Home, child: Child) -> dict[str, float]:
    proc = Path(f"/proc/{child.pid}")
    status = dict(
        line.split(":", 1) for line in (proc / "status").read_text().splitlines() if ":" in line
    )
    wal = home.paths.database.with_name(home.paths.database.name + "-wal")
    return {
        "rss_mib": round(int(status["VmRSS"].split()[0]) / 1024, 1),
        "threads": int(status["Threads"]),
        "descriptors": len(list((proc / "fd").iterdir())),
        "wal_mib": round(wal.stat().st_size / 2**20, 2) if wal.exists() else 0.0,
        "database_mib": round(home.paths.database.stat().st_size / 2**20, 2),
        "log_mib": round(home.paths.log.stat().st_size / 2**20, 2),
    }
