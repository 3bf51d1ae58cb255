import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.memory.frontmatter import State, edit, parse, render
from memoryd.memory.scalars import decode_scalar, encode_scalar, flow_mapping

CLIENT = b"""---
name: use-uv
description: Prefers uv over pip
metadata:
  node_type: memory
  type: feedback
  originSessionId: 44444444-4444-4444-8444-444444444444
  modified: 2026-12-01T03:10:47.847Z
---

Use uv.
""".replace(b"metadata:", b"metadata: ")


def joined(raw: bytes) -> bytes:
    document = parse(raw)
    return document.prefix + b"".join(document.lines) + document.closing + document.body


def test_the_clients_nested_form_with_a_space_behind_metadata() -> None:
    document = parse(CLIENT)
    assert document.state is State.PRESENT
    assert document.get("name") == "use-uv"
    assert document.find("type") == "feedback"
    assert document.find("modified") == "2026-12-01T03:10:47.847Z"
    assert document.body == b"\nUse uv.\n"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("description: costs #5: twice: a # b", "costs #5: twice: a # b"),
        (r'description: "say \"hi\" \\ there"', 'say "hi" \\ there'),
        ("description: 'it''s'", "it's"),
        ('description: "quoted" # comment', "quoted"),
        ('description: "half quoted" and more', '"half quoted" and more'),
        ("description: *x*", "*x*"),
        ("description: {name} is filled in", "{name} is filled in"),
        ('description: "{"', "{"),
        ("description: [[x]]", "[[x]]"),
        (r"description: C:\new\table", r"C:\new\table"),
        ("description: >-\n  two\n  lines", "two lines"),
        ("description: plain\n  goes on", "plain goes on"),
        ("description:    spaced   ", "spaced"),
        ("description:", ""),
        ("description: " + "long " * 1700, ("long " * 1700).strip()),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_values_as_people_write_them(line: str, value: str, newline: str) -> None:
    text = f"---\nname: x\n{line}\ntype: user\n---\nbody\n".replace("\n", newline)
    document = parse(text.encode())
    assert document.state is State.PRESENT
    assert document.get("description") == value
    assert document.find("type") == "user"
    assert document.body == f"body{newline}".encode()


def test_a_rule_in_the_body_is_body() -> None:
    document = parse(b"---\nname: x\n---\nabove\n\n---\n\nbelow\n")
    assert document.body == b"above\n\n---\n\nbelow\n"


def test_a_byte_order_mark_stays_and_does_not_hide_the_block() -> None:
    raw = b"\xef\xbb\xbf---\nname: x\ntype: user\n---\nbody"
    assert parse(raw).get("type") == "user"
    assert edit(parse(raw), {("type",): "project"}) == raw.replace(b"user", b"project")


@pytest.mark.parametrize(
    ("raw", "body"),
    [
        (b"---\nname: x\ntype: user\n\nText that never closes.\n", b"\nText that never closes.\n"),
        (b"---\nname: x\nplain words\n---\nmore\n", b"plain words\n---\nmore\n"),
        (b"---\nname: x\n", b""),
        (b"---\nname: x\nmetadata: {type: user,\n---\nbody\n", b"body\n"),
        (b"\n\n---\nname: x\n---\nbody\n", b"body\n"),
    ],
)
def test_a_broken_block_is_read_and_never_edited(raw: bytes, body: bytes) -> None:
    document = parse(raw)
    assert document.state is State.BROKEN
    assert document.get("name") == "x"
    assert document.body == body
    assert document.warnings
    with pytest.raises(ValueError, match="broken"):
        edit(document, {("name",): "y"})


@pytest.mark.parametrize("raw", [b"", b"just words\n", b"---\nwords after a rule\n", b"# title\n"])
def test_a_file_without_a_block_gets_none(raw: bytes) -> None:
    document = parse(raw)
    assert document.state is State.ABSENT
    assert document.body == raw
    assert edit(document, {("type",): "user"}, body=b"new\n") == b"new\n"


def test_a_change_replaces_one_line_and_keeps_every_other_byte() -> None:
    raw = CLIENT.replace(b"name:", b"odd_key :  [1, 2]\n# a comment\nname:")
    changed = edit(parse(raw), {("metadata", "type"): "user", ("name",): "use-uv"})
    assert changed == raw.replace(b"type: feedback", b"type: user")


def test_new_keys_go_to_the_end_of_their_mapping_in_its_indentation() -> None:
    raw = b"---\r\nname: x\r\nmetadata:\r\n    type: user\r\nother: 1\r\n---\r\n"
    changed = edit(parse(raw), {("metadata", "marks"): "assistant"})
    assert changed == raw.replace(b"other", b"    marks: assistant\r\nother")


def test_a_key_is_taken_away() -> None:
    changed = edit(parse(CLIENT), {("metadata", "type"): None})
    assert changed == CLIENT.replace(b"  type: feedback\n", b"")


def test_metadata_in_braces_becomes_a_block_when_it_changes() -> None:
    raw = b'---\nname: x\nmetadata: {type: user, "a: b": c}\n---\nbody\n'
    assert parse(raw).state is State.BROKEN
    raw = b'---\nname: x\nmetadata: {type: user, note: "a, b"}\n---\nbody\n'
    assert parse(raw).find("note") == "a, b"
    assert edit(parse(raw), {("metadata", "type"): "user"}) == raw
    changed = edit(parse(raw), {("metadata", "type"): "project"})
    assert changed == b"---\nname: x\nmetadata:\n  type: project\n  note: a, b\n---\nbody\n"


def test_the_last_of_a_repeated_key_counts_and_is_reported() -> None:
    document = parse(b"---\ntype: user\ntype: project\n---\n")
    assert document.get("type") == "project"
    assert document.warnings
    assert document.state is State.BROKEN


def test_a_repeated_mapping_of_another_form_is_not_edited() -> None:
    assert parse(b"---\nmetadata: {type: x}\nmetadata: \n---\n").state is State.BROKEN


@pytest.mark.parametrize("raw", [b"---\n" + b"[" * 200_000, b"---\na: &a [*a,*a]\n---\n", b"-" * 9])
def test_hostile_input_is_only_text(raw: bytes) -> None:
    assert joined(raw) == raw


@pytest.mark.parametrize(
    "value", ["a: b", "x #y", "- z", "*x*", "yes", "12", "", "2026-12-01", "é"]
)
def test_written_values_are_quoted_when_a_strict_reader_would_misread_them(value: str) -> None:
    assert encode_scalar(value).startswith('"') is (value != "é")
    assert decode_scalar(encode_scalar(value)) == value


@settings(deadline=None)
@given(st.binary())
def test_the_parts_are_the_file(raw: bytes) -> None:
    assert joined(raw) == raw


FILES = st.lists(
    st.sampled_from(
        [
            "---",
            "name: x",
            "metadata: ",
            "  type: user",
            "",
            "text",
            "- a",
            "# c",
            "type: |",
            "k: {a: b}",
            "metadata: {type: x}",
        ]
    )
).map(lambda lines: "\n".join(["---", *lines]).encode())


@settings(deadline=None)
@given(FILES, st.text())
def test_an_edit_reads_back_and_keeps_the_body(raw: bytes, value: str) -> None:
    document = parse(raw)
    assert joined(raw) == raw
    if document.state is not State.PRESENT:
        return
    path = document.place("type")
    changed = edit(document, {path: value, ("description",): value})
    again = parse(changed)
    assert again.state is State.PRESENT
    assert again.get(*path) == value
    assert again.get("description") == value
    assert again.body == document.body
    assert edit(again, {path: value, ("description",): value}) == changed
    others = {p: f.value for p, f in document.fields.items() if p not in {path, ("description",)}}
    kept = {p: f.value for p, f in again.fields.items()}
    assert all(kept[p] == v for p, v in others.items() if p[0] != path[0] or len(p) == len(path))


@settings(deadline=None)
@given(st.text())
def test_scalars_round_trip_on_one_line(value: str) -> None:
    encoded = encode_scalar(value)
    assert "\n" not in encoded
    assert "\r" not in encoded
    assert decode_scalar(encoded) == value


@settings(deadline=None)
@given(st.text(), st.text())
def test_a_new_file_reads_back(description: str, kind: str) -> None:
    raw = render({"name": "x", "description": description, "metadata": {"type": kind}}, b"---\nb\n")
    document = parse(raw)
    assert document.state is State.PRESENT
    assert document.get("description") == description
    assert document.find("type") == kind
    assert document.body == b"\n---\nb\n"


@settings(deadline=None)
@given(st.text())
def test_flow_mappings_never_raise(text: str) -> None:
    flow_mapping(text)
    flow_mapping("{" + text + "}")
