"""The tables of ``memoryd.db`` (or PostgreSQL), with the invariants that the database holds.

Migrations build exactly this; ``tests/integration/test_migrations.py`` compares the two. Instants
are seconds since 1970 UTC, positions are bytes in a file. No column holds what was said, except
``journal`` (memory files before and after a change, and the redacted sentence that caused it).
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    event,
    text,
)
from sqlalchemy.engine import Connection

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

WHERE = "where"
"""In an index's ``info``: the condition of the rows it covers."""


@event.listens_for(metadata, "before_create")
def _cover_some_rows(_: MetaData, connection: Connection, **_options: object) -> None:
    """Give the conditions of indexes to the dialect that creates them.

    ``Index(postgresql_where=...)`` would load that dialect into every service: 2 MiB.
    """
    for table in metadata.tables.values():
        for index in table.indexes:
            if WHERE in index.info:
                options = index.dialect_options[connection.dialect.name]
                options["where"] = text(index.info[WHERE])


# SQLite gives rowid semantics only to INTEGER PRIMARY KEY; PostgreSQL gets 64 bits.
Id = BigInteger().with_variant(Integer, "sqlite")

meta = Table(
    "meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", JSON, nullable=False),
    comment="Single facts: the instant of the first start, the last run of each periodic job.",
)

projects = Table(
    "projects",
    metadata,
    Column("id", Id, primary_key=True),
    Column("root", Text, nullable=False, unique=True),
    Column("slug", Text, nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("seen_at", Float, nullable=False),
    CheckConstraint("kind IN ('git', 'directory')", name="kind"),
)

project_paths = Table(
    "project_paths",
    metadata,
    Column("path", Text, primary_key=True),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    Column("seen_at", Float, nullable=False),
    comment="Working directories seen, kept after a worktree or repository is gone.",
)

files = Table(
    "files",
    metadata,
    Column("id", Id, primary_key=True),
    Column("path", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("session_id", Text, index=True),
    Column("device", BigInteger, nullable=False),
    Column("inode", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("offset", BigInteger, nullable=False),
    Column("head_length", Integer, nullable=False, server_default="0"),
    Column("head_hash", LargeBinary),
    Column("baseline_to", BigInteger, nullable=False, server_default="0"),
    Column("state", LargeBinary),
    Column("records", BigInteger, nullable=False, server_default="0"),
    Column("skipped", BigInteger, nullable=False, server_default="0"),
    Column("oversize", BigInteger, nullable=False, server_default="0"),
    Column("pending_since", Float),
    Column("missing_since", Float),
    CheckConstraint("kind IN ('unknown', 'session', 'subagent', 'foreign')", name="kind"),
    CheckConstraint('"offset" >= 0 AND baseline_to >= 0', name="positions"),
    Index("ix_files_inode", "device", "inode"),
    comment="One cursor per transcript file: everything before offset is handled once.",
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("file_id", ForeignKey("files.id"), nullable=False),
    Column("project_id", ForeignKey("projects.id"), index=True),
    Column("title", Text, nullable=False, server_default=""),
    Column("started", Float),
    Column("last", Float, index=True),
    Column("turns", Integer, nullable=False, server_default="0"),
    Column("headless", Boolean, nullable=False, server_default=text("false")),
    Column("context_tokens", BigInteger, nullable=False, server_default="0"),
    Column("conversation_tokens", BigInteger, nullable=False, server_default="0"),
    Column("aliases", JSON, nullable=False),
    Column("state", Text, nullable=False, server_default="present"),
    CheckConstraint("state IN ('present', 'gone')", name="state"),
)

turns = Table(
    "turns",
    metadata,
    Column("id", Id, primary_key=True),
    Column("file_id", ForeignKey("files.id"), nullable=False),
    Column("session_id", Text, nullable=False),
    Column("project_id", ForeignKey("projects.id"), nullable=False),
    Column("uuid", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("start", BigInteger, nullable=False),
    Column("end", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("headless", Boolean, nullable=False),
    Column("explicit", Boolean, nullable=False),
    Column("end_reason", Text),
    Column("quiet_at", Float),
    Column("handled_at", Float),
    CheckConstraint("state IN ('open', 'ended', 'handled', 'baseline')", name="state"),
    CheckConstraint("(state = 'open') = (end_reason IS NULL)", name="ended"),
    CheckConstraint("(state = 'open') = (quiet_at IS NOT NULL)", name="quiet"),
    CheckConstraint("(state = 'handled') = (handled_at IS NOT NULL)", name="handled"),
    Index(
        "ix_turns_one_open",
        "file_id",
        unique=True,
        info={WHERE: "state = 'open'"},
    ),
    Index(
        "ix_turns_due",
        "project_id",
        "id",
        info={WHERE: "state = 'ended'"},
    ),
    Index("ix_turns_session_id", "session_id", "id"),
    comment="A person's prompt and what followed: positions in the file, never text.",
)

seen = Table(
    "seen",
    metadata,
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
    comment="64-bit digests of the record uuids that were indexed: forks and re-appended history.",
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", Id, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("dedupe_key", Text),
    Column("payload", JSON, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("run_at", Float, nullable=False),
    Column("deadline", Float),
    Column("attempt", Integer, nullable=False, server_default="0"),
    Column("max_attempts", Integer, nullable=False),
    Column("snoozes", Integer, nullable=False, server_default="0"),
    Column("snoozed", Boolean, nullable=False, server_default=text("false")),
    Column("worker", Text),
    Column("lease_until", Float),
    Column("cancel_requested", Boolean, nullable=False, server_default=text("false")),
    Column("error", Text),
    Column("result", JSON),
    Column("created_at", Float, nullable=False),
    Column("started_at", Float),
    Column("finished_at", Float),
    CheckConstraint("state IN ('queued', 'running', 'done', 'dead', 'cancelled')", name="state"),
    CheckConstraint(
        "(state = 'running') = (worker IS NOT NULL AND lease_until IS NOT NULL)", name="running"
    ),
    CheckConstraint(
        "(state IN ('done', 'dead', 'cancelled')) = (finished_at IS NOT NULL)", name="finished"
    ),
    CheckConstraint("attempt >= 0 AND max_attempts >= 1", name="attempts"),
    Index(
        "ix_jobs_one_running",
        "key",
        unique=True,
        info={WHERE: "state = 'running'"},
    ),
    Index(
        "ix_jobs_one_queued",
        "dedupe_key",
        unique=True,
        info={WHERE: "state = 'queued'"},
    ),
    Index(
        "ix_jobs_ready",
        "priority",
        "run_at",
        "id",
        info={WHERE: "state = 'queued'"},
    ),
    Index(
        "ix_jobs_leased",
        "lease_until",
        info={WHERE: "state = 'running'"},
    ),
    # Partial, or SQLite prefers it to ix_jobs_ready and sorts all queued jobs for every claim.
    Index(
        "ix_jobs_finished",
        "state",
        "finished_at",
        info={WHERE: "finished_at IS NOT NULL"},
    ),
)

journal = Table(
    "journal",
    metadata,
    Column("id", Id, primary_key=True),
    Column("group_id", Text, nullable=False, index=True),
    Column("at", Float, nullable=False),
    Column("directory", Text, nullable=False),
    Column("project_root", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False, server_default=""),
    Column("before", LargeBinary),
    Column("before_mtime_ns", BigInteger),
    Column("after", LargeBinary),
    Column("after_mtime_ns", BigInteger),
    Column("evidence", JSON, nullable=False),
    Column("undoes", Id),
    CheckConstraint("action IN ('create', 'update', 'delete')", name="action"),
    CheckConstraint("state IN ('intent', 'done', 'aborted', 'rejected')", name="state"),
    Index("ix_journal_directory_name", "directory", "name", "id"),
    Index(
        "ix_journal_intent",
        "id",
        info={WHERE: "state = 'intent'"},
    ),
    comment="Every change of a memory file with its bytes before and after, and why.",
)

tombstones = Table(
    "tombstones",
    metadata,
    Column("id", Id, primary_key=True),
    Column("project_root", Text, nullable=False, index=True),
    Column("evidence", Text),
    Column("fingerprint", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("journal_id", ForeignKey("journal.id")),
    comment="What was forgotten on request: by evidence and by the words of the fact.",
)

recall_sessions = Table(
    "recall_sessions",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("ignoring", Boolean, nullable=False, server_default=text("false")),
    Column("withheld", Boolean, nullable=False, server_default=text("false")),
    Column("said_at", Float, nullable=False, server_default="0"),
    Column("compacted_at", Float, nullable=False, server_default="0"),
    Column("read_to", BigInteger, nullable=False, server_default="0"),
    Column("used_at", Float, nullable=False, index=True),
    CheckConstraint("read_to >= 0", name="position"),
    comment="Sessions that memories are given to, and whether they ignore or withhold memory.",
)

recall_ledger = Table(
    "recall_ledger",
    metadata,
    Column("session_id", ForeignKey("recall_sessions.session_id"), primary_key=True),
    Column("path", Text, primary_key=True),
    Column("how", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False, server_default="0"),
    Column("at", Float, nullable=False),
    CheckConstraint("how IN ('given', 'read', 'written', 'edited')", name="how"),
    CheckConstraint("bytes >= 0 AND (how = 'given' OR bytes = 0)", name="bytes"),
    comment="Memories that a session has in front of it: given, or met by its model itself.",
)
