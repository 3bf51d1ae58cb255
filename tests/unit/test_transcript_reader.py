"""The reader tells the same of the same bytes, however they come."""

import itertools
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.transcript.events import (
    Activity,
    AssistantText,
    Compacted,
    EndReason,
    Event,
    HumanPrompt,
    SessionStarted,
    TurnEnded,
)
from memoryd.transcript.reader import TranscriptReader
from memoryd.transcript.shrink import TEXT_LIMIT

from support.transcripts import BASE, assistant, call, queued, result, row, system, text, user

AT = 1772359200.0

SESSION = b"".join(
    [
        row(type="permission-mode", permissionMode="default"),
        user("caf\u00e9 \u65e5\u672c \u2028 \U0001f600: use tabs", "u-1"),
        row(type="progress", data={"type": "hook_progress"}),
        assistant({"type": "thinking", "thinking": "hm"}, uuid="a-1", stop="tool_use"),
        assistant(text("I look."), uuid="a-2", stop="tool_use"),
        assistant(call("t-1", command="ls"), uuid="a-3", stop="tool_use"),
        queued("prefer uv", "q-1"),
        result("t-1", "file\n" * 50, "r-1"),
        b'{"type":"pr-link","prNu' + assistant(text("Done."), uuid="a-4", stop="end_turn"),
        b"\0" * 40 + system("turn_duration", durationMs=5),
        b"\r\n\n",
        user("second", "u-2").rstrip() + row(type="ai-title", aiTitle="Tabs  and\nuv"),
        b'{"type":"user","message":{"role":"user","content":"'
        + b"x" * 5000
        + b'"},"uuid":"u-3"}\n',
        row(type="zzz-new"),
        user("[Request interrupted by user]", "i-1"),
        assistant(text("tail"), uuid="a-5").rstrip(),
    ]
)


def read(data: bytes, **options: Any) -> tuple[list[Event], TranscriptReader]:
    reader = TranscriptReader(**options)
    return reader.feed(data), reader


def only(events: list[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_no_event_and_no_name_of_the_session_holds_u0000() -> None:
    data = b"".join(
        [
            user("a\0b", "u\0", cwd="/w\0d", gitBranch="m\0n", sessionId="s\0"),
            assistant(text("c\0d"), call("t\0", command="x\0y"), uuid="a\0", message_id="m\0"),
            result("t\0", "e\0f"),
            queued("g\0h", "q\0"),
            row(type="custom-title", customTitle="i\0j"),
        ]
    )

    events, reader = read(data)

    assert b"\\u0000" in data
    assert "\\x00" not in repr(events)
    assert [event.text for event in only(events, HumanPrompt)] == ["a\ufffdb", "g\ufffdh"]
    assert reader.session.title == "i\ufffdj"
    names = (reader.session.cwd, reader.session.git_branch, *reader.session.aliases)
    assert "\0" not in "".join(names)


def pieces(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(min_value=0), max_size=20), st.sampled_from([1000, 2**20]))
def test_any_cut_tells_the_same(places: list[int], max_record: int) -> None:
    expected, whole = read(SESSION, max_record=max_record)
    reader = TranscriptReader(max_record=max_record)
    events = [event for piece in pieces(SESSION, places) for event in reader.feed(piece)]

    assert events == expected
    assert reader.stats == whole.stats
    assert reader.state() == whole.state()
    assert reader.take_tail() == whole.take_tail() != []
    assert reader.state() == whole.state()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(min_value=0), min_size=1, max_size=8))
def test_restarts_lose_and_repeat_nothing(places: list[int]) -> None:
    expected, whole = read(SESSION)
    events: list[Event] = []
    state: bytes | None = None
    position = records = skipped = 0
    for place in [*sorted(place % (len(SESSION) + 1) for place in places), len(SESSION)]:
        reader = TranscriptReader(state=state)
        assert reader.offset == position
        events += reader.feed(SESSION[position:place])
        state, position = reader.state(), reader.offset
        records, skipped = records + reader.stats.records, skipped + reader.stats.skipped

    assert events == expected
    assert state == whole.state()
    assert (records, skipped) == (whole.stats.records, whole.stats.skipped)
    assert len(state or b"") < 4096


def test_what_a_session_tells() -> None:
    events, reader = read(SESSION)

    assert only(events, SessionStarted) == [SessionStarted(events[0].start, events[0].end, AT)]
    assert [(e.uuid, e.queued) for e in only(events, HumanPrompt)] == [
        ("u-1", False),
        ("q-1", True),
        ("u-2", False),
        ("u-3", False),
    ]
    prompt = only(events, HumanPrompt)[0]
    assert (prompt.text, prompt.at, prompt.cwd, prompt.headless) == (
        "caf\u00e9 \u65e5\u672c \u2028 \U0001f600: use tabs",
        AT,
        BASE["cwd"],
        False,
    )
    assert SESSION[prompt.start : prompt.end].startswith(b'{"isSidechain"')
    assert SESSION[prompt.end - 1 : prompt.end] == b"\n"
    assert [(e.uuid, e.message_id, e.text) for e in only(events, AssistantText)] == [
        ("a-2", "msg_1", "I look."),
        ("a-4", "msg_1", "Done."),
    ]
    assert [e.reason for e in only(events, TurnEnded)] == [
        EndReason.STOP,
        EndReason.TURN_DURATION,
        EndReason.INTERRUPTED,
    ]
    assert len(only(events, Activity)) == 7
    assert (reader.stats.records, reader.stats.skipped, reader.stats.oversize) == (15, 3, 0)
    assert reader.session.title == "Tabs and uv"
    assert reader.session.aliases == [BASE["sessionId"]]
    assert (reader.session.started, reader.session.last) == (AT, AT)
    assert (reader.session.version, reader.session.git_branch) == ("2.1.332", "main")


def test_the_tail_is_taken_once_and_only_whole() -> None:
    first, second = user("one", "u-1"), user("two", "u-2").rstrip()
    _, reader = read(first + second[:-4])
    assert reader.take_tail() == []
    assert reader.pending_bytes == len(second) - 4
    assert reader.offset == len(first)

    reader.feed(second[-4:])
    events = reader.take_tail()
    assert [e.uuid for e in only(events, HumanPrompt)] == ["u-2"]
    assert events[0].end == len(first) + len(second) == reader.offset
    assert reader.take_tail() == []

    # The client goes on where it left off: with the newline, or glued to it.
    later = TranscriptReader(state=reader.state())
    assert only(later.feed(b"\n" + user("three", "u-3")), HumanPrompt)[0].uuid == "u-3"
    assert only(reader.feed(user("three", "u-3")), HumanPrompt)[0].start == reader.offset - len(
        user("three", "u-3")
    )


def test_a_tail_that_is_no_object_stays() -> None:
    for tail in (b"\0\0\0", b"  ", b"17", b'{"a":1}{"b'):
        _, reader = read(tail)
        assert reader.take_tail() == []
        assert reader.pending_bytes == len(tail)


def test_usage_is_counted_once_per_message() -> None:
    def usage(output: int) -> dict[str, int]:
        return {"input_tokens": 1000, "cache_read_input_tokens": 9000, "output_tokens": output}

    _, reader = read(
        user("hello there", "u-1")
        + assistant(text("a"), uuid="a-1", usage=usage(3))
        + assistant(text("b"), uuid="a-2", usage=usage(3))
        + assistant(text("c"), uuid="a-3", usage=usage(1590))
    )

    assert reader.session.context_tokens == 11_590
    assert reader.session.conversation_tokens == 11_590 - (10_000 - 3)


def test_the_estimate_of_the_output_beats_a_placeholder() -> None:
    usage = {"input_tokens": 10_000, "output_tokens": 2}
    _, reader = read(user("hi") + assistant(text("word " * 4000), usage=usage))

    assert reader.session.context_tokens == pytest.approx(15_000, rel=0.01)


def test_what_came_after_the_last_call_is_estimated() -> None:
    usage = {"input_tokens": 10_000, "output_tokens": 500}
    lines = user("hi") + assistant(call("t-1", command="x"), usage=usage)
    _, reader = read(lines + result("t-1", "word " * 4000))

    assert reader.session.context_tokens == pytest.approx(10_000 + 500 + 5000 + 90, abs=3)
    reader.feed(assistant(text("ok"), message_id="msg_2", usage={"input_tokens": 16_000}))
    assert reader.session.context_tokens == pytest.approx(16_000 + 15, abs=2)


def test_a_compaction_resets_the_conversation() -> None:
    usage = {"input_tokens": 150_000, "output_tokens": 500}
    events, reader = read(
        user("word " * 400)
        + assistant(text("a"), usage={"input_tokens": 20_500, "output_tokens": 10})
        + assistant(text("b"), usage=usage, message_id="msg_2")
        + system("compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 150_500})
        + user("word " * 800, "c-1", isCompactSummary=True)
    )

    assert [e.trigger for e in only(events, Compacted)] == ["auto"]
    assert reader.session.compactions == 1
    assert reader.session.context_tokens == pytest.approx(20_000 + 1000, abs=3)
    assert reader.session.conversation_tokens == pytest.approx(1000, abs=3)


def test_a_boundary_without_metadata_is_one() -> None:
    events, reader = read(user("hi") + system("compact_boundary"))

    assert [e.trigger for e in only(events, Compacted)] == [""]
    assert reader.session.compactions == 1


def test_sidechains_have_no_voice() -> None:
    lines = user("Warmup", "w-1", isSidechain=True) + assistant(
        text("Ready"), uuid="w-2", isSidechain=True, usage={"input_tokens": 9999}
    )
    events, reader = read(lines + user("real", "u-1"))

    assert [e.uuid for e in only(events, HumanPrompt)] == ["u-1"]
    assert only(events, AssistantText) == []
    assert reader.session.context_tokens < 10


def test_a_subagents_file_knows_its_parent() -> None:
    lines = user("look", "w-1", isSidechain=True, agentId="ab12") + assistant(
        text("found"), uuid="w-2", isSidechain=True, agentId="ab12", stop="end_turn"
    )
    events, reader = read(lines, subagent=True)

    assert {type(event) for event in events} == {SessionStarted, Activity}
    assert (reader.session.agent_id, reader.session.parent_session) == ("ab12", BASE["sessionId"])
    assert reader.session.aliases == []


@pytest.mark.parametrize(
    "line",
    [
        row(role="user", content="hello"),
        row(type="user", content="hello", id="1", timestamp="2026-01-01T00:00:00Z"),
        row(type="message", role="user", content=[text("hello")]),
        row(type="response_item", payload={"type": "message", "role": "user", "content": []}),
        row(
            type="user", uuid="u", sessionId="s", message={"role": "user", "parts": [text("hello")]}
        ),
        row(type="user", uuid="u", sessionId="s", message="hello"),
        row(type="user", message={"role": "user", "content": "hello"}),
        b'{\n  "sessionId": "s",\n  "messages": [\n    {"type":"user","content":"hello"}\n  ]\n}\n',
    ],
)
def test_files_of_other_agents_are_no_sessions(line: bytes) -> None:
    events, _ = read(line)

    assert events == []


def test_a_record_without_uuid_gets_a_stable_one() -> None:
    line = user("hello", None)
    first, _ = read(line)
    other, _ = read(user("before", "u-0") + b'{"torn' + line)

    made = only(first, HumanPrompt)[0].uuid
    assert made.startswith("x-")
    assert only(other, HumanPrompt)[1].uuid == made


def test_a_fork_has_the_uuids_of_its_origin() -> None:
    lines = [user("one", "u-1"), assistant(text("yes"), uuid="a-1")]
    fork = b"".join(lines).replace(b"5e551010", b"f04c0000")

    def uuids(data: bytes) -> list[str]:
        return [e.uuid for e in read(data)[0] if isinstance(e, HumanPrompt | AssistantText)]

    assert uuids(b"".join(lines)) == uuids(fork) == ["u-1", "a-1"]


def test_sessions_that_memoryd_caused_have_no_voice() -> None:
    events, reader = read(
        user("learn from this\n[memoryd-request]\nhuman: I use tabs", "u-1")
        + assistant(text("They use tabs."), stop="end_turn")
        + user("and this", "u-2")
    )

    assert only(events, HumanPrompt) == only(events, AssistantText) == []
    assert reader.session.own
    later, pasted = read(user("hi", "u-1") + user("why this:\n[memoryd-request]", "u-2"))
    assert [e.uuid for e in only(later, HumanPrompt)] == ["u-1"]
    assert not pasted.session.own


def test_messages_of_the_client_are_not_the_models() -> None:
    events, _ = read(
        user("hi")
        + assistant(text("No response requested."), model="<synthetic>", stop="stop_sequence")
        + assistant(text("API Error"), isApiErrorMessage=True)
    )

    assert only(events, AssistantText) == []
    assert [e.reason for e in only(events, TurnEnded)] == [EndReason.STOP]


@pytest.mark.parametrize(
    ("line", "reasons"),
    [
        (assistant(text("x"), stop="end_turn"), [EndReason.STOP]),
        (assistant(text("x"), stop="max_tokens"), [EndReason.STOP]),
        (assistant(text("x"), stop="tool_use"), []),
        (assistant(text("x"), stop="pause_turn"), []),
        (assistant(text("x")), []),
        (assistant({"type": "thinking", "thinking": "hm"}, stop="end_turn"), []),
        (system("stop_hook_summary"), [EndReason.STOP_HOOK]),
        (system("turn_duration"), [EndReason.TURN_DURATION]),
        (system("api_error"), []),
        (user("<task-notification>x</task-notification>"), []),
    ],
)
def test_marks_of_a_turns_end(line: bytes, reasons: list[EndReason]) -> None:
    events, _ = read(user("hi", "u-0") + line)

    assert [e.reason for e in only(events, TurnEnded)] == reasons
    assert len(only(events, Activity)) == 1


def test_open_tools_follow_calls_and_results() -> None:
    _, reader = read(user("hi") + assistant(call("t-1")) + assistant(call("t-2")))
    assert reader.session.open_tools == ["t-1", "t-2"]
    reader.feed(result("t-2"))
    assert reader.session.open_tools == ["t-1"]
    reader.feed(user("next", "u-2"))
    assert reader.session.open_tools == []
    reader.feed(b"".join(assistant(call(f"t-{i}")) for i in range(500)))
    assert reader.session.open_tools[-1] == "t-499"
    assert len(reader.session.open_tools) == 64


def test_timestamps_that_are_missing_or_wrong() -> None:
    lines = (
        user("a", "u-1", timestamp=None)
        + user("b", "u-2")
        + user("c", "u-3", timestamp="yesterday")
        + user("d", "u-4", timestamp="2026-03-01T09:00:00Z")
    )
    events, reader = read(lines)

    assert [e.at for e in only(events, HumanPrompt)] == [0.0, AT, AT, AT - 3600]
    assert (reader.session.started, reader.session.last) == (AT, AT)


def test_titles_have_a_rank() -> None:
    _, reader = read(
        row(type="summary", summary="of another session", leafUuid="x")
        + row(type="agent-name", agentName="agent")
        + row(type="custom-title", customTitle="mine")
        + row(type="ai-title", aiTitle="model's")
    )

    assert reader.session.title == "mine"
    reader.feed(row(type="custom-title", customTitle=""))
    assert reader.session.title == "model's"


def test_a_session_is_headless_while_all_its_prompts_are() -> None:
    reader = TranscriptReader()
    marks = []
    for number, source in enumerate(["sdk", "typed", "sdk"]):
        reader.feed(user("a", f"u-{number}", promptSource=source))
        marks.append(reader.session.headless)

    assert marks == [True, False, False]


def test_an_oversize_record_keeps_its_envelope_and_text() -> None:
    line = user("word " * (2 * 10**6), "u-big", toolUseResult={"stdout": "y" * 10**6})
    events, reader = read(user("a", "u-1") + line + user("b", "u-2"))

    assert [e.uuid for e in only(events, HumanPrompt)] == ["u-1", "u-big", "u-2"]
    big = only(events, HumanPrompt)[1]
    assert big.text == ("word " * TEXT_LIMIT)[:TEXT_LIMIT].strip()
    assert (big.cwd, big.at) == (BASE["cwd"], AT)
    assert (reader.stats.records, reader.stats.skipped, reader.stats.oversize) == (3, 0, 1)


def test_memory_does_not_grow_with_the_file() -> None:
    line = user("hi", "u-1") + assistant(call("t-1", command="x")) + result("t-1", "out " * 5000)
    chunk = line * 12
    reader = TranscriptReader()
    reader.feed(chunk)

    tracemalloc.start()
    try:
        for _ in range(40):
            reader.feed(chunk)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert held < 64 * 1024
    assert peak < 4 * len(chunk)


def test_many_records_in_one_line_of_progress_are_cheap_to_skip() -> None:
    progress = row(parentUuid="x", type="progress", data={"message": {"content": ["x"] * 50}})
    events, reader = read(progress * 3000 + user("hi"))

    assert len(only(events, HumanPrompt)) == 1
    assert (reader.stats.records, reader.stats.skipped) == (3001, 0)
