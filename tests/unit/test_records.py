"""Every whole object of a line is found, whatever stands around it."""

import json
from typing import Any

import pytest
from memoryd.transcript.records import parse_line
from memoryd.transcript.shapes import (
    AssistantRecord,
    Bookkeeping,
    CustomTitle,
    Progress,
    Unknown,
    UserRecord,
)


def user(text: Any, **fields: Any) -> bytes:
    record = {"type": "user", "uuid": "u", "message": {"role": "user", "content": text}, **fields}
    return json.dumps(record, ensure_ascii=False).encode()


A = user("first", uuid="a", parentUuid=None)
B = user("second", uuid="b", parentUuid="a")


def uuids(line: bytes) -> list[str | None]:
    return [f.record.uuid for f in parse_line(line).found if isinstance(f.record, UserRecord)]


@pytest.mark.parametrize("cut", range(1, len(A)))
def test_a_record_behind_a_torn_one(cut: int) -> None:
    parsed = parse_line(A[:cut] + B)

    assert parsed.bad == 1
    assert [f.record.uuid for f in parsed.found if isinstance(f.record, UserRecord)] == ["b"]
    assert len(parsed.found) == 1


@pytest.mark.parametrize("gap", [b"", b" ", b"\r", b"\t\t"])
def test_glued_records(gap: bytes) -> None:
    parsed = parse_line(A + gap + B + gap + b'{"type":"summary","summary":"s","leafUuid":"x"}')

    assert parsed.bad == 0
    assert uuids(A + gap + B) == ["a", "b"]
    assert parsed.found[2].record == Bookkeeping("summary")


def test_runs_of_nul_count_as_one_bad_piece() -> None:
    parsed = parse_line(b"\0" * 300 + B)

    assert (parsed.bad, uuids(b"\0" * 300 + B)) == (1, ["b"])
    assert (parse_line(A + b"\0\0" + B).bad, uuids(A + b"\0\0" + B)) == (1, ["a", "b"])
    assert parse_line(b"\0" * 10).bad == 1


@pytest.mark.parametrize("line", [b"", b"   ", b"\r", b"\t \r"])
def test_blank_lines_are_nothing(line: bytes) -> None:
    parsed = parse_line(line)

    assert (parsed.found, parsed.bad) == ((), 0)


@pytest.mark.parametrize("line", [b"42", b'"text"', b"[1]", b"null", b"{", b'{"a":', b"plain text"])
def test_what_is_no_object_is_one_bad_piece(line: bytes) -> None:
    parsed = parse_line(line)

    assert (parsed.found, parsed.bad) == ((), 1)


def test_a_part_of_a_torn_record_is_no_record() -> None:
    torn = b'{"type":"assistant","message":{"usage":{"input_tokens":1},"content":[{"type":"te'

    assert parse_line(torn).found == ()
    assert uuids(torn + B) == ["b"]
    assert len(parse_line(torn + B).found) == 1


def test_unknown_types_are_whole_objects() -> None:
    assert [f.record for f in parse_line(b'{"type":"zzz-new","x":{"y":1}}').found] == [
        Unknown("zzz-new")
    ]
    assert parse_line(b'{"silly":"this"}').found[0].record == Unknown(None)
    assert parse_line(b'{"type":7}').found[0].record == Unknown(None)
    assert parse_line(b"{}").found[0].record == Unknown(None)


def test_bookkeeping_is_recognised_in_any_spelling() -> None:
    assert parse_line(b'{"type":"mode","mode":"x"}').found[0].record == Bookkeeping("mode")
    assert parse_line(b'{ "mode": "x", "type": "mode" }').found[0].record == Bookkeeping("mode")
    assert isinstance(
        parse_line(b'{"data":{"deep":[1]},"type":"progress"}').found[0].record, Progress
    )
    title = parse_line(b'{"type":"custom-title","customTitle":"t"}').found[0].record
    assert isinstance(title, CustomTitle)
    assert title.title == "t"


def test_fields_of_a_wrong_type_are_left_out() -> None:
    line = json.dumps(
        {
            "type": "user",
            "uuid": "u",
            "timestamp": 17,
            "cwd": ["x"],
            "isMeta": "no",
            "origin": "human",
            "message": {"role": "user", "content": ["bare", 7, {"type": "text", "text": 3}]},
            "toolUseResult": [1, "two"],
        }
    ).encode()

    record = parse_line(line).found[0].record

    assert isinstance(record, UserRecord)
    assert (record.uuid, record.timestamp, record.cwd, record.is_meta) == ("u", None, None, None)
    assert record.message is not None
    assert [block.text for block in record.message.blocks] == ["bare", None]


@pytest.mark.parametrize("message", ["error", None, 3, [], ["x"]])
def test_a_message_that_is_no_object(message: Any) -> None:
    record = parse_line(json.dumps({"type": "user", "uuid": "u", "message": message}).encode())

    assert isinstance(record.found[0].record, UserRecord)
    assert record.found[0].record.message is None


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"caf\xe9", "caf\ufffd"),
        (b"cut \xf0\x9f\x98", "cut \ufffd"),
        (b"lone \\ud83d end", "lone \ufffd end"),
        (b"pair \\ud83d\\ude00", "pair \U0001f600"),
        (b"raw\0nul", "raw nul"),
        ("raw \u2028 \x85 separators".encode(), "raw \u2028 \x85 separators"),
    ],
)
def test_damaged_text(raw: bytes, text: str) -> None:
    line = b'{"type":"user","uuid":"u","message":{"role":"user","content":"' + raw + b'"}}'

    parsed = parse_line(line)

    assert parsed.bad == 0
    record = parsed.found[0].record
    assert isinstance(record, UserRecord)
    assert record.message is not None
    assert record.message.content == text


@pytest.mark.parametrize("depth", [500, 5_000, 200_000])
def test_deep_nesting_is_survived(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    line = b'{"type":"assistant","uuid":"d","x":' + deep + b',"message":{"role":"assistant"}}'

    record = parse_line(line).found[0].record
    assert isinstance(record, AssistantRecord)
    assert record.uuid == "d"
    assert uuids(line + B) == ["b"]
    assert parse_line(b"[" * depth).found == ()


def test_a_broken_line_of_many_brackets_ends() -> None:
    parsed = parse_line(b'{"a' * 100_000)

    assert (parsed.found, parsed.bad) == ((), 1)
