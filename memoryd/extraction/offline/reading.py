"""From a prompt to what it asks to keep or to forget."""

# ruff: noqa: RUF001 - Chinese punctuation is what is read here.

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from memoryd.extraction.offline import chinese, claims, english
from memoryd.extraction.offline.claims import Claim, Forget, Reading
from memoryd.extraction.offline.clauses import Language, claim_of
from memoryd.extraction.offline.hints import Hinted, folded
from memoryd.extraction.offline.prose import Sentence, sentences

_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LATIN_WORD: Final = re.compile(r"[A-Za-z']+")
_URL: Final = re.compile(r"https?://[^\s\u3000-\u9fff]+")
_MOST_ITEMS: Final = 10  # of a list under "remember:"
_LONGEST: Final = 600  # characters of a sentence that a person says about one thing

_WORD: Final = re.compile(r"\w+")
_REQUESTING: Final = """
    remember scratch disregard nevermind save store general generally changed slipped postponed fwd
    convention policy memory memorise memorize note forget record reference henceforth future no
    nope wrong not actually correction instead rather moved migrated switched anymore longer
    outdated now rule incorrect stopped"""
_REQUEST_WORDS: Final = frozenset(_REQUESTING.split())
_REQUEST_PHRASES: Final = Hinted(
    re.compile(
        r"\b(?:rem\w{1,4}ber|never mind|next time|from here|going forward|moving forward|"
        r"any more)\b"
    ),
    ("rem", "never mind", "next time", "from here", "g forward", "any more"),
)
_REQUEST_CHINESE: Final = re.compile(
    r"[记忘不错改换迁搬别勿删]|以后|今后|往后|从现在|从今|从此|将来|下次|更正|纠正|过时|其实|代替|取代"
)


def may_ask(text: str) -> bool:
    """Say whether a text has some word that every request has: few have one."""
    seen = folded(text)
    return (
        not _REQUEST_WORDS.isdisjoint(_WORD.findall(seen))
        or (_REQUEST_PHRASES.may_match(seen) and _REQUEST_PHRASES.pattern.search(seen) is not None)
        or (not text.isascii() and _REQUEST_CHINESE.search(text) is not None)
    )


def readings(text: str) -> list[Reading]:
    """Return what a prompt asks to keep or to forget, in order; for most prompts nothing."""
    return list(_readings(text, asked=False))


def _readings(text: str, *, asked: bool) -> Iterator[Reading]:
    """Yield readings as they are found; with ``asked``, only of what may be a request."""
    said = sentences(text)
    listed = 0
    before = ""
    for sentence in said:
        last, before = before, sentence.text
        if len(sentence.text) > _LONGEST:
            continue
        if sentence.item and sentence.under:
            listed += 1
            if listed <= _MOST_ITEMS:
                yield from _kept(_listed(sentence))
        elif not asked or may_ask(f"{last}\n{sentence.text}"):
            yield from _kept(_read(sentence, last, alone=len(said) == 1))


def is_request(text: str) -> bool:
    """Say whether a prompt asks to remember, to forget, or corrects what was held for true.

    Such a prompt is extracted ahead of everything else. Strict: a question about memory, an order
    for the task in hand, a quotation and a pasted text are no requests.
    """
    if not may_ask(text):
        return False
    return any(
        isinstance(reading, Forget) or reading.asked or reading.corrects
        for reading in _readings(text, asked=True)
    )


def statement(text: str) -> Claim | None:
    """Return the claim of a text that a person gave to be kept, or ``None`` if it says nothing.

    Unlike in a conversation, whatever is said counts; only secrets are left out.
    """
    line = " ".join(text.split())
    found = readings(line)
    if len(found) == 1 and isinstance(found[0], Claim):
        return replace(found[0], asked=True)
    claim = claim_of(_language(line), line.rstrip("。.！! "), whole=line)
    return next((one for one in _kept(iter((claim,))) if isinstance(one, Claim)), None)


def _read(sentence: Sentence, before: str, *, alone: bool) -> Iterator[Reading]:
    """Yield the readings of one sentence."""
    if sentence.asks and not _POLITE_REQUEST.search(sentence.masked):
        return
    language = chinese if _mostly_chinese(sentence.masked) else english
    text, masked = sentence.text, sentence.masked
    if sentence.asks:
        text, masked = text.rstrip("?？ "), masked.rstrip("?？ ")
    yield from language.read(text, masked, before=before, item=sentence.item, alone=alone)


_POLITE_REQUEST: Final = re.compile(
    r"^(?:please |hey |also |ok(?:ay)?,? )*(?:can|could|would|will) you (?:please |"
    r"also )*(?:remember (?:this|that|for)\b(?! (?:time|day|one|bug|issue)\b)|(?:make|"
    r"take) (?:a )?note that|forget (?:about|that))",
    re.IGNORECASE,
)


def _listed(sentence: Sentence) -> Iterator[Reading]:
    """Yield the claim of an item under "remember:"."""
    if not sentence.asks:
        fact = sentence.text.rstrip("。.！! ;；")
        yield claim_of(_language(fact), fact, whole=sentence.text)


def _language(text: str) -> Language:
    """Return the language of a statement."""
    return chinese.CHINESE if _mostly_chinese(text) else english.ENGLISH


def _mostly_chinese(text: str) -> bool:
    """Say whether a sentence is Chinese, English names in it or not."""
    if text.isascii():
        return False
    text = _URL.sub(" ", text)
    han = len(_HAN.findall(text))
    return han > 0 and han >= len(_LATIN_WORD.findall(text))


def _kept(found: Iterator[Reading]) -> Iterator[Reading]:
    """Yield readings as whole sentences without secrets; those left without sense are dropped."""
    for reading in found:
        if isinstance(reading, Forget):
            if not claims.SECRET.search(reading.query):
                yield reading
            continue
        fact = claims.sentence_of(claims.without_secrets(reading.fact))
        if not re.search(r"[^\W\d_]{2}", fact):
            continue
        reason = "" if claims.SECRET.search(reading.reason) else reading.reason.strip(" .。")
        yield replace(reading, fact=fact, reason=reason)
