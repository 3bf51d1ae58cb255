"""What a ranker knows of its notes, in flat arrays: a note is a slot, its passages are units."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final

_DEAD_SHARE: Final = 4  # worth a compaction when one unit in four is dead ...
_DEAD_LEAST: Final = 256  # ... and there are this many


class Units:
    """The columns. Numbers of units and slots only change in ``compact``.

    Attributes:
        slots: by key of a living note, its slot.
        keys: by slot, its key.
        first: by slot, its first unit; the others follow it.
        slot_of: by unit, its slot.
        session_of: by unit, the number of its session; 0 for none, and for the dead.
        alive: by unit, 1 or 0.
        start: by unit, where its passage begins in the body, in characters.
        end: by unit, where it ends.
    """

    def __init__(self) -> None:
        self.slots: dict[str, int] = {}
        self.keys: list[str] = []
        self.first = array("I")
        self.slot_of = array("I")
        self.session_of = array("I")
        self.alive = bytearray()
        self.start = array("I")
        self.end = array("I")
        self._count = array("H")  # by slot: its units; 0 = removed
        self._place = array("I")  # by slot: place among the members of its session
        self._sessions: dict[str, int] = {"": 0}
        self._members: list[array[int]] = [array("I")]  # by session: its slots in order
        self._dead = 0

    def put(self, key: str, session: str, spans: list[tuple[int, int]]) -> range:
        """Give a note new units, one for each span; return their numbers.

        The note keeps its place in its session, unless the session is another one now.
        """
        number = self._session(session)
        slot = self.slots.get(key)
        if slot is not None and self.session_of[self.first[slot]] != number:
            self.remove(key)
            slot = None
        if slot is None:
            slot = self._open(key, number)
        else:
            self._bury(slot)
        begin = len(self.slot_of)
        for start, end in spans:
            self.slot_of.append(slot)
            self.session_of.append(number)
            self.alive.append(1)
            self.start.append(start)
            self.end.append(end)
        self.first[slot] = begin
        self._count[slot] = len(spans)
        return range(begin, len(self.slot_of))

    def remove(self, key: str) -> None:
        """Forget a note, if there is one of this key."""
        slot = self.slots.pop(key, None)
        if slot is not None:
            self._bury(slot)

    def neighbours(self, slot: int, distance: int) -> Iterator[int]:
        """Yield the living slots that stand ``distance`` before and behind in the session."""
        session = self.session_of[self.first[slot]]
        if session:
            members, place = self._members[session], self._place[slot]
            for at in (place - distance, place + distance):
                if 0 <= at < len(members) and self._count[members[at]]:
                    yield members[at]

    @property
    def worth_compacting(self) -> bool:
        """Whether so many units are dead that numbering anew pays."""
        return self._dead >= max(_DEAD_LEAST, len(self.slot_of) // _DEAD_SHARE)

    def compact(self) -> array[int]:
        """Drop what is dead; return by old unit its new number, -1 for the dropped."""
        living = [unit for unit, alive in enumerate(self.alive) if alive]
        renumbered = array("i", [-1]) * len(self.alive)
        for new, unit in enumerate(living):
            renumbered[unit] = new
        kept = [slot for slot, count in enumerate(self._count) if count]
        new_slot = {old: new for new, old in enumerate(kept)}
        self.slot_of = array("I", (new_slot[self.slot_of[unit]] for unit in living))
        self.session_of, self.start, self.end = (
            array("I", (column[unit] for unit in living))
            for column in (self.session_of, self.start, self.end)
        )
        self.alive = bytearray(b"\x01") * len(living)
        self._dead = 0
        self.keys = [self.keys[slot] for slot in kept]
        self.slots = {key: slot for slot, key in enumerate(self.keys)}
        self.first = array("I", (renumbered[self.first[slot]] for slot in kept))
        self._count = array("H", (self._count[slot] for slot in kept))
        self._place = array("I", [0]) * len(kept)
        for session, members in enumerate(self._members):
            stayed = array("I", (new_slot[slot] for slot in members if slot in new_slot))
            self._members[session] = stayed
            for place, slot in enumerate(stayed):
                self._place[slot] = place
        return renumbered

    def _session(self, name: str) -> int:
        number = self._sessions.setdefault(name, len(self._members))
        if number == len(self._members):
            self._members.append(array("I"))
        return number

    def _open(self, key: str, session: int) -> int:
        slot = self.slots[key] = len(self.keys)
        self.keys.append(key)
        self.first.append(0)
        self._count.append(0)
        self._place.append(len(self._members[session]) if session else 0)
        if session:
            self._members[session].append(slot)
        return slot

    def _bury(self, slot: int) -> None:
        first, count = self.first[slot], self._count[slot]
        for unit in range(first, first + count):
            self.alive[unit] = 0
            self.session_of[unit] = 0  # the dead lend their session nothing
        self._dead += count
        self._count[slot] = 0
