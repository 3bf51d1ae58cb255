"""What installing and uninstalling will do, worked out before anything is done."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from memoryd.install.completions import Shell
from memoryd.install.hooks import Hooks, hook_command, project_settings, user_settings
from memoryd.install.made import Made
from memoryd.install.manager import Manager
from memoryd.install.registration import Registration
from memoryd.install.service import Background, Service
from memoryd.install.shells import Shells
from memoryd.install.step import Step, Steps
from memoryd.install.written import Written
from memoryd.paths import Paths

_TWICE = (
    "The hooks are in the settings for all projects, too: remove those with"
    " memoryctl uninstall --scope user, or every event is told twice."
)


class Scope(StrEnum):
    """For what the client is told of memoryd."""

    USER = "user"
    """All projects of the person."""
    PROJECT = "project"
    """One project, for this person alone."""


def control() -> str:
    """Return the path of this installation's ``memoryctl``, absolute."""
    python = os.path.abspath(sys.executable)  # noqa: PTH100 - a link into an environment must stay one
    return str(Path(python).parent / "memoryctl")


class Plan:
    """Works out steps.

    Args:
        paths: of the instance.
        environ: of the person's shell.
        manager: of the person's services.
        background: the service without it.
        scripts: completions by shell.
    """

    def __init__(
        self,
        paths: Paths,
        environ: Mapping[str, str],
        manager: Manager,
        background: Background,
        scripts: Mapping[Shell, Written],
    ) -> None:
        self._paths = paths
        self._made = Made(paths.state)
        self._service = Service(paths, environ, manager, background, self._made)
        self._hooks = Hooks(self._made, hook_command(environ))
        self._registration = Registration(paths, environ, control(), self._made)
        self._shells = Shells(paths, environ, scripts, self._made)

    def install(self, root: str | None, *, service: bool) -> Steps:
        """Return the steps, none if all is installed.

        Args:
            root: of the project that the client is told for; ``None``: for all projects.
            service: the service is installed as well.

        Raises:
            MemorydError: something of another is in the way, or cannot be edited.
        """
        steps = Steps()
        if service:
            steps.add(self._service.install())
        steps.add(self._hooks.install(self._settings(root)))
        if root is not None and user_settings(self._paths.config) in self._hooks.noted():
            steps.notes.append(_TWICE)
        steps.add(self._registration.install(root))
        steps.add(self._shells.install())
        return steps

    def uninstall(self, scope: Scope | None, root: str | None, *, service: bool) -> Steps:
        """Return the steps that take back what was installed.

        Args:
            scope: only what the client was told for it; the service and the completions stay
                while it is told something for another. ``None``: everything.
            root: of the project, for that scope.
            service: the service is taken back as well.

        Raises:
            MemorydError: something cannot be edited.
        """
        noted_files, noted_roots = set(self._hooks.noted()), set(self._registration.noted())
        if scope is None:
            files = {user_settings(self._paths.config), *noted_files}
            roots = {None, *noted_roots}
        else:
            files = {self._settings(root)}
            roots = {root}
        steps = Steps()
        for file in sorted(files):
            steps.add(self._hooks.uninstall(file))
        for place in sorted(roots, key=lambda place: place or ""):
            steps.add(self._registration.uninstall(place))
        if noted_files <= files and noted_roots <= roots:
            if service:
                steps.add(self._service.uninstall())
            steps.add(self._shells.uninstall())
        if steps.steps or (scope is None and service and self._made.exists()):
            text = f"remove the folders that were made and are empty; update {self._made.path}"
            steps.steps.append(Step(text, self._made.tidy))
        return steps

    def _settings(self, root: str | None) -> Path:
        return user_settings(self._paths.config) if root is None else project_settings(root)
