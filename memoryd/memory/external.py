"""Changes that the client or a person made: the disk against the journal's last knowledge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memoryd.memory.journal import EXTERNAL, Action, Draft, Entry, Known
from memoryd.memory.snapshot import Snapshot


def suspects(now: Snapshot, known: Mapping[str, Known]) -> list[str]:
    """Return the names of memories that may have changed: by mtime and size, new, or gone."""
    seen = [
        name
        for name, topic in now.topics.items()
        if name not in known
        or (known[name].mtime_ns, known[name].size) != (topic.mtime_ns, len(topic.raw))
    ]
    gone = [
        name
        for name, last in known.items()
        if last.size is not None and name not in now.topics and name not in now.unreadable
    ]
    return seen + gone


def drafts(
    now: Snapshot,
    names: Iterable[str],
    latest: Mapping[str, Entry],
    *,
    project_root: str,
    at: float,
    group: str,
) -> list[Draft]:
    """Return what to journal for those of ``names`` whose bytes differ from the journal's.

    Args:
        now: the directory.
        names: memories to compare.
        latest: the last finished entry of each that has one.
        project_root: of memories that the journal does not know; others keep theirs.
        at: seconds since 1970 UTC.
        group: id for all of them.
    """
    found = []
    for name in names:
        last, topic = latest.get(name), now.topics.get(name)
        before = None if last is None else last.after
        after = None if topic is None else topic.raw
        if before == after:
            continue
        found.append(
            Draft(
                group=group,
                at=at,
                directory=str(now.directory),
                project_root=project_root if last is None else last.project_root,
                name=name,
                action=Action.between(before, after),
                actor=EXTERNAL,
                reason="found on disk" if last is None else "changed by the client or a person",
                before=before,
                before_mtime_ns=None if last is None else last.after_mtime_ns,
                after=after,
                after_mtime_ns=None if topic is None else topic.mtime_ns,
            )
        )
    return found
