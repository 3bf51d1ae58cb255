"""Projects and the working directories seen in them, remembered when they are gone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from memoryd.db.schema import project_paths, projects
from memoryd.projects import Root, RootKind, resolve, slug, worktree_owner


@dataclass(frozen=True, slots=True)
class Project:
    """A project as the database knows it.

    Attributes:
        id: row id; stable.
        root: absolute path of the main git root, or of the directory itself.
        slug: the client's directory name for ``root``; two roots may share one.
        kind: whether the root is a repository or a plain directory.
    """

    id: int
    root: str
    slug: str
    kind: RootKind


def project_for(connection: Connection, cwd: str, *, now: float) -> Project:
    """Return the project of the working directory ``cwd``; see `projects_for`."""
    return projects_for(connection, [cwd], now=now)[cwd]


def projects_for(
    connection: Connection, cwds: Collection[str], *, now: float
) -> dict[str, Project]:
    """Return the project of each working directory; make and remember what is new.

    A directory that exists is looked at again each time. One that is gone belongs where it was
    last seen, else to the nearest repository remembered above it, else it is a project itself.

    Args:
        connection: inside a write.
        cwds: absolute paths; anything else counts as a directory that is gone.
        now: seconds since 1970 UTC.
    """
    names = {cwd: _storable(cwd) for cwd in cwds}
    roots = {name: resolve(name) for name in set(names.values())}
    known = _by_roots(connection, {root.path for root in roots.values() if root is not None})
    missing = {
        root.path: root for root in roots.values() if root is not None and root.path not in known
    }
    known |= _make(connection, list(missing.values()), now)
    found = _of_gone(connection, [name for name, root in roots.items() if root is None], now)
    for name, root in roots.items():
        if root is not None:
            found[name] = _of_kind(connection, known[root.path], root.kind)
    places = {project.root: project.id for project in found.values()}
    places |= {name: project.id for name, project in found.items()}
    _remember(connection, places, now)
    return {cwd: found[name] for cwd, name in names.items()}


def find_project(connection: Connection, cwd: str) -> Project | None:
    """Return the project of ``cwd`` if it is known; writes nothing."""
    cwd = _storable(cwd)
    root = resolve(cwd)
    if root is None:
        return _remembered(connection, [cwd]).get(cwd)
    return by_root(connection, root.path)


def root_of(connection: Connection, cwd: str) -> str:
    """Return the root of the project of ``cwd``, known or not; writes nothing."""
    known = find_project(connection, cwd)
    if known is not None:
        return known.root
    cwd = _storable(cwd)
    root = resolve(cwd)
    return (worktree_owner(cwd) or cwd) if root is None else root.path


def by_root(connection: Connection, root: str) -> Project | None:
    """Return the project with exactly this root."""
    row = connection.execute(select(projects).where(projects.c.root == root)).first()
    return None if row is None else _project(row)


def by_id(connection: Connection, project_id: int) -> Project | None:
    """Return the project of a row id."""
    row = connection.execute(select(projects).where(projects.c.id == project_id)).first()
    return None if row is None else _project(row)


def by_slug(connection: Connection, name: str) -> list[Project]:
    """Return the projects whose root has this client directory name, oldest first."""
    rows = connection.execute(
        select(projects).where(projects.c.slug == name).order_by(projects.c.id)
    )
    return [_project(row) for row in rows]


def all_projects(connection: Connection) -> list[Project]:
    """Return every known project, the one seen last first."""
    rows = connection.execute(
        select(projects).order_by(projects.c.seen_at.desc(), projects.c.id.desc())
    )
    return [_project(row) for row in rows]


def _remembered(connection: Connection, cwds: Collection[str]) -> dict[str, Project]:
    """Return the project of each of these vanished directories that one is remembered for."""
    paths = {path for cwd in cwds for path in _ancestors(cwd)}
    rows = connection.execute(
        select(projects, project_paths.c.path)
        .join(project_paths, project_paths.c.project_id == projects.c.id)
        .where(project_paths.c.path.in_(paths))
    )
    known = {row.path: _project(row) for row in rows}
    found: dict[str, Project] = {}
    for cwd in cwds:
        # A worktree of the client lies inside its repository, also when both are gone.
        own = {cwd, worktree_owner(cwd)}
        for path in _ancestors(cwd):
            project = known.get(path)
            # A plain directory is a project by itself and has no say about those below it.
            if project is not None and (path in own or project.kind is RootKind.GIT):
                found[cwd] = project
                break
    return found


def _ancestors(path: str) -> list[str]:
    parts = path.rstrip("/").split("/")
    return ["/".join(parts[:count]) or "/" for count in range(len(parts), 0, -1)]


def _of_gone(connection: Connection, cwds: Collection[str], now: float) -> dict[str, Project]:
    if not cwds:
        return {}
    found = _remembered(connection, cwds)
    roots = {cwd: worktree_owner(cwd) or cwd for cwd in cwds if cwd not in found}
    known = _by_roots(connection, set(roots.values()))
    new = sorted(set(roots.values()) - known.keys())
    known |= _make(connection, [Root(path, RootKind.DIRECTORY) for path in new], now)
    return found | {cwd: known[path] for cwd, path in roots.items()}


def _of_kind(connection: Connection, project: Project, kind: RootKind) -> Project:
    if project.kind is kind:
        return project
    # ``git init`` in a known directory, or its repository is gone.
    connection.execute(update(projects).where(projects.c.id == project.id).values(kind=kind.value))
    return replace(project, kind=kind)


def _by_roots(connection: Connection, roots: Collection[str]) -> dict[str, Project]:
    rows = connection.execute(select(projects).where(projects.c.root.in_(list(roots))))
    return {row.root: _project(row) for row in rows}


def _make(connection: Connection, roots: Sequence[Root], now: float) -> dict[str, Project]:
    if not roots:
        return {}
    rows = [
        {"root": root.path, "slug": slug(root.path), "kind": root.kind.value, "seen_at": now}
        for root in roots
    ]
    ids = connection.scalars(
        insert(projects).returning(projects.c.id, sort_by_parameter_order=True), rows
    )
    return {
        root.path: Project(row_id, root.path, slug(root.path), root.kind)
        for root, row_id in zip(roots, ids, strict=True)
    }


def _remember(connection: Connection, places: Mapping[str, int], now: float) -> None:
    known = set(
        connection.scalars(select(project_paths.c.path).where(project_paths.c.path.in_(places)))
    )
    rows = [
        {"b_path": path, "b_project_id": project_id, "b_seen_at": now}
        for path, project_id in sorted(places.items())
    ]
    changed = [row for row in rows if row["b_path"] in known]
    if changed:
        connection.execute(_UPDATE_PATH, changed)
    new = [row for row in rows if row["b_path"] not in known]
    if new:
        connection.execute(
            insert(project_paths), [{name[2:]: value for name, value in row.items()} for row in new]
        )
    connection.execute(
        update(projects).where(projects.c.id.in_(set(places.values()))).values(seen_at=now)
    )


_UPDATE_PATH = (
    update(project_paths)
    .where(project_paths.c.path == bindparam("b_path"))
    .values(project_id=bindparam("b_project_id"), seen_at=bindparam("b_seen_at"))
)


def _storable(text: str) -> str:
    """Return ``text`` without what a database refuses: NUL and lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _project(row: Row[tuple[int, str, str, str, float]]) -> Project:
    return Project(row.id, row.root, row.slug, RootKind(row.kind))
