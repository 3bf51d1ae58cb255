"""The journal of memory changes and the tombstones, in the database."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import BindParameter, Row, Text, bindparam, cast, func, insert, select, update

from memoryd.db.engine import Database
from memoryd.db.schema import journal, tombstones
from memoryd.errors import NotFound
from memoryd.extraction.operations import Evidence, Source, Tombstone
from memoryd.memory.journal import Action, Draft, Entry, EntryState, Known

_NAMES_AT_ONCE = 500
_KEPT = 128


class SqlJournal:
    """`memoryd.memory.journal.Journal` on the tables ``journal`` and ``tombstones``.

    Every method that changes something is one transaction of its own, and must not be called inside
    ``database.write()``.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._changes = 0
        self._lately: dict[tuple[str, str], Entry | None] = {}

    def begin(self, drafts: Sequence[Draft]) -> tuple[int, ...]:
        """Keep ``drafts`` as intents, all or none; return their ids in order."""
        return self._insert(drafts, EntryState.INTENT)

    def record(self, drafts: Sequence[Draft]) -> tuple[int, ...]:
        """Keep changes that have already happened, all or none; return their ids in order."""
        return self._insert(drafts, EntryState.DONE)

    def reject(self, draft: Draft) -> int:
        """Keep a change that was refused; ``draft.reason`` says why."""
        return self._insert([draft], EntryState.REJECTED)[0]

    def commit(self, ids: Collection[int]) -> None:
        """Mark intents as done."""
        if not ids:
            return
        with self._database.write() as connection:
            for some in _batches(ids):
                connection.execute(
                    update(journal)
                    .where(journal.c.id.in_(some), journal.c.state == EntryState.INTENT)
                    .values(state=EntryState.DONE)
                )
        self._changed()

    def abort(self, entry: int, reason: str) -> None:
        """Mark an intent as not made; the reason follows the one it was begun with."""
        with self._database.write() as connection:
            connection.execute(
                update(journal)
                .where(journal.c.id == entry, journal.c.state == EntryState.INTENT)
                .values(
                    state=EntryState.ABORTED,
                    reason=func.ltrim(journal.c.reason + f" [not made: {reason}]"),
                )
            )
        self._changed()

    def get(self, entry: int) -> Entry:
        """Return an entry.

        Raises:
            NotFound: there is none of that id.
        """
        with self._database.read() as connection:
            row = connection.execute(select(journal).where(journal.c.id == entry)).one_or_none()
        if row is None:
            raise NotFound(f"there is no change {entry}", hint="memoryctl log lists them")
        return _entry(row)

    def intents(self, directory: str | None = None) -> tuple[Entry, ...]:
        """Return what is not settled, oldest first; of one directory, or of all."""
        query = select(journal).where(journal.c.state == EntryState.INTENT).order_by(journal.c.id)
        if directory is not None:
            query = query.where(journal.c.directory == directory)
        with self._database.read() as connection:
            return tuple(_entry(row) for row in connection.execute(query))

    def known(self, directory: str) -> dict[str, Known]:
        """Return the last known state of every file ever seen in ``directory``, by name."""
        last = _last(directory).subquery()
        query = select(
            journal.c.name, journal.c.id, journal.c.after_mtime_ns, func.length(journal.c.after)
        ).join(last, journal.c.id == last.c.id)
        with self._database.read() as connection:
            return {
                name: Known(number, mtime_ns, size)
                for name, number, mtime_ns, size in connection.execute(query)
            }

    def latest(self, directory: str, names: Collection[str]) -> dict[str, Entry]:
        """Return the last finished entry of each of ``names`` that has one.

        A few answers are kept until the next change: every prompt asks, mostly for the same.
        """
        with self._lock:
            changes = self._changes
            found = {
                name: self._lately[directory, name]
                for name in names
                if (directory, name) in self._lately
            }
        missing = [name for name in names if name not in found]
        if missing:
            read = self._read_latest(directory, missing)
            found |= {name: read.get(name) for name in missing}
            with self._lock:
                if changes == self._changes and len(missing) <= _KEPT:
                    if len(self._lately) + len(missing) > _KEPT:
                        self._lately.clear()
                    self._lately |= {(directory, name): found[name] for name in missing}
        return {name: entry for name, entry in found.items() if entry is not None}

    def _read_latest(self, directory: str, names: Collection[str]) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        with self._database.read() as connection:
            for some in _batches(names):
                rows = connection.execute(_LATEST, {"directory": directory, "names": some})
                found.update({row.name: _entry(row) for row in rows})
        return found

    def _changed(self) -> None:
        with self._lock:
            self._changes += 1
            self._lately.clear()

    def entries(
        self,
        *,
        directory: str | None = None,
        project_root: str | None = None,
        name: str | None = None,
        limit: int = 50,
    ) -> tuple[Entry, ...]:
        """Return entries, newest first, at most ``limit``: of a directory, a project, a memory."""
        query = select(journal).order_by(journal.c.id.desc()).limit(limit)
        for column, value in (
            (journal.c.directory, directory),
            (journal.c.project_root, project_root),
            (journal.c.name, name),
        ):
            if value is not None:
                query = query.where(column == value)
        with self._database.read() as connection:
            return tuple(_entry(row) for row in connection.execute(query))

    def history(self, directory: str, name: str) -> tuple[Entry, ...]:
        """Return all that happened to one memory, oldest first, refusals included."""
        query = (
            select(journal)
            .where(journal.c.directory == directory, journal.c.name == name)
            .order_by(journal.c.id)
        )
        with self._database.read() as connection:
            return tuple(_entry(row) for row in connection.execute(query))

    def origins(self, directory: str) -> dict[str, tuple[str, str]]:
        """Return ``(project root, actor)`` of the last change of each file, by name."""
        last = _last(directory).subquery()
        query = select(journal.c.name, journal.c.project_root, journal.c.actor).join(
            last, journal.c.id == last.c.id
        )
        with self._database.read() as connection:
            return {name: (root, actor) for name, root, actor in connection.execute(query)}

    def has_evidence(self, directory: str, evidence: Evidence) -> bool:
        """Return whether a change was made because of the same words of the same record."""
        quoted = json.dumps(evidence.uuid)
        query = select(journal.c.evidence).where(
            journal.c.directory == directory,
            journal.c.state == EntryState.DONE,
            cast(journal.c.evidence, Text).contains(quoted, autoescape=True),
        )
        same = (evidence.uuid, evidence.sentence)
        with self._database.read() as connection:
            found = connection.execute(query).scalars()
            return any((item["uuid"], item["sentence"]) == same for made in found for item in made)

    def bury(
        self, project_root: str, graves: Iterable[Tombstone], *, entry: int | None = None
    ) -> None:
        """Keep tombstones of a project; one that is there already is not kept twice.

        Args:
            project_root: of the project that must not learn it again.
            graves: what was forgotten.
            entry: the journal entry of the removal.
        """
        present = {(grave.evidence, grave.fingerprint) for grave in self.tombstones(project_root)}
        rows = [
            {
                "project_root": project_root,
                "evidence": grave.evidence,
                "fingerprint": grave.fingerprint,
                "at": grave.at,
                "journal_id": entry,
            }
            for grave in graves
            if (grave.evidence, grave.fingerprint) not in present
        ]
        if rows:
            with self._database.write() as connection:
                connection.execute(insert(tombstones), rows)

    def tombstones(self, project_root: str) -> tuple[Tombstone, ...]:
        """Return what a project must not learn again, oldest first."""
        query = (
            select(tombstones.c.evidence, tombstones.c.fingerprint, tombstones.c.at)
            .where(tombstones.c.project_root == project_root)
            .order_by(tombstones.c.id)
        )
        with self._database.read() as connection:
            return tuple(
                Tombstone(evidence=evidence, fingerprint=fingerprint, at=at)
                for evidence, fingerprint, at in connection.execute(query)
            )

    def _insert(self, drafts: Sequence[Draft], state: EntryState) -> tuple[int, ...]:
        if not drafts:
            return ()
        statement = insert(journal).returning(journal.c.id, sort_by_parameter_order=True)
        rows = [{**_row(draft), "state": state} for draft in drafts]
        with self._database.write() as connection:
            ids = tuple(connection.execute(statement, rows).scalars())
        self._changed()
        return ids


def _last(directory: str | BindParameter[str]) -> Any:
    return (
        select(func.max(journal.c.id).label("id"))
        .where(journal.c.directory == directory, journal.c.state == EntryState.DONE)
        .group_by(journal.c.name)
    )


_LAST_OF = (
    _last(bindparam("directory", type_=Text))
    .where(journal.c.name.in_(bindparam("names", expanding=True)))
    .subquery()
)
_LATEST = select(journal).join(_LAST_OF, journal.c.id == _LAST_OF.c.id)
"""Built once: every prompt asks."""


def _batches(values: Collection[Any]) -> Iterable[tuple[Any, ...]]:
    ordered = sorted(values)
    return (
        tuple(ordered[at : at + _NAMES_AT_ONCE]) for at in range(0, len(ordered), _NAMES_AT_ONCE)
    )


def _row(draft: Draft) -> dict[str, Any]:
    return {
        "group_id": draft.group,
        "at": draft.at,
        "directory": draft.directory,
        "project_root": draft.project_root,
        "name": draft.name,
        "action": draft.action,
        "actor": draft.actor,
        "reason": draft.reason,
        "before": draft.before,
        "before_mtime_ns": draft.before_mtime_ns,
        "after": draft.after,
        "after_mtime_ns": draft.after_mtime_ns,
        "evidence": [
            {
                "session": item.session,
                "uuid": item.uuid,
                "at": item.at,
                "source": item.source.value,
                "sentence": item.sentence,
            }
            for item in draft.evidence
        ],
        "undoes": draft.undoes,
    }


def _entry(row: Row[Any]) -> Entry:
    return Entry(
        id=row.id,
        state=EntryState(row.state),
        group=row.group_id,
        at=row.at,
        directory=row.directory,
        project_root=row.project_root,
        name=row.name,
        action=Action(row.action),
        actor=row.actor,
        reason=row.reason,
        before=row.before,
        before_mtime_ns=row.before_mtime_ns,
        after=row.after,
        after_mtime_ns=row.after_mtime_ns,
        evidence=tuple(
            Evidence(
                session=item["session"],
                uuid=item["uuid"],
                at=item["at"],
                source=Source(item["source"]),
                sentence=item["sentence"],
            )
            for item in row.evidence
        ),
        undoes=row.undoes,
    )
