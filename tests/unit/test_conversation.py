"""A turn is shown in order, with what its tools did and without what was injected."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.transcript.conversation import (
    RESULT_LIMIT,
    TOTAL_LIMIT,
    AssistantSaid,
    Conversation,
    HumanText,
    ToolCall,
    read_conversation,
)
from memoryd.transcript.toolcalls import MemoryWrite

from support.transcripts import BASE, assistant, call, queued, result, row, system, text, user

AT = 1772359200.0
CWD = str(BASE["cwd"])
MEMORY = "/home/dev/.claude/projects/-home-dev-project/memory/tabs.md"

TURN = b"".join(
    [
        user("<system-reminder>be brief</system-reminder>use tabs", "u-1"),
        user("injected", "m-1", isMeta=True),
        assistant({"type": "thinking", "thinking": "hm"}, uuid="a-0"),
        assistant(text("I note it."), uuid="a-1"),
        assistant(call("t-1", "Write", file_path=MEMORY, content="Use tabs."), uuid="a-2"),
        assistant(call("t-2", "Bash", command="ls"), uuid="a-3"),
        result("t-2", [text("one"), {"type": "image", "source": {}}, text("two")], "r-2"),
        queued("and uv", "q-1"),
        result("t-1", "File created<memoryd-recall>x</memoryd-recall>", "r-1"),
        assistant(text("side"), uuid="s-1", isSidechain=True),
        row(type="progress", data={}),
        b"\0\0torn\n",
        system("turn_duration"),
        assistant(text("Done."), uuid="a-4").rstrip(),
    ]
)


def read(data: bytes, **options: int) -> Conversation:
    return read_conversation([data], start=0, **options)


def test_a_turn_in_order() -> None:
    items = read_conversation([TURN], start=1000).items

    assert [type(item) for item in items] == [
        HumanText,
        AssistantSaid,
        ToolCall,
        ToolCall,
        HumanText,
        AssistantSaid,
    ]
    assert items[0] == HumanText(1000, "u-1", AT, CWD, "use tabs", headless=False)
    said, write, ls, asked, done = items[1:]
    assert isinstance(said, AssistantSaid)
    assert (said.uuid, said.text) == ("a-1", "I note it.")
    assert isinstance(write, ToolCall)
    assert (write.name, write.gist, write.files) == ("Write", MEMORY, (MEMORY,))
    assert write.memory_write == MemoryWrite(MEMORY, "Use tabs.")
    assert (write.result, write.is_error) == ("File created", False)
    assert isinstance(ls, ToolCall)
    assert (ls.gist, ls.result, ls.files, ls.memory_write) == ("ls", "one\ntwo", (), None)
    assert isinstance(asked, HumanText)
    assert (asked.uuid, asked.text) == ("q-1", "and uv")
    assert isinstance(done, AssistantSaid)
    assert TURN[done.start - 1000 :].startswith(b'{"isSidechain"')


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(min_value=0), max_size=12))
def test_any_cut_shows_the_same(places: list[int]) -> None:
    edges = [0, *sorted(place % (len(TURN) + 1) for place in places), len(TURN)]
    chunks = [TURN[a:b] for a, b in itertools.pairwise(edges)]

    assert read_conversation(iter(chunks), start=0) == read(TURN)


def test_a_write_that_failed_or_never_answered_is_none() -> None:
    write = assistant(call("t-1", "Write", file_path=MEMORY, content="x"))

    for lines in (write, write + result("t-1", "denied", is_error=True)):
        item = read(lines).items[0]
        assert isinstance(item, ToolCall)
        assert item.memory_write is None


def test_texts_are_cut_and_it_is_said() -> None:
    lines = assistant(call("t-1", command="x")) + result("t-1", "y" * 9000)
    conversation = read(lines + user("z" * 300, "u-2"), max_text=100)

    first, second = conversation.items
    assert isinstance(first, ToolCall)
    assert isinstance(second, HumanText)
    assert first.result == "y" * RESULT_LIMIT
    assert second.text == "z" * 100
    assert conversation.truncated
    assert not read(user("short")).truncated


def test_a_conversation_is_bounded() -> None:
    line = assistant(text("w" * 60_000))
    conversation = read_conversation((line for _ in range(400)), start=0)

    total = sum(len(item.text) for item in conversation.items if isinstance(item, AssistantSaid))
    assert conversation.truncated
    assert TOTAL_LIMIT * 0.9 < total <= TOTAL_LIMIT


def test_odd_calls_and_results() -> None:
    lines = (
        assistant({"type": "tool_use", "id": "t-1", "input": ["x"]})
        + assistant({"type": "tool_use", "name": "Bash", "input": {"command": "ls"}})
        + result("t-1", {"odd": 1})
        + result("t-9", "of a call before this stretch")
        + user([{"type": "tool_result", "content": "of nobody"}], "r-3")
    )

    items = read(lines).items
    assert [item.result for item in items if isinstance(item, ToolCall)] == ["", None]
