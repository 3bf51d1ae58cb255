import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.errors import MemorydError
from memoryd.extraction.operations import MemoryType
from memoryd.memory.frontmatter import parse
from memoryd.memory.topic import Fields, new_topic, parse_topic, timestamp, update_topic

NOW = 1_796_000_000.5


def fields(**changes: object) -> Fields:
    given: dict[str, object] = {"title": "Use uv", "description": "uv, not pip", "body": "Use uv."}
    return Fields(**{**given, **changes})  # type: ignore[arg-type]


def test_a_new_file_has_the_clients_form() -> None:
    raw = new_topic("use-uv", fields(type=MemoryType.FEEDBACK, session="s-1"), now=NOW)
    assert raw.decode() == (
        "---\nname: use-uv\ndescription: uv, not pip\nmetadata:\n  node_type: memory\n"
        f"  type: feedback\n  originSessionId: s-1\n  modified: {timestamp(NOW)}\n---\n\nUse uv.\n"
    )


def test_marks_and_a_title_of_its_own_are_kept_under_metadata() -> None:
    raw = new_topic("use-uv", fields(title="Prefers uv", marks=("assistant",)), now=NOW)
    topic = parse_topic("use-uv", raw, 7)
    assert (topic.title, topic.marks) == ("Prefers uv", ("assistant",))
    assert parse(raw).get("metadata", "title") == "Prefers uv"


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        (b"---\nname: staging_db\n---\nx", "Staging db"),
        (b"---\nname: The staging database\n---\nx", "The staging database"),
        (b"---\nname: staging_db\n---\n\n# Staging, port\nx", "Staging, port"),
        (b"words", "Staging db"),
    ],
)
def test_a_title_is_found_where_none_is_given(raw: bytes, title: str) -> None:
    assert parse_topic("staging_db", raw, 0).title == title


def test_old_and_flat_forms_are_read() -> None:
    raw = b"---\nfilename: a.md\nname: a\ndescription: d\ntype: Project # note\n---\nbody\n"
    topic = parse_topic("a", raw, 5)
    assert topic.type is MemoryType.PROJECT
    assert topic.body == "body"
    assert not topic.warnings


def test_an_unknown_type_is_a_warning() -> None:
    topic = parse_topic("a", b"---\ntype: gossip\n---\nbody\n", 5)
    assert topic.type is None
    assert "gossip" in topic.warnings[0]


def test_an_update_changes_what_changed_and_no_other_byte() -> None:
    raw = (
        b'\xef\xbb\xbf---\r\nname: "a"\r\nkeep: {me: 1}\r\ndescription: old\r\nmetadata: \r\n'
        b"    type: user\r\n    modified: 2026-01-01T00:00:00.000Z\r\n---\r\n\r\nbody\r\n"
    )
    topic = parse_topic("a", raw, 5)
    after, changed = update_topic(
        topic, fields(title=topic.title, description="new", body="body"), now=NOW
    )
    assert changed
    expected = raw.replace(b": old", b": new").replace(
        b"2026-01-01T00:00:00.000Z", timestamp(NOW).encode()
    )
    assert after == expected


def test_a_new_body_keeps_the_line_ends_of_the_file() -> None:
    topic = parse_topic("a", b"---\r\nname: a\r\n---\r\n\r\none\r\n", 5)
    after, _ = update_topic(
        topic, fields(description="", body="one\ntwo", title=topic.title), now=0
    )
    assert after.endswith(b"---\r\n\r\none\r\ntwo\r\n")


def test_marks_alone_do_not_make_the_fact_newer() -> None:
    raw = new_topic("use-uv", fields(type=MemoryType.USER), now=1.0)
    topic = parse_topic("use-uv", raw, 5)
    after, changed = update_topic(topic, fields(marks=("headless",)), now=NOW)
    assert not changed
    assert after == raw.replace(b"---\n\nUse", b"  marks: headless\n---\n\nUse")
    back, _ = update_topic(parse_topic("use-uv", after, 5), fields(marks=()), now=NOW)
    assert back == raw


def test_the_same_content_is_the_same_bytes() -> None:
    raw = new_topic("use-uv", fields(type=MemoryType.USER, title="Other"), now=1.0)
    assert update_topic(parse_topic("use-uv", raw, 5), fields(title="Other"), now=NOW) == (
        raw,
        False,
    )


def test_broken_frontmatter_is_readable_and_never_rewritten() -> None:
    topic = parse_topic("a", b"---\nname: a\ndescription: d\n\nText.\n", 5)
    assert topic.body == "Text."
    assert topic.description == "d"
    assert topic.warnings
    with pytest.raises(MemorydError, match="broken frontmatter") as caught:
        update_topic(topic, fields(), now=NOW)
    assert "a.md" in caught.value.hint


def test_a_file_without_frontmatter_gets_none() -> None:
    after, changed = update_topic(parse_topic("a", b"old\n", 5), fields(body="new"), now=NOW)
    assert (after, changed) == (b"new\n", True)


@settings(deadline=None)
@given(st.text(), st.text(), st.text(), st.sampled_from(MemoryType))
def test_what_is_written_is_what_is_read(
    title: str, description: str, body: str, kind: MemoryType
) -> None:
    wanted = fields(title=title, description=description, body=body, type=kind)
    topic = parse_topic("a", new_topic("a", wanted, now=NOW), 0)
    assert topic.rewritable
    assert topic.type is kind
    assert topic.description == " ".join(description.split())
    assert topic.body == body.replace("\r\n", "\n").strip()
    assert not title.split() or topic.title == " ".join(title.split())
    assert update_topic(topic, wanted, now=NOW + 9)[0] == topic.raw


@settings(deadline=None)
@given(st.binary())
def test_any_bytes_are_a_topic(raw: bytes) -> None:
    topic = parse_topic("a", raw, 0)
    assert topic.raw == raw
    assert "\n" not in topic.description
