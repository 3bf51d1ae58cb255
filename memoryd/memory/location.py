"""Where the memories of a project live, and whether the client's auto-memory is switched on."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from memoryd.projects import slug

MANAGED_SETTINGS = {
    "linux": Path("/etc/claude-code/managed-settings.json"),
    "darwin": Path("/Library/Application Support/ClaudeCode/managed-settings.json"),
}
"""By ``sys.platform``: the client's settings that an administrator sets."""

_DISABLE = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
_DISABLE_INSTRUCTIONS = "CLAUDE_CODE_DISABLE_CLAUDE_MDS"
CONFIG_DIRECTORY = "CLAUDE_CONFIG_DIR"
"""The variable that names the client's directory."""

SWITCHES = frozenset({_DISABLE, _DISABLE_INSTRUCTIONS, CONFIG_DIRECTORY})
"""The variables of a client that matter here."""

_MAX_SETTINGS = 4 * 1024 * 1024
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


class Scope(StrEnum):
    """Whose settings a file holds, strongest first."""

    MANAGED = "managed"
    """The administrator's."""
    LOCAL = "local"
    """The person's for this project, not shared."""
    PROJECT = "project"
    """The project's, shared: whoever wrote the repository."""
    USER = "user"
    """The person's for all projects."""


_MAY_MOVE = frozenset({Scope.MANAGED, Scope.USER})


@dataclass(frozen=True, slots=True)
class Layer:
    """One settings file of the client.

    Attributes:
        scope: whose it is.
        path: for messages.
        content: its bytes; ``None`` when it exists but cannot be read.
    """

    scope: Scope
    path: Path
    content: bytes | None


@dataclass(frozen=True, slots=True)
class AutoMemory:
    """What the client's switches say.

    Attributes:
        on: the client keeps memories.
        why: the switch that decided, in words.
        directory: where all memories go instead of the project's own directory, if it was set.
        warnings: settings that cannot be read, in words.
    """

    on: bool
    why: str
    directory: str | None
    warnings: tuple[str, ...]


def memory_directory(config: Path, root: str, *, auto_memory_directory: str | None) -> Path:
    """Return the memory directory of the project at ``root``.

    Args:
        config: the client's directory.
        root: real path of the project's root.
        auto_memory_directory: ``AutoMemory.directory``; it serves all projects.
    """
    if auto_memory_directory is not None:
        return Path(auto_memory_directory)
    return config / "projects" / slug(root) / "memory"


def shared_directory(environ: Mapping[str, str], config: Path, home: Path) -> Path | None:
    """Return the directory that holds the memories of all projects, if the settings name one."""
    layers = read_layers(config, None, MANAGED_SETTINGS.get(sys.platform))
    found = auto_memory_state(environ, layers, home=home).directory
    return None if found is None else Path(found)


def read_layers(config: Path, root: Path | None, managed: Path | None) -> tuple[Layer, ...]:
    """Read the client's settings files that exist, strongest first.

    Args:
        config: the client's directory.
        root: of the project, or ``None`` for none.
        managed: the administrator's file, or ``None`` for none.
    """
    places: list[tuple[Scope, Path]] = []
    if managed is not None:
        places.append((Scope.MANAGED, managed))
    if root is not None:
        places.append((Scope.LOCAL, root / ".claude" / "settings.local.json"))
        places.append((Scope.PROJECT, root / ".claude" / "settings.json"))
    places.append((Scope.USER, config / "settings.json"))
    layers = []
    for scope, path in places:
        try:
            layers.append(Layer(scope, path, _content(path)))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            layers.append(Layer(scope, path, None))
    return tuple(layers)


def _content(path: Path) -> bytes | None:
    """Read a settings file; a FIFO or a giant, as a hostile project may put there, is unreadable.

    Raises:
        OSError: it cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode) or info.st_size > _MAX_SETTINGS:
            return None
        return file.read(_MAX_SETTINGS)


def auto_memory_state(
    environ: Mapping[str, str], layers: Sequence[Layer], *, home: Path
) -> AutoMemory:
    """Read the client's switches; settings that cannot be read are reported and switch nothing.

    The environment (also the ``env`` of the settings) beats ``autoMemoryEnabled``; a stronger
    file beats a weaker one. ``autoMemoryDirectory`` counts from managed and user settings only,
    so that a repository cannot move a person's memories.

    Args:
        environ: of the process.
        layers: strongest first.
        home: what ``~/`` stands for.
    """
    warnings: list[str] = []
    settings = list(setting_objects(layers, warnings))
    on, why = _decide(environ, settings)
    return AutoMemory(on, why, _directory(settings, home, warnings), tuple(warnings))


def _decide(
    environ: Mapping[str, str], settings: Iterable[tuple[Layer, dict[str, Any]]]
) -> tuple[bool, str]:
    sources = [(f"env in {layer.path}", found.get("env")) for layer, found in settings]
    for origin, variables in [*sources, ("the environment", environ)]:
        if not isinstance(variables, Mapping):
            continue
        value = str(variables.get(_DISABLE, "")).strip().lower()
        if value in _TRUE:
            return False, f"{_DISABLE}={value} ({origin})"
        if value in _FALSE:
            return True, f"{_DISABLE}={value} ({origin})"
        value = str(variables.get(_DISABLE_INSTRUCTIONS, "")).strip().lower()
        if value in _TRUE:
            return False, f"{_DISABLE_INSTRUCTIONS}={value} ({origin})"
    for layer, found in settings:
        switch = found.get("autoMemoryEnabled")
        if isinstance(switch, bool):
            return switch, f"autoMemoryEnabled in {layer.path}"
    return True, "on unless it is switched off"


def _directory(
    settings: Iterable[tuple[Layer, dict[str, Any]]], home: Path, warnings: list[str]
) -> str | None:
    for layer, found in settings:
        value = found.get("autoMemoryDirectory")
        if layer.scope not in _MAY_MOVE or not isinstance(value, str) or not value.strip():
            continue
        path = home / value[2:] if value.startswith("~/") else Path(value)
        if path.is_absolute() and ".." not in path.parts:
            return str(path)
        warnings.append(f"autoMemoryDirectory in {layer.path} is no absolute path: ignored")
    return None


def setting_objects(
    layers: Iterable[Layer], warnings: list[str]
) -> Iterator[tuple[Layer, dict[str, Any]]]:
    """Yield each layer with its settings; what cannot be read is added to ``warnings``."""
    for layer in layers:
        if layer.content is None:
            warnings.append(f"{layer.path} cannot be read: its switches are not known")
            continue
        try:
            found = json.loads(layer.content.decode("utf-8-sig") or "{}")
        except (ValueError, RecursionError):
            warnings.append(f"{layer.path} is not valid JSON: its switches are not known")
            continue
        if isinstance(found, dict):
            yield layer, found
        else:
            warnings.append(f"{layer.path} is not a JSON object: its switches are not known")
