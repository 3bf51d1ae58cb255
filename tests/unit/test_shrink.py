"""A record that is too large keeps its envelope, and stays JSON."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.transcript import shrink
from memoryd.transcript.shrink import (
    DEPTH_LIMIT,
    NESTED_BUDGET,
    OUTPUT_LIMIT,
    TEXT_LIMIT,
    Shrinker,
    shrunk,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)


def depth_of(value: Any) -> int:
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


@settings(deadline=None)
@given(JSON, st.booleans())
def test_what_is_small_stays_what_it_is(value: object, ascii_only: bool) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")

    assert json.loads(shrunk(data).decode("utf-8", "surrogatepass")) == value


def test_two_huge_strings_leave_the_envelope_between_them() -> None:
    big = "line\\n\u00e9" * 2**17
    record = {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "tool_result", "content": big}]},
        "uuid": "u-1",
        "timestamp": "2026-01-01T00:00:00Z",
        "toolUseResult": {"stdout": big, "stderr": ""},
        "cwd": "/w",
    }
    data = json.dumps(record).encode()

    small = shrunk(data)
    kept = json.loads(small)

    assert len(small) < 3 * TEXT_LIMIT
    assert {k: kept[k] for k in ("type", "uuid", "timestamp", "cwd")} == {
        k: record[k] for k in ("type", "uuid", "timestamp", "cwd")
    }
    text = kept["message"]["content"][0]["content"]
    assert big.startswith(text)
    assert len(json.dumps(text)) > TEXT_LIMIT - 20


def test_millions_of_small_values_are_dropped_at_a_values_end() -> None:
    data = json.dumps({"type": "user", "x": {"y": [{"n": i} for i in range(10**5)]}, "uuid": "u"})

    small = shrunk(data.encode())
    kept = json.loads(small)

    assert len(small) < NESTED_BUDGET + 200
    assert kept["uuid"] == "u"
    assert kept["x"]["y"][:3] == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_what_is_too_deep_becomes_null() -> None:
    data = b'{"type":"user","x":' + b"[" * 50_000 + b"]" * 50_000 + b',"uuid":"u"}'

    kept = json.loads(shrunk(data))

    assert kept["uuid"] == "u"
    assert depth_of(kept["x"]) == DEPTH_LIMIT - 1


def test_an_escape_is_never_cut() -> None:
    for shift in range(14):
        text = "a" * (TEXT_LIMIT - shift) + "\U0001f600" * 10
        for ascii_only in (True, False):
            data = json.dumps({"t": text}, ensure_ascii=ascii_only).encode()
            kept = json.loads(shrunk(data))["t"]
            assert text.startswith(kept)


def test_a_record_behind_a_torn_one_starts_afresh() -> None:
    record = b'{"type":"user","message":{"content":"' + b"y" * 10**6 + b'"},"uuid":"u-2"}'
    for stub in (b'{"type":"pr-link","prNu', b'{"a":12', b'{"m":{"c":["' + b"z" * 10**6):
        assert shrunk(stub + record).endswith(b'"},"uuid":"u-2"}')
        assert b'{"type":"user","message":{"content":"yyy' in shrunk(stub + record)


DENSE = {"a": [{"n": 1, "s": "x{", "t": "\\"}, [], {"m": {"k": [1, [2]]}}] * 60, "b": " {"}
TORN = b'{"z":' + b'[{"q":"' * 5 + b'{"y":[{"r":"s"},3'


@pytest.mark.parametrize("step", [1, 2, 3, 7, 64, 1000])
@pytest.mark.parametrize("spaced", [True, False])
def test_dropping_does_not_depend_on_the_cut(
    step: int, spaced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shrink, "NESTED_BUDGET", 200)
    one = json.dumps(DENSE, separators=None if spaced else (",", ":")).encode()
    data = one + one + TORN + one + b"\0" + one
    shrinker = Shrinker()
    for pos in range(0, len(data), step):
        shrinker.feed(data[pos : pos + step])

    assert shrinker.result() == shrunk(data)
    assert len(shrunk(data)) < 2000
    assert shrunk(data).count(b'"b":') == 4


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=8))
def test_any_cut_gives_the_same(data: bytes, places: list[int]) -> None:
    whole = shrunk(data)
    shrinker = Shrinker()
    edges = [0, *sorted(min(place, len(data)) for place in places), len(data)]
    for a, b in itertools.pairwise(edges):
        shrinker.feed(data[a:b])

    assert shrinker.result() == whole


FRAGMENTS = [
    b'{"a":', b'"x{"', b'"b\\"c"', b'"\\\\"', b"[", b"]", b"}", b"{", b",", b":", b"1", b" ", b"\0",
    b"\\", b'"', b'{"k":[1,{"z":"y"}]},', b'{"uuid":"u","m":{"n":[{"o":1},{"p":2}]}}',
]  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=40), st.sampled_from([1, 2, 5, 17, 80]))
def test_broken_syntax_does_not_depend_on_the_cut(fragments: list[bytes], step: int) -> None:
    data = b'{"type":"user","x":{"y":[[' + b'"w",' * 20 + b"".join(fragments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shrink, "NESTED_BUDGET", 60)
        whole = shrunk(data)
        shrinker = Shrinker()
        for pos in range(0, len(data), step):
            shrinker.feed(data[pos : pos + step])

    assert shrinker.result() == whole


def test_garbage_is_bounded() -> None:
    assert len(shrunk(b"1" * 10**6)) < 2000
    assert len(shrunk(b'"a",' * 10**6)) <= OUTPUT_LIMIT
