from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.extraction.operations import MemoryType
from memoryd.memory.index import (
    MAX_BYTES,
    MAX_LINES,
    IndexLine,
    candidates,
    line_of,
    parse_line,
    reconcile,
)
from memoryd.memory.topic import Fields, Topic, new_topic, parse_topic

SECOND = 1_000_000_000


def topic(name: str, age: int = 0, description: str = "what it says") -> Topic:
    content = Fields(title=name, description=description, body="body", type=MemoryType.USER)
    return parse_topic(name, new_topic(name, content, now=1.0), (10_000 - age) * SECOND)


def lines(topics: Sequence[Topic]) -> bytes:
    return "".join(f"{line_of(t)}\n" for t in topics).encode()


def test_a_new_index_is_newest_first() -> None:
    old, new = topic("old", age=9), topic("new")
    assert reconcile(b"", [old, new]).raw == lines([new, old])


def test_what_agrees_stays_as_it_is() -> None:
    raw = lines([topic("old", age=9), topic("new")])
    assert reconcile(raw, [topic("new"), topic("old", age=9)]).raw == raw


def test_a_changed_memory_moves_to_the_front() -> None:
    old, mid = topic("old", age=9), topic("mid", age=5)
    raw = b"# Mine\n" + lines([mid, old]) + b"tail"
    newer = topic("old", age=0, description="news")
    result = reconcile(raw, [newer, mid], written=[str(line_of(old))], changed=["old"])
    assert result.raw == b"# Mine\n" + lines([newer, mid]) + b"tail"


def test_lines_a_person_moved_under_headings_stay_there() -> None:
    a, b, c = topic("a"), topic("b", age=3), topic("c", age=1)
    raw = lines([a]) + b"\n## Later\n\n" + lines([b])
    newer = topic("b", description="news")
    result = reconcile(raw, [a, newer, c], written=[str(line_of(b))], changed=["b"])
    assert result.raw == lines([a, c]) + b"\n## Later\n\n" + lines([newer])


def test_prose_stays_and_own_lines_follow_it() -> None:
    prose = b"# Notes\r\n\r\nI wrote this \xff myself.\r\n- [Docs](https://x.example/a.md)"
    result = reconcile(prose, [topic("a")])
    assert result.raw == prose + b"\r\n" + lines([topic("a")]).replace(b"\n", b"\r\n")
    assert reconcile(result.raw, [topic("a")]).raw == result.raw


def test_a_memory_others_link_to_gets_no_second_line() -> None:
    for foreign in (
        b"- [A](a.md) \xe2\x80\x94 the client's own hook\n",
        b"- [a.md](a.md): text\n",
        b"see [it](./a.md#part) there\n",
        b"* [A](<a.md>)\n",
    ):
        assert reconcile(foreign, [topic("a")]).raw == foreign


def test_an_own_line_goes_when_others_link_to_the_memory() -> None:
    foreign = b"- [A](a.md) - mine\n"
    assert reconcile(lines([topic("a")]) + foreign, [topic("a")]).raw == foreign


def test_lines_of_removed_memories_go_only_when_memoryd_wrote_them() -> None:
    gone, theirs = lines([topic("gone")]), b"- [X](x.md) \xe2\x80\x94 never existed\n"
    raw = gone + theirs
    assert reconcile(raw, [], written=[str(line_of(topic("gone")))]).raw == theirs
    assert reconcile(raw, []).raw == raw


def test_a_doubled_own_line_becomes_one() -> None:
    assert reconcile(lines([topic("a"), topic("a")]), [topic("a")]).raw == lines([topic("a")])


def test_400_memories_fit_and_the_newest_are_there() -> None:
    topics = [topic(f"m-{age}", age=age, description="word " * 60) for age in range(400)]
    result = reconcile(b"# Mine\n", topics)
    assert len(result.raw) <= MAX_BYTES
    assert result.raw.count(b"\n") <= MAX_LINES
    assert result.raw.startswith(b"# Mine\n- [m-0](m-0.md)")
    kept = result.raw.count(b"\n") - 1
    assert result.left_out == tuple(f"m-{age}" for age in range(kept, 400))
    short = reconcile(b"", [topic(f"m-{age}", age=age) for age in range(400)])
    assert short.raw.count(b"\n") == MAX_LINES


def test_too_many_lines_of_others_are_reported_and_kept() -> None:
    foreign = b"- mine\n" * 250
    result = reconcile(foreign, [topic("a")])
    assert result.raw == foreign
    assert result.left_out == ("a",)
    assert "250 lines" in result.warnings[0]


def test_a_long_description_is_one_line_of_200_characters() -> None:
    line = line_of(topic("a", description="word [x](y.md) " * 200))
    assert line is not None
    assert len(line) <= 200
    assert line.endswith("…")


def test_a_memory_without_description_shows_its_first_words() -> None:
    assert line_of(parse_topic("a", b"# Head\nmore", 0)) == "- [Head](a.md) — Head"
    assert line_of(parse_topic("a b", b"", 0)) == "- [A b](a%20b.md) — A b"


def test_candidates_are_lines_of_the_exact_shape() -> None:
    raw = (
        lines([topic("a")]) + b" - [B](b.md) \xe2\x80\x94 x\n- [C](c.md) - x\n- [D](../d.md) - x\n"
    )
    assert list(candidates(raw).values()) == ["a.md"]


FILE = st.text(min_size=1, max_size=40).map(lambda s: s + ".md")


@settings(deadline=None)
@given(st.text(), FILE, st.text())
def test_a_rendered_line_reads_back(title: str, file: str, hook: str) -> None:
    line = IndexLine.of(title, file, hook)
    if line is None:
        return
    text = line.render()
    assert len(text) <= 200
    assert text.splitlines() == [text]
    assert parse_line(text) == line


NAMES = [f"n{i}" for i in range(6)]
SOME = st.lists(
    st.one_of(
        st.sampled_from([f"{line_of(topic(n))}\n".encode() for n in NAMES]),
        st.sampled_from([b"- [x](n1.md) own words\n", b"\n", b"# h\n", b"\xff\n", b"a\r\n"]),
        st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"") + b"\n"),
    )
)


@settings(deadline=None)
@given(SOME, st.sets(st.sampled_from(NAMES)), st.sets(st.sampled_from(NAMES)), st.booleans())
def test_foreign_lines_stay_byte_for_byte(
    parts: list[bytes], present: set[str], changed: set[str], ended: bool
) -> None:
    raw = b"".join(parts)
    raw = raw if ended else raw.removesuffix(b"\n")
    own = {f"{line_of(topic(n))}" for n in NAMES}
    topics = [topic(n, age=i) for i, n in enumerate(sorted(present))]
    result = reconcile(raw, topics, written=own, changed=changed)

    def foreign(data: bytes) -> list[bytes]:
        found = data.split(b"\n")
        return [x for x in found if x.rstrip(b"\r").decode(errors="replace") not in own]

    kept, there = foreign(result.raw), foreign(raw)
    if not raw.endswith(b"\n"):
        # An unended last line gets an end before an own line can follow.
        kept = [x.rstrip(b"\r") for x in kept]
        there = [x.rstrip(b"\r") for x in there]
    assert [x for x in kept if x] == [x for x in there if x]
    assert reconcile(result.raw, topics, written=own).raw == result.raw
    for name in present:
        links = result.raw.count(f"({name}.md)".encode())
        assert links >= 1
        assert result.raw.count(f"{line_of(topic(name))}".encode()) <= 1
