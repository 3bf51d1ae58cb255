"""What a person types in sessions over the days: remember, correct, forget."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.poison import typed
from support.service import Service

pytestmark = pytest.mark.system

SESSION = "5e551010-0000-4000-8000-00000000000a"
CWD = "/nowhere/orchard"


class Person:
    """Types prompts into one session, one after the other."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._said = 0
        self._folder = service.projects / "-nowhere-orchard"
        self._folder.mkdir(parents=True)

    def says(self, prompt: str) -> dict[str, str]:
        """Return the bodies of the memories, by name, once the prompt was handled."""
        self._said += 1
        stamp = f"2026-03-{self._said:02}T10:00:00.000Z"
        lines = b"".join(typed(prompt, {"sessionId": SESSION, "cwd": CWD, "timestamp": stamp}))
        for uuid in (b'"u-1"', b'"a-1"', b'"msg_1"'):
            lines = lines.replace(uuid, uuid[:-1] + f"-{self._said}".encode() + b'"')
        with (self._folder / f"{SESSION}.jsonl").open("ab") as file:
            file.write(lines)
        self._service.wait()
        files = self._folder.glob("memory/*.md")
        return {path.stem: path.read_text() for path in files if path.stem != "MEMORY"}

    def log(self) -> str:
        return self._service.ctl("log", "--project", CWD)


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    service = Service(tmp_path / "home")
    service.projects.mkdir(parents=True)
    service.start()
    try:
        yield Person(service)
    finally:
        service.stop()


def test_a_life_of_memories(person: Person) -> None:
    person.says("remember that the staging database listens on port 6543")
    kept = person.says("Remember that the staging server is reached through the bastion.")
    assert len(kept) == 2

    corrected = person.says("that's wrong, the port of the staging database should be 6544")
    assert corrected.keys() == kept.keys()
    assert "6544" in corrected["staging-database-port"]
    assert (
        "Until 2026-03-03: The staging database listens on port 6543."
        in (corrected["staging-database-port"])
    )

    assert person.says("forget what I said about staging").keys() == kept.keys()
    log = person.log()
    assert "several memories may be meant" in log

    assert person.says("no, that's wrong, it's 7777") == corrected
    assert person.says("Don't remember how the tests work, just run them.") == corrected

    left = person.says("forget what I told you about the staging database port")
    assert list(left) == ["staging-server"]
    assert person.says("go on").keys() == left.keys()
    again = person.says("Remember that the staging database listens on port 6543.")
    assert "staging-database-port" in again


def test_a_life_of_memories_in_chinese(person: Person) -> None:
    kept = person.says("记住：测试库端口是 5433")
    (name,) = kept
    corrected = person.says("不对，测试库端口应该是 5434")
    assert list(corrected) == [name]
    assert "测试库端口应该是 5434。" in corrected[name]
    assert person.says("不对，应该是 5435") == corrected
    assert person.says("忘了说，标题也要改") == corrected
    assert person.says("忘掉我之前说的测试库端口") == {}
