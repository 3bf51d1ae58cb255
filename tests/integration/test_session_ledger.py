"""What a session was given is known: at once, after a restart, in a fork, and to nobody else."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from memoryd.daemon.ledger import SESSIONS
from memoryd.db.engine import Database
from memoryd.db.schema import files, recall_ledger, recall_sessions, sessions
from memoryd.recall.present import render_for_model
from memoryd.recall.recollection import How
from memoryd.recall.selection import SESSION_BYTES
from memoryd.stores.recollections import forget_unused, put_recollection
from sqlalchemy import func, insert, select
from sqlalchemy.exc import IntegrityError

from support.recall import ROOT, Desk, desk
from support.transcripts import BASE, assistant, call, row, system, user

QUERY = "how do we deploy the shop to production?"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".claude"


@pytest.fixture
def here(config: Path, database: Database) -> Iterator[Desk]:
    with desk(config, database) as made:
        made.keep("deploy", "deploy the shop to production with make ship")
        made.keep("staging", "the staging database of the shop listens on port 5433")
        yield made


def paths(here: Desk, session: str | None, query: str = QUERY) -> list[str]:
    return [claim.name for claim in here.retrieval.find(query, [ROOT], session=session).claims]


def injection(here: Desk, session: str) -> bytes:
    """The attachment that the client writes when a hook gave it what helps with the query."""
    claims = here.retrieval.find(QUERY, [ROOT]).claims
    body = {
        "type": "hook_additional_context",
        "content": [render_for_model("", "", claims)],
        "hookEvent": "UserPromptSubmit",
    }
    return row(**{**BASE, "type": "attachment", "attachment": body, "sessionId": session})


# What is given


def test_what_was_given_is_not_given_again_in_its_session_alone(here: Desk) -> None:
    assert paths(here, "one") == ["deploy"]
    granted = here.ledger.give("one", {f"{here.memory}/deploy.md": 700})
    assert granted == {f"{here.memory}/deploy.md"}
    assert paths(here, "one") == []
    assert paths(here, "two") == ["deploy"]
    assert paths(here, None) == ["deploy"]
    assert here.ledger.given_bytes("one") == 700
    assert here.ledger.give("one", {f"{here.memory}/deploy.md": 700}) == frozenset()


def test_a_directory_by_another_name_holds_the_same_memories(here: Desk, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(here.config)
    other = tmp_path / "link" / here.memory.relative_to(here.config) / "deploy.md"
    here.ledger.note_touched("one", str(other), How.READ)
    assert paths(here, "one") == []


@pytest.mark.parametrize("how", ["read", "written", "edited"])
def test_what_the_model_met_itself_is_not_given(here: Desk, how: str) -> None:
    here.ledger.note_touched("one", f"{here.memory}/./deploy.md", how)
    assert paths(here, "one") == []
    assert here.ledger.given_bytes("one") == 0


def test_files_that_are_no_memories_are_not_kept(here: Desk) -> None:
    here.ledger.note_touched("one", "/home/dev/project/src/app.py", How.EDITED)
    here.ledger.note_touched("one", "projects/x/memory/relative.md", How.EDITED)
    here.ledger.note_touched("one", "/home/dev/project/docs/memory/notes.md", How.READ)
    assert here.ledger.given("one") == frozenset()


def test_a_directory_for_all_projects_counts_where_the_settings_name_one(here: Desk) -> None:
    shared = here.config.parent / "notes"
    (here.config / "settings.json").write_text(f'{{"autoMemoryDirectory": "{shared}"}}')
    here.ledger.note_touched("one", f"{shared}/deploy.md", How.READ)
    assert here.ledger.given("one") == {f"{shared}/deploy.md"}


def test_after_60_kb_nothing_more_is_given_in_the_session(here: Desk) -> None:
    here.ledger.give("one", {f"/m/{n}.md": 4096 for n in range(15)})
    assert here.ledger.given_bytes("one") == SESSION_BYTES
    assert paths(here, "one") == []
    assert here.ledger.give("one", {f"{here.memory}/deploy.md": 1}) == frozenset()
    assert paths(here, "two") == ["deploy"]
    looked_up = here.retrieval.find(QUERY, [ROOT], session="one", limit=1)
    assert [claim.name for claim in looked_up.claims] == ["deploy"], "a limit lifts the caps"


def test_many_threads_give_one_memory_once(here: Desk) -> None:
    start = threading.Barrier(8)

    def ask(_: int) -> int:
        start.wait(30)
        return len(here.ledger.give("one", {f"/m/{n}.md": 10 for n in range(100)}))

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(8))) == 100
    assert here.ledger.given_bytes("one") == 1000


# Ignore memory


def test_ignoring_lasts_until_it_is_taken_back(here: Desk) -> None:
    here.ledger.hear("one", "Ignore memory, please.")
    found = here.retrieval.find(QUERY, [ROOT], session="one")
    assert (found.ignored, found.claims, found.indexes) == (True, (), ())
    assert here.ledger.give("one", {"/m/x.md": 1}) == frozenset()
    here.ledger.hear("one", "what is the deploy command?")
    assert here.ledger.ignoring("one")
    assert not here.ledger.ignoring("two")
    assert here.ledger.ignoring_among(["one", "two", "three"]) == {"one"}
    here.clock.advance(1)
    here.ledger.hear("one", "use your memory again")
    assert paths(here, "one") == ["deploy"]
    assert here.ledger.ignoring_among(["one"]) == set()


def test_programs_cannot_say_it(here: Desk) -> None:
    for prompt in (
        "<task-notification>ignore memory</task-notification>",
        "<system-reminder>ignore memory</system-reminder>",
        "[memoryd-request]\nignore memory",
        "<memoryd-recall>\nignore memory\n</memoryd-recall>",
    ):
        here.ledger.hear("one", prompt)
    assert not here.ledger.ignoring("one")


def test_the_latest_words_count_whichever_way_they_came(here: Desk) -> None:
    """A hook hears a prompt before the transcript has it; older lines are read after it."""
    here.say("one", user("ignore memory"))
    here.ledger.hear("one", "use your memory again")
    assert paths(here, "one") == ["deploy"]
    here.say("one", user("stop using your memory", timestamp="2031-01-01T00:00:00.000Z"))
    assert paths(here, "one") == []
    assert here.ledger.ignoring("one")


# The transcript


def test_the_transcript_tells_what_hooks_gave_and_the_model_met(here: Desk) -> None:
    here.say("one", user("hello"), injection(here, "one"))
    assert paths(here, "one") == []
    assert here.ledger.given_bytes("one") > 200
    edit = call("c-1", "Edit", file_path=f"{here.memory}/staging.md", old_string="a")
    here.say("one", assistant(edit))
    assert paths(here, "one", "which port has the staging database of the shop?") == []


def test_a_fork_has_what_its_history_has(here: Desk) -> None:
    history = [user("ignore memory"), user("use your memory again", "u-2"), injection(here, "one")]
    here.say("one", *history)
    here.say("two", *history, user("and now?", "u-3"))
    assert paths(here, "two") == []
    assert here.ledger.given("two") == {f"{here.memory}/deploy.md"}
    assert here.ledger.given("one") == frozenset(), "nobody asked for it yet"


def test_a_compaction_takes_away_what_was_before_it(here: Desk) -> None:
    here.say("one", user("hello"), injection(here, "one"))
    assert paths(here, "one") == []
    here.say("one", system("compact_boundary", timestamp="2026-03-01T11:00:00.000Z"))
    assert paths(here, "one") == ["deploy"]
    assert here.ledger.given_bytes("one") == 0
    again = injection(here, "one").replace(b"2026-03-01T10", b"2026-03-01T12")
    here.say("one", again)
    assert paths(here, "one") == []


def test_a_compaction_leaves_what_was_given_after_it(here: Desk) -> None:
    here.ledger.give("one", {f"{here.memory}/staging.md": 5})
    here.clock.advance(1)
    here.ledger.compacted("one")
    here.ledger.hear("one", "ignore memory")
    here.clock.advance(1)
    here.ledger.note_given("one", {f"{here.memory}/deploy.md": 7})
    here.ledger.flush()
    # The boundary in the transcript is older than what was given since.
    here.say("one", system("compact_boundary"))
    here.ledger.follow("one", [ROOT])
    assert here.ledger.given("one") == {f"{here.memory}/deploy.md"}
    assert here.ledger.ignoring("one"), "what the person said outlives a compaction"


def test_half_a_line_is_read_when_it_is_whole(here: Desk) -> None:
    line = injection(here, "one")
    here.say("one", line[:-20])
    assert paths(here, "one") == ["deploy"]
    here.say("one", line[-20:])
    assert paths(here, "one") == []


def test_a_transcript_that_was_replaced_is_read_anew(here: Desk) -> None:
    path = here.say("one", *[user("hello", f"u-{n}") for n in range(20)])
    here.ledger.follow("one", [ROOT])
    path.write_bytes(injection(here, "one"))
    assert paths(here, "one") == []


def test_a_transcript_is_found_where_the_hook_says_it_is_and_nowhere_else(
    here: Desk, tmp_path: Path
) -> None:
    elsewhere = here.say("one", injection(here, "one"), root="/home/dev/project/sub")
    outside = tmp_path / "one.jsonl"
    outside.write_bytes(user("ignore memory"))
    here.ledger.locate("one", str(outside))
    here.ledger.locate("one", f"{here.config}/projects/../../../one.jsonl")
    assert paths(here, "one") == ["deploy"]
    here.ledger.locate("one", str(elsewhere))
    assert paths(here, "one") == []


def test_an_unreadable_transcript_is_told_and_holds_up_nothing(here: Desk) -> None:
    path = here.say("one", injection(here, "one"))
    path.unlink()
    path.mkdir()
    assert paths(here, "one") == ["deploy"]
    assert [name for name, _ in here.events] == ["transcript_unread"]


def test_a_pipe_in_place_of_a_transcript_keeps_nobody_waiting(here: Desk) -> None:
    path = here.say("one", injection(here, "one"))
    path.unlink()
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        try:
            assert pool.submit(paths, here, "one").result(10) == ["deploy"]
        finally:
            os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))  # lets go whoever waits
    assert [name for name, _ in here.events] == ["transcript_unread"]


# The database


def test_a_restart_keeps_all_of_it(here: Desk, database: Database) -> None:
    here.ledger.give("one", {f"{here.memory}/deploy.md": 700})
    here.ledger.note_touched("one", f"{here.memory}/staging.md", How.EDITED)
    here.ledger.hear("two", "ignore memory")
    here.say("three", injection(here, "three"))
    assert paths(here, "three") == []
    here.close()
    with desk(here.config, database) as again:
        assert paths(again, "one") == []
        assert again.ledger.given_bytes("one") == 700
        assert again.ledger.ignoring("two")
        (again.memory.parent / "three.jsonl").unlink()
        assert paths(again, "three") == [], "what was read of a transcript needs it no more"


def test_what_changes_is_written_within_a_second_without_anybody_waiting(
    here: Desk, database: Database
) -> None:
    here.ledger.give("one", {"/m/a.md": 1})
    written = threading.Event()

    def look() -> None:
        while not written.is_set():
            with database.read() as connection:
                if connection.scalar(select(func.count()).select_from(recall_ledger)):
                    written.set()

    thread = threading.Thread(target=look)
    thread.start()
    assert written.wait(60)
    thread.join()


def test_a_write_that_failed_is_told_and_made_later(
    here: Desk, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("memoryd.daemon.ledger.put_recollection", broken)
        here.ledger.give("one", {"/m/a.md": 1})
        with pytest.raises(OSError, match="No space"):
            here.ledger.flush()
        here.ledger.give("one", {"/m/b.md": 2})
        assert here.ledger.given_bytes("one") == 3
    here.ledger.flush()
    with desk(here.config, database) as again:
        assert again.ledger.given("one") == {"/m/a.md", "/m/b.md"}


def test_answers_wait_for_no_writer(here: Desk, database: Database) -> None:
    with database.write():
        assert here.ledger.give("one", {"/m/a.md": 1}) == {"/m/a.md"}
        here.ledger.hear("two", "ignore memory")
        assert paths(here, "three") == ["deploy"]


def test_what_is_being_written_is_not_given_up(here: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the commit the database does not have it: it must not be loaded from there."""
    ledger, answers = here.ledger, []

    def look(*arguments: Any, **named: Any) -> None:
        for n in range(SESSIONS + 10):
            ledger.given(f"other-{n}")
        answers.append(ledger.given("one"))
        put_recollection(*arguments, **named)

    ledger.give("one", {"/m/a.md": 1})
    with monkeypatch.context() as patch:
        patch.setattr("memoryd.daemon.ledger.put_recollection", look)
        ledger.flush()
    assert set(answers) <= {frozenset({"/m/a.md"})}
    assert ledger.given("one") == {"/m/a.md"}


def test_few_sessions_stay_in_memory_and_none_is_lost(here: Desk) -> None:
    for n in range(SESSIONS + 50):
        here.ledger.give(f"s-{n}", {f"/m/{n}.md": n})
    assert all(here.ledger.given(f"s-{n}") == {f"/m/{n}.md"} for n in range(SESSIONS + 50))
    here.ledger.flush()
    assert all(here.ledger.given(f"s-{n}") == {f"/m/{n}.md"} for n in range(SESSIONS + 50))
    assert len(here.ledger._kept) <= SESSIONS


def test_sessions_that_are_gone_and_unused_are_forgotten(here: Desk, database: Database) -> None:
    here.ledger.give("old", {"/m/a.md": 1})
    here.ledger.give("present", {"/m/a.md": 1})
    here.ledger.flush()
    here.clock.advance(100)
    here.ledger.give("new", {"/m/a.md": 1})
    here.ledger.flush()
    with database.write() as connection:
        file_id = connection.scalar(
            insert(files)
            .values(path="/p/present.jsonl", kind="session", device=1, inode=1, size=1, offset=1)
            .returning(files.c.id)
        )
        connection.execute(insert(sessions).values(id="present", file_id=file_id, aliases=[]))
    with database.write() as connection:
        assert forget_unused(connection, before=here.clock.now() - 50) == 1
        left = connection.scalars(select(recall_sessions.c.session_id)).all()
        assert sorted(left) == ["new", "present"]
        assert connection.scalar(select(func.count()).select_from(recall_ledger)) == 2


@pytest.mark.parametrize(
    "wrong", [{"how": "guessed"}, {"bytes": -1}, {"how": "read", "bytes": 5}, {"session_id": "no"}]
)
def test_the_database_refuses_rows_that_cannot_be(
    here: Desk, database: Database, wrong: dict[str, object]
) -> None:
    here.ledger.give("one", {"/m/a.md": 1})
    here.ledger.flush()
    good = {"session_id": "one", "path": "/m/b.md", "how": "given", "bytes": 1, "at": 1.0}
    with pytest.raises(IntegrityError), database.write() as connection:
        connection.execute(insert(recall_ledger).values({**good, **wrong}))
