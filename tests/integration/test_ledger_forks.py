"""A fork has what it copied before its transcript shows it; some sessions withhold themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memoryd.db.engine import Database
from memoryd.recall.present import render_for_model

from support.recall import ROOT, Desk, desk
from support.transcripts import BASE, assistant, row, system, text, user

QUERY = "how do we deploy the shop to production?"
TOKENS = 1465


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".claude"


@pytest.fixture
def here(config: Path, database: Database) -> Iterator[Desk]:
    with desk(config, database) as made:
        made.keep("deploy", "deploy the shop to production with make ship")
        yield made


def found(here: Desk, session: str) -> list[str]:
    return [claim.name for claim in here.retrieval.find(QUERY, [ROOT], session=session).claims]


def given(here: Desk) -> bytes:
    block = render_for_model("", "", here.retrieval.find(QUERY, [ROOT]).claims)
    body = {"type": "hook_additional_context", "content": [block], "hookEvent": "UserPromptSubmit"}
    return row(**{**BASE, "type": "attachment", "attachment": body})


def reply() -> bytes:
    usage = {"input_tokens": 1000, "output_tokens": 77, "cache_read_input_tokens": 388}
    return assistant(text("Done."), usage=usage)


def fork(here: Desk, old: Path, tokens: int = TOKENS) -> None:
    here.ledger.forked("fork", str(old.with_name("fork.jsonl")), tokens)


def test_a_fork_has_what_the_other_session_was_given(here: Desk) -> None:
    fork(here, here.say("old", user("deploy"), given(here), reply()))
    assert found(here, "fork") == []
    assert found(here, "other") == ["deploy"]
    # Then its own transcript is there.
    here.say("fork", user("deploy"), given(here), reply(), user("more", "u-2"))
    assert found(here, "fork") == []


def test_it_ignores_memory_when_that_was_said_before(here: Desk) -> None:
    fork(here, here.say("old", user("ignore memory"), reply()))
    assert found(here, "fork") == []
    assert here.ledger.ignoring("fork")


def test_what_a_compaction_took_away_is_given_to_the_fork(here: Desk) -> None:
    gone = system("compact_boundary", timestamp="2026-03-01T11:00:00.000Z")
    fork(here, here.say("old", user("deploy"), given(here), gone, reply()))
    assert found(here, "fork") == ["deploy"]


def test_a_session_of_another_size_is_not_the_one(here: Desk) -> None:
    fork(here, here.say("old", user("deploy"), given(here), reply()), TOKENS + 1)
    assert found(here, "fork") == ["deploy"]


def test_withholding_lasts_until_the_client_says_otherwise(
    here: Desk, config: Path, database: Database
) -> None:
    here.ledger.withhold("one", True)
    here.ledger.withhold("two", False)
    assert here.ledger.withheld_among(["one", "two", "three"]) == {"one"}
    here.ledger.flush()
    with desk(config, database) as again:
        assert again.ledger.withheld_among(["one", "two"]) == {"one"}
        again.ledger.withhold("one", False)
        assert again.ledger.withheld_among(["one", "two"]) == set()
