"""Prefetch over the socket: begun early, collected once, known after a crash."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from memoryd.client import Client
from memoryd.errors import ProtocolError
from memoryd.protocol import ErrorCode

from support.poison import typed
from support.service import Service

pytestmark = pytest.mark.system

SESSION = "5e551010-0000-4000-8000-00000000000b"
CWD = "/nowhere/orchard"
QUERY = "how do we deploy the shop to production?"
PATIENCE_S = 60.0
_WRITTEN = (
    "SELECT (SELECT count(*) FROM recall_ledger),"
    " (SELECT count(*) FROM recall_sessions WHERE ignoring)"
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path / "home")
    memory = made.projects / "-nowhere-orchard" / "memory"
    memory.mkdir(parents=True)
    fact = "deploy the shop to production with make ship"
    (memory / "deploy.md").write_text(f"---\nname: deploy\ndescription: {fact}\n---\n\n{fact}\n")
    made.start()
    yield made
    made.stop()


@pytest.fixture
def memory(service: Service) -> Iterator[Client]:
    with Client(service.runtime / "memoryd.sock", timeout=PATIENCE_S) as client:
        yield client


def begin(memory: Client, turn: str, session: str = SESSION, query: str = QUERY) -> str:
    return memory.recall_start(query, cwd=CWD, session=session, turn_id=turn)


def collected(memory: Client, ticket: str) -> dict[str, Any]:
    """Collect as an agent does: now and then, until it is there."""
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        answer: dict[str, Any] = memory.recall_collect(ticket)
        if answer["state"] != "pending":
            return answer
    raise AssertionError("the search did not end")


def names(answer: dict[str, Any]) -> list[str]:
    return [found["name"] for found in answer["memories"]]


def test_an_agents_turns(memory: Client) -> None:
    ticket = begin(memory, "t-1")
    answer = collected(memory, ticket)
    assert names(answer) == ["deploy"]
    assert answer["text"].startswith("<memoryd-recall>")
    assert memory.recall_collect(ticket) == {"state": "gone", "memories": [], "text": ""}
    assert names(collected(memory, begin(memory, "t-2"))) == []
    looked_up = memory.recall(QUERY, cwd=CWD, session=SESSION)
    assert (names(looked_up), looked_up["ignored"]) == ([], False)
    assert names(memory.recall(QUERY, cwd=CWD, session="another")) == ["deploy"]
    assert names(memory.recall(QUERY, cwd=CWD)) == ["deploy"]
    assert "ignored" not in memory.recall(QUERY, cwd=CWD)


def test_what_recall_gave_is_not_prefetched(memory: Client) -> None:
    assert names(memory.recall(QUERY, cwd=CWD, session=SESSION)) == ["deploy"]
    assert names(collected(memory, begin(memory, "t-1"))) == []


def test_ignore_memory_until_it_is_taken_back(service: Service, memory: Client) -> None:
    folder = service.projects / "-nowhere-orchard"
    lines = typed("hello there", {"sessionId": SESSION, "cwd": CWD})
    (folder / f"{SESSION}.jsonl").write_bytes(b"".join(lines))
    service.wait()
    ticket = begin(memory, "t-1", query="Ignore memory. How do we deploy the shop?")
    assert names(collected(memory, ticket)) == []
    silent = memory.recall(QUERY, cwd=CWD, session=SESSION)
    assert (silent["memories"], silent["text"], silent["ignored"]) == ([], "", True)
    assert [row["ignoring_memory"] for row in service.json("sessions")] == [True]
    assert names(memory.recall(QUERY, cwd=CWD, session="another")) == ["deploy"]
    ticket = begin(memory, "t-2", query="use your memory again")
    collected(memory, ticket)
    assert names(collected(memory, begin(memory, "t-3"))) == ["deploy"]
    assert [row["ignoring_memory"] for row in service.json("sessions")] == [False]


def test_a_shell_of_the_model_hears_nothing_either(service: Service, memory: Client) -> None:
    collected(memory, begin(memory, "t-1", query="ignore memory"))
    asked = ["recall", "--project", CWD, QUERY]
    assert "deploy" in service.ctl(*asked)
    service.environment |= {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION}
    assert service.ctl(*asked) == "this session was told to ignore memory\n"
    assert service.json("search", "deploy")["ignored"] is True
    service.environment |= {"CLAUDE_CODE_SESSION_ID": "another"}
    assert "deploy" in service.ctl(*asked)
    service.environment |= {"CLAUDE_CODE_SESSION_ID": "../no name"}
    assert "deploy" in service.ctl(*asked)


def test_a_killed_service_knows_what_it_gave_and_who_ignores_memory(
    service: Service, memory: Client
) -> None:
    assert names(collected(memory, begin(memory, "t-1"))) == ["deploy"]
    collected(memory, begin(memory, "t-1", session="other", query="ignore memory"))
    # The most that a crash may lose is what was not written behind yet.
    with closing(sqlite3.connect(service.state / "memoryd.db")) as database:
        give_up = time.monotonic() + PATIENCE_S
        while database.execute(_WRITTEN).fetchone() != (1, 1):
            assert time.monotonic() < give_up
    service.kill(service.pid())
    service.start()
    assert names(memory.recall(QUERY, cwd=CWD, session=SESSION)) == []
    assert memory.recall(QUERY, cwd=CWD, session="other")["ignored"] is True


def test_a_graceful_stop_loses_nothing(service: Service, memory: Client) -> None:
    assert names(collected(memory, begin(memory, "t-1"))) == ["deploy"]
    service.stop()
    service.start()
    assert names(memory.recall(QUERY, cwd=CWD, session=SESSION)) == []


@pytest.mark.parametrize("session", ["", "../x", ".hidden", "a b", "x" * 65, "é"])
def test_ids_of_sessions_are_names(memory: Client, session: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        begin(memory, "t-1", session=session)
    assert refused.value.code == ErrorCode.INVALID_PARAMS
