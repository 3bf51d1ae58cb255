"""Words and passages of the full-text index."""

import pytest
from memoryd.search.snippet import snippet
from memoryd.search.tokens import indexable, query_words


@pytest.mark.parametrize(
    ("text", "indexed"),
    [
        ("plain text", "plain text"),
        ("数据库", " 数据 据库 库 "),
        ("用pnpm安装", " 用 pnpm 安装 装 "),
        ("naïve “quotes”", "naïve “quotes”"),
    ],
)
def test_runs_of_cjk_become_pairs(text: str, indexed: str) -> None:
    assert indexable(text) == indexed


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("How do I use the cache?", ["use", "cache"]),
        ("max_retry_count src/a-b.py", ["max", "retry", "count", "src", "b", "py"]),
        ("数据库 backup", ["数据", "据库", "backup"]),
        ("库", ["库"]),
        ("the", ["the"]),
        ('"(*^:-', []),
    ],
)
def test_a_query_is_its_content_words(query: str, words: list[str]) -> None:
    assert query_words(query) == words


def test_a_snippet_prefers_different_words_to_one_repeated() -> None:
    text = "cache " * 30 + "filler " * 60 + "the cache was cold after restart " + "filler " * 60
    shown = snippet(text, ["cache", "cold", "restart"])
    assert "cold after restart" in shown
    assert len(shown) <= 201


def test_a_snippet_without_matches_is_the_beginning() -> None:
    assert snippet("  some\ntext", ["zebra"]) == "some text"
    assert snippet("some text", []) == "some text"


def test_a_snippet_keeps_a_word_whole_at_both_ends() -> None:
    text = " ".join(f"word{i}" for i in range(200)) + " zebra " + "tail " * 100
    shown = snippet(text, ["zebra"])
    assert shown.startswith("…word")
    assert shown.endswith("tail…")
