"""The summary of a session: nine fixed sections, as Markdown and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Section(StrEnum):
    """A part of a summary, in the order in which they stand."""

    TITLE = "title"
    """One line."""
    CURRENT_STATE = "current_state"
    """What was asked and answered last."""
    TASK = "task"
    """What the person asked for."""
    FILES = "files_and_functions"
    """What was read and changed."""
    COMMANDS = "commands_and_workflow"
    """What was run."""
    ERRORS = "errors_and_corrections"
    """What failed, and what the person corrected."""
    LEARNINGS = "learnings"
    """Causes that were found, and rules of the person."""
    RESULTS = "results"
    """What the assistant said at the end of each turn."""
    WORKLOG = "worklog"
    """A line a turn."""


HEADINGS: Final[Mapping[Section, str]] = {
    Section.TITLE: "Title",
    Section.CURRENT_STATE: "Current state",
    Section.TASK: "Task",
    Section.FILES: "Files and functions",
    Section.COMMANDS: "Commands and workflow",
    Section.ERRORS: "Errors and corrections",
    Section.LEARNINGS: "Learnings",
    Section.RESULTS: "Results",
    Section.WORKLOG: "Worklog",
}

_OTHER_NAMES: Final = {
    "session title": Section.TITLE,
    "task specification": Section.TASK,
    "workflow": Section.COMMANDS,
    "key results": Section.RESULTS,
}
"""How other writers of such a file call the same."""

_BY_NAME: Final = {name.lower(): section for section, name in HEADINGS.items()} | _OTHER_NAMES
_HEADING: Final = re.compile(r"#[ \t]+(\S[^\n]*?)[ \t]*#*[ \t]*")


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary; `Summary.of` makes one that can be written and read again.

    Attributes:
        lines: by section, each without its line break; no blank ones at the ends.
    """

    lines: Mapping[Section, tuple[str, ...]]

    @classmethod
    def of(cls, lines: Mapping[Section, Iterable[str]]) -> Summary:
        """Return a summary of any lines: what looks like one of the headings is escaped."""
        return cls({section: _body(lines.get(section, ())) for section in Section})

    def text(self, section: Section) -> str:
        """Return what a section says."""
        return "\n".join(self.lines[section])


def render(summary: Summary) -> str:
    """Return a summary as Markdown, every section with its heading."""
    parts = []
    for section, heading in HEADINGS.items():
        body = summary.text(section)
        parts.append(f"# {heading}\n\n{body}\n" if body else f"# {heading}\n")
    return "\n".join(parts)


def parse(markdown: str) -> Summary:
    """Return the summary that a text holds, whoever wrote it.

    Headings may come in any order, several times, or not at all; what stands before the first one
    belongs to the title, what stands below unknown ones to the section above.
    """
    found: dict[Section, list[str]] = {section: [] for section in Section}
    current = Section.TITLE
    for line in markdown.split("\n"):
        named = _section_of(line.rstrip())
        if named is None:
            found[current].append(line)
        else:
            current = named
            found[current] += [""] if found[current] else []
    return Summary.of(found)


def _section_of(line: str) -> Section | None:
    heading = _HEADING.fullmatch(line)
    if heading is None:
        return None
    return _BY_NAME.get(" ".join(heading[1].lower().replace("&", "and").split()))


def _body(lines: Iterable[str]) -> tuple[str, ...]:
    rows = [row.rstrip() for line in lines for row in line.split("\n")]
    rows = [f"\\{row}" if _section_of(row) else row for row in rows]
    while rows and not rows[-1]:
        rows.pop()
    first = next((at for at, row in enumerate(rows) if row), 0)
    return tuple(rows[first:])
