"""The terms of a text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.recall.analysis import terms


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("SessionStore", "session_store"),
        ("session-store", "sessionStore"),
        ("migrations", "Migration"),
        ("Café", "cafe"),
        ("the project’s", "project"),
        ("30,000", "30000"),
        ("ＦＵＬＬ", "full"),
        ("Straße", "STRASSE"),
    ],
)
def test_spellings_of_one_thing_share_their_terms(left: str, right: str) -> None:
    assert terms(left) == terms(right)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("src/app/main.py:42", {"src/app/main.py:42", "src", "app", "main", "py", "42"}),
        ("localhost:8080", {"localhost:8080", "localhost", "8080"}),
        ("--no-verify", {"noverify", "verifi"}),
        ("python3.11", {"python3.11", "python3", "python", "11"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("k8s IPv6", {"k8s", "ipv6"}),
        ("C++ and C#", {"c++", "c#"}),
        ("数据库", {"数据", "据库"}),
        ("库", {"库"}),
        ("用Postgres存", {"用", "postgr", "存"}),
        ("don't do this", set()),
    ],
)
def test_a_text_has_these_terms(text: str, expected: set[str]) -> None:
    assert expected <= set(terms(text))
    if not expected:
        assert terms(text) == []


def test_stop_words_and_question_pairs_say_nothing() -> None:
    assert terms("How do I use this?") == []
    assert terms("什么") == []


def test_data_is_not_words() -> None:
    assert terms("x" * 5_000) == []


@given(st.text())
@settings(deadline=None)
def test_any_text_has_terms_without_spaces(text: str) -> None:
    assert all(term and not any(c.isspace() for c in term) for term in terms(text))
