"""The service: its units or, without a manager of services, a process in the background."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from memoryd.install.made import Made
from memoryd.install.manager import Manager
from memoryd.install.placing import look, put, take_away
from memoryd.install.step import Step, Steps
from memoryd.install.units import SERVICE, UNITS, units
from memoryd.install.written import Standing, Written
from memoryd.paths import Paths

_SECTION = "service"
_BACKGROUND = "background"
_LINGER = (
    "It starts when you log in. To have it run before that and after you log out: "
    "loginctl enable-linger"
)
_HINT = "move it away, or leave out the service with --no-service"


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
    return [python, "-P", "-m", "memoryd.cli.service"]


def start_line() -> str:
    """Return the line that starts it at login where there is no manager of services."""
    return " ".join([*program(), "start"])


def unit_folder(paths: Paths, environ: Mapping[str, str]) -> Path:
    """Return where the user manager looks for a person's own units."""
    base = environ.get("XDG_CONFIG_HOME") or str(paths.home / ".config")
    return Path(base) / "systemd" / "user"


class Service:
    """Plans what makes the service start by itself.

    Args:
        paths: of the instance.
        environ: of the person's shell.
        manager: of the person's services.
        background: the service without it.
        made: the note of what was made.
    """

    def __init__(
        self,
        paths: Paths,
        environ: Mapping[str, str],
        manager: Manager,
        background: Background,
        made: Made,
    ) -> None:
        self._manager = manager
        self._background = background
        self._folder = unit_folder(paths, environ)
        self._units = units(program(), paths, environ)
        self._made = made

    def install(self) -> Steps:
        """Return the steps, none if all is installed.

        Raises:
            MemorydError: a unit of that name was made by somebody else.
        """
        absent = self._manager.why_absent()
        if absent is not None:
            return self._in_background(absent)
        steps = [step for unit in self._units if (step := self._put(unit))]
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
        return Steps(steps, [_LINGER])

    def uninstall(self) -> Steps:
        """Return the steps that take back what was installed."""
        done = Steps()
        own: list[Written] = []
        for unit in self._units:
            state = look(self._folder, unit)
            if state is Standing.FOREIGN:
                path = self._folder / unit.name
                done.notes.append(f"{path} was not written by memoryctl install and stays")
            elif state is not Standing.ABSENT:
                own.append(unit)
        if own:
            managed = self._manager.why_absent() is None
            if managed:
                done.steps.append(self._systemctl("disable", "--now", *(one.name for one in own)))
            done.steps += [take_away(self._folder, unit, self._made) for unit in own]
            if managed:
                done.steps.append(self._systemctl("daemon-reload"))
        elif _BACKGROUND in self._made.entries(_SECTION):
            if self._background.running():
                done.steps.append(self._stop())
            forgotten = "forget that it was started in the background"
            done.steps.append(Step(forgotten, lambda: self._made.forget(_SECTION, _BACKGROUND)))
        return done

    def _put(self, unit: Written) -> Step | None:
        return put(self._folder, unit, self._made, _HINT)

    def _in_background(self, absent: str) -> Steps:
        notes = [
            f"systemd's user manager cannot be used ({absent}): it runs in the background instead.",
            f"To start it when you log in, add this line to ~/.profile:\n    {start_line()}",
        ]
        if self._background.running():
            return Steps(notes=notes)

        def do() -> None:
            self._made.note(_SECTION, _BACKGROUND, value=True)
            self._background.start()

        return Steps([Step(f"start it in the background: {start_line()}", do)], notes)

    def _stop(self) -> Step:
        return Step("stop the memoryd that runs in the background", self._background.stop)

    def _systemctl(self, *arguments: str) -> Step:
        text = f"systemctl --user {' '.join(arguments)}"
        return Step(text, lambda: self._manager.change(*arguments))
