"""What one session has in front of it of memory, and how that changes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from memoryd.recall.ignoring import Wish
from memoryd.recall.selection import SESSION_BYTES


class How(StrEnum):
    """How a memory came before a session's model."""

    GIVEN = "given"
    """By recall."""
    READ = "read"
    """The model read the file itself."""
    WRITTEN = "written"
    """The model wrote it."""
    EDITED = "edited"
    """The model changed it."""


@dataclass(frozen=True, slots=True)
class Held:
    """A memory that a session has in front of it.

    Attributes:
        how: it came there.
        bytes: of the text that was given; 0 for what the model met itself.
        at: when, seconds since 1970 UTC.
    """

    how: How
    bytes: int
    at: float


@dataclass(slots=True)
class Recollection:
    """What is known of one session.

    Attributes:
        held: by absolute path of the memory file.
        ignoring: the person said that memory is to be ignored, and did not take it back.
        withheld: nothing is to be learned from it: memory is switched off in its client.
        said_at: when they said that, or took it back; 0 for never.
        compacted_at: what was held until then is no longer in the conversation; 0 for never.
        read_to: position in the transcript up to which it was looked through.
    """

    held: dict[str, Held] = field(default_factory=dict)
    ignoring: bool = False
    withheld: bool = False
    said_at: float = 0.0
    compacted_at: float = 0.0
    read_to: int = 0

    @property
    def spent(self) -> int:
        """UTF-8 bytes of memories that were given and are still in the conversation."""
        return sum(held.bytes for held in self.held.values())

    def give(self, sizes: Mapping[str, int], *, now: float, capped: bool) -> frozenset[str]:
        """Hold those of some memories that may be given now; return their paths.

        Nothing is given to a session that ignores memory, and after `SESSION_BYTES` nothing more.

        Args:
            sizes: UTF-8 bytes of the text of each, by path, best first.
            now: seconds since 1970 UTC.
            capped: heed `SESSION_BYTES`.
        """
        granted: set[str] = set()
        if self.ignoring:
            return frozenset()
        spent = self.spent
        for path, size in sizes.items():
            if path not in self.held and (spent < SESSION_BYTES or not capped):
                self.held[path] = Held(How.GIVEN, size, now)
                spent += size
                granted.add(path)
        return frozenset(granted)

    def note(self, path: str, new: Held) -> bool:
        """Hold a memory; return whether that says more than what was known."""
        old = self.held.get(path)
        if new.at <= self.compacted_at or (old is not None and not _adds(new, old)):
            return False
        self.held[path] = new
        return True

    def decide(self, said: Wish, at: float) -> bool:
        """Take what the person said about memory; return whether these are the latest words.

        A hook hears a prompt before the transcript has it, so that older words may come later.
        """
        if at < self.said_at:
            return False
        self.said_at, self.ignoring = at, said is Wish.IGNORE
        return True

    def compact(self, at: float) -> bool:
        """Drop what was held until an instant; return whether that was not done before."""
        if at <= self.compacted_at:
            return False
        self.compacted_at = at
        self.held = {path: held for path, held in self.held.items() if held.at > at}
        return True


def _adds(new: Held, old: Held) -> bool:
    """Whether it says more than what is known: what was given counts, then what came later."""
    if new.how is How.GIVEN:
        return old.how is not How.GIVEN or new.bytes > old.bytes
    return old.how is not How.GIVEN and old.how is not new.how
