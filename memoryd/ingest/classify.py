"""What a file below the client's projects directory is, by its path alone. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

SUFFIX = ".jsonl"
AGENT_PREFIX = "agent-"
SUBAGENTS = "subagents"
MEMORY = "memory"

_IN_PROJECT = 2
_IN_SUBAGENTS = 4


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A transcript that may be a session: its records decide.

    Attributes:
        session: the file's stem.
    """

    session: str


@dataclass(frozen=True, slots=True)
class SubagentFile:
    """The transcript of a subagent.

    Attributes:
        parent: the session it belongs to, ``None`` where only its records say so.
    """

    parent: str | None


Transcript = SessionFile | SubagentFile


def is_utf8(name: str) -> bool:
    """Return whether a name of the file system is text: no database keeps any other."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def classify(relative: str) -> Transcript | None:
    """Return what the file at ``relative`` is; ``None`` if it is no transcript.

    Args:
        relative: path below the projects directory, ``/`` between its parts.
    """
    parts: Sequence[str] = relative.split("/")
    if "" in parts or "." in parts:
        parts = PurePosixPath(relative).parts
    if len(parts) < _IN_PROJECT or not parts[-1].endswith(SUFFIX) or ".." in parts:
        return None
    if not is_utf8(relative):
        return None
    name = parts[-1]
    if len(parts) == _IN_PROJECT:
        if name.startswith(AGENT_PREFIX):
            return SubagentFile(parent=None)
        stem = name.removesuffix(SUFFIX)
        return SessionFile(stem) if stem else None
    if (
        len(parts) >= _IN_SUBAGENTS
        and parts[1] != MEMORY
        and parts[2] == SUBAGENTS
        and name.startswith(AGENT_PREFIX)
    ):
        return SubagentFile(parent=parts[1])
    return None


def memory_directory_of(relative: str) -> str | None:
    """Return the memory directory a path is in or is, as a path below the projects directory."""
    parts = relative.split("/", 2)
    return f"{parts[0]}/{parts[1]}" if len(parts) > 1 and parts[1] == "memory" else None
