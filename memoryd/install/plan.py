"""What installing and uninstalling will do, worked out before anything is done."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_never

from memoryd.daemon.private import PRIVATE_FILE, private_directory
from memoryd.errors import MemorydError
from memoryd.install.manager import Manager
from memoryd.install.units import SERVICE, UNITS, Standing, Unit, standing, units
from memoryd.paths import Paths

_FILE = 0o644
_DIRECTORY = 0o755
_EDITED = ".edited"
_LINGER = (
    "It starts when you log in. To have it run before that and after you log out: "
    "loginctl enable-linger"
)


@dataclass(frozen=True, slots=True)
class Step:
    """Something that will be done.

    Attributes:
        text: for the person, before.
        do: does it; raises ``MemorydError``.
    """

    text: str
    do: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Background:
    """The service without a manager.

    Attributes:
        running: whether it answers, in the background.
        start: starts it.
        stop: stops it.
    """

    running: Callable[[], bool]
    start: Callable[[], None]
    stop: Callable[[], None]


def program() -> list[str]:
    """Return how this installation's ``memoryd`` is started, absolute."""
    python = os.path.abspath(sys.executable)  # noqa: PTH100 - a link into an environment must stay one
    script = Path(python).parent / "memoryd"
    if os.access(script, os.X_OK):
        return [str(script)]
    return [python, "-m", "memoryd.cli.service"]


def unit_folder(paths: Paths, environ: Mapping[str, str]) -> Path:
    """Return where the user manager looks for a person's own units."""
    base = environ.get("XDG_CONFIG_HOME") or str(paths.home / ".config")
    return Path(base) / "systemd" / "user"


class Plan:
    """Works out steps.

    Args:
        paths: of the instance.
        environ: of the person's shell.
        manager: of the person's services.
        background: the service without it.
    """

    def __init__(
        self, paths: Paths, environ: Mapping[str, str], manager: Manager, background: Background
    ) -> None:
        self._manager = manager
        self._background = background
        self.folder = unit_folder(paths, environ)
        self._units = units(program(), paths, environ)
        self._made = paths.state / "memoryd.installed.json"

    def install(self) -> tuple[list[Step], list[str]]:
        """Return the steps, none if all is installed, and what the person should know.

        Raises:
            MemorydError: a unit of that name was made by somebody else.
        """
        absent = self._manager.why_absent()
        if absent is not None:
            return self._in_background(absent)
        steps = [step for unit in self._units if (step := self._write(unit))]
        changed = bool(steps)
        if changed:
            steps.append(self._systemctl("daemon-reload"))
        if self._background.running() and not self._manager.is_active(SERVICE):
            steps.append(self._stop())
        on = all(map(self._manager.is_enabled, UNITS)) and all(map(self._manager.is_active, UNITS))
        if not on:
            steps.append(self._systemctl("enable", "--now", *UNITS))
        elif changed:
            steps.append(self._systemctl("restart", *UNITS))
        return steps, [_LINGER]

    def uninstall(self) -> tuple[list[Step], list[str]]:
        """Return the steps that take back what was installed, and what the person should know."""
        steps: list[Step] = []
        notes: list[str] = []
        there = {
            unit.name: state
            for unit in self._units
            if (state := self._standing(unit)) is not Standing.ABSENT
        }
        notes += [
            f"{self.folder / name} was not written by memoryctl install and stays"
            for name, state in there.items()
            if state is Standing.FOREIGN
        ]
        own = [name for name, state in there.items() if state is not Standing.FOREIGN]
        if own:
            if self._manager.why_absent() is None:
                steps.append(self._systemctl("disable", "--now", *own))
            steps += [self._take_away(name, edited=there[name] is Standing.EDITED) for name in own]
            if self._manager.why_absent() is None:
                steps.append(self._systemctl("daemon-reload"))
        elif self._noted().get("background") and self._background.running():
            steps.append(self._stop())
        if self._made.exists():
            steps.append(Step(f"remove {self._made} and the empty folders it names", self._forget))
        return steps, notes

    def _in_background(self, absent: str) -> tuple[list[Step], list[str]]:
        command = " ".join([*program(), "start"])
        notes = [
            f"systemd's user manager cannot be used ({absent}): it runs in the background instead.",
            f"To start it when you log in, add this line to ~/.profile:\n    {command}",
        ]
        if self._background.running():
            return [], notes

        def do() -> None:
            self._note("background", value=True)
            self._background.start()

        return [Step(f"start it in the background: {command}", do)], notes

    def _stop(self) -> Step:
        return Step("stop the memoryd that runs in the background", self._background.stop)

    def _standing(self, unit: Unit) -> Standing:
        try:
            found = (self.folder / unit.name).read_bytes()
        except FileNotFoundError:
            found = None
        except OSError as error:
            raise MemorydError(
                f"{self.folder / unit.name} cannot be read: {error.strerror}"
            ) from error
        return standing(unit, found)

    def _write(self, unit: Unit) -> Step | None:
        path = self.folder / unit.name
        state = self._standing(unit)
        match state:
            case Standing.SAME:
                return None
            case Standing.FOREIGN:
                raise MemorydError(
                    f"{path} was not written by memoryctl install",
                    hint="move it away, or leave out the service with --no-service",
                )
            case Standing.EDITED:
                said = f"write {path}; yours, which was edited, is kept as {path.name}{_EDITED}"
            case Standing.OLDER:
                said = f"write {path} anew"
            case Standing.ABSENT:
                said = f"write {path}"
            case _:
                assert_never(state)

        def do() -> None:
            edited = self._standing(unit) is Standing.EDITED
            try:
                self._make_folder()
                if edited:
                    path.replace(path.with_name(path.name + _EDITED))
                temporary = path.with_name(f".{path.name}.new")
                temporary.write_text(unit.text, encoding="utf-8")
                temporary.chmod(_FILE)
                temporary.replace(path)
            except OSError as error:
                raise MemorydError(f"{path} cannot be written: {error.strerror}") from error

        return Step(said, do)

    def _take_away(self, name: str, *, edited: bool) -> Step:
        path = self.folder / name
        if edited:
            kept = path.with_name(name + _EDITED)
            return Step(f"move {path}, which was edited, to {kept.name}", lambda: _move(path, kept))
        return Step(f"remove {path}", lambda: path.unlink(missing_ok=True))

    def _make_folder(self) -> None:
        missing = [
            str(folder) for folder in (self.folder, *self.folder.parents) if not folder.exists()
        ]
        if missing:
            self.folder.mkdir(mode=_DIRECTORY, parents=True)
            self._note("folders", value=missing)

    def _noted(self) -> dict[str, Any]:
        """Return what was made besides units; a note that cannot be read takes nothing back."""
        try:
            found = json.loads(self._made.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _note(self, name: str, *, value: object) -> None:
        private_directory(self._made.parent)
        self._made.write_text(json.dumps({**self._noted(), name: value}), encoding="utf-8")
        self._made.chmod(PRIVATE_FILE)

    def _forget(self) -> None:
        for folder in self._noted().get("folders", []):
            try:
                Path(folder).rmdir()
            except OSError:
                break  # Something else is in it by now.
        self._made.unlink(missing_ok=True)

    def _systemctl(self, *arguments: str) -> Step:
        text = f"systemctl --user {' '.join(arguments)}"
        return Step(text, lambda: self._manager.change(*arguments))


def _move(path: Path, to: Path) -> None:
    path.replace(to)
