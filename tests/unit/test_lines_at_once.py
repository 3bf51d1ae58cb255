"""Many lines decoded in one go tell what they tell one by one."""

import json
from dataclasses import asdict
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.transcript.events import Event
from memoryd.transcript.framing import braced_lines
from memoryd.transcript.reader import TranscriptReader
from memoryd.transcript.records import whole_records
from memoryd.transcript.shapes import BOOKKEEPING


def record(kind: str, **more: Any) -> bytes:
    base = {
        "type": kind,
        "uuid": f"u-{len(json.dumps(more))}",
        "sessionId": "s",
        "cwd": "/somewhere",
        "timestamp": "2026-11-30T10:00:00.000Z",
        "version": "2",
        "gitBranch": "main",
    }
    return json.dumps({**base, **more}).encode()


PLAIN = (
    record("user", message={"role": "user", "content": "Use tabs."}),
    record("user", message={"role": "user", "content": "Schon gut."}, cwd="/elsewhere"),
    record("user", message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t",
                                                         "content": "é" * 300}]}),
    record("assistant", message={"role": "assistant", "id": "m", "stop_reason": "tool_use",
                                 "usage": {"input_tokens": 9, "output_tokens": 3},
                                 "content": [{"type": "tool_use", "id": "t", "name": "Bash",
                                              "input": {"command": "ls"}}]}),
    record("assistant", message={"role": "assistant", "id": "n", "stop_reason": "end_turn",
                                 "content": [{"type": "text", "text": "Done."}]}),
    record("progress", data={"type": "hook_progress", "deep": [1, {"a": None}]}),
    record("system", subtype="turn_duration"),
    record("attachment", attachment={"type": "queued_command", "prompt": "And run them."}),
    record("custom-title", customTitle="A title"),
    b'{"type":"mode","mode":"x"}',
    b'{"snapshot": {}, "type": "file-history-snapshot"}',
    record("user", isSidechain=True, message={"role": "user", "content": "Search."}) + b" \r",
)  # fmt: skip
ODD = (
    b"",
    b"  ",
    b"\0\0",
    b"[1, 2]",
    b'{"type":"mode",',
    b'"a": 1}',
    b'{"type":"mode"}{"type":"tag"}',
    b'{"type":"brand-new"}',
    b'{"type":7}',
    b'{"type":',
    b'{"a":1},"type":"tag"}',
    b"{}",
    b"\xef\xbb\xbf" + PLAIN[4],
    b'{"type":"mode","a":"\xff"}',
    PLAIN[0][:-9] + PLAIN[3],
    record("user", uuid=None, message={"role": "user", "content": "Nameless."}),
    record("user", cwd="/a\0b", message={"role": "user", "content": "Odd place."}),
    record("user", uuid="u\0", message={"role": "user", "content": "Odd name."}),
    record("assistant", message={"role": "assistant", "id": "m\0", "content": "Odd reply."}),
    record("assistant", uuid=None, message={"role": "assistant", "content": "Nameless."}),
    record("system", uuid="s-1", subtype="turn_duration", timestamp="2026-11-30T09:00:00"),
    record("assistant", message={"role": "assistant", "id": 7, "content": [3]}),
)


def told(chunks: list[bytes]) -> tuple[list[Event], dict[str, int], bytes, int]:
    reader = TranscriptReader()
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    return events, asdict(reader.stats), reader.state(), reader.pending_bytes


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.one_of(st.sampled_from(PLAIN), st.sampled_from(PLAIN + ODD)), max_size=12),
    st.sampled_from([b"", b'{"type":"us']),
)
def test_lines_in_one_chunk_tell_what_they_tell_one_by_one(lines: list[bytes], rest: bytes) -> None:
    data = b"".join(line + b"\n" for line in lines) + rest
    # A line that came in two parts is never decoded together with others.
    pieces = [piece for line in lines for piece in (line[:1], line[1:] + b"\n")]

    assert told([data]) == told([*pieces, rest])


def test_well_formed_lines_of_all_known_kinds_go_in_one() -> None:
    kinds = [json.dumps({"type": kind, "more": [1]}).encode() for kind in BOOKKEEPING]
    lines = [*PLAIN, *kinds]
    data = b"".join(line + b"\n" for line in lines)

    found = whole_records(memoryview(data), len(lines))

    assert found is not None
    assert len(found) == len(lines)


def test_two_objects_on_a_line_and_an_empty_line_do_not_make_up_for_each_other() -> None:
    glued = b'{"type":"mode"}{"type":"mode"}\n'

    assert whole_records(memoryview(glued), 1) is None
    for more in (b"\n", b' "a"}\n', b'{"type":\n{"a":1},"type":"tag"}\n'):
        assert braced_lines(glued + more, 0, len(glued + more)) is None
        assert told([glued + more]) == told([glued[:1], glued[1:], more])
