"""One clause to what it asks to keep or to forget, in whatever language its cues are written."""

# ruff: noqa: RUF001 - Chinese punctuation is what is read here.

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from memoryd.extraction.offline import claims
from memoryd.extraction.offline.claims import Claim, Forget, Reading

Span = tuple[int, int]
Cue = Callable[[str, bool], Claim | None]
"""From a clause, and whether it begins with a correction, to its claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause of a sentence.

    Attributes:
        text: as written, without its full stop.
        masked: the same length, quotations blanked: cues are looked for here.
        whole: the sentence it belongs to.
        before: what was said right before it, or empty.
        item: it stands in a list, where only a request counts.
        alone: the prompt holds nothing else, so that no task is in hand.
        corrects: it began with "no", "actually" or the like.
    """

    text: str
    masked: str
    whole: str
    before: str
    item: bool
    alone: bool
    corrects: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How a language asks, orders, corrects and informs.

    Attributes:
        points_back: "remember this", alone.
        forget: where a clause names what to forget; ``None`` if it is no such request, an empty
            span if nothing can be meant.
        remember: the same for what to remember.
        said_before: where the fact ends in front of "…, remember that"; ``None`` without it.
        cues: tried in order on a clause that asks for nothing.
        plain_cues: those tried first on a statement that is known to be one.
        classify: the claim of a statement that no plain cue reads.
    """

    points_back: re.Pattern[str]
    forget: Callable[[Clause], Span | None]
    remember: Callable[[Clause], Span | None]
    said_before: Callable[[Clause], int | None]
    cues: tuple[Cue, ...]
    plain_cues: tuple[Cue, ...]
    classify: Callable[[str], Claim]


def claim_of(language: Language, fact: str, *, whole: str) -> Claim:
    """Return the claim of a statement that a person asked to keep."""
    for cue in language.plain_cues:
        claim = cue(fact, True)
        if claim is not None:
            return replace(claim, asked=True, sentence=whole)
    return replace(language.classify(fact), asked=True, sentence=whole)


def read_clause(language: Language, clause: Clause) -> Iterator[Reading]:
    """Yield what a clause asks to keep or to forget: at most one reading."""
    if language.points_back.match(clause.masked):
        before = clause.before.rstrip("。.！! ")
        if before and claims.speaks_plainly(before):
            yield claim_of(language, before, whole=clause.before)
        return
    if (span := language.forget(clause)) is not None:
        if query := clause.text[slice(*span)]:
            yield Forget(query=query, sentence=clause.whole)
        return
    if (span := language.remember(clause)) is not None:
        if fact := clause.text[slice(*span)]:
            claim = claim_of(language, fact, whole=clause.whole)
            yield replace(claim, corrects=clause.corrects)
        return
    if clause.item:
        return
    end = language.said_before(clause)
    if end is not None and claims.speaks_plainly(clause.masked[:end]):
        yield claim_of(language, clause.text[:end], whole=clause.whole)
        return
    yield from _implied(language, clause)


def _implied(language: Language, clause: Clause) -> Iterator[Reading]:
    """Yield the claim of a clause that states something without asking to keep it."""
    text = claims.without_orders(clause.text)
    masked = clause.masked[: len(text)]
    if not text or not claims.speaks_plainly(masked):
        return
    for cue in language.cues:
        claim = cue(masked, clause.corrects)
        if claim is not None:
            yield _unmasked(replace(claim, sentence=clause.whole), text, masked)
            return


def _unmasked(claim: Claim, text: str, masked: str) -> Claim:
    """Return a claim with its quotations put back: they may be part of a fact, never of a cue."""
    if "\x00" not in claim.fact and "\x00" not in claim.reason:
        return claim
    blanks = iter(text[found.start() : found.end()] for found in re.finditer("\x00+", masked))

    def put_back(part: str) -> str:
        return re.sub("\x00+", lambda _: next(blanks, ""), part)

    return replace(claim, fact=put_back(claim.fact), reason=put_back(claim.reason))
