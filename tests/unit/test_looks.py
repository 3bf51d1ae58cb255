"""What transcripts looked like is kept in few bytes and comes back as it was."""

from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.ingest.looks import Looks, pack, unpack

NAMES = st.text(st.characters(exclude_characters="/", exclude_categories=["Cs"]), min_size=1)
MARKS = st.dictionaries(NAMES, st.integers(-(2**63), 2**63 - 1))


@settings(deadline=None)
@given(MARKS)
def test_what_is_packed_comes_back_in_its_order(marks: dict[str, int]) -> None:
    assert list(unpack(pack(list(marks), marks.values())).items()) == list(marks.items())


def test_a_change_is_kept_when_another_directory_is_looked_at() -> None:
    looks = Looks()
    looks.of("-a")["s.jsonl"] = 1
    looks.of("-b")["t.jsonl"] = 2
    looks.of("-a")["u.jsonl"] = 3

    assert unpack(looks.packed("-a")) == {"s.jsonl": 1, "u.jsonl": 3}
    assert unpack(looks.packed("-b")) == {"t.jsonl": 2}


def test_a_directory_without_transcripts_is_not_held() -> None:
    looks = Looks()
    looks.of("-a/s/subagents")["agent-1.jsonl"] = 1
    looks.of("-a")["s.jsonl"] = 1
    assert looks.below("-a") == {"-a/s/subagents"}
    assert sorted(looks.outside(["-b"])) == ["-a", "-a/s/subagents"]

    looks.of("-a/s/subagents").clear()
    looks.put("-a", b"")
    assert looks.below("-a") == set()
    assert looks.outside([]) == []
