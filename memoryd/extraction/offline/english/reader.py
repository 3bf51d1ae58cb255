"""A sentence in English, clause by clause, to what it asks to keep or to forget."""

# ruff: noqa: RUF001 - dashes that people type.

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoryd.extraction.offline import claims
from memoryd.extraction.offline.claims import Claim, Reading
from memoryd.extraction.offline.clauses import Clause, Language, Span, read_clause
from memoryd.extraction.offline.english.background import cause, demand, goal, other_name
from memoryd.extraction.offline.english.changes import moved, no_longer, now_is, thing_moved, we_use
from memoryd.extraction.offline.english.facts import decided, due, identity, preference, reference
from memoryd.extraction.offline.english.phrases import FOR_NOW, IMPERATIVE, PLACE, SITE
from memoryd.extraction.offline.english.requests import (
    ALONE,
    ASK,
    FORGET,
    NOT_FORGOTTEN,
    POSTFIX,
    asks_to_remember,
)
from memoryd.extraction.offline.english.rules import (
    always,
    contrast,
    dont,
    fragment,
    from_now_on,
    wanted,
    when,
)
from memoryd.extraction.operations import MemoryType

_I: Final = re.IGNORECASE

_LEAD: Final = re.compile(
    r"(?:(?:ok(?:ay)?|alright|all right|right|great|good|perfect|thanks|thank you|cool|nice|"
    r"yes|yeah|yep|sure|hey|hi|hello|"
    r"also|and|but|so|oh|ah|btw|by the way|just fyi|fyi|one more thing|another thing|well|hmm+|"
    r"note that|note|nb|"
    r"keep in mind that|keep in mind|important|reminder|again|listen|look|claude|first of all|"
    r"first|ps|p\.s\.|"
    r"(?:some |a bit of |a little |quick |for )?(?:context|background)(?: (?:so|for|because|on)"
    r"\b[^:,.]{2,60}(?=:))?|(?:so )?before (?:we|you) (?:start|begin)|pls|plz|please|"
    r"(?:just )?to be clear|just so you know|heads up|actually|sorry|my bad|correction|update|rule|"
    r"no|nope|wrong|not quite|incorrect|that'?s (?:wrong|not right|incorrect|not correct|"
    r"outdated|out of date)|you'?re wrong|(?:you|u) (?:got|have|had) (?:it|that|this) wrong"
    r"(?: again)?|i (?:already |keep )?(?:told|telling) you(?: already| before| again)?|"
    r"not any ?more)"
    r"(?=[\s,.!:;—–-])(?:\s*[,.!:;—–]|\s+-)*\s*)+",
    _I,
)
_CORRECTING: Final = re.compile(
    r"\b(?:no|nope|wrong|not quite|incorrect|actually|correction|that'?s (?:wrong|not right|"
    r"incorrect|not correct|outdated|out of date)|you'?re wrong|told you|telling you|(?:it|that|"
    r"this) wrong|not any ?more)\b",
    _I,
)
_NOT_A_LEAD: Final = re.compile(
    r"^(?:no (?:need|one|longer|more|problem|idea|matter|way|worries)|right now|first (?:run|"
    r"do|make|of)|so (?:far|that)|"
    r"look (?:at|into)|listen (?:to|on)|note (?:how|the)|good (?:idea|point))\b",
    _I,
)
_SPLIT: Final = re.compile(
    r"(?:,|;)?\s+(?:and|but|so|also)\s+(?=(?:also |please )*(?:remember (?:that|to|:)|"
    r"from now on|always |never |i'm (?:a|an|the) |i am (?:a|an|the) |i prefer |we use |"
    r"we decided |the deadline |don'?t ever ))|;\s+|,?\s+but\s+(?=(?:this|the|that|it|in this|"
    r"here)\b)",
    _I,
)


def read(text: str, masked: str, *, before: str, item: bool, alone: bool) -> Iterator[Reading]:
    """Yield what one sentence asks to keep or to forget.

    Args:
        text: the sentence.
        masked: the same with quotations blanked; cues are looked for here.
        before: the sentence before it, or empty.
        item: it stands in a list, where only "remember …" counts.
        alone: the prompt holds nothing else, so that no task is in hand.
    """
    if opening := _LEAD.match(before):
        before = before[opening.end() :]
    start = 0
    pieces = [*(joint.span() for joint in _SPLIT.finditer(masked)), (len(text), len(text))]
    for first, after in pieces:
        lead = None if _NOT_A_LEAD.match(masked[start:first]) else _LEAD.match(masked[start:first])
        begin = start + (lead.end() if lead else 0)
        covered = masked[begin:first].rstrip(".! ")
        begin += len(covered) - len(covered.lstrip())
        covered = covered.lstrip()
        clause = Clause(
            text=text[begin : begin + len(covered)],
            masked=covered,
            whole=text,
            before=before,
            item=item,
            alone=alone and len(pieces) == 1,
            corrects=lead is not None and _CORRECTING.search(lead[0]) is not None,
        )
        yield from read_clause(ENGLISH, clause)
        before, start = text[start:first], after


def _forget(clause: Clause) -> Span | None:
    found = FORGET.match(clause.masked)
    if not found:
        return None
    span = found.span(next(name for name in "abcde" if found[name]))
    query = clause.masked[slice(*span)]
    return (0, 0) if NOT_FORGOTTEN.match(query) or FOR_NOW.search(query) else span


def _remember(clause: Clause) -> Span | None:
    if not ASK.match(clause.masked):
        return None
    fact = asks_to_remember(clause.masked, alone=clause.alone)
    if fact is None:
        return (0, 0)
    start = clause.masked.rfind(fact)
    return start, start + len(fact)


def _said_before(clause: Clause) -> int | None:
    found = POSTFIX.match(clause.masked)
    return found.end("fact") if found else None


_NOUN_FIRST: Final = re.compile(  # "Test account is …", "release branch is …": no order.
    r"^(?!(?:always|never|only|don'?t|do|be|make|ensure|no)\b)\w+(?: [\w-]+){1,2} (?:is|are|was|"
    r"lives?|runs?|has)\b|^(?!(?:always|never|only|don'?t|do|be)\b)\w+ (?:is|are|was)\b",
    _I,
)


def _classify(fact: str) -> Claim:
    """Return the claim of a statement: about the person, an order, a place, else the project."""
    body, reason = claims.split_reason(fact, rule=IMPERATIVE.match(fact) is not None)
    if re.match(r"(?:i|my|i'm|i've|i'd)\b", fact, _I):
        return Claim(
            type=MemoryType.USER,
            fact=f"The user said: {claims.sentence_of(fact)}",
            sentence="",
        )
    if IMPERATIVE.match(body) and not _NOUN_FIRST.match(body):
        return claims.rule(fact)
    if (
        SITE.search(body)
        and re.search(r"https?://|\b(?:at|in|on|tracked|lives?)\b", body, _I)
        and re.search(PLACE, body, _I)
    ):
        return Claim(type=MemoryType.REFERENCE, fact=body, sentence="")
    return Claim(type=MemoryType.PROJECT, fact=body, sentence="", reason=reason)


ENGLISH: Final = Language(
    points_back=ALONE,
    forget=_forget,
    remember=_remember,
    said_before=_said_before,
    plain_cues=(identity, preference, contrast, fragment, moved, due, reference),
    cues=(
        from_now_on, contrast, fragment, when, always, dont, no_longer, moved, due,
        thing_moved, identity, preference, reference, decided, we_use, now_is, wanted,
        demand, cause, goal, other_name,
    ),
    classify=_classify,
)  # fmt: skip
"""How English asks, orders, corrects and informs."""
