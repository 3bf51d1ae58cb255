"""Exclusions and pauses: what may not be taken in leaves no text behind, now or later."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from memoryd.admission import Admission
from memoryd.daemon.calls import Call
from memoryd.daemon.params import Params
from memoryd.daemon.pausing import Pausing
from memoryd.daemon.places import Places
from memoryd.db.engine import Database
from memoryd.stores.pauses import pauses

from support.ingest import CWD, Bench, line, prompt, replace_file, reply

OTHER = "/nowhere/client"


@pytest.fixture
def bench(tmp_path: Path, database: Database) -> Bench:
    bench = Bench(tmp_path, database)
    bench.ingest.baseline_if_new()
    bench.scan()
    return bench


def pausing(bench: Bench, *exclude: str) -> Pausing:
    made = Pausing(
        database=bench.database,
        queue=bench.queue,
        places=Places(bench.database, bench.clock, bench.paths.home),
        clock=bench.clock,
        transcripts=bench.projects,
        home=bench.paths.home,
        exclude=exclude,
    )
    bench.admission = made.admission
    return made


def ask(bench: Bench, **params: Any) -> Call:
    def dropped(facts: Mapping[str, Any]) -> None:
        del facts

    return Call(Params(params), deadline=None, clock=bench.clock, send_progress=dropped)


def title(text: str) -> bytes:
    return line({"type": "custom-title", "customTitle": text, "sessionId": "s"})


# Excluded


def test_an_excluded_directory_leaves_no_trace_but_digests(bench: Bench) -> None:
    pausing(bench, f"{OTHER}/**")
    bench.write(
        prompt("u1", "Remember the planted one", cwd=f"{OTHER}/deep")
        + title("planted title")
        + reply("a1", "planted answer", cwd=f"{OTHER}/deep"),
    )
    bench.write(prompt("u2", "an ordinary one") + reply("a2", "fine"), name="t")
    bench.scan()

    assert bench.indexed() == ["a2", "u2"]
    assert [turn[1] for turn in bench.turns()] == ["u2"]
    assert [session[0] for session in bench.sessions()] == ["t"]
    assert [root for root, _ in bench.project_rows()] == [CWD]
    assert [job[1] for job in bench.jobs()] == ["extract:1"]
    assert bench.ingest.status().lag_bytes == 0


def test_lifting_an_exclusion_brings_nothing_back(bench: Bench) -> None:
    pausing(bench, f"{OTHER}/**")
    said = prompt("u1", "planted", cwd=OTHER) + reply("a1", "planted", cwd=OTHER)
    bench.write(said + title("planted title"))
    bench.scan()
    pausing(bench)
    bench.append(prompt("u2", "later", cwd=OTHER))
    # A copy of the history, and the whole index made anew.
    bench.write(said + prompt("u3", "in a fork", cwd=OTHER, session="f"), name="f")
    bench.scan()
    bench.index.close()
    for path in bench.paths.state.glob("text.db*"):
        path.unlink()
    bench.restart()
    bench.scan()

    assert bench.indexed() == ["u2", "u3"]
    assert [turn[1] for turn in bench.turns()] == ["u2", "u3"]
    assert {title for (title,) in bench.sessions("title")} == {""}


def test_a_turn_ends_where_its_session_enters_an_excluded_directory(bench: Bench) -> None:
    pausing(bench, f"{OTHER}/**")
    begin = prompt("u1", "Remember the port") + reply("a1", "and", stop=None)
    hidden = reply("a2", "planted", cwd=OTHER, stop=None)
    after = reply("a3", "back again")
    bench.write(begin + hidden + after)
    bench.scan()

    assert bench.turns("uuid", "start", "end", "state") == [("u1", 0, len(begin), "ended")]
    assert bench.indexed() == ["a1", "a3", "u1"]


def test_what_was_known_before_the_exclusion_is_not_indexed_again(bench: Bench) -> None:
    bench.write(prompt("u1", "once open", cwd=OTHER) + title("a title"))
    bench.scan()
    pausing(bench, f"{OTHER}/**")
    bench.append(title("planted title") + reply("a1", "planted", cwd=OTHER))
    bench.scan()
    assert bench.indexed() == ["u1"]
    assert bench.sessions("title") == [("a title",)]


# Paused


@pytest.mark.parametrize("project", [None, CWD])
def test_what_is_written_during_a_pause_counts_as_handled(
    bench: Bench, project: str | None
) -> None:
    scope = {} if project is None else {"project": project}
    keeper = pausing(bench)
    bench.write(prompt("u1", "before, not read yet") + reply("a1", "before"))
    keeper.pause(ask(bench, **scope))
    bench.append(title("planted title") + prompt("u2", "Remember the planted one"))
    bench.append(reply("a2", "planted answer"))
    bench.write(prompt("u3", "planted in a new file"), name="t")
    bench.scan()
    bench.append(prompt("u4", "planted, read after the pause") + b'{"type":"user","uuid":"u5",')
    keeper.resume(ask(bench))
    bench.append(prompt("u5", "planted: begun in the pause")[len(b'{"type":"user","uuid":"u5",') :])
    bench.append(prompt("u6", "after") + reply("a6", "after"))
    bench.scan()

    assert bench.indexed() == ["a1", "a6", "u1", "u6"]
    states = dict(bench.turns("uuid", "state"))
    assert states.pop("u5", "baseline") == "baseline"
    assert states == {
        "u1": "ended",
        "u2": "baseline",
        "u3": "baseline",
        "u4": "baseline",
        "u6": "ended",
    }
    assert all("planted" not in title for (title,) in bench.sessions("title"))


def test_a_pause_of_one_project_stops_no_other(bench: Bench) -> None:
    keeper = pausing(bench)
    assert keeper.pause(ask(bench, project=OTHER))["changed"]
    assert not keeper.pause(ask(bench, project=OTHER))["changed"]
    bench.write(prompt("u1", "heard"))
    bench.write(prompt("u2", "planted", cwd=OTHER), name="t")
    bench.scan()
    assert bench.indexed() == ["u1"]
    assert [one["project"] for one in keeper.lasting()] == [OTHER]
    assert not keeper.resume(ask(bench, project=CWD))["changed"]
    assert keeper.resume(ask(bench))["paused"] == []


def test_a_pause_outlives_the_service_and_what_is_written_while_that_is_down(bench: Bench) -> None:
    pausing(bench).pause(ask(bench))
    bench.ingest.stop()
    bench.write(prompt("u1", "planted while nobody ran"))
    again = pausing(bench)
    bench.restart()
    bench.scan()
    again.resume(ask(bench))
    bench.append(prompt("u2", "after"))
    bench.restart()
    bench.scan()
    assert bench.indexed() == ["u2"]
    assert dict(bench.turns("uuid", "state"))["u1"] == "baseline"


def test_a_paused_transcript_that_is_replaced_or_renamed_stays_withheld(bench: Bench) -> None:
    keeper = pausing(bench)
    keeper.pause(ask(bench))
    path = bench.write(prompt("u1", "planted") + reply("a1", "planted"))
    bench.scan()
    keeper.resume(ask(bench))
    replace_file(path, prompt("u0", "new") + path.read_bytes() + prompt("u2", "after"))
    bench.scan()
    path.rename(path.with_name("r.jsonl"))
    bench.scan()
    assert bench.indexed() == ["u0", "u2"]
    assert dict(bench.turns("uuid", "state"))["u1"] == "baseline"


def test_ended_turns_of_a_paused_project_are_asked_for_again_at_its_end(bench: Bench) -> None:
    bench.write(prompt("u1", "before") + reply("a1", "before"))
    bench.scan()
    keeper = pausing(bench)
    keeper.pause(ask(bench))
    (before,) = bench.jobs("run_at")
    keeper.resume(ask(bench))
    (after,) = bench.jobs("run_at")
    assert after <= before
    with bench.database.read() as connection:
        (over,) = pauses(connection)
    assert over.until is not None


def test_nothing_of_what_is_withheld_stands_in_any_file(tmp_path: Path) -> None:
    """The state directory of a SQLite instance is searched byte by byte."""
    from memoryd.db.engine import sqlite_url  # noqa: PLC0415 - a database beside the fixture's
    from memoryd.db.schema import metadata  # noqa: PLC0415 - as above

    state = tmp_path / "state"
    state.mkdir()
    database = Database.open(sqlite_url(state / "memoryd.db"))
    with database.write() as connection:
        metadata.create_all(connection)
    bench = Bench(tmp_path, database)
    bench.ingest.baseline_if_new()
    keeper = pausing(bench, f"{OTHER}/**")
    bench.write(prompt("u1", "plantedword", cwd=OTHER) + title("plantedword"))
    keeper.pause(ask(bench))
    bench.write(prompt("u2", "plantedword") + title("plantedword"), name="t")
    bench.scan()
    keeper.resume(ask(bench))
    bench.append(prompt("u3", "fine"), name="t")
    bench.scan()
    database.dispose()
    bench.index.close()
    with closing(sqlite3.connect(bench.paths.text_index)) as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (1,)
    found = [path for path in state.iterdir() if b"plantedword" in path.read_bytes()]
    assert found == []


def test_an_admission_is_asked_at_every_commit(bench: Bench) -> None:
    keeper = pausing(bench)
    bench.write(prompt("u1", "heard", cwd=OTHER))
    bench.scan()
    keeper.exclude([f"{OTHER}/**"])
    bench.append(prompt("u2", "planted", cwd=OTHER))
    bench.scan()
    keeper.exclude([])
    bench.append(prompt("u3", "heard", cwd=OTHER))
    bench.scan()
    assert bench.indexed() == ["u1", "u3"]
    assert isinstance(keeper.admission(), Admission)
