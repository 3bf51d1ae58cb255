"""A full disk, and a database that somebody put back to an earlier day."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
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
