"""One thing that installing or uninstalling will do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Step:
    """Something that will be done.

    Attributes:
        text: for the person, before.
        do: does it; raises ``MemorydError``.
        detail: lines that show it exactly, such as a diff.
    """

    text: str
    do: Callable[[], None]
    detail: tuple[str, ...] = ()


@dataclass(slots=True)
class Steps:
    """Steps in order, and what the person should know besides.

    Attributes:
        steps: to be done.
        notes: one text each.
    """

    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, other: Steps) -> None:
        """Append another's."""
        self.steps += other.steps
        self.notes += other.notes
