"""What is looked for: the terms of a query, what each weighs and where it stands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memoryd.recall.analysis import terms
from memoryd.recall.postings import MAX_WEIGHT, Postings, Run
from memoryd.recall.synonyms import synonyms

_PRIOR: Final = 30  # imagined other notes: with three memories no word is rare or common yet
_SYNONYM: Final = 0.5  # a synonym counts half
_LONGEST: Final = 2_000  # characters: of a longer query its beginning and its end
_MAX_TERMS: Final = 24  # the rarest; a pasted log is not a better question


@dataclass(frozen=True, slots=True)
class QueryStats:
    """What the ranker made of a query.

    Attributes:
        terms: distinct terms.
        known: how many of them (or of their synonyms) stand in any note.
        mass: sum of the idf of the rarest 24.
        rarest: idf of a term that stands in no note, the most a term can weigh.
    """

    terms: int
    known: int
    mass: float
    rarest: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """A term of the query, with its synonyms.

    Attributes:
        idf: its weight.
        runs: (factor, units) of the term itself and, with a smaller factor, of its synonyms.
    """

    idf: float
    runs: tuple[tuple[float, Run], ...]

    @property
    def postings(self) -> int:
        """How many units would have to be scanned."""
        return sum(len(run.units) for _, run in self.runs)

    def score(self, unit: int) -> float:
        """Return what the term adds to one unit."""
        share = 0.0
        for factor, run in self.runs:
            share += factor * run.weight(unit)
        return self.idf * share / MAX_WEIGHT


def analyse(query: str, postings: Postings, size: int) -> tuple[list[Wanted], QueryStats]:
    """Return the terms of ``query`` that stand somewhere, the rarest first.

    Args:
        query: any text.
        postings: the index.
        size: how many notes there are.
    """
    if len(query) > _LONGEST:
        query = f"{query[: _LONGEST // 2]}\n{query[-_LONGEST // 2 :]}"
    names = dict.fromkeys(terms(query))
    weighed: list[tuple[float, tuple[str, ...]]] = []
    unknown = 0
    for name in names:
        variants = (name, *(other for other in synonyms(name) if other not in names))
        notes = max(map(postings.notes, variants))
        if notes:
            weighed.append((_idf(notes, size), variants))
        else:
            unknown += 1
    weighed.sort(key=lambda item: -item[0])
    rarest = _idf(0, size)
    masses = [rarest] * unknown + [idf for idf, _ in weighed]
    wanted = [Wanted(idf, _runs(postings, variants)) for idf, variants in weighed[:_MAX_TERMS]]
    return wanted, QueryStats(
        terms=len(names),
        known=len(weighed),
        mass=sum(masses[:_MAX_TERMS]),
        rarest=rarest,
    )


def _runs(postings: Postings, variants: Sequence[str]) -> tuple[tuple[float, Run], ...]:
    return tuple(
        (_SYNONYM if at else 1.0, run)
        for at, variant in enumerate(variants)
        for run in postings.runs(variant)
    )


def _idf(notes: int, size: int) -> float:
    """Return the weight of a term that ``notes`` of ``size`` notes hold."""
    # Removed notes are counted until the next compaction, hence the maximum.
    without = max(size - notes, 0) + _PRIOR
    return math.log1p((without + 0.5) / (notes + 0.5))
