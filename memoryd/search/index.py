"""The full-text index: one SQLite file that may be deleted at any time and is rebuilt.

It stores what it is given: whoever adds entries has taken secrets and private passages out of them.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal, assert_never

from memoryd.clock import Clock
from memoryd.search.snippet import snippet
from memoryd.search.tokens import indexable, is_single_cjk, query_words, stem

Role = Literal["human", "assistant"]

_FORMAT = 1
_APPLICATION = 0x6D656D64  # "memd"
_MAX_WORDS = 64
_CANDIDATES = 5  # times the limit: bm25 picks them, the bonuses put them in order

_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    indexed_to INTEGER NOT NULL
);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    source INTEGER NOT NULL REFERENCES sources (id),
    start INTEGER NOT NULL,
    session TEXT NOT NULL,
    project TEXT NOT NULL,
    at REAL NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('human', 'assistant')),
    text TEXT NOT NULL
);
CREATE INDEX entries_source ON entries (source, start);
CREATE INDEX entries_project ON entries (project);
-- Without content of its own: a text with CJK script is indexed in another form than it is kept.
CREATE VIRTUAL TABLE words USING fts5 (
    text, content='', tokenize='porter unicode61 remove_diacritics 2'
);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_FORMAT};
COMMIT;
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that was said.

    Attributes:
        file: path of the transcript.
        start: where its record begins, bytes from the start of the file.
        session: id of the session.
        project: root directory of the project.
        uuid: of the record; the first entry with a uuid stays, copies in forks are not indexed.
        at: seconds since 1970 UTC.
        role: who said it.
        text: what was said, without secrets and private passages.
    """

    file: str
    start: int
    session: str
    project: str
    uuid: str
    at: float
    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that matches a query.

    Attributes:
        session: id of the session.
        project: root directory of the project.
        uuid: of the transcript record.
        timestamp: seconds since 1970 UTC.
        role: who said it.
        snippet: about 200 characters around the matches, on one line.
        score: higher is better; comparable within one answer only.
    """

    session: str
    project: str
    uuid: str
    timestamp: float
    role: str
    snippet: str
    score: float


class TextIndex:
    """Everything said by people and models, by its words.

    One thread may write while others search: each call borrows a connection of its own, and a
    search sees whole batches only.

    Args:
        path: of the index file; its directory exists.
        clock: names the file that a damaged index is moved to.

    Attributes:
        rebuilt: the file was missing, damaged, foreign or of another version: it is empty now,
            and every transcript is to be read again.
    """

    def __init__(self, path: Path, *, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._pool = threading.Lock()
        self._writing = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self.rebuilt = self._open()

    def indexed_to(self, file: str) -> int:
        """Return up to which byte ``file`` was read, 0 if it is not known."""
        rows = self._rows("SELECT indexed_to FROM sources WHERE path = ?", (file,))
        return int(rows[0][0]) if rows else 0

    def positions(self) -> dict[str, int]:
        """Return for each known file up to which byte it was read."""
        return dict(self._rows("SELECT path, indexed_to FROM sources"))

    def count(self) -> int:
        """Return the number of entries."""
        return int(self._rows("SELECT count(*) FROM entries")[0][0])

    def add_batch(self, entries: Sequence[Entry], positions: Mapping[str, int]) -> None:
        """Add entries and move the positions of files, all or nothing.

        Entries whose uuid is there already are ignored.
        """
        with self._transaction() as database:
            sources = {
                file: _source(database, file)
                for file in {entry.file for entry in entries} | set(positions)
            }
            for entry in entries:
                added = database.execute(
                    "INSERT INTO entries (uuid, source, start, session, project, at, role, text)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (uuid) DO NOTHING",
                    (
                        entry.uuid,
                        sources[entry.file],
                        entry.start,
                        entry.session,
                        entry.project,
                        entry.at,
                        entry.role,
                        _storable(entry.text),
                    ),
                )
                if added.rowcount:
                    database.execute(
                        "INSERT INTO words (rowid, text) VALUES (?, ?)",
                        (added.lastrowid, indexable(_storable(entry.text))),
                    )
            database.executemany(
                "UPDATE sources SET indexed_to = ? WHERE id = ?",
                [(position, sources[file]) for file, position in positions.items()],
            )

    def forget_file(self, file: str) -> None:
        """Remove all entries of ``file`` and its position."""
        with self._transaction() as database:
            _forget(database, file)

    def rename_file(self, old: str, new: str) -> None:
        """Let ``new`` have the entries and the position of ``old``; its own are removed."""
        if old == new:
            return
        with self._transaction() as database:
            if database.execute("SELECT 1 FROM sources WHERE path = ?", (old,)).fetchone():
                _forget(database, new)
                database.execute("UPDATE sources SET path = ? WHERE path = ?", (new, old))

    def reset(self) -> None:
        """Empty the index."""
        with self._transaction() as database:
            database.execute("DELETE FROM entries")
            database.execute("DELETE FROM sources")
            database.execute("INSERT INTO words (words) VALUES ('delete-all')")

    def search(self, query: str, *, project: str | None, limit: int = 20) -> list[Hit]:
        """Return the entries that hold words of ``query``, best first.

        An entry with all words is worth half as much again, one with the words in a row twice as
        much. No character of the query has a special meaning.

        Args:
            query: words in any script; stop words are ignored.
            project: root directory of the project to search in; ``None`` searches all.
            limit: at most so many hits.
        """
        words = query_words(query)[:_MAX_WORDS]
        if not words or limit < 1:
            return []
        # The best are chosen before any text is read; without the plus, SQLite would look up each
        # entry of the project in the table of words.
        wanted = (
            "" if project is None else " AND +rowid IN (SELECT id FROM entries WHERE project = ?)"
        )
        rows = self._rows(
            "SELECT e.session, e.project, e.uuid, e.at, e.role, e.text, best.rank"
            " FROM (SELECT rowid AS id, rank FROM words"
            f" WHERE words MATCH ?{wanted} ORDER BY rank LIMIT ?) AS best"
            " JOIN entries AS e USING (id)",
            (_expression(words), *([] if project is None else [project]), limit * _CANDIDATES),
        )
        ranked = [(-row[6] * _bonus(row[5], words), row) for row in rows]
        ranked.sort(key=lambda hit: (-hit[0], -hit[1][3]))
        return [
            Hit(session, root, uuid, at, role, snippet(text, words), round(score, 3))
            for score, (session, root, uuid, at, role, text, _) in ranked[:limit]
        ]

    def close(self) -> None:
        """Close the file. The index must not be used any more."""
        with self._pool:
            while self._idle:
                self._idle.pop().close()

    def release(self) -> None:
        """Give back the pages that idle connections hold: up to 2 MiB each after much writing."""
        with self._pool:
            for database in self._idle:
                database.execute("PRAGMA shrink_memory")

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._pool:
            database = self._idle.pop() if self._idle else None
        if database is None:
            database = _connect(self._path)
        try:
            yield database
        except BaseException:
            database.close()
            raise
        with self._pool:
            self._idle.append(database)

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._connection() as database:
            return database.execute(sql, parameters).fetchall()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing, self._connection() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")

    def _open(self) -> bool:
        """Make sure that there is an index; say whether it is a new one."""
        state = _state(self._path)
        match state:
            case _State.SOUND:
                return False
            case _State.OTHER_VERSION:
                _remove(self._path)
            case _State.UNREADABLE:
                aside = self._path.with_name(f"{self._path.name}.damaged-{self._clock.now():.0f}")
                self._path.replace(aside)
                _remove(self._path)
            case _State.MISSING:
                _remove(self._path)
            case _:
                assert_never(state)
        # SQLite gives its side files the mode of the main file.
        os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with self._connection() as database:
            database.executescript(_SCHEMA)
        return True


class _State(Enum):
    SOUND = "ours, of this version"
    MISSING = "no file, or an empty one"
    OTHER_VERSION = "ours, of an older or newer version"
    UNREADABLE = "damaged, or not ours"


def _state(path: Path) -> _State:
    if not path.exists() or not path.stat().st_size:
        return _State.MISSING
    try:
        with contextlib.closing(_connect(path)) as database:
            application = database.execute("PRAGMA application_id").fetchone()[0]
            version = database.execute("PRAGMA user_version").fetchone()[0]
            if application != _APPLICATION:
                return _State.UNREADABLE
            if version != _FORMAT:
                return _State.OTHER_VERSION
            database.execute("SELECT e.text FROM entries AS e, sources LIMIT 1").fetchall()
            database.execute("SELECT rowid FROM words WHERE words MATCH 'a' LIMIT 1").fetchall()
    except sqlite3.DatabaseError:
        return _State.UNREADABLE
    return _State.SOUND


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    # One thread at a time uses a connection: it is lent from the pool.
    database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        # A power cut may lose the last batches, entries and positions together, but never leaves
        # a damaged file as OFF could: what is lost is read again from the transcripts.
        database.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        database.close()
        raise
    return database


def _source(database: sqlite3.Connection, path: str) -> int:
    database.execute(
        "INSERT INTO sources (path, indexed_to) VALUES (?, 0) ON CONFLICT (path) DO NOTHING",
        (path,),
    )
    row = database.execute("SELECT id FROM sources WHERE path = ?", (path,)).fetchone()
    return int(row[0])


def _forget(database: sqlite3.Connection, path: str) -> None:
    row = database.execute("SELECT id FROM sources WHERE path = ?", (path,)).fetchone()
    if row is None:
        return
    old = database.execute("SELECT id, text FROM entries WHERE source = ?", row).fetchall()
    # The table of words keeps no text: it must be told what it indexed.
    database.executemany(
        "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)",
        [(identity, indexable(text)) for identity, text in old],
    )
    database.execute("DELETE FROM entries WHERE source = ?", row)
    database.execute("DELETE FROM sources WHERE id = ?", row)


def _storable(text: str) -> str:
    """Replace lone surrogates, which a JSON string may hold and UTF-8 may not."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _expression(words: Sequence[str]) -> str:
    # Quoted, so that no word is an operator. A single CJK character is the head of some pairs.
    return " OR ".join(f'"{word}"*' if is_single_cjk(word) else f'"{word}"' for word in words)


def _bonus(text: str, words: Sequence[str]) -> float:
    """Return the factor for an entry that has all words, or has them in a row."""
    if len(words) == 1:
        return 1.0
    lowered = indexable(text.lower())
    if not all(stem(word).lower() in lowered for word in words):
        return 1.0
    in_a_row = r"\W+".join(rf"{re.escape(stem(word).lower())}\w*" for word in words)
    return 2.0 if re.search(in_a_row, lowered) else 1.5
