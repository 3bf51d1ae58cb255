"""Summaries on a real file system and database, kept by the job and by request."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from memoryd.admission import Admission, Pause
from memoryd.context.record import Record, decode
from memoryd.context.sections import Section
from memoryd.db.engine import Database
from memoryd.jobs import session_memory
from memoryd.jobs.session_memory import Refreshed, SessionMemory
from memoryd.jobs.summaries import SummaryFiles
from memoryd.memory.library import MemoryLibrary
from memoryd.queue.jobs import Done, Job, JobKind, PermanentFailure, Snooze
from memoryd.stores.journal import SqlJournal

from support.ingest import CWD, Bench, prompt, reply

SECRET = "sk-ant-api03-" + "Zx9" * 20


class Desk(Bench):
    """An instance of ingestion with its summaries."""

    def __init__(self, folder: Path, database: Database) -> None:
        super().__init__(folder, database)
        self.summaries = SummaryFiles(self.projects, self.paths.summaries, Random(2))
        self.withheld: set[str] = set()
        self.memory = SessionMemory(
            database=database,
            files=self.summaries,
            library=MemoryLibrary(
                config=self.paths.config,
                home=folder,
                managed=None,
                environ={},
                always=False,
                journal=SqlJournal(database),
                clock=self.clock,
                rng=Random(3),
            ),
            transcripts=self.projects,
            clock=self.clock,
            withheld=lambda sessions: self.withheld & set(sessions),
            admission=lambda: self.admission(),  # noqa: PLW0108 - a test may replace it
        )

    def beside(self, name: str = "s") -> Path:
        return self.file(name).with_suffix("") / "session-memory/summary.md"

    def copy(self, name: str = "s") -> Record:
        found = decode((self.paths.summaries / f"{name}.md").read_bytes())
        assert found is not None
        return found

    def asked(self) -> list[Any]:
        return [key for kind, key in self.jobs("kind", "key") if kind == JobKind.SESSION_MEMORY]

    def run(self, session: str = "s") -> Any:
        job = Job(
            id=1, kind=JobKind.SESSION_MEMORY, key="k", dedupe_key=None,
            payload={"session": session}, priority=100, state=None, run_at=0, deadline=None,  # type: ignore[arg-type]
            attempt=1, max_attempts=5, snoozes=0, snoozed=False, worker=None, lease_until=None,
            cancel_requested=False, error=None, result=None, created_at=0, started_at=None,
            finished_at=None,
        )  # fmt: skip
        return self.memory(None, job)  # type: ignore[arg-type]


@pytest.fixture
def desk(tmp_path: Path, sqlite_database: Database) -> Desk:
    return Desk(tmp_path, sqlite_database)


def grown(uuid: str, tokens: int, words: str = "Done.") -> bytes:
    """A reply that reports so many tokens of prompt."""
    record = json.loads(reply(uuid, words))
    record["message"]["usage"] = {"input_tokens": tokens, "output_tokens": 5}
    return json.dumps(record).encode() + b"\n"


def test_a_session_that_grows_is_summed_up(desk: Desk) -> None:
    desk.append(prompt("u-1", "Build the gate.") + grown("a-1", 22_000))
    desk.scan()
    assert desk.asked() == []
    desk.append(prompt("u-2", "Paint it.") + grown("a-2", 33_000, "Painted red."))
    desk.scan()
    assert desk.asked() == ["session-memory:s"]
    assert desk.run() == Done(result={"changed": True, "tokens": desk.copy().tokens})
    text = desk.beside().read_text()
    assert "Painted red." in text
    assert desk.copy().text == text
    for file in (desk.beside(), desk.paths.summaries / "s.md"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    before = desk.beside().stat()
    assert desk.run().result["changed"] is False
    assert desk.beside().stat().st_mtime_ns == before.st_mtime_ns


def test_silence_makes_a_summary_due_too(desk: Desk) -> None:
    lines = prompt("u-1", "Build the gate.") + grown("a-1", 22_000)
    last = json.loads(grown("a-2", 22_500, "x " * 30_000))
    last["message"]["stop_reason"] = None
    desk.append(lines + prompt("u-2", "Go.") + json.dumps(last).encode() + b"\n")
    desk.scan()
    assert desk.asked() == []
    desk.later(30)
    assert desk.asked() == ["session-memory:s"]
    desk.later(30)
    assert desk.asked() == ["session-memory:s"]


def test_what_was_there_before_the_first_start_asks_for_nothing(desk: Desk) -> None:
    desk.append(prompt("u-1", "Old.") + grown("a-0", 22_000) + grown("a-1", 90_000))
    desk.ingest.baseline_if_new()
    desk.scan()
    assert desk.asked() == []
    assert desk.memory.refresh("s").record is not None
    desk.append(prompt("u-2", "New.") + grown("a-2", 99_000))
    desk.scan()
    assert desk.asked() == ["session-memory:s"]


def test_subagents_and_requests_of_memoryd_ask_for_nothing(desk: Desk) -> None:
    lines = grown("a-1", 22_000) + grown("a-2", 90_000)
    desk.append(prompt("u-1", "[memoryd-request]\nSay it.") + lines)
    agent = desk.file("s").with_suffix("") / "subagents/agent-1.jsonl"
    agent.parent.mkdir(parents=True)
    agent.write_bytes(prompt("u-2", "Look.", isSidechain=True) + lines)
    desk.scan()
    assert desk.asked() == []
    assert desk.memory.refresh("s") == Refreshed(None)
    assert not desk.beside().exists()


def test_only_what_is_new_is_read_and_the_rest_is_kept(desk: Desk) -> None:
    desk.append(prompt("u-1", "Build the gate.") + reply("a-1", "Built."))
    desk.scan()
    desk.memory.refresh("s")
    through = desk.copy().through
    assert through == desk.file().stat().st_size
    # What was read is read no more: other bytes of the same length change nothing.
    data = desk.file().read_bytes()
    desk.file().write_bytes(data.replace(b"Built.", b"Burnt."))
    desk.append(prompt("u-2", "Paint it.") + reply("a-2", "Painted."))
    desk.scan()
    text = desk.memory.refresh("s").record
    assert text is not None
    assert "Painted." in text.text


def test_a_transcript_that_was_replaced_is_summed_up_anew(desk: Desk) -> None:
    desk.append(prompt("u-1", "Build the gate.") + reply("a-1", "Built."))
    desk.scan()
    desk.memory.refresh("s")
    edited = desk.beside().read_text().replace("# Learnings\n", "# Learnings\n\nMine.\n")
    desk.beside().write_text(edited)
    desk.write(prompt("u-9", "Bake a cake.") + reply("a-9", "Baked a large one."))
    desk.scan()
    desk.memory.refresh("s")
    text = desk.beside().read_text()
    assert "gate" not in text
    assert "Baked a large one." in text
    assert "Mine." in text


def test_what_somebody_edits_is_kept(desk: Desk) -> None:
    desk.append(prompt("u-1", "Build the gate.") + reply("a-1", "Built."))
    desk.scan()
    desk.memory.refresh("s")
    text = desk.beside().read_text()
    edited = text.replace("# Learnings\n", "# Learnings\n\nHinges rust.\n* twice\n").replace(
        "# Title\n\nBuild the gate.", "# Title\n\nThe gate"
    )
    lines = edited.split("\n")
    removed = next(line for line in lines if line.startswith("- First asked"))
    edited = edited.replace(removed, "")
    desk.beside().write_text(edited)
    shown = desk.memory.refresh("s").record
    assert shown is not None
    assert "Hinges rust.\n* twice" in shown.text
    # Nothing new was said: the file stays as somebody left it, to the byte.
    assert desk.beside().read_text() == edited
    desk.append(prompt("u-2", "Paint it.") + reply("a-2", "Painted."))
    desk.scan()
    desk.memory.refresh("s")
    text = desk.beside().read_text()
    assert "# Title\n\nThe gate\n" in text
    assert "Hinges rust.\n* twice" in text
    assert removed not in text
    assert "Painted." in text


def test_what_changes_while_it_is_written_wins(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.append(prompt("u-1", "Build the gate.") + reply("a-1", "Built."))
    desk.scan()
    desk.memory.refresh("s")
    desk.append(prompt("u-2", "Paint it.") + reply("a-2", "Painted."))
    desk.scan()
    put = desk.summaries.put_beside
    calls: list[str] = []

    def meanwhile(transcript: str, text: bytes, *, expected: bytes | None) -> None:
        if not calls:
            with desk.beside().open("a") as file:
                file.write("Noted meanwhile.\n")
        calls.append(transcript)
        put(transcript, text, expected=expected)

    monkeypatch.setattr(desk.summaries, "put_beside", meanwhile)
    desk.memory.refresh("s")
    assert len(calls) == 2
    text = desk.beside().read_text()
    assert "Noted meanwhile." in text
    assert text.count("Painted.") >= 1
    assert desk.copy().text == text


@pytest.mark.parametrize("steps", range(3))
def test_killed_at_any_step_it_writes_the_same_again(
    desk: Desk, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.append(prompt("u-1", "Build the gate.") + reply("a-1", "Built."))
    desk.scan()
    desk.memory.refresh("s")
    desk.append(prompt("u-2", "No, paint it.") + reply("a-2", "The root cause is rust."))
    desk.scan()

    left = iter(range(steps))

    def until_killed(write: Callable[..., None]) -> Callable[..., None]:
        def step(*values: Any, **named: Any) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt
            write(*values, **named)

        return step

    with monkeypatch.context() as patch:
        for name in ("put_beside", "put_copy"):
            patch.setattr(desk.summaries, name, until_killed(getattr(desk.summaries, name)))
        with pytest.raises(KeyboardInterrupt):
            desk.memory.refresh("s")
    desk.memory.refresh("s")
    text, copy = desk.beside().read_text(), desk.copy()
    assert copy.text == text
    own = sum(len(lines) for lines in copy.summary.lines.values())
    assert len(copy.own) == own
    assert text.count("The root cause is rust.") == 4  # state, learning, result, worklog
    assert text.count("The person corrected") == 1


def test_without_its_copy_it_makes_the_same_lines_and_none_twice(desk: Desk) -> None:
    for number in range(3):
        desk.append(prompt(f"u-{number}", f"Paint {number}.") + reply(f"a-{number}", "Painted."))
    desk.scan()
    desk.memory.refresh("s")
    text = desk.beside().read_text()
    (desk.paths.summaries / "s.md").unlink()
    desk.memory.refresh("s")
    assert sorted(desk.beside().read_text().split("\n")) == sorted(text.split("\n"))


def test_a_transcript_that_is_gone_is_answered_from_the_copy(desk: Desk) -> None:
    desk.append(prompt("u-1", "Build the gate.") + reply("a-1", "Built."))
    desk.scan()
    before = desk.memory.refresh("s").record
    desk.file().unlink()
    assert desk.memory.refresh("s").record == before
    desk.scan()
    assert desk.memory.refresh("s").record == before
    desk.beside().unlink()
    assert desk.memory.refresh("s").record == before
    assert desk.run().result["changed"] is False


def test_each_summary_has_its_own_session_only(desk: Desk) -> None:
    for name in ("one", "two"):
        desk.append(prompt(f"u-{name}", f"About {name}.", session=name), name)
    desk.scan()
    for name in ("one", "two"):
        desk.append(reply(f"a-{name}", f"Answer {name}.", session=name), name)
    desk.scan()
    for name, other in (("one", "two"), ("two", "one")):
        desk.memory.refresh(name)
        assert f"Answer {name}." in desk.beside(name).read_text()
        assert other not in desk.beside(name).read_text()


def paused(desk: Desk, **more: Any) -> Callable[[], Admission]:
    return lambda: Admission(pauses=[Pause(root=None, since=desk.clock.now(), **more)])


def test_nothing_of_excluded_or_paused_projects(desk: Desk) -> None:
    desk.append(prompt("u-1", "Build the gate.") + reply("a-1", "Built."))
    desk.scan()
    desk.admission = lambda: Admission(exclude=[CWD])
    assert desk.run() == Done(result={"skipped": "the settings exclude the project"})
    assert desk.memory.refresh("s").record is None
    desk.admission = paused(desk)
    assert desk.run() == Done(result={"skipped": "the project is paused"})
    assert not desk.beside().exists()
    assert not desk.paths.summaries.exists()


def test_what_was_written_in_a_pause_stays_out_for_good(desk: Desk) -> None:
    desk.append(prompt("u-1", "Build the gate.") + reply("a-1", "Built."))
    desk.scan()
    desk.admission = paused(desk)
    desk.append(
        prompt("u-2", "The vault opens at noon.")
        + reply("a-2", "The vault, then.", tool="t-1", stop=None)
    )
    desk.scan()
    desk.admission = paused(desk, until=desk.clock.now() + 1)
    desk.append(prompt("u-3", "Paint it.") + reply("a-3", "Painted."))
    desk.scan()
    desk.memory.refresh("s")
    text = desk.beside().read_text()
    assert "vault" not in text
    assert "Bash" not in text
    assert "Painted." in text


def test_nothing_where_the_clients_memory_is_off_unless_asked(desk: Desk) -> None:
    desk.append(prompt("u-1", "Build the gate.") + reply("a-1", "Built."))
    desk.scan()
    desk.withheld = {"s"}
    assert "off in the session" in desk.run().result["skipped"]
    assert not desk.beside().exists()
    assert desk.memory.refresh("s").record is not None


def test_no_link_is_followed(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    desk.append(prompt("u-1", "Build the gate.") + reply("a-1", "Built."))
    desk.scan()
    folder = desk.beside().parent
    folder.parent.mkdir()
    folder.symlink_to(outside)
    found = desk.memory.refresh("s")
    assert found.record is not None
    assert "link" in found.warnings[0]
    assert list(outside.iterdir()) == []
    folder.unlink()
    folder.mkdir()
    (outside / "mine").write_text("mine")
    desk.beside().symlink_to(outside / "mine")
    assert desk.memory.refresh("s").warnings
    assert (outside / "mine").read_text() == "mine"
    assert "Built." in desk.copy().text


def test_no_secret_reaches_a_file(desk: Desk) -> None:
    desk.append(
        prompt("u-1", f"Use {SECRET}. <private>I am ill.</private>")
        + reply("a-1", f"The problem was the key {SECRET}.")
    )
    desk.scan()
    desk.memory.refresh("s")
    for file in (desk.beside(), desk.paths.summaries / "s.md"):
        assert "Zx9" not in file.read_text()
        assert "ill." not in file.read_text()


def test_what_cannot_be_written_is_tried_later(desk: Desk) -> None:
    desk.append(prompt("u-1", "Build the gate.") + reply("a-1", "Built."))
    desk.scan()
    desk.paths.summaries.write_text("in the way")
    outcome = desk.run()
    assert isinstance(outcome, Snooze)
    assert outcome.until == desk.clock.now() + session_memory.UNWRITABLE_S
    desk.paths.summaries.unlink()
    assert isinstance(desk.run(), Done)
    with pytest.raises(PermanentFailure):
        desk.run("nobody")


@pytest.mark.corpus
def test_real_sessions_ask_for_a_summary_whatever_the_cuts(desk: Desk, corpus: Path) -> None:
    data = (corpus / "transcripts/H11.jsonl").read_bytes()
    rng = Random(4)
    edges = sorted(rng.randrange(len(data)) for _ in range(30))
    position = 0
    for edge in [*edges, len(data)]:
        desk.append(data[position:edge])
        position = edge
        desk.scan()
        desk.memory.refresh("s")
    desk.append(b"\n")
    desk.settle()
    assert desk.asked() == ["session-memory:s"]
    desk.memory.refresh("s")
    desk.append(data, "whole")
    desk.append(b"\n", "whole")
    desk.settle()
    assert desk.asked() == ["session-memory:s", "session-memory:whole"]
    desk.memory.refresh("whole")
    for section in (Section.TASK, Section.ERRORS, Section.LEARNINGS, Section.RESULTS):
        assert desk.copy().summary.lines[section] == desk.copy("whole").summary.lines[section]
