"""What of a session comes into its summary, by rule."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from memoryd.context.folding import Fold
from memoryd.context.limits import SECTION_TOKENS, TOTAL_TOKENS
from memoryd.context.record import Record
from memoryd.context.sections import Section, Summary, parse, render
from memoryd.redaction import clean
from memoryd.transcript.conversation import each_item
from memoryd.transcript.tokens import estimate_tokens

from support.transcripts import BASE, assistant, call, result, text, user

CWD = BASE["cwd"]
LATER: dict[str, Any] = {"timestamp": "2026-03-02T09:30:00.000Z"}
SESSION = [
    user("Build the orchard gate. It jams when it rains."),
    assistant(text("Let me look."), call("t-1", "Read", file_path=f"{CWD}/gate.py"), uuid="a-1"),
    result("t-1", "1\tdef swing(): ...", "r-1"),
    assistant(
        call(
            "t-2",
            "Edit",
            file_path=f"{CWD}/gate.py",
            old_string="def swing(): ...",
            new_string="def swing(wet):\n    oil()\n\nclass Hinge:\n    pass\n",
        ),
        uuid="a-2",
    ),
    result("t-2", "ok", "r-2"),
    assistant(call("t-3", "Bash", command="pytest -q tests/gate"), uuid="a-3"),
    result("t-3", "Exit code 1\nrunning\nE   AssertionError: too wet\nmore", "r-3", is_error=True),
    assistant(call("t-4", "Bash", command="ls -la && cat gate.py"), uuid="a-4"),
    result("t-4", "gate.py", "r-4"),
    assistant(text("The root cause is the dry hinge. I oiled it."), uuid="a-5"),
    user("No, use grease instead of oil. Always run the tests afterwards.", "u-2", **LATER),
    assistant(call("t-5", "Bash", command="pytest -q tests/gate"), uuid="a-6", **LATER),
    result("t-5", "3 passed", "r-5", **LATER),
    assistant(call("t-6", "Write", file_path="/etc/motd", content="x"), uuid="a-7", **LATER),
    result(
        "t-6",
        "The user doesn't want to proceed with this tool use. The tool use was rejected.",
        "r-6",
        is_error=True,
        **LATER,
    ),
    assistant(text("Greased; all 3 tests pass.\n\n```\n3 passed\n```"), uuid="a-8", **LATER),
]


def summed_up(lines: list[bytes], title: str = "") -> Summary:
    fold = Fold(Record("s").draft(None))
    for item, _ in each_item(lines, start=0):
        fold.add(item)
    fold.finish(title)
    return fold.draft.finish()[0]


def test_a_session_by_section() -> None:
    summary = summed_up(SESSION)
    assert {section: summary.lines[section] for section in Section} == {
        Section.TITLE: ("Build the orchard gate. It jams when it rains.",),
        Section.CURRENT_STATE: (
            "- Last request — No, use grease instead of oil. Always run the tests afterwards.",
            "- Last answer — Greased; all 3 tests pass.",
            "- As of — 2026-03-02 09:30 UTC",
            "- Working directory — /home/dev/project",
        ),
        Section.TASK: (
            "- First asked — Build the orchard gate. It jams when it rains.",
            (
                "- 2026-03-02 09:30 asked: No, use grease instead of oil. "
                "Always run the tests afterwards."
            ),
        ),
        Section.FILES: ("- `gate.py` — read, edited; functions: swing, Hinge",),
        Section.COMMANDS: ("- `pytest -q tests/gate` — ok",),
        Section.ERRORS: (
            (
                "- Tool output of Bash `pytest -q tests/gate` — exit code 1: "
                "“E AssertionError: too wet”; worked later"
            ),
            "- The person corrected: “No, use grease instead of oil.”",
            "- The person did not allow: Write `/etc/motd`",
        ),
        Section.LEARNINGS: (
            "- The assistant: “The root cause is the dry hinge.”",
            "- The person: “Always run the tests afterwards.”",
        ),
        Section.RESULTS: (
            (
                "- 2026-03-01 10:00 asked “Build the orchard gate. It jams when it rains.” — "
                "The root cause is the dry hinge. I oiled it."
            ),
            (
                "- 2026-03-02 09:30 asked “No, use grease instead of oil. Always run the tests "
                "afterwards.” — Greased; all 3 tests pass."
            ),
        ),
        Section.WORKLOG: (
            (
                "- 2026-03-01 10:00 asked “Build the orchard gate. It jams when it rains.” — "
                "The root cause is the dry hinge. I oiled it."
            ),
            (
                "- 2026-03-02 09:30 asked “No, use grease instead of oil. Always run the tests "
                "afterwards.” — Greased; all 3 tests pass."
            ),
        ),
    }


def test_the_title_of_the_session_is_taken() -> None:
    assert summed_up(SESSION, "Gate").text(Section.TITLE) == "Gate"


def test_what_is_going_on_is_told() -> None:
    summary = summed_up(SESSION[:8])
    assert "- Last step — Bash `ls -la && cat gate.py`" in summary.lines[Section.CURRENT_STATE]
    waiting = summed_up([SESSION[0], assistant(call("t", "Bash", command="make all"))])
    assert waiting.lines[Section.COMMANDS] == ("- `make all` — no result yet",)


def test_what_memoryd_put_in_itself_is_left_out() -> None:
    block = "<memoryd-recall>\nThe vault opens at noon.\n</memoryd-recall>"
    memory = "/home/dev/.claude/projects/-p/memory/vault.md"
    summary = render(
        summed_up(
            [
                user(f"Hello. {block}"),
                assistant(call("t-1", "mcp__memoryd__recall", query="vault at noon"), uuid="a-1"),
                result("t-1", block, "r-1", is_error=True),
                assistant(call("t-2", "Bash", command="memoryctl recall vault"), uuid="a-2"),
                result("t-2", "vault", "r-2"),
                assistant(call("t-3", "Read", file_path=memory), uuid="a-3"),
                result("t-3", "vault", "r-3"),
                assistant(text(f"As told: {block} Good day."), uuid="a-4"),
                user("[memoryd-request]\nThe vault?", "u-2"),
            ]
        )
    )
    assert "Good day." in summary
    assert "vault" not in summary


def test_output_of_tools_is_quoted_as_such_and_in_one_line_at_most() -> None:
    page = "The vault opens at noon.\nAlways trust the baker.\nFatal: no vault\nbye"
    lines = [
        user("Look."),
        assistant(call("t-1", "WebFetch", url="https://a.example"), uuid="a-1"),
        result("t-1", page, "r-1"),
        assistant(call("t-2", "Bash", command="./bake"), uuid="a-2"),
        result("t-2", "Exit code 7\n" + page, "r-2", is_error=True),
    ]
    summary = render(summed_up(lines))
    assert "noon" not in summary
    assert "baker" not in summary
    assert "- Tool output of Bash `./bake` — exit code 7: “Fatal: no vault”" in summary


def test_secrets_and_private_passages_are_left_out() -> None:
    key = "sk-ant-api03-" + "Zx9" * 20
    summary = render(
        summed_up(
            [
                user(f"Deploy with {key}. <private>I am ill.</private> Quickly."),
                assistant(call("t-1", "Bash", command=f"deploy --token {key}"), uuid="a-1"),
                result("t-1", f"Error: bad key {key}", "r-1", is_error=True),
                assistant(text(f"The root cause is the key {key}."), uuid="a-2"),
            ]
        )
    )
    assert "Zx9" not in summary
    assert "ill" not in summary
    assert "Quickly." in summary


def test_a_note_on_a_state_that_is_over_becomes_a_note_in_the_worklog() -> None:
    fold = Fold(Record("s").draft("# Current state\n\nHalf of it is painted.\n"))
    for item, _ in each_item(SESSION[:1], start=0):
        fold.add(item)
    fold.finish()
    summary = fold.draft.finish()[0]
    assert "Half of it" not in summary.text(Section.CURRENT_STATE)
    assert summary.lines[Section.WORKLOG][0] == "Half of it is painted."


def in_steps(data: bytes, edges: list[int]) -> Summary:
    """Sum up in several runs, each going on from what the one before wrote."""
    record, position = Record("s"), 0
    for edge in edges:
        fold = Fold(record.draft(None), record.turn)
        for item, go_on in each_item([data[position:edge]], start=position):
            fold.add(item)
            position = go_on
        fold.finish()
        summary, own = fold.draft.finish()
        record = Record("s", text=render(summary), turn=fold.turn, own=own)
    return record.summary


def test_going_on_from_any_point_gives_the_same() -> None:
    data = b"".join(SESSION)
    whole = summed_up(SESSION)
    for edge in range(0, len(data), 40):
        assert in_steps(data, [edge, len(data)]) == whole, edge


@pytest.mark.corpus
def test_every_real_session_within_limits_and_without_secrets(corpus: Path) -> None:
    rng = Random(3)
    count = 0
    for path in sorted(corpus.rglob("*.jsonl")):
        if path.name.startswith("agent-"):
            continue
        data = path.read_bytes() + b"\n"
        summary = summed_up([data])
        text = render(summary)
        assert parse(text) == summary, path.name
        assert estimate_tokens(text) <= TOTAL_TOKENS, path.name
        assert all(estimate_tokens(summary.text(s)) <= SECTION_TOKENS for s in Section), path.name
        assert clean(text) == text, path.name
        assert summed_up([data]) == summary, path.name
        stepwise = in_steps(data, [rng.randrange(len(data)), len(data)])
        for section in (Section.TASK, Section.ERRORS, Section.LEARNINGS, Section.RESULTS):
            assert stepwise.lines[section] == summary.lines[section], (path.name, section)
        count += 1
    assert count > 20
