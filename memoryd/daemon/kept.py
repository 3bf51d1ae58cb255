"""A session as the ledger keeps it in memory."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field

from memoryd.recall.recollection import Recollection

NEAR = 256 * 1024
"""Bytes of a transcript that are looked through within a millisecond or two."""


@dataclass(slots=True)
class Kept:
    """A session in memory.

    Attributes:
        known: what is known of it.
        changed: memories that the database does not have as they are held.
        dirty: the database does not have all of it.
        writes: how many writes of it are not committed yet.
        transcript: where it was found last, or will be.
        located: the client itself said so: it is nowhere else.
        copied: of what the session is a fork that has no transcript yet; see `parent_of`.
        reading: held while its transcript is looked through.
    """

    known: Recollection
    changed: set[str] = field(default_factory=set)
    dirty: bool = False
    writes: int = 0
    transcript: str | None = None
    located: bool = False
    copied: tuple[str, int] | None = None
    reading: threading.Lock = field(default_factory=threading.Lock)

    def is_near(self) -> bool:
        """Tell whether little of its transcript is left to be looked through."""
        if self.transcript is None or self.copied is not None or self.reading.locked():
            return False
        try:
            size = os.stat(self.transcript).st_size  # noqa: PTH116 - on the way of a prompt
        except FileNotFoundError:
            return self.located
        except OSError:
            return False
        return 0 <= size - self.known.read_to <= NEAR
