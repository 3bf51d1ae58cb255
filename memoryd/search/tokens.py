"""Words as the index keeps them: runs of Chinese, Japanese and Korean script become pairs."""

from __future__ import annotations

import re
from itertools import pairwise

# Scripts written without spaces, and Hangul, whose particles cling to the word.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003134f"
_CJK_RUN = re.compile(f"[{_CJK}]+")
# Vowel signs and accents that are written as characters of their own belong to the word.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u06ed\u0900-\u0dff\u0e31-\u0e4e"
_WORD = re.compile(rf"[{_CJK}]+|(?:[^\W_{_CJK}]|[{_MARKS}])+")

_SHORT = 5

_STOP_WORDS = """
    a about after again all also am an and any are as at be been before being but by can could
    did do does doing don for from get got had has have having he her here him his how i if in into
    is it its just let like ll me more most my no not now of off on once only or other our out over
    own please re s same she should so some such t than that the their them then there these they
    this those through to too under until up us ve very was we were what when where which while who
    whom why will with would you your"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def indexable(text: str) -> str:
    """Return ``text`` with each run of CJK characters as its overlapping pairs and its last one.

    The tokenizer of the index takes such a run as one word, which no query would meet. With the
    last character, each character is the head of a word, so that a query of one can be answered.
    """
    if text.isascii() or not _CJK_RUN.search(text):
        return text
    return _CJK_RUN.sub(
        lambda run: f" {' '.join([*map(_join, pairwise(run[0])), run[0][-1]])} ", text
    )


def query_words(query: str) -> list[str]:
    """Return the words of ``query`` as the index knows them, in order.

    Stop words go, unless nothing else is left. Identifiers and paths part at ``_``, ``.``, ``/``
    and ``-``, as they do in the index.
    """
    words: list[str] = []
    for word in _WORD.findall(query):
        words += _pairs(word) if _CJK_RUN.match(word) else [word]
    content = [word for word in words if word.casefold() not in STOP_WORDS]
    return content or words


def is_single_cjk(word: str) -> bool:
    """Say whether ``word`` is one character of a script that is indexed in pairs."""
    return len(word) == 1 and _CJK_RUN.match(word) is not None


def stem(word: str) -> str:
    """Return the head of ``word`` that its English endings leave alone.

    The index stems with more care; to find a word again in a text, a prefix is enough.
    """
    return word[: max(4, len(word) - 3)] if word.isascii() and len(word) > _SHORT else word


def _pairs(run: str) -> list[str]:
    return [*map(_join, pairwise(run))] or [run]


def _join(pair: tuple[str, str]) -> str:
    return pair[0] + pair[1]
