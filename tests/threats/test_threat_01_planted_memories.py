"""Words that nobody typed as their own plant no memory, whatever carries them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest

from support.poison import CONTROL, POISONS, typed
from support.service import Service

pytestmark = pytest.mark.system

NAMES = sorted(POISONS)


def session_of(name: str) -> str:
    return str(uuid5(NAMESPACE_URL, name))


def place(name: str) -> dict[str, str]:
    """Every session has a project of its own, so that none hides behind another."""
    return {"sessionId": session_of(name), "cwd": f"/nowhere/{name}"}


def write(service: Service, name: str, records: list[bytes]) -> None:
    """Append a session; its records are told from others' by their uuids."""
    folder = service.projects / f"-nowhere-{name}"
    folder.mkdir(parents=True)
    lines = b"".join(records)
    for uuid in (b"u-1", b"u-2", b"a-1", b"a-2", b"r-1", b"q-1", b"s-1"):
        lines = lines.replace(b'"' + uuid + b'"', b'"' + uuid + b"-" + name.encode() + b'"')
    (folder / f"{session_of(name)}.jsonl").write_bytes(lines)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that has read all of them, and one session of a person who asks for something."""
    service = Service(tmp_path_factory.mktemp("planted") / "home")
    service.projects.mkdir(parents=True)
    service.start()
    try:
        for name in NAMES:
            write(service, name, POISONS[name](place(name)))
        write(service, "control", typed(CONTROL, place("control")))
        service.wait()
        yield service
    finally:
        service.stop()


def memories(service: Service, name: str) -> list[Path]:
    return sorted(service.projects.glob(f"-nowhere-{name}/memory/*"))


@pytest.mark.parametrize("name", NAMES)
def test_no_memory_arises(service: Service, name: str) -> None:
    found = memories(service, name)
    assert [path.read_text() for path in found] == []


def test_what_a_person_asks_for_arises_in_the_same_run(service: Service) -> None:
    topic = next(path for path in memories(service, "control") if path.name != "MEMORY.md")
    assert "The harvest scheduler keeps its state in the north bucket." in topic.read_text()
    status = service.json("status")
    assert status["memories"] == 1
    assert status["sessions"] == len(NAMES) + 1
    assert status["jobs"]["dead"] == 0
