"""When the summary of a session is due."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from memoryd.transcript.growth import FIRST_TOKENS, NEXT_TOKENS, TOOL_CALLS, Growth, is_due
from memoryd.transcript.human import Entry, Human, classify
from memoryd.transcript.reader import TranscriptReader
from memoryd.transcript.records import parse_line
from memoryd.transcript.shapes import UserRecord
from memoryd.transcript.tokens import PER_CALL, PER_TOOL_RESULT, estimate_tokens

from support.transcripts import assistant, call, result, system, text, user


@pytest.mark.parametrize(
    ("tokens", "base", "first", "calls", "rests", "due"),
    [
        (FIRST_TOKENS - 1, 0, True, 9, True, False),
        (FIRST_TOKENS, 0, True, 0, False, True),
        (FIRST_TOKENS, 9_999, True, 0, False, True),
        (FIRST_TOKENS, None, True, 0, False, True),
        (10_000 + NEXT_TOKENS - 1, 10_000, False, 9, True, False),
        (10_000 + NEXT_TOKENS, 10_000, False, TOOL_CALLS, False, True),
        (10_000 + NEXT_TOKENS, 10_000, False, TOOL_CALLS - 1, False, False),
        (10_000 + NEXT_TOKENS, 10_000, False, 0, True, True),
        (90_000, None, False, 9, True, False),
        (4_000, 10_000, False, 9, True, False),
    ],
)
def test_the_table(  # noqa: PLR0917 - the columns of the table
    tokens: int, base: int | None, first: bool, calls: int, rests: bool, due: bool
) -> None:
    assert is_due(tokens, base=base, first=first, calls=calls, rests=rests) is due


def test_a_compaction_resets_the_baseline() -> None:
    growth = Growth()
    assert growth.ask(12_000, 1, ended=True)
    growth.compacted()
    assert not growth.ask(30_000, 2, ended=True)
    assert not growth.ask(34_999, 3, ended=True)
    assert growth.ask(35_000, 4, ended=True)
    assert (growth.updates, growth.due_at) == (2, 4)


def replies(prompts: list[int], *, tools: int) -> list[bytes]:
    """One turn: replies that report these prompts, ``tools`` of them with a call."""
    lines = [user("Go on.")]
    for at, prompt in enumerate(prompts):
        block = call(f"t-{at}") if at < tools else text("Done.")
        usage = {"input_tokens": prompt, "output_tokens": 5}
        lines.append(assistant(block, uuid=f"a-{at}", message_id=f"m-{at}", usage=usage, stop=None))
        if at < tools:
            lines.append(result(f"t-{at}", uuid=f"r-{at}"))
    return lines


def updates(lines: list[bytes]) -> int:
    reader = TranscriptReader()
    reader.feed(b"".join(lines))
    return reader.session.growth.updates


def test_three_calls_are_enough_in_the_middle_of_a_turn() -> None:
    begun = [22_000, 33_000]
    assert updates(replies(begun, tools=2)) == 1
    # The fourth reply after it reports 5,000 more, with three calls behind it.
    assert updates(replies([*begun, 34_000, 35_000, 38_100, 38_200], tools=6)) == 2
    assert updates(replies([*begun, 38_100], tools=3)) == 1


def test_a_turn_that_ends_without_a_call_is_enough() -> None:
    lines = replies([22_000, 33_000, 38_500], tools=2)
    assert updates(lines) == 1
    assert updates([*lines, system("turn_duration")]) == 2
    assert updates([*lines, user("And now?", "u-2")]) == 2
    calls = replies([22_000, 33_000, 38_500], tools=3)
    assert updates([*calls[:-1], system("turn_duration")]) == 1


def test_silence_ends_a_turn_too() -> None:
    reader = TranscriptReader()
    reader.feed(b"".join(replies([22_000, 33_000, 38_500], tools=2)))
    again = TranscriptReader(state=reader.state())
    assert again.end_turn()
    assert not again.end_turn()
    assert again.session.growth.updates == 2


def test_what_memoryd_asked_itself_and_subagents_have_no_summary() -> None:
    lines = replies([22_000, 90_000], tools=2)
    lines[0] = user("[memoryd-request]\nSay what is known.")
    assert updates(lines) == 0
    reader = TranscriptReader(subagent=True)
    reader.feed(b"".join(replies([22_000, 90_000], tools=2)))
    assert reader.session.growth.updates == 0


# The same decision the slow way: all at once, every record as plain JSON.


def simulate(data: bytes) -> list[int]:  # noqa: C901, PLR0912, PLR0915 - a story told in order
    """Return the positions at which updates are due."""
    due: list[int] = []
    base: int | None = 0
    calls = reply_calls = 0
    reply, last_call = "", None
    prefix: int | None = None
    prompt = reported = output = after = 0
    told_size = False
    started = own = False
    prompts = 0

    def ask(tokens: int, position: int, *, ended: bool) -> None:
        nonlocal base, calls
        rests = ended and reply_calls == 0
        if not due:
            fires = tokens >= 10_000
        else:
            fires = base is not None and tokens - base >= 5_000 and (calls >= 3 or rests)
        if fires:
            due.append(position)
            calls = 0
        if fires or base is None:
            base = tokens

    def conversation() -> int:
        return max(0, prompt + max(reported, output) + after - (prefix or 0))

    for position, record, raw in records(data):
        kind = record.get("type")
        if kind not in {"user", "assistant", "system", "attachment"}:
            continue
        message = record.get("message")
        message = message if isinstance(message, dict) else {}
        if not started:
            opens = message.get("role") is not None and message.get("content") is not None
            named = any(record.get(name) for name in ("uuid", "sessionId", "timestamp"))
            if kind not in {"user", "assistant"} or not opens or not named:
                continue
            started = True
        if record.get("isSidechain"):
            continue
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        blocks = [block if isinstance(block, dict) else {} for block in blocks]
        if kind == "assistant":
            if message.get("model") == "<synthetic>" or record.get("isApiErrorMessage"):
                pass
            elif message:
                name = message.get("id") or record.get("uuid") or ""
                usage = message.get("usage") or {}
                sent = sum(
                    usage.get(part) or 0
                    for part in (
                        "input_tokens",
                        "cache_creation_input_tokens",
                        "cache_read_input_tokens",
                    )
                )
                begins = sent > 0 and name != last_call
                if begins:
                    if prefix is None or sent < prefix:
                        prefix = sent
                    if last_call is None:
                        prefix = min(prefix, max(0, sent - after))
                    last_call, prompt, reported, output, after = name, 0, 0, PER_CALL, 0
                size = sum(map(estimated, blocks))
                if sent > 0:
                    prompt = max(prompt, sent)
                    reported = max(reported, usage.get("output_tokens") or 0)
                    output += size
                else:
                    after += size
                if name != reply:
                    reply, reply_calls = name, 0
                if begins and not own:
                    ask(max(0, prompt - (prefix or 0)), position, ended=False)
                opened = sum(b.get("type") == "tool_use" and bool(b.get("id")) for b in blocks)
                calls += opened
                reply_calls += opened
            stop = message.get("stop_reason")
            spoke = not blocks or any(block.get("type") != "thinking" for block in blocks)
            if stop and stop not in {"tool_use", "pause_turn"} and spoke and not own:
                ask(conversation(), position, ended=True)
        elif kind == "system":
            if record.get("subtype") == "compact_boundary":
                post = (record.get("compactMetadata") or {}).get("postTokens")
                last_call, prompt, reported, output = None, prefix or 0, 0, 0
                after, told_size = post or 0, post is not None
                base, calls = None, 0
            elif record.get("subtype") in {"turn_duration", "stop_hook_summary"} and not own:
                ask(conversation(), position, ended=True)
        else:
            (found,) = parse_line(raw).found
            verdict = classify(found.record)  # type: ignore[arg-type]
            texts = [b["text"] for b in blocks if b.get("type") == "text" and b.get("text")]
            results = [b for b in blocks if b.get("type") == "tool_result"]
            after += sum(PER_TOOL_RESULT + estimated_value(b.get("content")) for b in results)
            if isinstance(verdict, Human) and (texts or kind == "attachment"):
                if verdict.entry is not Entry.QUEUED and not own:
                    ask(conversation(), position, ended=True)
                after += estimate_tokens(verdict.text)
                prompts += 1
            elif isinstance(found.record, UserRecord):
                summary = not isinstance(verdict, Human) and verdict.why == "compact_summary"
                if not (summary and told_size):
                    after += sum(map(estimate_tokens, texts))
                if not isinstance(verdict, Human) and texts:
                    own = own or (verdict.why == "memoryd" and not prompts)
                    if verdict.why == "interrupted" and not own:
                        ask(conversation(), position, ended=True)
            elif prefix is not None:
                for part in record.get("rendered") or []:
                    after += estimated_value(part.get("content"))
    return due


def records(data: bytes) -> Iterator[tuple[int, dict[str, Any], bytes]]:
    """Yield every object with the position behind its line; glued ones one by one."""
    decoder = json.JSONDecoder()
    start = 0
    for line in data.split(b"\n"):
        start += len(line) + 1
        words, at = line.decode("utf-8", "replace"), 0
        while at < len(words.rstrip()):
            try:
                value, end = decoder.raw_decode(words, at)
            except ValueError:
                break
            if isinstance(value, dict):
                yield min(start, len(data)), value, words[at:end].encode()
            at = end


def estimated(block: dict[str, Any]) -> int:
    found = estimate_tokens(block["text"]) if block.get("text") else 0
    return found + sum(estimated_value(block.get(name)) for name in ("thinking", "input"))


def estimated_value(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, str):
        return estimate_tokens(value)
    if isinstance(value, list):
        texts = [b["text"] for b in value if isinstance(b, dict) and isinstance(b.get("text"), str)]
        return sum(map(estimate_tokens, texts))
    return estimate_tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


@pytest.mark.corpus
def test_updates_are_due_where_a_slow_simulation_says(corpus: Path) -> None:
    rng = Random(5)
    sessions = fired = 0
    for path in sorted(corpus.rglob("*.jsonl")):
        if path.name.startswith("agent-"):
            continue
        data = path.read_bytes()
        expected = simulate(data)
        edges = [0, *sorted(rng.randrange(len(data) + 1) for _ in range(40)), len(data)]
        reader = TranscriptReader()
        found: list[int] = []
        for begin, end in itertools.pairwise(edges):
            if rng.random() < 0.3:
                offset = reader.offset
                reader = TranscriptReader(state=reader.state())
                begin = offset  # noqa: PLW2901 - a restarted service reads on from there
            for line in data[begin:end].splitlines(keepends=True):
                reader.feed(line)
                at = reader.session.growth.due_at
                if at and at not in found:
                    found.append(at)
        reader.take_tail()
        if reader.session.growth.due_at not in (0, *found):
            found.append(reader.session.growth.due_at)
        assert found == expected, path.name
        assert reader.session.growth.updates == len(expected), path.name
        sessions += 1
        fired += len(expected)
    assert sessions > 20
    assert fired > sessions
