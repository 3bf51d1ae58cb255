"""A summary while it is being changed: which lines are memoryd's, and putting them in place."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import count, islice
from typing import Final

from memoryd.context.limits import fitted
from memoryd.context.sections import Section, Summary
from memoryd.redaction import clean

PINNED: Final = "First asked"
"""Key of the line that stays whatever else is dropped: what it is all about."""

_DASH: Final = " — "
_MOST_ROWS: Final = 400


@dataclass(slots=True)
class _Row:
    text: str
    own: bool


def line_of(key: str, value: str = "") -> str:
    """Return a line of memoryd's: what it is about, and what there is to say."""
    key = key.replace(_DASH, " - ")
    return f"- {key}{_DASH}{value}" if value else f"- {key}"


def mark_of(section: Section, line: str) -> str:
    """Return the digest by which memoryd knows a line as its own."""
    return blake2b(f"{section}\n{line}".encode("utf-8", "replace"), digest_size=6).hexdigest()


@dataclass(slots=True)
class Draft:
    """Rows by section. A row of memoryd's has a key and is replaced by the next with that key.

    What others wrote has none: it is never changed, and dropped only for the limits.
    """

    _rows: dict[Section, dict[str, _Row]] = field(default_factory=dict)
    _next: Iterator[int] = field(default_factory=count)

    @classmethod
    def of(cls, summary: Summary, own: Collection[str]) -> Draft:
        """Take up a summary.

        Args:
            summary: as it stands, changed by others perhaps.
            own: marks of the lines that memoryd made.
        """
        draft = cls({section: {} for section in Section})
        for section in Section:
            kept: list[str] = []
            for line in summary.lines[section]:
                if mark_of(section, line) in own:
                    draft._flush(section, kept)
                    draft._rows[section][_key(line)] = _Row(line, own=True)
                else:
                    kept.append(line)
            draft._flush(section, kept)
        return draft

    def _flush(self, section: Section, lines: list[str]) -> None:
        """Add lines of others, without the secrets in them."""
        if lines:
            for line in clean("\n".join(lines)).split("\n"):
                self.add_other(section, line)
            lines.clear()

    def value(self, section: Section, key: str) -> str | None:
        """Return what memoryd's row with this key says, ``None`` if there is none."""
        row = self._rows[section].get(key.replace(_DASH, " - "))
        return None if row is None else row.text.partition(_DASH)[2]

    def put(self, section: Section, key: str, value: str = "", *, last: bool = True) -> None:
        """Let memoryd's row with this key say ``value``.

        Args:
            section: of the row.
            key: what it is about.
            value: one line.
            last: put it behind all others; else it stays where it is.
        """
        line = clean(line_of(key, value))
        rows = self._rows[section]
        key = _key(line)
        if key in rows and not last:
            rows[key].text = line
        else:
            rows.pop(key, None)
            rows[key] = _Row(line, own=True)
        if len(rows) > 2 * _MOST_ROWS:
            self._prune(rows)

    def title(self, words: str) -> None:
        """Let the title be ``words``, unless somebody else wrote one."""
        rows = self._rows[Section.TITLE]
        if words and all(row.own or not row.text for row in rows.values()):
            rows.clear()
            rows[_key(words)] = _Row(words, own=True)

    @property
    def has_title(self) -> bool:
        """Whether there is one."""
        return any(row.text for row in self._rows[Section.TITLE].values())

    def drop(self, section: Section, *keys: str) -> None:
        """Remove memoryd's rows with these keys."""
        for key in keys:
            self._rows[section].pop(key, None)

    def forget_own(self) -> None:
        """Remove all that memoryd wrote."""
        for rows in self._rows.values():
            for key in [key for key, row in rows.items() if row.own]:
                del rows[key]

    def take_others(self, section: Section) -> list[str]:
        """Remove what others wrote in a section and return it, without blank lines."""
        rows = self._rows[section]
        taken = {key: row.text for key, row in rows.items() if not row.own}
        for key in taken:
            del rows[key]
        return [text for text in taken.values() if text]

    def add_other(self, section: Section, line: str) -> None:
        """Add a line as one that somebody else wrote."""
        self._rows[section][f"\n{next(self._next)}"] = _Row(line, own=False)

    def finish(self) -> tuple[Summary, frozenset[str]]:
        """Return the summary within its limits, and the marks of memoryd's lines in it."""
        own = {
            mark_of(section, row.text)
            for section, rows in self._rows.items()
            for row in rows.values()
            if row.own
        }
        lines = fitted(
            {
                # The same line without a mark: memoryd wrote it once and lost its copy.
                section: [
                    row.text
                    for row in rows.values()
                    if row.own or mark_of(section, row.text) not in own
                ]
                for section, rows in self._rows.items()
            },
            lambda section, line: mark_of(section, line) in own,
            pinned=lambda line: line.startswith(f"- {PINNED}{_DASH}"),
        )
        summary = Summary.of(lines)
        left = {mark_of(section, line) for section in Section for line in summary.lines[section]}
        return summary, frozenset(own & left)

    @staticmethod
    def _prune(rows: dict[str, _Row]) -> None:
        """Drop the oldest of memoryd's rows; they would not find room in the end."""
        loose = [key for key, row in rows.items() if row.own and key != PINNED]
        for key in islice(loose, max(0, len(loose) - _MOST_ROWS)):
            del rows[key]


def _key(line: str) -> str:
    return line.removeprefix("- ").partition(_DASH)[0]
