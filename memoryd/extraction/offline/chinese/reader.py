"""A sentence in Chinese, clause by clause, to what it asks to keep or to forget."""

# ruff: noqa: RUF001 - Chinese punctuation is what is read here.

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoryd.extraction.offline import claims
from memoryd.extraction.offline.chinese.facts import (
    background,
    decided,
    due,
    identity,
    now_is,
    preference,
    reference,
    switched,
)
from memoryd.extraction.offline.chinese.phrases import IMPERATIVE
from memoryd.extraction.offline.chinese.requests import (
    ALONE,
    ASK,
    FORGET,
    NOT_FACT,
    NOT_FORGOTTEN,
    POSTFIX,
    RECALL,
    SAYS,
    STANDING,
)
from memoryd.extraction.offline.chinese.rules import (
    CONTRAST,
    always,
    at_work,
    contrast,
    dont,
    from_now_on,
)
from memoryd.extraction.offline.claims import Claim, Reading
from memoryd.extraction.offline.clauses import Clause, Language, Span, read_clause
from memoryd.extraction.operations import MemoryType

_I: Final = re.IGNORECASE

_LEAD: Final = re.compile(
    r"(?:(?:请|麻烦|麻烦你|请你|帮我|你要|另外|对了|顺便(?:说一下|一提)?|还有|好的?|嗯|哦|ok|"
    r"注意|提醒一下|补充一下|更正一下|纠正一下|更正|纠正|"
    r"不对|不是的|不是(?=[，,。！!])|错了|你又?错了|说错了|你?又?(?:搞|记|弄)错了|不|已经过时了|"
    r"过时了|其实|实际上|没错|是的|那|同时|并且|而且)(?=[\s，,。：:！!、]|请|记|以后|我们|"
    r"帮)[\s，,。：:！!、]*)+",
    _I,
)
_CORRECTING: Final = re.compile(
    r"不对|不是|错了|更正|纠正|过时|其实|实际上|(?:^|[，,。\s])不[，,。\s]"
)
_SPLIT: Final = re.compile(
    r"[，,]\s*(?:另外|还有|并且|而且|同时)?(?=以后|从现在|记住|我是|我们用的?是|今后)"
)


def read(text: str, masked: str, *, before: str, item: bool, alone: bool) -> Iterator[Reading]:
    """Yield what one sentence asks to keep or to forget; parameters as in ``english.read``."""
    start = 0
    pieces = [*(joint.span() for joint in _SPLIT.finditer(masked)), (len(text), len(text))]
    if ASK.match(masked):  # One request, however many commas.
        pieces = pieces[-1:]
    for first, after in pieces:
        piece = masked[start:first]
        lead = None if CONTRAST.match(piece) else _LEAD.match(piece)
        begin = start + (lead.end() if lead else 0)
        covered = masked[begin:first].rstrip("。.！! ")
        clause = Clause(
            text=text[begin : begin + len(covered)],
            masked=covered,
            whole=text,
            before=before,
            item=item,
            alone=alone and len(pieces) == 1,
            corrects=lead is not None and _CORRECTING.search(lead[0]) is not None,
        )
        yield from read_clause(CHINESE, clause)
        before, start = text[start:first], after


def _forget(clause: Clause) -> Span | None:
    found = FORGET.match(clause.masked)
    if not found:
        return None
    name = next(name for name in "abcd" if found[name])
    return (0, 0) if NOT_FORGOTTEN.match(found[name]) else found.span(name)


def _remember(clause: Clause) -> Span | None:
    asked = ASK.match(clause.masked)
    found = asked or RECALL.match(clause.masked)
    if not found:
        return None
    fact = claims.without_orders(found["fact"])
    if NOT_FACT.match(fact) or not SAYS.search(fact):
        return (0, 0)
    if not asked and (clause.item or not STANDING.search(fact)):
        return (0, 0)
    return found.start("fact"), found.start("fact") + len(fact)


def _said_before(clause: Clause) -> int | None:
    found = POSTFIX.match(clause.masked)
    return found.end("fact") if found else None


def _classify(fact: str) -> Claim:
    """Return the claim of a statement: about the person, an order, else the project."""
    body, reason = claims.split_reason(fact, rule=IMPERATIVE.search(fact) is not None)
    if re.match(r"我(?!们)", fact):
        return Claim(type=MemoryType.USER, fact=f"用户说：{claims.sentence_of(fact)}", sentence="")
    if IMPERATIVE.search(body) and not re.search(r"端口|https?://", body):
        return claims.rule(fact)
    return Claim(type=MemoryType.PROJECT, fact=body, sentence="", reason=reason)


CHINESE: Final = Language(
    points_back=ALONE,
    forget=_forget,
    remember=_remember,
    said_before=_said_before,
    plain_cues=(identity, preference, contrast, switched, due, reference),
    cues=(
        from_now_on, contrast, switched, decided, due, always, dont, identity, preference,
        reference, now_is, at_work, background,
    ),
    classify=_classify,
)  # fmt: skip
"""How Chinese asks, orders, corrects and informs."""
