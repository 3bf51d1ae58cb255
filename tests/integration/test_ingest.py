"""Files on the disk become sessions, turns, jobs and index entries, each exactly once."""

import os
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.db.engine import Database, sqlite_url
from memoryd.db.schema import metadata
from memoryd.queue.jobs import Priority
from sqlalchemy import text

from support.ingest import Bench, line, prompt, replace_file, reply

TALK = [
    prompt("h1", "Where is the port set?"),
    reply("a1", "In the settings.", stop="tool_use", tool="t1"),
    reply("a2", "It is 8080."),
    line({"type": "system", "subtype": "turn_duration", "uuid": "d1", "durationMs": 5}),
    prompt("h2", "Thank you."),
    reply("a3", "You are welcome."),
]


@pytest.fixture
def bench(tmp_path: Path, database: Database) -> Bench:
    """Ingestion on both databases."""
    return Bench(tmp_path, database)


@pytest.fixture
def lite(tmp_path: Path, sqlite_database: Database) -> Bench:
    return Bench(tmp_path, sqlite_database)


def facts(bench: Bench) -> object:
    status = bench.ingest.status()
    return (
        bench.turns("session_id", "uuid", "state", "start", "end", "explicit", "headless"),
        bench.sessions("id", "turns", "title", "started", "last", "context_tokens", "aliases"),
        bench.files("kind", "offset", "size", "records", "skipped", "oversize"),
        bench.jobs(),
        bench.indexed(),
        (status.bytes, status.records, status.skipped, status.lag_bytes, status.index_lag),
    )


# Reading


def test_a_transcript_becomes_a_session_with_turns_a_job_and_entries(bench: Bench) -> None:
    bench.write(b"".join(TALK))
    bench.scan()

    assert bench.turns("uuid", "state", "end_reason") == [
        ("h1", "ended", "stop"),
        ("h2", "ended", "stop"),
    ]
    assert bench.sessions() == [("s", 2, "present")]
    assert bench.jobs() == [("extract", "extract:1", Priority.NORMAL)]
    assert bench.indexed() == ["a1", "a2", "a3", "h1", "h2"]
    assert bench.project_rows() == [("/nowhere/app", "directory")]
    starts = bench.turns("start", "end")
    assert starts == [(0, sum(map(len, TALK[:4]))), (sum(map(len, TALK[:4])), len(b"".join(TALK)))]


def test_no_text_enters_the_main_database(lite: Bench) -> None:
    lite.write(b"".join(TALK))
    lite.settle()
    lite.database.checkpoint()

    assert lite.database.path is not None
    stored = lite.database.path.read_bytes()
    assert b"8080" not in stored
    assert b"Where is" not in stored


@settings(deadline=None, max_examples=25)
@given(cuts=st.lists(st.integers(0, sum(map(len, TALK))), max_size=6))
def test_every_way_of_appending_gives_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    whole = b"".join(TALK)
    results = []
    for places in ([], sorted(cuts)):
        folder = tmp_path_factory.mktemp("cuts")
        database = Database.open(sqlite_url(folder / "memoryd.db"))
        with database.write() as connection:
            metadata.create_all(connection)
        bench = Bench(folder, database)
        begin = 0
        for end in [*places, len(whole)]:
            bench.append(whole[begin:end])
            bench.scan()
            begin = end
        bench.settle()
        results.append(facts(bench))
        database.dispose()

    assert results[0] == results[1]


def test_the_same_rows_after_restarts_between_appends(lite: Bench) -> None:
    for piece in TALK:
        lite.append(piece)
        lite.restart()
        lite.scan()

    assert lite.turns("uuid", "state") == [("h1", "ended"), ("h2", "ended")]
    assert lite.turns("start", "end")[-1] == (sum(map(len, TALK[:4])), len(b"".join(TALK)))
    assert lite.ingest.status().records == len(TALK)
    assert lite.indexed() == ["a1", "a2", "a3", "h1", "h2"]


def test_only_appended_bytes_are_read(lite: Bench) -> None:
    for number in range(30):
        lite.write(b"".join(TALK), name=f"s{number}")
    lite.scan()
    before = lite.ingest.status().records
    lite.append(prompt("more", "One more."), name="s7")
    lite.scan()

    assert lite.ingest.status().records == before + 1
    assert [facts for name, facts in lite.events if name == "committed"][-1]["files"] == 1


def test_a_rescan_without_changes_writes_nothing(lite: Bench) -> None:
    lite.write(b"".join(TALK))
    lite.scan()
    lite.events.clear()
    lite.scan()
    lite.restart()
    lite.scan()

    assert [name for name, _ in lite.events] == ["scanned", "scanned"]


def test_glued_and_torn_lines_are_counted_and_nothing_behind_them_is_lost(lite: Bench) -> None:
    lite.write(
        TALK[0].rstrip(b"\n")
        + TALK[2]
        + TALK[4][:40]
        + TALK[4]
        + b"nonsense\n"
        + b"".join(TALK[5:])
    )
    lite.scan()

    assert lite.turns("uuid") == [("h1",), ("h2",)]
    assert lite.ingest.status().skipped == 2
    assert lite.ingest.status().records == 4


def test_a_file_of_another_program_is_foreign_until_a_session_begins_in_it(lite: Bench) -> None:
    path = lite.write(line({"role": "user", "content": "hi"}) + line({"type": "message", "id": 1}))
    lite.scan()

    assert lite.files("kind") == [("foreign",)]
    assert lite.ingest.status().foreign == 1
    assert not lite.sessions()

    with path.open("ab") as file:
        file.write(TALK[0])
    lite.scan()

    assert lite.files("kind") == [("session",)]
    assert lite.ingest.status().foreign == 0


def test_subagents_are_no_sessions(lite: Bench) -> None:
    lite.write(b"".join(TALK))
    inner = lite.projects / "-nowhere-app" / "s" / "subagents" / "deep"
    inner.mkdir(parents=True)
    for path in (
        inner / "agent-1.jsonl",
        inner.parent / "agent-2.jsonl",
        lite.file("agent-3"),
        inner.parent / "notes.jsonl",
        lite.projects / "-nowhere-app" / "memory" / "x.jsonl",
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(
            prompt(f"{path.stem}-h", "Do it.", isSidechain=True) + reply(f"{path.stem}-a", "Done.")
        )
    lite.scan()

    assert lite.sessions("id") == [("s",)]
    assert sorted(lite.files("kind", "session_id")) == [
        ("session", "s"),
        ("subagent", "s"),
        ("subagent", "s"),
        ("subagent", "s"),
    ]
    assert lite.turns("uuid") == [("h1",), ("h2",)]
    assert lite.indexed() == ["a1", "a2", "a3", "h1", "h2"]


def test_links_and_pipes_are_not_followed(lite: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.jsonl").write_bytes(b"".join(TALK))
    lite.file().symlink_to(outside / "x.jsonl")
    (lite.projects / "linked").symlink_to(outside)
    os.mkfifo(lite.file("pipe"))
    lite.scan()
    lite.ingest.hint(lite.projects / "linked" / "x.jsonl")
    lite.ingest.hint(lite.file())
    lite.ingest.hint(lite.file("pipe"))
    lite.ingest.run_once()

    assert not lite.files()
    assert lite.ingest.status().warnings == ()


# Turns


def test_explicit_requests_go_ahead(lite: Bench) -> None:
    lite.write(prompt("h1", "Remember that tests run with uv.") + reply("a1", "Noted."))
    lite.scan()

    assert lite.turns("explicit") == [(True,)]
    assert lite.jobs("priority", "run_at") == [(Priority.EXPLICIT, lite.clock.now())]


def test_the_request_rule_sees_only_redacted_text(
    tmp_path: Path, sqlite_database: Database
) -> None:
    heard: list[str] = []

    def is_request(said: str) -> bool:
        heard.append(said)
        return False

    bench = Bench(tmp_path, sqlite_database, is_request=is_request)
    bench.write(prompt("h1", "Look <private>at my diary</private> here."))
    bench.scan()

    assert len(heard) == 1
    assert "diary" not in heard[0]


def test_silence_ends_a_turn(lite: Bench) -> None:
    lite.write(TALK[0])
    lite.scan()
    lite.later(15)
    lite.append(reply("a1", "Well,", stop=None))
    lite.scan()
    lite.later(15)
    assert lite.turns("state") == [("open",)]
    lite.later(6)

    assert lite.turns("state", "end_reason") == [("ended", "quiet")]
    assert len(lite.jobs()) == 1


def test_an_open_tool_call_keeps_a_turn_open_for_ten_minutes(lite: Bench) -> None:
    lite.write(TALK[0] + TALK[1])
    lite.scan()
    lite.later(599)
    assert lite.turns("state") == [("open",)]
    lite.restart()
    lite.later(2)

    assert lite.turns("state", "end_reason") == [("ended", "quiet")]


def test_a_hook_ends_a_turn_once_the_last_message_is_written(lite: Bench) -> None:
    lite.write(TALK[0] + TALK[1])
    lite.scan()
    lite.ingest.notice_turn_end("s")
    lite.ingest.run_once()
    lite.append(reply("late", "The last words.", stop=None))
    lite.scan()
    assert lite.turns("state") == [("open",)]
    lite.later(2.5)

    assert lite.turns("state", "end_reason") == [("ended", "notice")]
    assert lite.turns("end") == [(lite.file().stat().st_size,)]


def test_the_next_prompt_ends_a_turn(lite: Bench) -> None:
    lite.write(TALK[0] + prompt("h2", "Never mind."))
    lite.scan()

    assert lite.turns("uuid", "state", "end_reason") == [
        ("h1", "ended", "next_human"),
        ("h2", "open", None),
    ]


def test_what_follows_the_end_of_a_turn_still_belongs_to_it(lite: Bench) -> None:
    lite.write(TALK[0] + reply("a1", "Done."))
    lite.scan()
    lite.append(reply("a2", "And one more thing."))
    lite.scan()

    assert lite.turns("state", "end") == [("ended", lite.file().stat().st_size)]


def test_a_handled_turn_stays_handled(lite: Bench) -> None:
    lite.write(TALK[0] + reply("a1", "Done."))
    lite.scan()
    with lite.database.write() as connection:
        connection.execute(text("UPDATE turns SET state = 'handled', handled_at = 1"))
    lite.append(reply("a2", "More."))
    lite.settle()

    assert lite.turns("state") == [("handled",)]


# Copies


def test_a_fork_is_a_session_whose_copied_turns_are_not_learned_again(bench: Bench) -> None:
    bench.write(b"".join(TALK))
    bench.scan()
    bench.write(
        b"".join(TALK) + prompt("h3", "Another way.", session="f") + reply("a9", "Fine."), "f"
    )
    bench.scan()

    assert bench.sessions("id", "turns") == [("f", 3), ("s", 2)]
    assert bench.turns("session_id", "uuid") == [("s", "h1"), ("s", "h2"), ("f", "h3")]
    assert bench.indexed() == ["a1", "a2", "a3", "a9", "h1", "h2", "h3"]
    assert bench.ingest.status().index_lag == 0


def test_a_fork_of_old_history_is_known_though_it_comes_first_by_name(lite: Bench) -> None:
    lite.write(b"".join(TALK), "z-old")
    assert lite.ingest.baseline_if_new()
    lite.write(b"".join(TALK) + prompt("h3", "Another way.") + reply("a9", "Fine."), "a-fork")
    lite.scan()

    assert sorted(lite.turns()) == [
        ("a-fork", "h3", "ended"),
        ("z-old", "h1", "baseline"),
        ("z-old", "h2", "baseline"),
    ]


def test_history_appended_again_to_its_own_file_is_a_copy(lite: Bench) -> None:
    lite.write(b"".join(TALK) * 2)
    lite.scan()

    assert lite.turns("uuid") == [("h1",), ("h2",)]
    assert lite.turns("start", "end")[1] == (
        sum(map(len, TALK[:4])),
        len(b"".join(TALK)),
    )


def test_a_prompt_written_twice_in_a_row_is_one_open_turn(lite: Bench) -> None:
    lite.write(TALK[0] + TALK[0])
    lite.scan()

    assert lite.turns("uuid", "state") == [("h1", "open")]


# First start


def test_what_existed_before_the_first_start_is_searchable_but_not_learned(bench: Bench) -> None:
    bench.write(b"".join(TALK))
    assert bench.ingest.baseline_if_new()
    assert bench.files("offset", "baseline_to") == [(0, len(b"".join(TALK)))]
    bench.append(prompt("h3", "Now this.") + reply("a9", "Sure."))
    bench.scan()

    assert bench.turns("uuid", "state") == [
        ("h1", "baseline"),
        ("h2", "baseline"),
        ("h3", "ended"),
    ]
    assert len(bench.jobs()) == 1
    assert "a1" in bench.indexed()
    assert not bench.restart().baseline_if_new()


def test_a_start_on_a_known_database_is_no_first_start(lite: Bench) -> None:
    assert lite.ingest.baseline_if_new()
    lite.write(b"".join(TALK))
    again = lite.restart()

    assert not again.baseline_if_new()
    lite.scan()
    assert lite.turns("state") == [("ended",), ("ended",)]


def test_a_turn_cut_by_the_first_start_stays_handled(lite: Bench) -> None:
    lite.write(TALK[0])
    lite.ingest.baseline_if_new()
    lite.append(TALK[2])
    lite.scan()

    assert lite.turns("state", "end") == [("baseline", len(TALK[0] + TALK[2]))]
    assert not lite.jobs()


# Files that change otherwise


def test_a_truncated_file_is_read_anew_and_teaches_only_what_is_new(lite: Bench) -> None:
    path = lite.write(b"".join(TALK))
    lite.scan()
    path.write_bytes(TALK[0] + prompt("h9", "Something else."))
    lite.scan()

    assert lite.turns("uuid", "state") == [("h1", "ended"), ("h2", "ended"), ("h9", "open")]
    assert lite.files("offset") == [(path.stat().st_size,)]
    assert lite.sessions("turns") == [(2,)]
    assert lite.ingest.status().bytes == path.stat().st_size


@pytest.mark.parametrize("in_place", [True, False])
def test_turns_not_handled_yet_move_with_a_rewritten_file(lite: Bench, in_place: bool) -> None:
    path = lite.write(b"".join(TALK))
    lite.scan()
    shift = line({"type": "mode", "mode": "default"})
    if in_place:
        path.write_bytes(shift + b"".join(TALK))
    else:
        replace_file(path, shift + b"".join(TALK))
    lite.scan()

    first = sum(map(len, TALK[:4]))
    assert lite.turns("uuid", "state", "start") == [
        ("h1", "ended", len(shift)),
        ("h2", "ended", len(shift) + first),
    ]
    assert len(lite.files()) == 1
    assert lite.ingest.status().records == 2 * len(TALK) + 1


def test_turns_move_with_a_file_that_grew_in_front(lite: Bench) -> None:
    path = lite.write(b"".join(TALK))
    lite.scan()
    front = line({"type": "summary", "summary": "x" * 9000})
    path.write_bytes(front + b"".join(TALK))
    lite.scan()

    first = sum(map(len, TALK[:4]))
    assert lite.turns("uuid", "start") == [("h1", len(front)), ("h2", len(front) + first)]


def test_a_session_in_two_directories_is_gone_only_when_both_are(bench: Bench) -> None:
    first = bench.write(b"".join(TALK))
    bench.scan()
    second = bench.write(b"".join(TALK), project="-copy")
    bench.scan()
    second.unlink()
    bench.scan()
    assert bench.sessions("id", "state") == [("s", "present")]

    first.unlink()
    bench.scan()
    assert bench.sessions("id", "state") == [("s", "gone")]


def test_a_name_that_is_no_text_keeps_no_other_file_from_being_read(lite: Bench) -> None:
    lite.write(b"".join(TALK))
    folder = lite.projects / os.fsdecode(b"-bad\xff")
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(prompt("b1", "Hello."))
    (lite.file().parent / os.fsdecode(b"bad\xff.jsonl")).write_bytes(prompt("b2", "Hello."))
    lite.ingest.hint(folder, is_directory=True)
    lite.ingest.hint(folder / "a.jsonl")
    lite.scan()

    assert lite.turns("uuid") == [("h1",), ("h2",)]
    told = "\n".join(lite.ingest.status().warnings)
    assert "-bad\\xff is not UTF-8" in told
    assert "bad\\xff.jsonl is not UTF-8" in told

    for path in (folder, lite.file().parent / os.fsdecode(b"bad\xff.jsonl")):
        path.rename(path.with_name(os.fsencode(path.name).replace(b"\xff", b"").decode()))
    lite.scan()
    assert sorted(lite.turns("uuid")) == [("b1",), ("b2",), ("h1",), ("h2",)]
    assert lite.ingest.status().warnings == ()


def test_a_transcript_that_breaks_the_recorder_stops_no_other(lite: Bench) -> None:
    for name in ("a", "bad", "c"):
        lite.write(prompt(name, f"Hello from {name}."), name=name)
    asked = lite.is_request

    def is_request(text: str) -> bool:
        if "bad" in text:
            raise OverflowError("as from a rule that met what nobody thought of")
        return asked(text)

    lite.is_request = is_request
    lite.ingest = lite.restart()
    lite.scan()
    assert lite.turns("uuid") == [("a",), ("c",)]
    assert "bad.jsonl cannot be taken in (OverflowError)" in "".join(lite.ingest.status().warnings)
    assert lite.ingest.status().lag_bytes == 0

    lite.is_request = asked
    lite.ingest = lite.restart()
    lite.scan()
    assert sorted(lite.turns("uuid")) == [("a",), ("bad",), ("c",)]


@pytest.mark.parametrize(
    "timestamp", [None, "", "yesterday", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", 5]
)
def test_a_turn_without_a_credible_time_was_said_when_it_was_read(
    lite: Bench, timestamp: object
) -> None:
    lite.write(prompt("h1", "Hello.", timestamp=timestamp))
    lite.scan()

    assert lite.turns("uuid", "at") == [("h1", lite.clock.now())]


def test_a_rewrite_that_keeps_the_first_bytes_is_noticed(lite: Bench) -> None:
    head = prompt("h0", "x" * 5000)
    path = lite.write(head + b"".join(TALK))
    lite.scan()
    path.write_bytes(head + prompt("h7", "In between.") + b"".join(TALK))
    lite.scan()

    assert lite.turns("uuid") == [("h0",), ("h1",), ("h2",), ("h7",)]


def test_a_replaced_file_ends_the_turn_that_was_open(lite: Bench) -> None:
    path = lite.write(TALK[0])
    lite.scan()
    path.write_bytes(b"")
    lite.scan()
    path.write_bytes(prompt("h9", "New."))
    lite.scan()

    assert lite.turns("uuid", "state") == [("h1", "ended"), ("h9", "open")]


def test_a_renamed_project_directory_takes_its_cursors_along(lite: Bench) -> None:
    lite.write(b"".join(TALK))
    lite.scan()
    (lite.projects / "-nowhere-app").rename(lite.projects / "-elsewhere")
    lite.append(prompt("h3", "Go on."), project="-elsewhere")
    lite.scan()

    assert lite.files("path", "kind", "missing_since") == [
        (str(lite.file(project="-elsewhere")), "session", None)
    ]
    assert lite.turns("uuid") == [("h1",), ("h2",), ("h3",)]
    assert lite.sessions() == [("s", 3, "present")]
    assert lite.ingest.status().records == len(TALK) + 1
    assert lite.index.positions().keys() == {str(lite.file(project="-elsewhere"))}


def test_a_renamed_session_file_keeps_its_turns_under_its_new_id(lite: Bench) -> None:
    path = lite.write(b"".join(TALK))
    lite.scan()
    path.rename(path.with_name("other.jsonl"))
    lite.restart()
    lite.scan()

    assert lite.sessions() == [("other", 2, "present")]
    assert lite.turns("session_id", "uuid") == [("other", "h1"), ("other", "h2")]
    assert lite.ingest.status().records == len(TALK)


def test_a_new_file_with_the_inode_of_a_deleted_one_is_new(lite: Bench) -> None:
    path = lite.write(b"".join(TALK))
    lite.scan()
    path.write_bytes(prompt("n1", "Quite another beginning of another session."))
    path.rename(path.with_name("new.jsonl"))
    lite.scan()

    assert lite.sessions() == [("new", 1, "present"), ("s", 2, "gone")]


def test_a_deleted_file_keeps_its_rows(lite: Bench) -> None:
    path = lite.write(b"".join(TALK))
    lite.scan()
    data = path.read_bytes()
    path.unlink()
    lite.scan()

    assert lite.sessions() == [("s", 2, "gone")]
    assert len(lite.turns()) == 2
    assert lite.files("missing_since") == [(lite.clock.now(),)]

    path.write_bytes(data)
    lite.scan()
    assert lite.sessions() == [("s", 2, "present")]
    assert len(lite.turns()) == 2


def test_a_projects_directory_that_vanishes_declares_nothing_missing(lite: Bench) -> None:
    lite.write(b"".join(TALK))
    lite.scan()
    lite.projects.rename(lite.projects.with_name("unmounted"))
    lite.scan()

    assert lite.sessions() == [("s", 2, "present")]
    assert "does not exist" in lite.ingest.status().warnings[0]


def test_a_projects_directory_that_appears_later_is_picked_up(lite: Bench) -> None:
    lite.projects.rmdir()
    assert lite.ingest.baseline_if_new()
    lite.scan()
    lite.write(b"".join(TALK))
    lite.later(11)

    assert lite.turns("state") == [("ended",), ("ended",)]
    assert lite.ingest.status().warnings == ()


# Unterminated last lines


def test_an_unterminated_line_is_pending_and_no_lag(lite: Bench) -> None:
    lite.write(TALK[0] + TALK[2][:-20])
    lite.scan()

    status = lite.ingest.status()
    assert (status.pending_bytes, status.lag_bytes) == (len(TALK[2]) - 20, 0)
    lite.append(TALK[2][-20:])
    lite.scan()
    assert lite.ingest.status().pending_bytes == 0
    assert lite.indexed() == ["a2", "h1"]


def test_a_whole_tail_is_taken_after_twenty_quiet_seconds_and_only_once(lite: Bench) -> None:
    lite.write(TALK[0] + TALK[2].rstrip(b"\n"))
    lite.scan()
    lite.later(19)
    assert lite.indexed() == ["h1"]
    lite.later(2)
    assert lite.indexed() == ["a2", "h1"]
    assert lite.files("offset") == [(lite.file().stat().st_size,)]

    lite.append(b"\n" + b"".join(TALK[4:]))
    lite.scan()
    assert lite.turns("uuid") == [("h1",), ("h2",)]
    status = lite.ingest.status()
    assert (status.records, status.skipped, status.pending_bytes) == (4, 0, 0)


def test_a_record_glued_to_a_taken_tail_is_read(lite: Bench) -> None:
    lite.write(TALK[0].rstrip(b"\n"))
    lite.scan()
    lite.restart()
    lite.scan()
    lite.later(21)
    lite.append(b"".join(TALK[4:]))
    lite.scan()

    assert lite.turns("uuid") == [("h1",), ("h2",)]
    assert lite.ingest.status().skipped == 0


def test_a_torn_tail_stays_pending_and_is_not_tried_again(lite: Bench) -> None:
    lite.write(TALK[0] + TALK[2][:-20])
    lite.scan()
    lite.later(21)
    lite.events.clear()
    lite.later(100)

    assert lite.ingest.status().pending_bytes == len(TALK[2]) - 20
    assert {name for name, _ in lite.events} <= {"scanned"}
    assert lite.settle()
    assert lite.turns("state") == [("ended",)]


# Settling


def test_settling_ends_open_turns_and_indexes_everything(bench: Bench) -> None:
    bench.write(TALK[0] + TALK[1])

    assert bench.settle()
    assert bench.turns("state", "end_reason") == [("ended", "quiet")]
    assert bench.ingest.status().index_lag == 0
    assert len(bench.jobs()) == 1


# The text index


def test_a_deleted_index_is_rebuilt_from_the_transcripts(lite: Bench) -> None:
    lite.write(b"".join(TALK))
    lite.write(b"".join(TALK) + prompt("h3", "Another."), "f")
    lite.scan()
    whole = lite.indexed()
    for path in lite.paths.state.glob("text.db*"):
        path.unlink()
    lite.restart()
    lite.ingest.rescan()
    lite.ingest._pipeline.load()
    assert lite.ingest.status().index_lag > 0
    lite.scan()

    assert lite.indexed() == whole
    assert lite.ingest.status().index_lag == 0
    assert lite.index.positions() == {
        str(lite.file()): lite.file().stat().st_size,
        str(lite.file("f")): lite.file("f").stat().st_size,
    }


def test_an_index_that_was_left_behind_catches_up_from_where_it_was(lite: Bench) -> None:
    path = lite.write(b"".join(TALK[:4]))
    lite.scan()
    behind = lite.index.positions()
    lite.append(b"".join(TALK[4:]))
    lite.scan()
    whole = lite.indexed()
    lite.index.forget_file(str(path))
    lite.index.add_batch([], behind)
    lite.restart()
    lite.append(reply("a8", "Even more."))
    lite.scan()

    assert lite.indexed() == sorted({"a3", "a8", "h2"})
    assert set(lite.indexed()) <= {*whole, "a8"}
    assert lite.entries("start")["h2"] == sum(map(len, TALK[:4]))


def test_an_index_that_cannot_be_written_is_a_warning_and_catches_up(
    lite: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(lite.index, "add_batch", refuse)
        lite.write(b"".join(TALK))
        lite.scan()
        assert "search misses" in lite.ingest.status().warnings[0]
        assert lite.ingest.status().index_lag == lite.file().stat().st_size
    lite.scan()

    assert lite.indexed() == ["a1", "a2", "a3", "h1", "h2"]
    assert lite.ingest.status().warnings == ()


def test_secrets_do_not_reach_the_index(lite: Bench) -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    lite.write(prompt("h1", f"Use {key} please <private>my diary</private>"))
    lite.scan()

    said = lite.entries()["h1"]
    assert said.startswith("Use ")
    assert key not in said
    assert "diary" not in said
