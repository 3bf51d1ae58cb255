"""Which unit holds which term, in a few flat arrays: about six bytes for each pair.

New units gather in a dictionary; a full dictionary is frozen into a segment of sorted arrays, and
segments of like size are merged, so that there are few of them and adding stays cheap.
Terms are kept as their 64-bit hashes: a collision would only lend one term the units of another.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

_FRESH_UNITS: Final = 1_024
_WEIGHT_BITS: Final = 8
MAX_WEIGHT: Final = (1 << _WEIGHT_BITS) - 1
"""Weights are whole numbers from 1 to this; what they mean is the caller's business."""


@dataclass(frozen=True, slots=True)
class Run:
    """The units of one term in one segment, ascending, with their weights."""

    units: Sequence[int]
    weights: Sequence[int]

    def weight(self, unit: int) -> int:
        """Return the weight of the term in ``unit``, 0 if it is not there."""
        at = bisect_left(self.units, unit)
        return self.weights[at] if at < len(self.units) and self.units[at] == unit else 0


@dataclass(slots=True)
class _Segment:
    """Sorted term hashes; the postings of the i-th lie between ``ends[i - 1]`` and ``ends[i]``."""

    terms: array[int] = field(default_factory=lambda: array("q"))
    notes: array[int] = field(default_factory=lambda: array("I"))
    ends: array[int] = field(default_factory=lambda: array("I"))
    units: array[int] = field(default_factory=lambda: array("I"))
    weights: array[int] = field(default_factory=lambda: array("B"))

    def find(self, term: int) -> int | None:
        at = bisect_left(self.terms, term)
        return at if at < len(self.terms) and self.terms[at] == term else None

    def start(self, at: int) -> int:
        return self.ends[at - 1] if at else 0

    def run(self, at: int) -> Run:
        begin, end = self.start(at), self.ends[at]
        return Run(self.units[begin:end], self.weights[begin:end])

    def close(self, term: int, notes: int) -> None:
        """End the postings of ``term``, which were just appended."""
        self.terms.append(term)
        self.notes.append(notes)
        self.ends.append(len(self.units))

    def copy(self, other: _Segment, at: int) -> None:
        begin, end = other.start(at), other.ends[at]
        self.units += other.units[begin:end]
        self.weights += other.weights[begin:end]


class Postings:
    """The inverted index. Units are numbered by the caller, ascending."""

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._fresh: dict[int, list[int]] = {}
        self._fresh_units = 0

    def add(self, units: Iterable[tuple[int, Mapping[str, int]]]) -> None:
        """Add the units of one note, each with the weights of its terms."""
        fresh = self._fresh
        counted: set[int] = set()
        for unit, weights in units:
            self._fresh_units += 1
            packed = unit << _WEIGHT_BITS
            for name, weight in weights.items():
                term = hash(name)
                entry = fresh.get(term)
                if entry is None:
                    fresh[term] = [1, packed | weight]
                else:
                    entry[0] += term not in counted
                    entry.append(packed | weight)
            counted.update(map(hash, weights))
        if self._fresh_units >= _FRESH_UNITS:
            self._freeze()

    def notes(self, name: str) -> int:
        """Return how many notes hold a term (the removed ones too, until the next compaction)."""
        term = hash(name)
        entry = self._fresh.get(term)
        notes = entry[0] if entry else 0
        for segment in self._segments:
            at = segment.find(term)
            if at is not None:
                notes += segment.notes[at]
        return notes

    def runs(self, name: str) -> list[Run]:
        """Return the units of a term; nothing if it stands nowhere."""
        term = hash(name)
        runs = [
            segment.run(at) for segment in self._segments if (at := segment.find(term)) is not None
        ]
        entry = self._fresh.get(term)
        if entry is not None:
            packed = entry[1:]
            runs.append(Run([p >> _WEIGHT_BITS for p in packed], [p & MAX_WEIGHT for p in packed]))
        return runs

    def compact(self, renumbered: Sequence[int], note_of: Callable[[int], int]) -> None:
        """Drop units and renumber the others.

        Args:
            renumbered: by old unit, the new number, or -1 to drop it; order must be kept.
            note_of: by new unit, the note it belongs to.
        """
        self._freeze()
        old = self._segments.pop() if self._segments else _Segment()
        while self._segments:
            old = _merge(self._segments.pop(), old)
        kept = _Segment()
        for at, term in enumerate(old.terms):
            notes, last = 0, -1
            for i in range(old.start(at), old.ends[at]):
                unit = renumbered[old.units[i]]
                if unit < 0:
                    continue
                kept.units.append(unit)
                kept.weights.append(old.weights[i])
                note = note_of(unit)
                if note != last:
                    notes, last = notes + 1, note
            if notes:
                kept.close(term, notes)
        self._segments = [kept] if kept.terms else []

    def _freeze(self) -> None:
        if not self._fresh:
            return
        segment = _Segment()
        for term in sorted(self._fresh):
            entry = self._fresh[term]
            if len(entry) == 2:  # noqa: PLR2004 - its notes and one unit, as most terms
                segment.units.append(entry[1] >> _WEIGHT_BITS)
                segment.weights.append(entry[1] & MAX_WEIGHT)
            else:
                segment.units.extend([packed >> _WEIGHT_BITS for packed in entry[1:]])
                segment.weights.extend([packed & MAX_WEIGHT for packed in entry[1:]])
            segment.close(term, entry[0])
        self._fresh = {}
        self._fresh_units = 0
        while self._segments and len(self._segments[-1].units) <= len(segment.units):
            segment = _merge(self._segments.pop(), segment)
        self._segments.append(segment)


def _merge(older: _Segment, newer: _Segment) -> _Segment:
    """Merge two segments; every unit of ``older`` has a smaller number."""
    merged = _Segment()
    i = j = 0
    while i < len(older.terms) and j < len(newer.terms):
        left, right = older.terms[i], newer.terms[j]
        notes = 0
        if left <= right:
            merged.copy(older, i)
            notes += older.notes[i]
            i += 1
        if right <= left:
            merged.copy(newer, j)
            notes += newer.notes[j]
            j += 1
        merged.close(min(left, right), notes)
    for rest, at in ((older, i), (newer, j)):
        for k in range(at, len(rest.terms)):
            merged.copy(rest, k)
            merged.close(rest.terms[k], rest.notes[k])
    return merged
