"""From a text to the terms it is found by: the same for memories, turns and queries.

A plain word becomes its English stem. An identifier stays whole, without regard to how it joins its
words (``session_store``, ``SessionStore`` and ``session-store`` are one term), and its words are
terms too. Dotted names, paths, hosts with ports and versions stay whole as written, and their
components count as well. Scripts that write no spaces become pairs of neighbouring characters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

import Stemmer

_STEMMER: Final = Stemmer.Stemmer("english", 0)  # 0: the cache below serves, and is bounded

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai and Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # Han and kana
    "\uac00-\ud7af\U00020000-\U0003ffff"  # Hangul, rarer Han
)
_CHUNK: Final = re.compile(
    rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])\w)(?:(?![{_UNSPACED}])[\w.'/\\:@#+-])*"
)
_CHUNK_OF_ASCII: Final = re.compile(r"\w[\w.'/\\:@#+-]*", re.ASCII)
"""The same for texts in ASCII alone, at a quarter of the time."""
_PLAIN: Final = re.compile(r"[a-z]+|[A-Z][a-z]+|[A-Z]+")
_GROUPED: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_JOINT: Final = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z])")
_NUMBERED: Final = re.compile(r"([^\W\d_]{3,})\d+")
_SIGNED: Final = re.compile(r"[A-Za-z](?:\+\+|#)")
_COMPONENT: Final = re.compile(r"[^./\\:@#+]+")
_ACCENT: Final = re.compile("[\u0300-\u036f]+")
_APOSTROPHES: Final = str.maketrans({"\u2019": "'", "\u02bc": "'"})
_LONGEST: Final = 64  # characters of a term; longer runs are data (hashes, base64), not words

STOP_WORDS: Final = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before being
    below between both but by can cannot could did do does doing done down during each either else
    ever few for from further get gets getting give given go goes going got had has have having he
    her here hers herself hey hi him himself his how i if in into is it its itself just kind know
    let like made make makes many may me might more most much must my myself need no nor not now of
    off ok okay on once one only onto or other our ours ourselves out over own please quite rather
    really said same say shall she should so some something such take tell than thank thanks that
    the their theirs them themselves then there these they thing things this those though through
    to too under until up upon us use used using very want was we well were what when where whether
    which while who whom whose why will with within without would yes yet you your yours yourself
    """.split()  # noqa: SIM905 - a list of words is read as a text
)
"""English words that say nothing about a subject (before stemming)."""

STOP_PAIRS: Final = frozenset(
    """
    什么 怎么 怎样 么样 我们 你们 他们 这个 那个 哪个 哪里 哪些 这些 那些 为什 可以 能不 不能 是不
    不是 应该 如何 是否 有没 没有 一下 一个 现在 需要 请问 请你 帮我 帮忙 告诉 知道 的是 是什 么时
    时候 多少 几个 还是 或者 以及 然后 因为 所以 如果 但是 用什 该用 么办 我想
    です ます した して ない から まで する いる ある この その どこ 어떻 떻게 무엇 입니 니다
    """.split()  # noqa: SIM905 - as above
)
"""The same for pairs of characters."""


def terms(text: str) -> list[str]:
    """Return the terms of ``text`` in order, repeats included, stop words left out."""
    chunk = _CHUNK_OF_ASCII
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
        chunk = _CHUNK
    found: list[str] = []
    for run in chunk.findall(_GROUPED.sub("", text) if "," in text else text):
        found += _terms_of(run)
    return found


@lru_cache(maxsize=4096)
def _terms_of(chunk: str) -> tuple[str, ...]:
    """Return the terms of one run of characters without spaces."""
    if _PLAIN.fullmatch(chunk) and len(chunk) <= _LONGEST:
        return _word(chunk)
    if re.match(f"[{_UNSPACED}]", chunk):
        return _pairs(chunk)
    if _SIGNED.fullmatch(chunk):
        return (chunk.lower(),)
    chunk = chunk.strip(".'/\\:@#+-_")
    if not chunk or len(chunk) > 4 * _LONGEST:
        return ()
    found: list[str] = []
    components = _COMPONENT.findall(chunk)
    if len(components) > 1 and len(chunk) <= _LONGEST:
        found.append(fold(chunk))
    for component in components:
        found += _identifier(component)
    return tuple(dict.fromkeys(found))


def _identifier(text: str) -> list[str]:
    """Return an identifier without its joints, then its words."""
    if "'" in text:
        if text.lower().endswith("n't"):
            return []
        text = text.lstrip("'").partition("'")[0]
    words = [word for word in _JOINT.split(text) if word and len(word) <= _LONGEST]
    if len(words) < 2:  # noqa: PLR2004 - one word is no compound
        return [term for word in words for term in _word(word)]
    whole = fold("".join(words))
    parts = [term for word in words for term in _word(word) if len(term) > 1]
    return [whole, *parts] if len(whole) <= _LONGEST else parts


def _word(word: str) -> tuple[str, ...]:
    """Return the stem of a word; a name with a number counts without it too."""
    folded = fold(word)
    if folded in STOP_WORDS:
        return ()
    numbered = _NUMBERED.fullmatch(folded)
    if numbered:
        return (folded, _STEMMER.stemWord(numbered[1]))
    return (_STEMMER.stemWord(folded),)


def _pairs(run: str) -> tuple[str, ...]:
    """Return the pairs of neighbours in a run of unspaced script."""
    if len(run) == 1:
        return (run,)
    pairs = (run[i : i + 2] for i in range(len(run) - 1))
    return tuple(pair for pair in pairs if pair not in STOP_PAIRS)


def fold(text: str) -> str:
    """Return ``text`` without case and without the accents of Latin, Greek and Cyrillic."""
    text = text.casefold()
    if text.isascii():
        return text
    bare = _ACCENT.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare)
