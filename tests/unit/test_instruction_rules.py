"""When a rule applies: its frontmatter and its patterns."""

from __future__ import annotations

import pytest
from memoryd.instructions.frontmatter import parse
from memoryd.instructions.globs import MAX_EXPANSIONS, everything, excluded, matches


@pytest.mark.parametrize(
    ("block", "patterns"),
    [
        ("paths: src/**", ["src/**"]),
        ("paths: src/**, *.md", ["src/**", "*.md"]),
        ("paths: **/*.py", ["**/*.py"]),
        ("paths: {src,lib}/**", ["{src,lib}/**"]),
        ('paths: "src/{a,b}.ts, x"', ["src/{a,b}.ts", "x"]),
        ("paths: src/** # the sources", ["src/**"]),
        ("paths: [\"a/**\", 'b', c]", ["a/**", "b", "c"]),
        ("paths: [a,\n  b]", ["a", "b"]),
        ("paths:\n  - a\n  - 'b/**'", ["a", "b/**"]),
        ("paths:\n- a\n- b", ["a", "b"]),
        ("paths: >\n  a, b", ["a", "b"]),
        ("a: b: c\npaths: x", ["x"]),
        ("a: [\npaths: x", ["x"]),
        ("# comment\ndescription: words\npaths: x", ["x"]),
        ("paths: x\npaths: y", ["y"]),
        ("a:\n  paths: x", []),
        ("paths:", []),
        ("paths: []", []),
        ("paths: 5", []),
        ("paths: {a: b}", []),
        ("description: x", []),
    ],
)
def test_paths_are_read(block: str, patterns: list[str]) -> None:
    document = parse(f"---\n{block}\n---\nBody\n")
    assert (list(document.patterns), document.readable) == (patterns, True)
    assert document.body == "Body\n"


@pytest.mark.parametrize(
    "block",
    [
        "paths: [src/**",
        'paths: "src/**',
        "{{{\npaths: src/**",
        "- a\npaths: src/**",
        "just words",
        "paths: src/**\n: : :",
        "paths:\n  - **/*.ts",
        "paths: 'a', 'b'",
        "paths: [a] b",
        "  indented: first\npaths: x",
    ],
)
def test_frontmatter_that_cannot_be_read_is_no_condition(block: str) -> None:
    document = parse(f"---\n{block}\n---\nBody\n")
    assert (document.patterns, document.readable, document.body) == ((), False, "Body\n")


@pytest.mark.parametrize("text", ["---\npaths: x\nnever closed", "\n---\npaths: x\n---\n", "x"])
def test_what_is_no_block_stays(text: str) -> None:
    assert parse(text).body == text


def test_windows_line_ends() -> None:
    assert parse("---\r\npaths: x\r\n---\r\nBody").patterns == ("x",)


@pytest.mark.parametrize(
    ("pattern", "meant", "other"),
    [
        ("*.md", ["a.md", "d/a.md"], ["a.mdx"]),
        ("/*.md", ["a.md"], ["d/a.md"]),
        ("src", ["src/a", "lib/src/a"], ["srcs/a"]),
        ("src/", ["src/a"], ["src"]),
        ("src/**", ["src/a", "src/d/a"], ["srcs/a"]),
        ("src/**/*.py", ["src/a.py", "src/d/e/a.py"], ["src/a.ts", "x/src/a.py"]),
        ("src/*", ["src/a", "src/d/a"], ["a"]),
        ("**/x/*.ts", ["x/a.ts", "d/e/x/a.ts"], ["x/d/a.ts"]),
        ("src/a?.py", ["src/ab.py"], ["src/a.py"]),
        ("src/[ab].py", ["src/a.py"], ["src/c.py"]),
        ("src/[!ab].py", ["src/c.py"], ["src/a.py"]),
        ("*.{ts,tsx}", ["a.ts", "d/a.tsx"], ["a.t"]),
        ("{src,lib/{a,b}}/*.py", ["src/x.py", "lib/b/x.py"], ["lib/c/x.py"]),
        ("SRC/**", ["src/a"], []),
        (".hidden/**", [".hidden/a"], ["hidden/a"]),
        ("src/[a", [], ["src/[a", "src/a"]),
        ("{src", [], ["src"]),
        ("./src/**", [], ["src/a"]),
        ("#x", [], ["#x"]),
        ("**", ["a", "d/a"], []),
        ("a+(b)", ["a+(b)"], ["ab"]),
    ],
)
def test_what_a_pattern_means(pattern: str, meant: list[str], other: list[str]) -> None:
    assert [path for path in meant if not matches([pattern], path)] == []
    assert [path for path in other if matches([pattern], path)] == []


def test_patterns_of_a_list_are_taken_one_after_another() -> None:
    assert matches(["*.py", "!a.py"], "b.py")
    assert not matches(["*.py", "!a.py"], "a.py")
    assert matches(["!a.py", "*.py"], "a.py")


def test_patterns_without_condition() -> None:
    assert everything([])
    assert everything(["**"])
    assert not everything(["**", "src"])
    assert not everything(["**/*"])


def test_too_many_patterns_mean_nothing() -> None:
    assert MAX_EXPANSIONS < 2**10
    assert not matches(["{a,b}" * 10], "a" * 10)
    assert matches(["{a,b}" * 9], "a" * 9)


def test_hostile_patterns_take_no_time() -> None:
    path = "/".join(["a"] * 60) + "/" + "a" * 250 + "c"
    assert not matches(["**/a/" * 60 + "b", "*a" * 300 + "b", "{" * 1000, "{," * 300], path)


def test_exclusions_are_absolute_and_keep_case() -> None:
    assert excluded(["**/CLAUDE.md"], "/a/CLAUDE.md")
    assert excluded(["/a/**"], "/a/b/CLAUDE.md")
    assert excluded(["**/{x,CLAUDE}.md"], "/a/CLAUDE.md")
    assert excluded(["**/real.md"], "/a/link.md", "/a/real.md")
    for pattern in ("CLAUDE.md", "*.md", "~/CLAUDE.md", "**/claude.md", "!**", "/b/**"):
        assert not excluded([pattern], "/a/CLAUDE.md"), pattern
