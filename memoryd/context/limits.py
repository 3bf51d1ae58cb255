"""The size of a summary, and what goes first when it is too long."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from memoryd.context.sections import HEADINGS, Section
from memoryd.transcript.tokens import estimate_tokens

SECTION_TOKENS: Final = 2_000
"""Of one section, at most."""

TOTAL_TOKENS: Final = 12_000
"""Of all, headings included, at most."""

OWN_TOKENS: Final[Mapping[Section, int]] = {
    Section.TITLE: 80,
    Section.CURRENT_STATE: 1_000,
    Section.TASK: 1_600,
    Section.FILES: 1_600,
    Section.COMMANDS: 1_200,
    Section.ERRORS: 1_600,
    Section.LEARNINGS: 1_200,
    Section.RESULTS: 1_600,
    Section.WORKLOG: 1_600,
}
"""Of the lines that memoryd makes, in a section; together they leave room for what others write."""

_HEADINGS: Final = sum(estimate_tokens(f"# {name}") + 3 for name in HEADINGS.values())
_CUT: Final = "…"

IsOwn = Callable[[Section, str], bool]


def cost(line: str) -> int:
    """Return no less than the tokens that a line adds to a text, its line break included."""
    return estimate_tokens(line) + 1


def fitted(
    lines: Mapping[Section, Sequence[str]], is_own: IsOwn, *, pinned: Callable[[str], bool]
) -> dict[Section, list[str]]:
    """Return the lines that stay: of memoryd's own the newest, of all others the first.

    Args:
        lines: by section, oldest first.
        is_own: whether memoryd made a line.
        pinned: whether one of its lines stays while there are others.
    """
    kept = {section: _section(section, lines[section], is_own, pinned) for section in Section}
    spare = TOTAL_TOKENS - _HEADINGS
    sizes = {section: sum(map(cost, kept[section])) for section in Section}
    while sum(sizes.values()) > spare:
        # What others wrote leaves too little: the largest section gives its oldest line.
        largest = max(Section, key=sizes.__getitem__)
        at = _first_to_go(kept[largest], largest, is_own, pinned)
        sizes[largest] -= cost(kept[largest].pop(at))
    return kept


def _section(
    section: Section, lines: Sequence[str], is_own: IsOwn, pinned: Callable[[str], bool]
) -> list[str]:
    costs = [cost(line) for line in lines]
    own = [is_own(section, line) for line in lines]
    stays = [False] * len(lines)
    room = SECTION_TOKENS
    cut: dict[int, str] = {}
    for at, line in enumerate(lines):
        if own[at]:
            continue
        if costs[at] > room:
            cut[at] = _shortened(line, room)
            stays[at] = bool(cut[at])
            break
        stays[at] = True
        room -= costs[at]
    room = min(OWN_TOKENS[section], room if not cut else 0)
    order = sorted(
        (at for at in range(len(lines)) if own[at]),
        key=lambda at: (pinned(lines[at]), at),
        reverse=True,
    )
    for at in order:
        if costs[at] > room:
            break
        stays[at] = True
        room -= costs[at]
    return [cut.get(at, line) for at, line in enumerate(lines) if stays[at]]


def _first_to_go(
    lines: Sequence[str], section: Section, is_own: IsOwn, pinned: Callable[[str], bool]
) -> int:
    own = [at for at, line in enumerate(lines) if is_own(section, line)]
    loose = [at for at in own if not pinned(lines[at])]
    return next(iter(loose or own), len(lines) - 1)


def _shortened(line: str, room: int) -> str:
    while line and cost(line + _CUT) > room:
        line = line[: len(line) // 2]
    return line + _CUT if line else ""
