"""What may happen to a memory, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from memoryd.errors import MemoryConflict, MemorydError, UnsafePath
from memoryd.extraction.operations import Evidence
from memoryd.memory.directory import check_name
from memoryd.memory.journal import Action
from memoryd.memory.snapshot import Snapshot
from memoryd.memory.topic import NAME, Fields, Topic, new_topic, update_topic

# On a file system that ignores case ``memory.md`` is the index.
_RESERVED = frozenset({"memory"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Make a memory, or change one.

    Attributes:
        name: stem of the file; a new one is ``^[a-z0-9][a-z0-9-]{0,63}$``.
        content: what it shall say, or all bytes of the file.
        reason: in words, for the journal.
        evidence: what was said that led to it.
    """

    name: str
    content: Fields | bytes
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """Take a memory away; its bytes stay in the journal."""

    name: str
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()


Change = Write | Remove


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A change compared with the disk and ready to be made.

    Attributes:
        name: stem of the file.
        before: the memory now, ``None`` when there is none.
        after: bytes afterwards, ``None`` for no file.
        after_mtime_ns: mtime afterwards.
        reason: in words.
        evidence: what led to it.
        undoes: the entry it takes back.
    """

    name: str
    before: Topic | None
    after: bytes | None
    after_mtime_ns: int | None
    reason: str
    evidence: tuple[Evidence, ...]
    undoes: int | None = None

    @property
    def action(self) -> Action:
        """What happens to the file."""
        return Action.between(None if self.before is None else self.before.raw, self.after)


@dataclass(frozen=True, slots=True)
class Applied:
    """A change that is on disk and in the journal."""

    id: int
    name: str
    action: Action


@dataclass(frozen=True, slots=True)
class Dropped:
    """A change that was not made."""

    name: str
    error: MemorydError


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedGroup:
    """What became of a group of changes.

    Attributes:
        group: its id in the journal.
        applied: what was done.
        dropped: what was not, each with the reason.
        unchanged: names whose files already said this.
        warnings: what a person should know about the directory.
        snapshot: the directory afterwards.
    """

    group: str
    applied: tuple[Applied, ...]
    dropped: tuple[Dropped, ...]
    unchanged: tuple[str, ...]
    warnings: tuple[str, ...]
    snapshot: Snapshot


def plan(change: Change, seen: Snapshot, now: Snapshot, *, at: float) -> Planned | None:
    """Turn a change into bytes; ``None`` when nothing would change.

    Args:
        change: what is asked for.
        seen: what it was decided on.
        now: the directory under the lock.
        at: seconds since 1970 UTC.

    Raises:
        MemoryConflict: the file is not as it was seen.
        UnsafePath: a new memory's name is not one, or something unreadable stands there.
        MemorydError: the file must not be rewritten (broken frontmatter).
    """
    name, current = change.name, now.topics.get(change.name)
    check_name(f"{name}.md")
    if name in now.unreadable:
        raise UnsafePath(f"{name}.md cannot be read safely; it was left alone")
    after, mtime_ns = _outcome(change, current, at)
    if (None if current is None else current.raw) == after:
        return None
    if current is None and (not NAME.match(name) or name in _RESERVED):
        raise UnsafePath(
            f"{name[:80]!r} is not a name for a memory",
            hint="lower-case letters, digits and dashes, at most 64, no dash in front",
        )
    before = seen.topics.get(name)
    if (None if before is None else before.raw) != (None if current is None else current.raw):
        raise MemoryConflict(f"the memory {name!r} changed meanwhile; what is on disk was kept")
    return Planned(
        name=name,
        before=current,
        after=after,
        after_mtime_ns=mtime_ns,
        reason=change.reason,
        evidence=change.evidence,
    )


def _outcome(change: Change, current: Topic | None, at: float) -> tuple[bytes | None, int | None]:
    """Return the bytes afterwards and their mtime, which stays when the fact stays."""
    now_ns = int(at * 1000) * 1_000_000
    match change:
        case Remove():
            return None, None
        case Write():
            if isinstance(change.content, bytes):
                return change.content, now_ns
            if current is None:
                return new_topic(change.name, change.content, now=at), now_ns
            raw, changed = update_topic(current, change.content, now=at)
            return raw, now_ns if changed else current.mtime_ns
        case _:
            assert_never(change)
