"""Where instructions may be, in the order in which they count: later is closer and stronger."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from memoryd.instructions.parts import Cause, Kind

MANAGED = {
    "linux": PurePosixPath("/etc/claude-code/CLAUDE.md"),
    "darwin": PurePosixPath("/Library/Application Support/ClaudeCode/CLAUDE.md"),
}
"""By ``sys.platform``: the administrator's file."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file, or a directory of rules, that may be there.

    Attributes:
        path: absolute.
        kind: whose it is.
        cause: ``FILE``, ``RULE`` (a directory) or ``AGENTS``.
        owner: the directory that it speaks for; ``None`` for all.
        nested: it lies below the working directory, and loads with a file there.
    """

    path: str
    kind: Kind
    cause: Cause
    owner: str | None
    nested: bool = False


def places(
    managed: str | None, config: str, ancestors: tuple[str, ...], nested: tuple[str, ...]
) -> list[Place]:
    """Return every place in its order.

    Args:
        managed: the administrator's file.
        config: the client's directory.
        ancestors: from the root of the file system down to the working directory.
        nested: directories below the working directory that hold a file in play, outer ones first.
    """
    found = []
    if managed is not None:
        found.append(Place(managed, Kind.MANAGED, Cause.FILE, None))
    found.append(Place(f"{config}/CLAUDE.md", Kind.USER, Cause.FILE, None))
    found.append(Place(f"{config}/rules", Kind.USER, Cause.RULE, None))
    for directory in ancestors:
        found.extend(_of(directory, nested=False))
    for directory in ancestors:
        base = directory.rstrip("/")
        found.extend(
            Place(f"{base}/{name}", Kind.PROJECT, Cause.AGENTS, directory)
            for name in ("AGENTS.md", ".claude/AGENTS.md")
        )
    for directory in nested:
        found.extend(_of(directory, nested=True))
    return found


def _of(directory: str, *, nested: bool) -> list[Place]:
    base = directory.rstrip("/")
    return [
        Place(f"{base}/CLAUDE.md", Kind.PROJECT, Cause.FILE, directory, nested),
        Place(f"{base}/.claude/CLAUDE.md", Kind.PROJECT, Cause.FILE, directory, nested),
        Place(f"{base}/.claude/rules", Kind.PROJECT, Cause.RULE, directory, nested),
        Place(f"{base}/CLAUDE.local.md", Kind.LOCAL, Cause.FILE, directory, nested),
    ]


def up_to(directory: str) -> tuple[str, ...]:
    """Return the directories from the root of the file system down to ``directory``."""
    path = PurePosixPath(directory)
    return tuple(str(one) for one in (*reversed(path.parents), path))


def between(cwd: str, files: tuple[str, ...]) -> tuple[str, ...]:
    """Return the directories below ``cwd`` that hold ``files``, each once, outer ones first."""
    found: dict[str, None] = {}
    for file in files:
        for directory in up_to(str(PurePosixPath(file).parent)):
            if directory.startswith(cwd.rstrip("/") + "/"):
                found[directory] = None
    return tuple(found)
