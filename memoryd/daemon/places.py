"""Which projects a request means."""

from __future__ import annotations

from pathlib import Path

from memoryd.clock import Clock
from memoryd.daemon.params import Params
from memoryd.db.engine import Database
from memoryd.ingest.classify import is_utf8
from memoryd.projects import resolve
from memoryd.stores.overview import list_projects
from memoryd.stores.projects import find_project, project_for, root_of


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
        """Return the root of the project that ``project`` or ``cwd`` names.

        Asking about a directory does not make it a project.
        """
        return self.of(self._directory(params))

    def of(self, directory: str) -> str:
        """Return the root of the project of an absolute directory."""
        there = resolve(directory) if is_utf8(directory) else None
        if there is not None:  # The database knows more only about what is gone.
            return there.path
        with self._database.read() as connection:
            return root_of(connection, directory)

    def made(self, params: Params) -> str:
        """Return the root, of a project that is remembered from now on if it was not."""
        directory = self._directory(params)
        with self._database.read() as connection:
            known = find_project(connection, directory)
        if known is not None:
            return known.root
        with self._database.write() as connection:
            return project_for(connection, directory, now=self._clock.now()).root

    def filter(self, params: Params) -> str | None:
        """Return the root of the project to narrow to, ``None`` for all."""
        return None if params.directory("project", "cwd") is None else self.root(params)

    def roots(self, params: Params) -> list[str]:
        """Return the root that is meant, or those of all projects with ``all_projects``."""
        if not params.flag("all_projects"):
            return [self.root(params)]
        with self._database.read() as connection:
            return [project.root for project in list_projects(connection)]

    def _directory(self, params: Params) -> str:
        return str(params.directory("project", "cwd") or self._default)
