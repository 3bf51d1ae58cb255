"""The MCP server in the client, entered and removed with the client's own command.

The client rewrites its file (``.claude.json``) whenever it likes, so that nobody else may write
it. It is read here: the command that would show a server also starts it, and writes that file.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any, assert_never

from memoryd.errors import MemorydError
from memoryd.install.hooks import CARRIED
from memoryd.install.made import Made
from memoryd.install.step import Step, Steps
from memoryd.paths import Paths

NAME = "memoryd"
SECTION = "mcp"

_CLIENT = "claude"
_SECONDS = 60.0
_MOST = 64 << 20
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "MEMORYD_CHILD": "1",
}


class Registered(StrEnum):
    """What the client knows under memoryd's name."""

    ABSENT = "absent"
    """Nothing."""
    SAME = "same"
    """What would be entered now."""
    OLDER = "older"
    """memoryd of another place or environment."""
    FOREIGN = "foreign"
    """Some other server."""


@dataclass(frozen=True, slots=True)
class Server:
    """How the client starts the server.

    Attributes:
        command: absolute.
        arguments: of the command.
        variables: that it gets besides the client's own.
    """

    command: str
    arguments: tuple[str, ...]
    variables: Mapping[str, str]


def server(control: str, environ: Mapping[str, str]) -> Server:
    """Return the server of this installation.

    Args:
        control: the path of ``memoryctl``.
        environ: of the person's shell.
    """
    variables = {
        name: os.path.abspath(environ[name])  # noqa: PTH100 - a link into an environment must stay one
        for name in CARRIED
        if environ.get(name)
    }
    return Server(control, (SECTION,), variables)


def registered(
    paths: Paths, environ: Mapping[str, str], root: str | None, own: Server
) -> Registered:
    """Look up what the client knows.

    Args:
        paths: of the instance.
        environ: of the person's shell.
        root: of the project for whose person it is entered; ``None``: for all projects.
        own: the server of this installation.

    Raises:
        MemorydError: the client's file cannot be read.
    """
    folder = paths.config if environ.get("CLAUDE_CONFIG_DIR") else paths.home
    found = _read(folder / ".claude.json")
    if root is not None:
        found = _object(_object(found, "projects"), root)
    entry = _object(found, "mcpServers").get(NAME)
    if entry is None:
        return Registered.ABSENT
    if not isinstance(entry, dict):
        return Registered.FOREIGN
    command, arguments = entry.get("command"), entry.get("args")
    variables = entry.get("env") or {}
    if isinstance(command, str) and os.sep not in command:  # As a person enters it by hand.
        command = _looked_up(command, own.command, environ)
    if (command, arguments) == (own.command, list(own.arguments)) and variables == own.variables:
        return Registered.SAME
    ours = Path(str(command)).name == Path(own.command).name and arguments == list(own.arguments)
    return Registered.OLDER if ours else Registered.FOREIGN


def _looked_up(name: str, control: str, environ: Mapping[str, str]) -> str:
    """Return ``control`` if a shell finds it by this name, else the name."""
    found = shutil.which(name, path=environ.get("PATH"))
    own = Path(control)
    return control if found and own.exists() and own.samefile(found) else name


def why_unusable(control: str) -> str | None:
    """Return what is missing for the server to run, ``None`` if nothing is."""
    if find_spec("mcp") is None:
        return "the MCP server needs the extra: pip install 'memoryd[mcp]'"
    if not os.access(control, os.X_OK):
        return f"the MCP server needs {control}, which is not there"
    return None


class Registration:
    """Plans what enters and removes the server.

    Args:
        paths: of the instance.
        environ: of the person's shell.
        control: the path of ``memoryctl``.
        made: the note of what was made.
    """

    def __init__(self, paths: Paths, environ: Mapping[str, str], control: str, made: Made) -> None:
        self._paths = paths
        self._environ = environ
        self._control = control
        self._server = server(control, environ)
        self._made = made

    def noted(self) -> list[str | None]:
        """Return for which projects it was entered; ``None``: for all."""
        return [name or None for name in self._made.entries(SECTION)]

    def install(self, root: str | None) -> Steps:
        """Return the step that enters the server, or a note why there is none.

        Args:
            root: of the project for whose person it is entered; ``None``: for all projects.
        """
        missing = why_unusable(self._control)
        if missing is not None:
            return Steps(notes=[f"{missing}; then run this again"])
        state = registered(self._paths, self._environ, root, self._server)
        match state:
            case Registered.SAME:
                return Steps()
            case Registered.FOREIGN:
                text = f"the client has another MCP server called {NAME}, which stays; see:"
                return Steps(notes=[f"{text} claude mcp get {NAME}"])
            case Registered.ABSENT:
                before: list[list[str]] = []
            case Registered.OLDER:
                before = [self._remove(root)]
            case _:
                assert_never(state)
        commands = [*before, self._add(root)]
        if shutil.which(_CLIENT, path=self._environ.get("PATH")) is None:
            return Steps(notes=[_told("enter the MCP server", root, commands)])

        def do() -> None:
            self._made.note(SECTION, root or "", value=True)
            for command in commands:
                self._run(command, root)

        return Steps([Step(_shown(root, commands), do)])

    def uninstall(self, root: str | None) -> Steps:
        """Return the step that removes the server."""
        noted = (root or "") in self._made.entries(SECTION)
        state = registered(self._paths, self._environ, root, self._server)
        forget = Step(
            "forget the MCP server, which is not there any more",
            lambda: self._made.forget(SECTION, root or ""),
        )
        if state in {Registered.ABSENT, Registered.FOREIGN}:
            return Steps([forget] if noted else [])
        command = self._remove(root)
        if shutil.which(_CLIENT, path=self._environ.get("PATH")) is None:
            return Steps(notes=[_told("remove the MCP server", root, [command])])
        if root is not None and not Path(root).is_dir():
            return Steps([forget])

        def do() -> None:
            self._run(command, root)
            self._made.forget(SECTION, root or "")

        return Steps([Step(_shown(root, [command]), do)])

    def _add(self, root: str | None) -> list[str]:
        variables = [
            word
            for name, value in self._server.variables.items()
            for word in ("-e", f"{name}={value}")
        ]
        run = ["--", self._server.command, *self._server.arguments]
        return [_CLIENT, "mcp", "add", "--scope", _scope(root), NAME, *variables, *run]

    def _remove(self, root: str | None) -> list[str]:
        return [_CLIENT, "mcp", "remove", "--scope", _scope(root), NAME]

    def _run(self, command: list[str], root: str | None) -> None:
        shown = shlex.join(command)
        try:
            done = subprocess.run(
                command,
                env={**self._environ, **_QUIET},
                cwd=root or self._paths.home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MemorydError(f"{shown} failed ({type(error).__name__})") from error
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise MemorydError(
                f"{shown} failed: {said[-1] if said else f'exit {done.returncode}'}",
                hint="run that yourself",
            )


def _scope(root: str | None) -> str:
    return "user" if root is None else "local"


def _shown(root: str | None, commands: list[list[str]]) -> str:
    run = " && ".join(map(shlex.join, commands))
    return run if root is None else f"in {root}: {run}"


def _told(what: str, root: str | None, commands: list[list[str]]) -> str:
    return f"{_CLIENT} is not found on PATH. To {what} yourself:\n    {_shown(root, commands)}"


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(_MOST).decode("utf-8-sig") or "{}")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise MemorydError(
            f"{path} cannot be read ({type(error).__name__}): it is not known which MCP servers"
            " the client has",
            hint="start the client once; it mends or reports that",
        ) from error
    return found if isinstance(found, dict) else {}


def _object(of: dict[str, Any], key: str) -> dict[str, Any]:
    found = of.get(key)
    return found if isinstance(found, dict) else {}
