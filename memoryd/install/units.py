"""The units for systemd's user manager, made for one installation; nothing is written here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from pathlib import Path

from memoryd.memory.location import shared_directory
from memoryd.paths import Paths

SOCKET = "memoryd.socket"
SERVICE = "memoryd.service"
UNITS = (SOCKET, SERVICE)

# The manager does not have the variables of a shell; without these it would serve another place.
_CARRIED = (
    "CLAUDE_CONFIG_DIR",
    "MEMORYD_CONFIG",
    "MEMORYD_RUNTIME_DIR",
    "MEMORYD_STATE_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
)
_MARK = re.compile(r"\A# Written by memoryctl install, sha256 ([0-9a-f]{64})\n")


class Standing(StrEnum):
    """What became of a unit file that was to be installed."""

    ABSENT = "absent"
    """There is none."""
    SAME = "same"
    """It is what would be installed now."""
    OLDER = "older"
    """It was installed, but today's differs: another version, place or environment."""
    EDITED = "edited"
    """It was installed and changed by somebody since."""
    FOREIGN = "foreign"
    """Somebody else made it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit file.

    Attributes:
        name: of the file.
        text: its contents, with a first line that tells its own digest.
    """

    name: str
    text: str


def units(command: list[str], paths: Paths, environ: Mapping[str, str]) -> list[Unit]:
    """Return the units of this installation.

    Args:
        command: how the program is started, absolute; ``start`` is appended.
        paths: of the instance.
        environ: of the person's shell; variables that say where things are go into the unit.
    """
    return [Unit(name, _marked(_made(name, command, paths, environ))) for name in UNITS]


def standing(unit: Unit, found: bytes | None) -> Standing:
    """Say what became of a unit file.

    Args:
        unit: as it would be installed now.
        found: the bytes of the file, ``None`` if there is none.
    """
    if found is None:
        return Standing.ABSENT
    if found == unit.text.encode():
        return Standing.SAME
    text = found.decode(errors="replace")
    mark = _MARK.match(text)
    if mark is None:
        return Standing.FOREIGN
    return Standing.OLDER if mark[1] == _digest(text[mark.end() :]) else Standing.EDITED


def _made(name: str, command: list[str], paths: Paths, environ: Mapping[str, str]) -> str:
    packaged = resources.files("memoryd").joinpath("systemd", name).read_text(encoding="utf-8")
    runtime = environ.get("XDG_RUNTIME_DIR")
    elsewhere = not runtime or paths.runtime != Path(runtime) / "memoryd"
    lines = []
    for line in packaged.splitlines():
        key = line.partition("=")[0]
        if key == "ExecStart":
            words = " ".join(_quoted(word, command=True) for word in [*command, "start"])
            lines.append(f"ExecStart={words}")
            lines += [
                f"Environment={_quoted(f'{variable}={environ[variable]}')}"
                for variable in _CARRIED
                if environ.get(variable)
            ]
        elif key == "ListenStream" and elsewhere:
            lines.append(f"ListenStream={_literal(str(paths.socket))}")
        elif key == "ReadWritePaths":
            shared = shared_directory(environ, paths.config, paths.home)
            own = (paths.config, paths.state, paths.runtime, shared)
            more = [f"-{place}" for place in own if place is not None and place.is_absolute()]
            lines.append(" ".join([line, *(_quoted(place) for place in more)]))
        else:
            lines.append(line)
    return "\n".join([*lines, ""])


def _literal(text: str) -> str:
    """Let the manager take a text as it is: ``%`` begins a specifier."""
    return text.replace("%", "%%")


def _quoted(text: str, *, command: bool = False) -> str:
    """Return a word as a unit file writes it."""
    text = _literal(text).replace("$", "$$") if command else _literal(text)
    if re.fullmatch(r"[A-Za-z0-9_@%+=:,./$-]+", text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _marked(text: str) -> str:
    return f"# Written by memoryctl install, sha256 {_digest(text)}\n{text}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
