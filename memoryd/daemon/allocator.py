"""What the C library's allocator keeps for itself, given back to the system when work is done.

Where it is not glibc there is nothing to ask, and nothing is done.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable

_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h


def use_one_arena() -> None:
    """Let all threads share one arena: the interpreter lets one compute at a time anyhow.

    Else each thread that ever worked keeps what it needed at most. Call before threads start.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)


class Allocator:
    """Gives memory back once after every stretch of work."""

    def __init__(self) -> None:
        self._trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        self._used = False

    def begin(self) -> None:
        """Take what is there now for what stays: collections need not look at it again."""
        gc.collect()
        gc.freeze()

    def used(self) -> None:
        """Note that something was done that needed memory."""
        self._used = True

    def give_back(self, *caches: Callable[[], object]) -> None:
        """Give back what is free, if anything was done since the last time; takes milliseconds.

        Args:
            caches: called first, to be emptied.
        """
        if self._used:
            self._used = False
            for empty in caches:
                empty()
            gc.collect()
            if self._trim is not None:
                self._trim(0)
