"""The offline ranker: BM25 over weighted fields and passages, with the context of a session.

A memory is found by its name and title (weight 3), its description (2) and its body (1). A long
body counts by its best passage, so that length neither helps nor hurts. Units that carry a session
also gain from what stands beside them in it: a turn that answers a question often does not repeat
the words of the question, its neighbours do.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memoryd.recall.analysis import terms
from memoryd.recall.passages import passages
from memoryd.recall.postings import MAX_WEIGHT, Postings
from memoryd.recall.query import QueryStats, Wanted, analyse
from memoryd.recall.units import Units

NAME_WEIGHT: Final = 3
DESCRIPTION_WEIGHT: Final = 2
BODY_WEIGHT: Final = 1

_K1: Final = 1.2  # how soon repeating a term stops to help
_B: Final = 0.3  # how much a long unit has to say more
_LENGTH: Final = 100  # weighted terms of a usual unit; fixed, so that no note changes another
_NEIGHBOURS: Final = ((1, 0.4), (2, 0.2))  # distance in the session, share of the score
_COVERAGE: Final = 0.4  # share of the best that the whole session offers for each term
_MAX_POSTINGS: Final = 6_000  # scanned for one query, rarest terms first ...
_RESCORED: Final = 60  # ... commoner terms only tell these best units apart
_SPREADING: Final = 200  # best units whose neighbours gain


@dataclass(frozen=True, slots=True)
class Note:
    """What can be found: a memory, or a turn of a conversation.

    Attributes:
        key: who it is; unique in a ranker.
        name: slug.
        title: for people.
        description: one line.
        body: all the rest.
        session: where it was said. Notes of a session stand in the order they were put.
    """

    key: str
    name: str
    title: str
    description: str
    body: str
    session: str = ""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A note that answers, more or less.

    Attributes:
        key: of the note.
        score: what it was ranked by; only the order means something.
        passage: span of the best passage in the body, in characters.
        own: the score without its session.
    """

    key: str
    score: float
    passage: tuple[int, int]
    own: float


class Ranker:
    """An index in memory that answers queries; notes come and go one by one.

    Not safe for use by several threads at once.

    Args:
        context: let neighbours in the session and the session as a whole add to a note's score.
    """

    def __init__(self, *, context: bool = True) -> None:
        self._context = context
        self._postings = Postings()
        self._units = Units()

    def __len__(self) -> int:
        return len(self._units.slots)

    def __contains__(self, key: str) -> bool:
        return key in self._units.slots

    def put(self, note: Note) -> None:
        """Add a note, or replace the one of this key."""
        spans = passages(note.body)
        head = _head(note)
        impacts: list[dict[str, int]] = []
        for start, end in spans:
            weights = dict(head)
            for term in terms(note.body[start:end]):
                weights[term] = weights.get(term, 0) + BODY_WEIGHT
            impacts.append(_impacts(weights))
        units = self._units.put(note.key, note.session, spans)
        self._postings.add(zip(units, impacts, strict=True))
        self._compact_if_worthwhile()

    def remove(self, key: str) -> None:
        """Forget the note of this key, if there is one."""
        self._units.remove(key)
        self._compact_if_worthwhile()

    def rank(self, query: str, limit: int = 10) -> list[Ranked]:
        """Return the notes that share a term with ``query``, best first."""
        return self.ask(query, limit)[0]

    def ask(self, query: str, limit: int = 10) -> tuple[list[Ranked], QueryStats]:
        """Return what ``rank`` does, and what the gate needs to know about the query."""
        units = self._units
        wanted, stats = analyse(query, self._postings, len(self))
        own, cover = self._own_scores(wanted, limit)
        total = self._with_context(own, cover) if self._context else own
        best = heapq.nsmallest(
            limit, total.items(), key=lambda item: (-item[1][0], units.keys[item[0]])
        )
        ranked = [
            Ranked(
                key=units.keys[slot],
                score=score,
                passage=(units.start[unit], units.end[unit]),
                own=own.get(slot, (0.0, 0))[0],
            )
            for slot, (score, unit) in best
        ]
        return ranked, stats

    def _own_scores(
        self, wanted: list[Wanted], limit: int
    ) -> tuple[dict[int, tuple[float, int]], dict[int, float]]:
        """Return (score, best unit) by slot, and by session the sum of its best for each term.

        Only the best slots are returned: as many as are wanted and as spread, at least.
        """
        scores = [0.0] * len(self._units.slot_of)
        cover: dict[int, float] = {}
        left = _MAX_POSTINGS
        scanned = 0
        for want in wanted:
            left -= want.postings
            if left < 0 and scanned:
                break
            scanned += 1
            if self._context:
                self._scan_sessions(want, scores, cover)
                continue
            for factor, run in want.runs:
                gain = want.idf * factor / MAX_WEIGHT
                for unit, impact in zip(run.units, run.weights, strict=True):
                    scores[unit] += gain * impact
        count = max(limit, _SPREADING)
        own = self._best_slots(scores, count, wanted[scanned:])
        while len(own) < limit and count < len(scores):
            count *= 2  # long notes take several places each
            own = self._best_slots(scores, count, wanted[scanned:])
        return own, cover

    def _best_slots(
        self, scores: list[float], count: int, rest: list[Wanted]
    ) -> dict[int, tuple[float, int]]:
        """Return (score, best unit) by slot for the ``count`` best units; add terms not scanned."""
        alive = self._units.alive
        best = [(score, unit) for unit, score in _largest(scores, count) if alive[unit]]
        if rest:
            best.sort(reverse=True)
            for at, (score, unit) in enumerate(best[:_RESCORED]):
                best[at] = (score + sum([want.score(unit) for want in rest]), unit)
        own: dict[int, tuple[float, int]] = {}
        for score, unit in best:
            slot = self._units.slot_of[unit]
            if slot not in own or score > own[slot][0]:
                own[slot] = (score, unit)
        return own

    def _scan_sessions(self, want: Wanted, scores: list[float], cover: dict[int, float]) -> None:
        """Score the units of a term, and add to each session the best of what they gained."""
        best: dict[int, float] = {}
        session_of = self._units.session_of
        for factor, run in want.runs:
            gain = want.idf * factor / MAX_WEIGHT
            for unit, impact in zip(run.units, run.weights, strict=True):
                gained = gain * impact
                scores[unit] += gained
                session = session_of[unit]
                if session not in best or gained > best[session]:
                    best[session] = gained
        for session, gained in best.items():
            cover[session] = cover.get(session, 0.0) + gained

    def _with_context(
        self, own: dict[int, tuple[float, int]], cover: dict[int, float]
    ) -> dict[int, tuple[float, int]]:
        """Add to each score what neighbours and session give; neighbours may be new here."""
        units = self._units
        spread: dict[int, float] = {}
        for slot, (score, _) in own.items():
            spread[slot] = spread.get(slot, 0.0) + score
            for distance, share in _NEIGHBOURS:
                for neighbour in units.neighbours(slot, distance):
                    spread[neighbour] = spread.get(neighbour, 0.0) + share * score
        result: dict[int, tuple[float, int]] = {}
        for slot, score in spread.items():
            unit = own[slot][1] if slot in own else units.first[slot]
            session = units.session_of[unit]
            gain = _COVERAGE * cover.get(session, 0.0) if session else 0.0
            result[slot] = (score + gain, unit)
        return result

    def _compact_if_worthwhile(self) -> None:
        if self._units.worth_compacting:
            renumbered = self._units.compact()
            self._postings.compact(renumbered, self._units.slot_of.__getitem__)


def _head(note: Note) -> dict[str, int]:
    weights = dict.fromkeys(terms(f"{note.name}\n{note.title}"), NAME_WEIGHT)
    for term in terms(note.description):
        weights[term] = weights.get(term, 0) + DESCRIPTION_WEIGHT
    return weights


def _impacts(weights: Mapping[str, int]) -> dict[str, int]:
    """Return BM25's part for each term but its idf, as a share of ``MAX_WEIGHT``."""
    norm = _K1 * (1 - _B + _B * sum(weights.values()) / _LENGTH)
    impact = {
        weight: max(1, round(MAX_WEIGHT * weight / (weight + norm)))
        for weight in set(weights.values())
    }
    return {term: impact[weight] for term, weight in weights.items()}


def _largest(scores: list[float], count: int) -> list[tuple[int, float]]:
    """Return (index, score) of the ``count`` largest scores above 0."""
    positive = sorted(filter(None, scores))
    if not positive:
        return []
    least = positive[-count] if len(positive) > count else positive[0]
    chosen = [(index, score) for index, score in enumerate(scores) if score >= least]
    if len(chosen) > count:  # many may tie with the last
        chosen.sort(key=lambda item: -item[1])
    return chosen[:count]
