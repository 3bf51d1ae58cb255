"""Keeping ``MEMORY.md`` in step with the topics, under the lock of the directory."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from memoryd.errors import MemoryConflict, UnsafePath
from memoryd.memory import index
from memoryd.memory.directory import MemoryDirectory, OnStep
from memoryd.memory.journal import Entry, Journal
from memoryd.memory.snapshot import Snapshot
from memoryd.memory.topic import parse_topic

_ATTEMPTS = 3


def keep_index(
    folder: MemoryDirectory,
    now: Snapshot,
    journal: Journal,
    *,
    changed: Collection[str],
    token: Callable[[], str],
    on_step: OnStep,
) -> tuple[Snapshot, tuple[str, ...]]:
    """Write the index anew where it disagrees with the topics.

    Args:
        folder: locked.
        now: the topics as they are.
        journal: knows what memoryd wrote for a memory before.
        changed: memories whose lines move to their place by age.
        token: source of names for temporary files.
        on_step: told before each step that can be the last.

    Returns:
        ``now`` with the index as it is afterwards, and what a person should know.

    Raises:
        MemorydError: the index cannot be written.
    """
    for _ in range(_ATTEMPTS):
        try:
            before = folder.read(index.FILE)
            raw = b"" if before is None else before.raw
            written = _written(raw, now, journal)
            result = index.reconcile(raw, now.topics.values(), written=written, changed=changed)
            if result.raw != raw:
                folder.write(
                    index.FILE,
                    result.raw,
                    expected=None if before is None else raw,
                    mtime_ns=None,
                    token=token(),
                    on_step=on_step,
                )
        except MemoryConflict:
            continue
        except UnsafePath as error:
            return now, (*now.warnings, f"{error}: the index was left alone")
        after = None if before is None and not result.raw else result.raw
        return replace(now, index=after), (*now.warnings, *result.warnings)
    return now, (*now.warnings, f"{index.FILE} keeps changing: it was left alone")


def _written(raw: bytes, now: Snapshot, journal: Journal) -> set[str]:
    """Return the lines of ``raw`` that memoryd wrote for what a memory said before."""
    lines = {
        line: file.removesuffix(".md")
        for line, file in index.candidates(raw).items()
        if now.line_of(file.removesuffix(".md")) != line
    }
    if not lines:
        return set()
    latest = journal.latest(str(now.directory), set(lines.values()))
    return {
        line for line, name in lines.items() if name in latest and line in _lines_of(latest[name])
    }


def _lines_of(entry: Entry) -> set[str]:
    """Return the own lines of a memory before and after a change."""
    states = (entry.before, entry.after)
    topics = (parse_topic(entry.name, raw, 0) for raw in states if raw is not None)
    return {line for topic in topics if (line := index.line_of(topic)) is not None}
