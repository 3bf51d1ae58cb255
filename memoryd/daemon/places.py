"""Which projects a request means."""

from __future__ import annotations

from pathlib import Path

from memoryd.clock import Clock
from memoryd.daemon.params import Params
from memoryd.db.engine import Database
from memoryd.stores.overview import list_projects
from memoryd.stores.projects import Project, find_project, project_for


class Places:
    """Finds projects by the directory that a request names.

    Args:
        database: where projects are remembered.
        clock: the time.
        default: for requests that name no directory: the person's home.
    """

    def __init__(self, database: Database, clock: Clock, default: Path) -> None:
        self._database = database
        self._clock = clock
        self._default = default

    def root(self, params: Params) -> str:
        """Return the root of the project that ``project`` or ``cwd`` names."""
        directory = str(params.directory("project", "cwd") or self._default)
        with self._database.read() as connection:
            known = find_project(connection, directory)
        return known.root if known is not None else self._new(directory).root

    def filter(self, params: Params) -> str | None:
        """Return the root of the project to narrow to, ``None`` for all."""
        return None if params.directory("project", "cwd") is None else self.root(params)

    def roots(self, params: Params) -> list[str]:
        """Return the root that is meant, or those of all projects with ``all_projects``."""
        if not params.flag("all_projects"):
            return [self.root(params)]
        with self._database.read() as connection:
            return [project.root for project in list_projects(connection)]

    def _new(self, directory: str) -> Project:
        with self._database.write() as connection:
            return project_for(connection, directory, now=self._clock.now())
