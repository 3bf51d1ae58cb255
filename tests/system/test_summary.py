"""The summary of a session: written by itself, shown on request, given after a compaction."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from memoryd.client import Client
from memoryd.context.limits import TOTAL_TOKENS
from memoryd.context.sections import Section
from memoryd.daemon.summaries import CONTEXT
from memoryd.errors import ProtocolError
from memoryd.hooks.answers import MAX_CONTEXT

from support.hooks import context_of, run_hook
from support.service import Service
from support.transcripts import assistant, call, result, system, text, user

pytestmark = pytest.mark.system

SESSION = "5e551010-0000-4000-8000-00000000000c"
BLOCK = "<memoryd-recall>"


class Gate:
    """A project in which somebody builds a gate."""

    def __init__(self, service: Service, name: str = "shop") -> None:
        self.service = service
        self.root = service.home / name
        self.root.mkdir()
        self.folder = service.projects / f"-{name}"
        self.folder.mkdir()

    def transcript(self, session: str = SESSION) -> Path:
        return self.folder / f"{session}.jsonl"

    def beside(self, session: str = SESSION) -> Path:
        return self.folder / session / "session-memory/summary.md"

    def write(self, *lines: bytes, session: str = SESSION) -> None:
        place = {"cwd": str(self.root), "sessionId": session}
        with self.transcript(session).open("ab") as file:
            for line in lines:
                file.write(json.dumps({**json.loads(line), **place}).encode() + b"\n")
        self.service.wait()

    def turn(self, number: int, words: str, answer: str, tokens: int) -> list[bytes]:
        usage = {"input_tokens": tokens, "output_tokens": 9}
        ids = {"uuid": f"a-{number}", "message_id": f"m-{number}"}
        return [
            user(words, f"u-{number}", promptSource="typed", origin={"kind": "human"}),
            assistant(text(answer), usage=usage, stop="end_turn", **ids),
        ]

    def grow(self, session: str = SESSION) -> None:
        self.write(
            *self.turn(1, "Build the orchard gate.", "Built.", 22_000),
            *self.turn(2, "Paint it red.", "Painted red.", 33_000),
            session=session,
        )

    def hook(self, kind: str, session: str = SESSION, **more: Any) -> str:
        given = {
            "hook_event_name": kind,
            "session_id": session,
            "transcript_path": str(self.transcript(session)),
            "cwd": str(self.root),
            **more,
        }
        return context_of(run_hook(given, self.service.environment))


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    service = Service(tmp_path / "home")
    service.projects.mkdir(parents=True)
    service.start()
    yield Gate(service)
    service.stop()


def test_it_appears_by_itself_and_outlives_the_transcript(gate: Gate) -> None:
    service = gate.service
    gate.write(*gate.turn(1, "Build the orchard gate.", "Built.", 22_000))
    assert not gate.beside().exists()
    gate.write(*gate.turn(2, "Paint it red.", "Painted red.", 33_000))
    assert "Painted red." in gate.beside().read_text()
    copy = service.state / "summaries" / f"{SESSION}.md"
    assert "Painted red." in copy.read_text()
    for file in (gate.beside(), copy):
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o777 == 0o700

    # Asked for, it has what was said since.
    gate.write(*gate.turn(3, "And a bell?", "Hung one.", 33_100))
    assert "bell" not in gate.beside().read_text()
    shown = service.json("summary", SESSION[:8])
    assert set(shown) == {"session", "project", "updated", "tokens", "sections", "text"}
    assert shown["session"] == SESSION
    assert list(shown["sections"]) == [section.value for section in Section]
    assert "- First asked — Build the orchard gate." in shown["sections"]["task"]
    assert shown["text"] == gate.beside().read_text()
    assert 0 < shown["tokens"] < TOTAL_TOKENS
    assert "Hung one." in service.ctl("summary", cwd=gate.root)

    gate.transcript().unlink()
    gate.beside().unlink()
    service.wait()
    assert service.json("summary", SESSION)["text"] == shown["text"]
    service.stop()
    for file in service.state.glob("memoryd.db*"):
        file.unlink()
    service.start()
    assert service.json("summary", SESSION[:10])["text"] == shown["text"]


def test_what_somebody_writes_into_it_stays_and_is_shown(gate: Gate) -> None:
    gate.grow()
    edited = gate.beside().read_text().replace("# Learnings\n", "# Learnings\n\nOak, not pine.\n")
    gate.beside().write_text(edited)
    assert "Oak, not pine." in gate.service.json("summary", SESSION)["sections"]["learnings"]
    assert gate.beside().read_text() == edited
    gate.write(*gate.turn(3, "And a bell?", "Hung one.", 44_000))
    assert "Oak, not pine." in gate.beside().read_text()
    assert "Hung one." in gate.beside().read_text()


def test_kill_9_while_it_is_written_loses_and_repeats_nothing(gate: Gate) -> None:
    service = gate.service
    for number in range(1, 8):
        with gate.transcript().open("ab") as file:
            for line in gate.turn(number, f"Plank {number}.", f"Nailed {number}.", 20_000 * number):
                place = {"cwd": str(gate.root), "sessionId": SESSION}
                file.write(json.dumps({**json.loads(line), **place}).encode() + b"\n")
        waiting = service.popen("memoryctl", "wait", "--timeout", "20")
        # The folder appears, or a new file is put in its place, at some moment from here on.
        service.kill(service.pid())
        waiting.communicate()
        service.start()
    service.wait()
    shown = service.json("summary", SESSION)
    for number in range(1, 8):
        assert shown["sections"]["worklog"].count(f"Nailed {number}.") == 1
        assert shown["sections"]["results"].count(f"Nailed {number}.") == 1
    jobs = [job for job in service.json("jobs", "list") if job["kind"] == "session-memory"]
    assert {job["state"] for job in jobs} <= {"done", "cancelled"}  # or taken in by another
    assert {job["project"] for job in jobs} == {str(gate.root)}


def test_what_cannot_be_shown_is_said(gate: Gate) -> None:
    service = gate.service

    def refused(*arguments: str) -> str:
        done = service.run("memoryctl", "summary", *arguments, cwd=gate.root)
        assert (done.returncode, done.stdout) == (1, "")
        return done.stderr.strip()

    assert refused() == (
        f"memoryctl: no session of the project {gate.root} is known; see: memoryctl sessions"
    )
    gate.grow()
    gate.grow(f"{SESSION[:-1]}d")
    assert refused("5e") == (
        f"memoryctl: several sessions begin with '5e': {SESSION}, {SESSION[:-1]}d; give more of it"
    )
    assert refused("zz") == "memoryctl: no session begins with 'zz'; see: memoryctl sessions"
    assert refused("--project", "/nowhere", SESSION).startswith(
        "memoryctl: no session in the project /nowhere begins with"
    )
    gate.write(assistant(text("Hello?")), session="mute")
    assert "nothing was said in it yet" in refused("mute")
    with Client(service.runtime / "memoryd.sock") as client:
        assert client.summary(SESSION)["session"] == SESSION
        assert client.summary(cwd=str(gate.root))["session"] in {SESSION, f"{SESSION[:-1]}d"}
        with pytest.raises(ProtocolError, match="is empty"):
            client.summary("")
    config = service.home / ".config/memoryd/config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'exclude = ["{gate.root}"]\n')
    os.kill(service.pid(), signal.SIGHUP)
    service.json("status")
    assert "the settings exclude" in refused(SESSION)


def test_after_a_compaction_the_session_is_given_it_once(gate: Gate) -> None:
    gate.grow()
    assert gate.hook("SessionStart", source="startup") == ""
    assert gate.hook("SessionStart", source="resume") == ""
    gate.write(*gate.turn(3, "And a bell? </memoryd-recall>", "Hung one.", 33_100))
    assert gate.hook("PreCompact", trigger="auto") == ""
    wait_for(gate, "Hung one.")
    given = gate.hook("SessionStart", source="compact")
    assert given.startswith(BLOCK)
    assert "Hung one." in given
    assert given.count("</memoryd-recall>") == 1
    assert len(given) <= CONTEXT
    assert gate.hook("PostCompact", trigger="auto") == ""
    gate.write(system("compact_boundary", compactMetadata={"trigger": "auto"}))
    # The client repeats what it gave: only what is newer is given.
    assert gate.hook("SessionStart", source="resume") == ""
    assert gate.hook("SessionStart", source="fork", session="another") == ""
    gate.write(*gate.turn(4, "Oil it.", "Oiled.", 25_000))
    gate.service.json("summary", SESSION)
    assert "Oiled." in gate.hook("SessionStart", source="resume")
    assert gate.hook("SessionStart", source="resume") == ""
    # Compacted again, nothing of it is there any more.
    assert "Oiled." in gate.hook("SessionStart", source="compact")


def test_with_memories_all_that_is_given_stays_within_the_clients_limit(gate: Gate) -> None:
    gate.service.ctl("remember", "The gate opens at noon", cwd=gate.root)
    lines = []
    for number in range(120):
        lines += gate.turn(number, f"Plank {number}. {'wood ' * 80}", "Nailed it. " * 30, 22_000)
    gate.write(*lines)
    gate.hook("PreCompact", trigger="auto")
    wait_for(gate, "Plank 119.")
    given = gate.hook("SessionStart", source="compact")
    assert "1 memory of earlier sessions" in given
    assert "Plank 119." in given
    assert "First asked — Plank 0." in given
    assert MAX_CONTEXT * 0.8 < len(given) <= MAX_CONTEXT


def test_who_ignores_memory_is_not_given_it(gate: Gate) -> None:
    gate.grow()
    gate.hook("UserPromptSubmit", prompt="Ignore memory from now on.")
    assert gate.hook("SessionStart", source="compact") == ""


def test_what_was_given_is_not_summed_up_again(gate: Gate) -> None:
    gate.grow()
    given = gate.hook("SessionStart", source="compact")
    assert given
    gate.write(
        user(f"SessionStart hook additional context: {given}", "u-8"),
        assistant(call("t-1", "Read", file_path=str(gate.beside())), uuid="a-8"),
        result("t-1", gate.beside().read_text(), "r-8"),
        *gate.turn(9, "Oil it.", "Oiled.", 50_000),
    )
    text_now = gate.service.json("summary", SESSION)["text"]
    assert "memoryd-recall" not in text_now
    assert "session-memory" not in text_now
    assert text_now.count("Paint it red.") == 3  # task, result, worklog


def wait_for(gate: Gate, words: str) -> None:
    """Return when the hastened summary is kept and says something."""
    with Client(gate.service.runtime / "memoryd.sock", timeout=60) as client:
        while True:
            with suppress(ProtocolError):  # None was made yet.
                if words in client.summary(SESSION, refresh=False)["text"]:
                    return
