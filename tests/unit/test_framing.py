"""Lines do not depend on how the bytes were cut, and no line grows memory."""

import itertools
import tracemalloc

from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.transcript.framing import Line, LineFramer
from memoryd.transcript.shrink import OUTPUT_LIMIT, TEXT_LIMIT

SAMPLE = (
    b'{"a":1}\n\n{"b":"two\xe2\x80\xa8lines\xc2\x85"}\r\n'
    b'{"long":"' + "é".encode() * 60 + b'","end":1}\n{"c":3}'
)


def lines_of(chunks: list[bytes], max_record: int) -> tuple[list[Line], Line | None, int]:
    framer = LineFramer(100, max_record=max_record)
    lines = [line for chunk in chunks for line in framer.feed(chunk)]
    return lines, framer.tail(), framer.offset


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


@settings(deadline=None)
@given(st.lists(st.integers(min_value=0), max_size=12), st.sampled_from([16, 64, 10_000]))
def test_any_cut_gives_the_same_lines(places: list[int], max_record: int) -> None:
    assert lines_of(cut(SAMPLE, places), max_record) == lines_of([SAMPLE], max_record)


def test_only_the_newline_byte_ends_a_line() -> None:
    lines, tail, offset = lines_of([SAMPLE], 10_000)

    assert [line.data.count(b"\n") for line in lines] == [0, 0, 0, 0]
    assert len(lines) == 4
    assert lines[0] == Line(100, 108, b'{"a":1}')
    assert lines[1] == Line(108, 109, b"")
    assert lines[2].data.endswith(b"\r")
    assert all(a.end == b.start for a, b in itertools.pairwise(lines))
    assert tail == Line(offset, 100 + len(SAMPLE), b'{"c":3}')


def test_a_line_of_exactly_the_limit_is_whole() -> None:
    lines, _, _ = lines_of([b'{"a":"12345678"}\n{"a":"123456789"}\n'], 16)

    assert [line.oversize for line in lines] == [False, True]


def test_taking_the_tail_begins_a_new_line_behind_it() -> None:
    framer = LineFramer()
    assert list(framer.feed(b'{"a":1}')) == []
    assert framer.pending_bytes == 7
    assert framer.offset == 0
    framer.take_tail()
    assert framer.pending_bytes == 0

    assert list(framer.feed(b'\n{"b":2}\n')) == [Line(7, 8, b""), Line(8, 16, b'{"b":2}')]


def test_a_line_of_64_mebibytes_is_not_held() -> None:
    head = b'{"type":"user","message":{"role":"user","content":"'
    chunk = b"x" * 2**18
    framer = LineFramer()

    tracemalloc.start()
    try:
        lines = list(framer.feed(head))
        for _ in range(256):
            lines += framer.feed(chunk)
        lines += framer.feed(b'"},"uuid":"u-1"}\n')
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 8 * 2**20 + 2 * len(chunk) + 2 * OUTPUT_LIMIT
    assert lines[0].oversize
    assert lines[0].end == len(head) + 64 * 2**20 + 17
    assert lines[0].data == head + b"x" * TEXT_LIMIT + b'"},"uuid":"u-1"}'
