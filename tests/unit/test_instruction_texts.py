"""Imports, comments and headings in the text of instructions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.instructions.comments import strip_comments
from memoryd.instructions.imports import find_imports
from memoryd.instructions.markdown import headings, lines


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@a.md", ["a.md"]),
        ("see @a.md and @b/c.md here", ["a.md", "b/c.md"]),
        ("@a.md @a.md", ["a.md"]),
        ("@./a.md @../b.md @~/c.md @/d.md", ["./a.md", "../b.md", "~/c.md", "/d.md"]),
        ("@my\\ notes.md", ["my notes.md"]),
        ("@a.md#part", ["a.md"]),
        ("@a.md.", ["a.md."]),
        ("- @a.md\n  - @b.md\n> @c.md\n# @d.md", ["a.md", "b.md", "c.md", "d.md"]),
        ("| @a.md | `@b.md` |", ["a.md"]),
        ("**@a.md** *@b.md* _@c.md_", ["a.md", "b.md", "c.md"]),
        ("[@a.md](x)", ["a.md"]),
        ("text\n    @a.md", ["a.md"]),
        ("a `b @c.md", ["c.md"]),
        ("<b>@a.md</b> @b.md", ["a.md", "b.md"]),
        ("<!-- x --> @a.md", ["a.md"]),
        ("<div>\n@a.md\n\n@b.md\n</div>", ["b.md"]),
        ("1. one\n\n   @a.md", ["a.md"]),
    ],
)
def test_imports_are_found(text: str, found: list[str]) -> None:
    assert list(find_imports(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "me@a.md (@a.md) \"@a.md\" '@a.md' @@a.md \\@a.md",
        "`@a.md`",
        "``@a.md ` x``",
        "`x\n@a.md\n`",
        "```\n@a.md\n```",
        "~~~ text\n@a.md\n```\n@a.md",
        "````\n```\n@a.md\n````",
        "x\n\n    @a.md",
        "\t@a.md",
        "> ```\n> @a.md\n> ```",
        "- ```\n  @a.md\n  ```",
        "- x\n\n      @a.md",
        "x <!-- @a.md --> y",
        "<!-- @a.md",
        "<!--\n@a.md\n\n@b.md\n-->",
        "<pre>\n\n@a.md\n</pre>",
        "[ref]: @a.md",
        "<@a.md>",
        "![@a.md](x)",
        "@ @/ @~ @#x",
    ],
)
def test_where_no_imports_are(text: str) -> None:
    assert find_imports(text) == ()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\n<!-- x -->\nb\n", "a\nb\n"),
        ("<!-- x\ny\n\nz -->\n\n\nb", "b"),
        ("<!-- x --> tail\n", " tail\n"),
        ("<!-- x --><!-- y -->\nb", "b"),
        ("  <!-- x -->\nb", "b"),
        ("a <!-- x --> b", "a <!-- x --> b"),
        ("- a\n  <!-- x -->\n", "- a\n  <!-- x -->\n"),
        ("> <!-- x -->\n", "> <!-- x -->\n"),
        ("```\n<!-- x -->\n```\n", "```\n<!-- x -->\n```\n"),
        ("\n    <!-- x -->\n", "\n    <!-- x -->\n"),
        ("<div>\n<!-- x -->\n</div>", "<div>\n<!-- x -->\n</div>"),
        ("<!-- x\n\nb", "<!-- x\n\nb"),
        ("<!--> x -->\n", "<!--> x -->\n"),
        ("<!-- x --> `<!-- y -->`\n", " `<!-- y -->`\n"),
        ("a\r\n<!-- x -->\r\nb\r\n", "a\r\nb\r\n"),
    ],
)
def test_block_comments_go(text: str, left: str) -> None:
    assert strip_comments(text) == left


CODE = st.text(alphabet="ab @~<!->\\ \t\n#*\r\u2028", max_size=60)
ANY = st.text(alphabet="ab @`~<!-->\\ \t\n#*1.)[]", max_size=120)
BLOCKS = st.lists(
    st.sampled_from(
        [
            "words @a.md",
            "- item\n  more",
            "> quoted",
            "<!-- x -->",
            "<!-- x --> y",
            "<b>x</b>",
            "a\n===",
        ]
    )
)


@settings(deadline=None)
@given(blocks=BLOCKS, code=CODE)
def test_code_stays_byte_for_byte(blocks: list[str], code: str) -> None:
    fenced = f"```\n{code}\n```\n"
    text = "\n\n".join([*blocks, fenced])
    assert strip_comments(text).endswith(fenced)
    assert set(find_imports(text)) <= {"a.md"}
    assert find_imports(fenced) == ()


@settings(deadline=None)
@given(text=ANY)
def test_lines_lose_nothing_and_stripping_adds_nothing(text: str) -> None:
    assert "".join(line.raw for line in lines(text)) == text
    left = strip_comments(text)
    rest = iter(text)
    assert all(sign in rest for sign in left)
    if "<!--" not in text:
        assert left == text


@settings(deadline=None)
@given(text=ANY)
def test_an_import_stands_in_the_text_as_it_is_found(text: str) -> None:
    spaced = text.replace("\\ ", " ")
    assert all(f"@{path}" in spaced for path in find_imports(text))


@pytest.mark.parametrize(
    "text",
    [
        "@ " + "<!-- " * 20_000,
        "@ " + "<a b=\" c='" * 20_000,
        " ".join("`" * length for length in range(1, 400)) + " @a.md",
        "- " * 50_000 + "@a.md",
        ">" * 100_000 + "@a.md",
        "@a.md" + "\n" * 100_000,
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    find_imports(text)
    strip_comments(text + "<!-- x")


def test_headings_outside_code() -> None:
    text = "# One\n\n```\n# no\n```\n## Two ##\n#\n#no\n- ### Three\n# C#\n"
    assert headings(text) == ("One", "Two", "Three", "C#")
