"""What a tool call was about: its gist, the files it names, and whether it wrote a memory."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GIST_LIMIT = 300
"""Characters of a gist."""

_COMMAND_LIMIT = 64 * 1024
_TELLING = (
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "skill",
    "description",
    "prompt",
    "path",
)
_FILE_KEYS = ("file_path", "notebook_path")
_WRITERS = frozenset({"Write", "Edit", "MultiEdit"})
_MEMORY_FILE = re.compile(r"/projects/[^/]+/memory/(?:[^/]+/)*[^/]+\.md\Z")
_MEMORY_FOLDER = re.compile(r"/projects/[^/]+/memory/?\Z")
_REDIRECTION = re.compile(r">{1,2}\|?\s*(\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'<>|;&]+)")
_DEFINED = re.compile(
    r"^[ \t]*+(?:(?:pub|export|default|async|static|public|private|abstract)\s++)*+"
    r"(?:def|class|fn|func|function|interface|struct|enum|trait)\s++(?:\([^()\n]{0,80}\)\s*+)?"
    r"([A-Za-z_]\w{1,60})",
    re.MULTILINE,
)
_NAMED_IN = 20_000
_MOST_NAMES = 8
_SEPARATOR = re.compile(r"&&|\|\||[;|&\n]")
_COPYING = frozenset({"cp", "mv", "install", "tee", "sed"})


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """The main model wrote a memory itself.

    Attributes:
        path: the memory file.
        content: what was written: the whole text, the new passages, or the shell command.
    """

    path: str
    content: str


def gist(arguments: Mapping[str, Any]) -> str:
    """Return the most telling argument of a call on one line."""
    for name in _TELLING:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            break
    else:
        value = json.dumps(arguments, ensure_ascii=False) if arguments else ""
    return " ".join(value[: 4 * GIST_LIMIT].split())[:GIST_LIMIT]


def named_files(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files that a call reads or writes by name."""
    return tuple(
        value for name in _FILE_KEYS if isinstance(value := arguments.get(name), str) and value
    )


def written_names(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the first names of functions and types in what a call writes into a file."""
    if not any(isinstance(arguments.get(name), str) for name in _FILE_KEYS):
        return ()
    names = _DEFINED.findall(_written(arguments)[:_NAMED_IN])
    return tuple(dict.fromkeys(names))[:_MOST_NAMES]


def is_memory_file(path: str) -> bool:
    """Tell whether a path is one of a topic or index in a project's own memory directory."""
    return _MEMORY_FILE.search(path) is not None


def memory_write(name: str, arguments: Mapping[str, Any]) -> MemoryWrite | None:
    """Return the memory that this call writes if it succeeds."""
    if name in _WRITERS:
        path = arguments.get("file_path")
        if isinstance(path, str) and is_memory_file(path):
            return MemoryWrite(path, _written(arguments))
    if name == "Bash":
        command = arguments.get("command")
        if isinstance(command, str) and "/memory" in command:
            path = _written_by_shell(command[:_COMMAND_LIMIT])
            return MemoryWrite(path, command) if path else None
    return None


def _written(arguments: Mapping[str, Any]) -> str:
    edits = arguments.get("edits")
    passages = [
        arguments.get("content"),
        arguments.get("new_string"),
        *(edit.get("new_string") for edit in edits or () if isinstance(edit, dict)),
    ]
    return "\n".join(passage for passage in passages if isinstance(passage, str))


def _written_by_shell(command: str) -> str | None:
    """Return the memory file that a shell command redirects, copies, moves or edits into."""
    folder = ""
    for step in _SEPARATOR.split(command):
        words = step.split()
        if not words:
            continue
        if words[0] == "cd" and len(words) > 1:
            target = words[1].strip("\"'")
            folder = target.rstrip("/") + "/" if _MEMORY_FOLDER.search(target) else ""
        targets = [found[1] for found in _REDIRECTION.finditer(step)]
        if words[0] in _COPYING and len(words) > 1:
            targets.append(words[-1])
        for target in targets:
            bare = target.strip("\"'")
            path = bare if "/" in bare else folder + bare
            if is_memory_file(path):
                return path
    return None
