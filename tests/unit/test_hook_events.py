"""What a hook's standard input is taken for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.hooks.events import (
    Compacted,
    Compacting,
    EventName,
    Place,
    Prompted,
    SessionBegan,
    Source,
    ToolsAnswered,
    Touch,
    TurnEnded,
    Written,
)
from memoryd.hooks.stdin import name_of, parse

from support.hooks import AGENT, EVENTS, SESSION, sample

CWD = "/home/dev/orchard"
PROJECTS = "/home/dev/.claude/projects"
TRANSCRIPT = f"{PROJECTS}/-home-dev-orchard/{SESSION}.jsonl"
HERE = Place(SESSION, TRANSCRIPT, CWD)


def read(kind: str, **more: Any) -> Any:
    return parse(sample(kind, CWD, PROJECTS, **more))


@pytest.mark.parametrize("source", [source for source in Source if source is not Source.OTHER])
def test_a_session_begins_for_a_reason(source: Source) -> None:
    event = read(f"SessionStart-{source}")
    assert isinstance(event, SessionBegan)
    assert (event.place, event.source) == (HERE, source)


def test_a_reason_of_tomorrow_is_another_one() -> None:
    assert read("SessionStart-startup", source="teleport") == SessionBegan(HERE, Source.OTHER)
    assert read("SessionStart-startup", source=None) == SessionBegan(HERE, Source.OTHER)
    assert read("SessionStart-startup", source=["x"]) == SessionBegan(HERE, Source.OTHER)


def test_a_prompt() -> None:
    event = read("UserPromptSubmit")
    assert event == Prompted(HERE, "Where are the routes?", "11111111-2222-4333-8444-555555555555")
    assert read("UserPromptSubmit", prompt=None, prompt_id=7) == Prompted(HERE, "", "")


def test_tools_tell_what_the_model_read_wrote_and_edited() -> None:
    def call(tool: str, **arguments: Any) -> Any:
        return {"tool_name": tool, "tool_input": arguments, "tool_response": "x" * 100}

    calls: list[Any] = [
        call("Read", file_path="/m/a.md"),
        call("Write", file_path="/m/b.md", content="b"),
        call("Edit", file_path="/m/c.md", old_string="c", new_string="d"),
        call("MultiEdit", file_path="/m/d.md", edits=[]),
        call("Bash", command="cat /m/e.md"),
        call("Read", file_path="relative.md"),
        call("Read", file_path="/m/\0.md"),
        call("Read", file_path="/" + "x" * 5000),
        call("Read", file_path=3),
        {"tool_name": "Read"},
        {"tool_name": ["Read"], "tool_input": {"file_path": "/m/f.md"}},
        "Read",
    ]
    touched = (
        ("/m/a.md", Touch.READ),
        ("/m/b.md", Touch.WRITTEN),
        ("/m/c.md", Touch.EDITED),
        ("/m/d.md", Touch.EDITED),
    )
    assert read("PostToolBatch", tool_calls=calls) == ToolsAnswered(
        HERE, EventName.POST_TOOL_BATCH, touched
    )
    assert read("PostToolBatch", tool_calls="none") == ToolsAnswered(
        HERE, EventName.POST_TOOL_BATCH, ()
    )
    assert read("PostToolUse", **calls[1]) == ToolsAnswered(
        HERE, EventName.POST_TOOL_USE, (("/m/b.md", Touch.WRITTEN),)
    )


@pytest.mark.parametrize("kind", ["Stop", "StopFailure", "SessionEnd"])
def test_a_turn_ends(kind: str) -> None:
    assert read(kind) == TurnEnded(HERE)


def test_compaction_and_subagents_end_no_turn() -> None:
    assert read("PreCompact") == Compacting(HERE)
    assert read("PostCompact") == Compacted(HERE)
    assert read("SubagentStop") == Written(HERE, "/nowhere/agent-a01.jsonl")
    # As the client says it for the summary it asks for at a compaction.
    nobody = read("SubagentStop", agent_id="", agent_type="", agent_transcript_path="")
    assert nobody == Written(HERE, "")


@pytest.mark.parametrize("kind", EVENTS)
def test_what_happens_in_a_subagent_takes_no_part_in_the_conversation(kind: str) -> None:
    event = read(kind, **AGENT)
    assert event is None or isinstance(event, Written)


def test_a_session_of_the_agent_flag_has_a_type_and_no_id() -> None:
    assert read("SessionStart-startup", agent_type="reviewer") == SessionBegan(HERE, Source.STARTUP)


@pytest.mark.parametrize(
    "kind", ["InstructionsLoaded", "PreToolUse", "PostToolUseFailure", "SubagentStart",
             "Notification", "OfTomorrow"]
)  # fmt: skip
def test_other_events_mean_nothing(kind: str) -> None:
    assert read(kind) is None
    assert name_of(sample(kind, CWD, PROJECTS)) is None


def test_the_transcript_names_the_session() -> None:
    renamed = f"{PROJECTS}/x/1111.jsonl"
    assert read("Stop", transcript_path=renamed) == TurnEnded(Place("1111", renamed, CWD))
    for odd in (None, 3, "", "relative.jsonl", f"{PROJECTS}/x/.jsonl", f"{PROJECTS}/x/1.txt"):
        assert read("Stop", transcript_path=odd).place.session == SESSION


@pytest.mark.parametrize(
    "gap", [{"cwd": None}, {"cwd": "here"}, {"session_id": 4, "transcript_path": None},
            {"session_id": "s" * 200, "transcript_path": ""}, {"hook_event_name": ["Stop"]},
            *({"session_id": odd, "transcript_path": ""} for odd in ("../x", "..", "a\0b"))]
)  # fmt: skip
def test_what_is_not_told_whole_is_nothing(gap: dict[str, Any]) -> None:
    assert read("Stop", **gap) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
KEYS = sorted({key for fields in EVENTS.values() for key in fields} | {"cwd", "session_id"})


@given(
    event=st.sampled_from([*EventName, "Unknown"]),
    fields=st.dictionaries(st.sampled_from(KEYS), JSON),
)
@settings(deadline=None)
def test_nothing_of_any_type_is_a_fault(event: str, fields: dict[str, Any]) -> None:
    parse({"hook_event_name": event, "cwd": CWD, "session_id": "s", **fields})
    parse({**sample("PostToolBatch", CWD, PROJECTS), **fields, "hook_event_name": event})
