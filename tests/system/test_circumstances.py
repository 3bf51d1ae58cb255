"""A full or broken disk, a database taken away or of yesterday, an end while one waits."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from support.service import Service

pytestmark = pytest.mark.system


def say(service: Service, uuid: str, text: str) -> Path:
    """Let somebody type ``text``; return the memory directory of the project."""
    cwd = service.home / "shop"
    cwd.mkdir(exist_ok=True)
    folder = service.projects / "-somewhere-shop"
    folder.mkdir(parents=True, exist_ok=True)
    base = {"sessionId": "s", "cwd": str(cwd), "timestamp": "2026-11-30T10:00:00.000Z"}
    record = {
        **base, "type": "user", "uuid": uuid, "promptSource": "typed",
        "message": {"role": "user", "content": text},
    }  # fmt: skip
    with (folder / "s.jsonl").open("a") as stream:
        stream.write(json.dumps(record) + "\n")
    slug = "".join(char if char.isascii() and char.isalnum() else "-" for char in str(cwd))
    return service.projects / slug / "memory"


def fill(path: Path) -> None:
    """Write until nothing more fits."""
    with path.open("wb", buffering=0) as stream:
        while True:
            try:
                stream.write(bytes(4096))
            except OSError:
                return


def contents(memory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in memory.glob("*.md")}


def test_a_database_of_yesterday_learns_nothing_twice(tmp_path: Path) -> None:
    service = Service(tmp_path / "home")
    service.projects.mkdir(parents=True)
    service.start()
    say(service, "u1", "Remember that the staging database listens on port 6543.")
    service.wait()
    service.stop()
    yesterday = tmp_path / "yesterday.db"
    shutil.copy(service.state / "memoryd.db", yesterday)
    service.start()
    memory = say(service, "u2", "Remember that deploys happen on Fridays only.")
    service.wait()
    learned = contents(memory)
    hits = service.json("search", "deploys")["hits"]
    service.stop()

    shutil.copy(yesterday, service.state / "memoryd.db")
    service.start()
    service.wait()
    assert contents(memory) == learned
    assert len(learned) == 3
    assert service.json("status")["turns"] == 2
    assert service.json("search", "deploys")["hits"] == hits
    service.stop()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_database_taken_away_is_told_and_nothing_is_written_into_the_void(
    tmp_path: Path, replaced: bool
) -> None:
    service = Service(tmp_path / "home")
    service.projects.mkdir(parents=True)
    service.start()
    database = service.state / "memoryd.db"
    away = tmp_path / "away.db"
    database.rename(away)
    if replaced:
        shutil.copy(away, database)
    memory = say(service, "u1", "Remember that the staging database listens on port 6543.")
    refused = service.run("memoryctl", "status")
    assert refused.returncode == 1
    assert f"{database} was {'replaced' if replaced else 'removed'}" in refused.stderr
    assert "memoryd restart" in refused.stderr
    assert service.run("memoryctl", "wait", "--timeout", "1").returncode == 1
    assert not memory.exists()

    away.rename(database)
    service.wait()
    assert "6543" in (memory / "MEMORY.md").read_text()
    service.stop()


def test_an_end_of_the_service_is_told_to_those_who_wait(tmp_path: Path) -> None:
    service = Service(tmp_path / "home", MEMORYD_DRAIN_S="1")
    service.projects.mkdir(parents=True)
    service.start()
    with closing(sqlite3.connect(service.state / "memoryd.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        say(service, "u1", "Remember that the staging database listens on port 6543.")
        waiting = service.popen("memoryctl", "wait")
        stopping = service.popen("memoryd", "stop")
        _, said = waiting.communicate(timeout=60)
        other.execute("ROLLBACK")
    stopping.communicate(timeout=60)
    assert waiting.returncode == 3
    assert "memoryd" in said


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = os.geteuid() == 0 and shutil.which("mount") is not None
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(folder)]
    if not mounted or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("only who may mount can make a disk that is full")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_told_and_nothing_is_lost(tmp_path: Path, small: Path) -> None:
    service = Service(tmp_path / "home", MEMORYD_STATE_DIR=str(small / "state"))
    service.projects.mkdir(parents=True)
    service.start()
    try:
        filler = small / "filler"
        fill(filler)
        memory = say(service, "u1", "Remember that the staging database listens on port 6543.")
        refused = service.run("memoryctl", "wait", "--timeout", "3")
        assert refused.returncode == 1
        status = service.json("status")
        assert "database cannot be written" in "\n".join(status["warnings"])
        assert status["ingest"]["lag_bytes"] > 0

        filler.unlink()
        service.wait()
        assert "6543" in (memory / "MEMORY.md").read_text()
        assert service.json("status")["warnings"] == []
    finally:
        service.run("memoryd", "stop")


@contextmanager
def failing_disk(service: Service, path: Path, calls: str) -> Iterator[None]:
    """Let the service's system calls on ``path`` fail as on a broken disk."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace makes system calls fail, and is not here")
    command = [
        strace, "-f", "-p", str(service.pid()), "-o", os.devnull, "-P", str(path),
        "-e", f"trace={calls}", "-e", f"inject={calls}:error=EIO",
    ]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            said = process.stderr.readline()
            if "Operation not permitted" in said:
                pytest.skip("the system lets nobody trace another process")
            assert "attached" in said, said
            yield
        finally:
            process.terminate()
            process.communicate(timeout=30)


def test_errors_of_the_disk_are_told_and_nothing_is_lost(tmp_path: Path) -> None:
    service = Service(tmp_path / "home")
    service.projects.mkdir(parents=True)
    service.start()
    memory = say(service, "u1", "Remember that the staging database listens on port 6543.")
    service.wait()
    log = service.state / "memoryd.db-wal"
    with failing_disk(service, log, "pwrite64,fsync,fdatasync,ftruncate"):
        say(service, "u2", "Remember that deploys happen on Fridays only.")
        assert service.run("memoryctl", "wait", "--timeout", "3").returncode == 1
        warnings = service.json("status")["warnings"]
        assert any("database cannot be written" in text for text in warnings)
    service.wait()
    transcript = service.projects / "-somewhere-shop" / "s.jsonl"
    with failing_disk(service, transcript, "read,pread64,readv,preadv"):
        say(service, "u3", "Remember that the printer of the office is called Gutenberg.")
        service.wait()
        warnings = service.json("status")["warnings"]
        assert any(str(transcript) in text for text in warnings), warnings
    service.wait()
    assert service.json("status")["warnings"] == []
    known = "\n".join(contents(memory).values())
    assert all(word in known for word in ("6543", "Fridays", "Gutenberg"))
    service.stop()
