"""The units for systemd's user manager, made for one installation; nothing is written here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from memoryd.install.written import Written, marked
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


def units(command: list[str], paths: Paths, environ: Mapping[str, str]) -> list[Written]:
    """Return the units of this installation.

    Args:
        command: how the program is started, absolute; ``start`` is appended.
        paths: of the instance.
        environ: of the person's shell; variables that say where things are go into the unit.
    """
    return [marked(name, _made(name, command, paths, environ)) for name in UNITS]


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
