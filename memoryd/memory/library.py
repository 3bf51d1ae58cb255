"""The memory directories of all projects: which one belongs to a root, and may it be written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

from memoryd.clock import Clock
from memoryd.memory.journal import Journal
from memoryd.memory.location import AutoMemory, auto_memory_state, memory_directory, read_layers
from memoryd.memory.store import MemoryStore


class MemoryLibrary:
    """Opens the memory of a project.

    Args:
        config: the client's directory.
        home: what ``~/`` stands for.
        managed: the administrator's settings of the client, or ``None``.
        environ: of the process; the client's switches may be set there.
        always: write also where the client's auto-memory is off (setting ``memory.always``).
        journal: where changes are kept.
        clock: the time.
        rng: names of groups and temporary files.
    """

    def __init__(
        self,
        *,
        config: Path,
        home: Path,
        managed: Path | None,
        environ: Mapping[str, str],
        always: bool,
        journal: Journal,
        clock: Clock,
        rng: Random,
    ) -> None:
        self._config = config
        self._home = home
        self._managed = managed
        self._environ = dict(environ)
        self._always = always
        self._journal = journal
        self._clock = clock
        self._rng = rng

    def switch(self, root: str, environ: Mapping[str, str] | None = None) -> AutoMemory:
        """Return what the client's switches say for a project, read now.

        Args:
            root: of the project.
            environ: of one client, where that is known; it goes before the service's own.
        """
        layers = read_layers(self._config, Path(root), self._managed)
        return auto_memory_state({**self._environ, **(environ or {})}, layers, home=self._home)

    def may_write(self, root: str, environ: Mapping[str, str] | None = None) -> AutoMemory | None:
        """Return ``None`` where memories may be written, else the switch that forbids it.

        For one client, whose environment is given as to `switch`: whether it may be given them.
        """
        state = self.switch(root, environ)
        return None if state.on or self._always else state

    def shares(self, path: str) -> bool:
        """Tell whether a path is one of a memory in a directory that serves all projects."""
        if not path.endswith(".md"):
            return False
        layers = read_layers(self._config, None, self._managed)
        folder = auto_memory_state(self._environ, layers, home=self._home).directory
        return folder is not None and path.startswith(f"{folder}/")

    def store(self, root: str) -> MemoryStore:
        """Return the memory of the project at ``root``."""
        return MemoryStore(
            memory_directory(self._config, root, auto_memory_directory=self.switch(root).directory),
            project_root=root,
            journal=self._journal,
            clock=self._clock,
            rng=self._rng,
        )
