"""As much of a summary as fits into one prompt: what helps most to go on, the newest of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from memoryd.context.draft import PINNED
from memoryd.context.sections import HEADINGS, Section, Summary

_SHARES: Final[Mapping[Section, float]] = {
    Section.TITLE: 0.02,
    Section.CURRENT_STATE: 0.24,
    Section.TASK: 0.18,
    Section.ERRORS: 0.12,
    Section.LEARNINGS: 0.12,
    Section.FILES: 0.10,
    Section.COMMANDS: 0.06,
    Section.RESULTS: 0.10,
    Section.WORKLOG: 0.06,
}
"""Of the room, in the order in which what is left over is given away."""


def excerpt(summary: Summary, most: int) -> str:
    """Return whole lines of a summary as Markdown.

    Args:
        summary: the summary.
        most: characters.
    """
    heads = {section: len(HEADINGS[section]) + 4 for section in Section if summary.lines[section]}
    room = most - sum(heads.values())
    if room <= 0:
        return ""
    chosen = {
        section: _fitting(section, summary.lines[section], int(room * _SHARES[section]))
        for section in heads
    }
    left = room - sum(map(_size, chosen.values()))
    for section in _SHARES:
        if section in chosen:
            before = _size(chosen[section])
            chosen[section] = _fitting(section, summary.lines[section], before + left)
            left -= _size(chosen[section]) - before
    return "\n".join(
        f"# {HEADINGS[section]}\n" + "".join(f"{line}\n" for line in chosen[section])
        for section in Section
        if chosen.get(section)
    ).strip()


def _fitting(section: Section, lines: Sequence[str], room: int) -> list[str]:
    """Return the newest lines that fit, and the first request before any other."""
    order = list(range(len(lines)))
    if section is not Section.CURRENT_STATE:
        order.sort(key=lambda at: (not lines[at].startswith(f"- {PINNED} "), -at))
    kept = []
    for at in order:
        if len(lines[at]) + 1 > room:
            break
        room -= len(lines[at]) + 1
        kept.append(at)
    return [lines[at] for at in sorted(kept)]


def _size(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)
