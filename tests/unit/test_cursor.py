"""Whether a file is still the one that was read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memoryd.ingest.cursor import (
    Found,
    Mark,
    Position,
    Verdict,
    decode_mark,
    digest,
    encode_mark,
    judge,
    signed,
    uuid_key,
)

READ = Position(
    device=1, inode=2, offset=10, head_length=4, head_hash=digest(b"head"), anchor=digest(b"end")
)


@pytest.mark.parametrize(
    ("found", "head", "anchor", "verdict"),
    [
        (Found(1, 2, 10), b"head", b"end", Verdict.UNCHANGED),
        (Found(1, 2, 11), b"head", b"end", Verdict.GROWN),
        (Found(9, 2, 11), b"head", b"end", Verdict.GROWN),
        (Found(1, 3, 11), b"head", b"end", Verdict.REPLACED),
        (Found(1, 2, 9), b"head", b"end", Verdict.REPLACED),
        (Found(1, 2, 11), b"HEAD", b"end", Verdict.REPLACED),
        (Found(1, 2, 11), b"head", b"END", Verdict.REPLACED),
    ],
)
def test_verdicts(found: Found, head: bytes, anchor: bytes, verdict: Verdict) -> None:
    assert judge(READ, found, head, anchor) is verdict


@given(st.text())
def test_digests_of_uuids_fit_a_database(uuid: str) -> None:
    assert -(2**63) <= uuid_key(uuid) < 2**63


@given(st.integers(0, 2**64 - 1))
def test_large_inode_numbers_keep_their_identity(number: int) -> None:
    assert -(2**63) <= signed(number) < 2**63
    assert signed(number) % 2**64 == number


def test_marks_survive_and_foreign_ones_are_refused() -> None:
    mark = Mark(turn=3, reread_to=5, anchor=b"a", reader=b"r")

    assert decode_mark(encode_mark(mark)) == mark
    assert decode_mark(None) == Mark()
    assert decode_mark(b"\xc1") is None
