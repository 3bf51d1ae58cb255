"""The tables of the first release."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create all tables and indexes."""
    op.create_table(
        "files",
        sa.Column("id", ID, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text()),
        sa.Column("device", sa.BigInteger(), nullable=False),
        sa.Column("inode", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.Column("head_length", sa.Integer(), server_default="0", nullable=False),
        sa.Column("head_hash", sa.LargeBinary()),
        sa.Column("baseline_to", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("state", sa.LargeBinary()),
        sa.Column("records", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("skipped", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("oversize", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("pending_since", sa.Float()),
        sa.Column("missing_since", sa.Float()),
        sa.CheckConstraint(
            "kind IN ('unknown', 'session', 'subagent', 'foreign')", name=op.f("ck_files_kind")
        ),
        sa.CheckConstraint('"offset" >= 0 AND baseline_to >= 0', name=op.f("ck_files_positions")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_files")),
        sa.UniqueConstraint("path", name=op.f("uq_files_path")),
        comment="One cursor per transcript file: everything before offset is handled once.",
    )
    op.create_index("ix_files_inode", "files", ["device", "inode"])
    op.create_index(op.f("ix_files_session_id"), "files", ["session_id"])
    op.create_table(
        "jobs",
        sa.Column("id", ID, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("dedupe_key", sa.Text()),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("run_at", sa.Float(), nullable=False),
        sa.Column("deadline", sa.Float()),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("max_attempts", sa.Integer(), nullable=False),
        sa.Column("snoozes", sa.Integer(), server_default="0", nullable=False),
        sa.Column("snoozed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("worker", sa.Text()),
        sa.Column("lease_until", sa.Float()),
        sa.Column(
            "cancel_requested", sa.Boolean(), server_default=sa.text("false"), nullable=False
        ),
        sa.Column("error", sa.Text()),
        sa.Column("result", sa.JSON()),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("started_at", sa.Float()),
        sa.Column("finished_at", sa.Float()),
        sa.CheckConstraint(
            "(state = 'running') = (worker IS NOT NULL AND lease_until IS NOT NULL)",
            name=op.f("ck_jobs_running"),
        ),
        sa.CheckConstraint(
            "(state IN ('done', 'dead', 'cancelled')) = (finished_at IS NOT NULL)",
            name=op.f("ck_jobs_finished"),
        ),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'done', 'dead', 'cancelled')",
            name=op.f("ck_jobs_state"),
        ),
        sa.CheckConstraint("attempt >= 0 AND max_attempts >= 1", name=op.f("ck_jobs_attempts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index(
        "ix_jobs_finished",
        "jobs",
        ["state", "finished_at"],
        sqlite_where=sa.text("finished_at IS NOT NULL"),
        postgresql_where=sa.text("finished_at IS NOT NULL"),
    )
    op.create_index(
        "ix_jobs_leased",
        "jobs",
        ["lease_until"],
        sqlite_where=sa.text("state = 'running'"),
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_index(
        "ix_jobs_one_queued",
        "jobs",
        ["dedupe_key"],
        unique=True,
        sqlite_where=sa.text("state = 'queued'"),
        postgresql_where=sa.text("state = 'queued'"),
    )
    op.create_index(
        "ix_jobs_one_running",
        "jobs",
        ["key"],
        unique=True,
        sqlite_where=sa.text("state = 'running'"),
        postgresql_where=sa.text("state = 'running'"),
    )
    op.create_index(
        "ix_jobs_ready",
        "jobs",
        ["priority", "run_at", "id"],
        sqlite_where=sa.text("state = 'queued'"),
        postgresql_where=sa.text("state = 'queued'"),
    )
    op.create_table(
        "journal",
        sa.Column("id", ID, nullable=False),
        sa.Column("group_id", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("directory", sa.Text(), nullable=False),
        sa.Column("project_root", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("before", sa.LargeBinary()),
        sa.Column("before_mtime_ns", sa.BigInteger()),
        sa.Column("after", sa.LargeBinary()),
        sa.Column("after_mtime_ns", sa.BigInteger()),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("undoes", ID),
        sa.CheckConstraint(
            "action IN ('create', 'update', 'delete')", name=op.f("ck_journal_action")
        ),
        sa.CheckConstraint(
            "state IN ('intent', 'done', 'aborted', 'rejected')", name=op.f("ck_journal_state")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_journal")),
        comment="Every change of a memory file with its bytes before and after, and why.",
    )
    op.create_index("ix_journal_directory_name", "journal", ["directory", "name", "id"])
    op.create_index(op.f("ix_journal_group_id"), "journal", ["group_id"])
    op.create_index(
        "ix_journal_intent",
        "journal",
        ["id"],
        sqlite_where=sa.text("state = 'intent'"),
        postgresql_where=sa.text("state = 'intent'"),
    )
    op.create_table(
        "meta",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_meta")),
        comment="Single facts: the instant of the first start, the last run of each periodic job.",
    )
    op.create_table(
        "projects",
        sa.Column("id", ID, nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.Float(), nullable=False),
        sa.CheckConstraint("kind IN ('git', 'directory')", name=op.f("ck_projects_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("root", name=op.f("uq_projects_root")),
    )
    op.create_index(op.f("ix_projects_slug"), "projects", ["slug"])
    op.create_table(
        "seen",
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_seen")),
        comment="64-bit digests of the record uuids that were indexed: "
        "forks and re-appended history.",
        sqlite_with_rowid=False,
    )
    op.create_table(
        "project_paths",
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("seen_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_project_paths_project_id")
        ),
        sa.PrimaryKeyConstraint("path", name=op.f("pk_project_paths")),
        comment="Working directories seen, kept after a worktree or repository is gone.",
    )
    op.create_table(
        "recall_sessions",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("ignoring", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("withheld", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("said_at", sa.Float(), server_default="0", nullable=False),
        sa.Column("compacted_at", sa.Float(), server_default="0", nullable=False),
        sa.Column("read_to", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("used_at", sa.Float(), nullable=False),
        sa.CheckConstraint("read_to >= 0", name=op.f("ck_recall_sessions_position")),
        sa.PrimaryKeyConstraint("session_id", name=op.f("pk_recall_sessions")),
        comment="Sessions that memories are given to, and whether they ignore or withhold memory.",
    )
    op.create_index(op.f("ix_recall_sessions_used_at"), "recall_sessions", ["used_at"])
    op.create_table(
        "recall_ledger",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("how", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.CheckConstraint(
            "how IN ('given', 'read', 'written', 'edited')", name=op.f("ck_recall_ledger_how")
        ),
        sa.CheckConstraint(
            "bytes >= 0 AND (how = 'given' OR bytes = 0)", name=op.f("ck_recall_ledger_bytes")
        ),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["recall_sessions.session_id"],
            name=op.f("fk_recall_ledger_session_id"),
        ),
        sa.PrimaryKeyConstraint("session_id", "path", name=op.f("pk_recall_ledger")),
        comment="Memories that a session has in front of it: given, or met by its model itself.",
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("file_id", ID, nullable=False),
        sa.Column("project_id", ID),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("started", sa.Float()),
        sa.Column("last", sa.Float()),
        sa.Column("turns", sa.Integer(), server_default="0", nullable=False),
        sa.Column("headless", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("context_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("conversation_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("aliases", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), server_default="present", nullable=False),
        sa.CheckConstraint("state IN ('present', 'gone')", name=op.f("ck_sessions_state")),
        sa.ForeignKeyConstraint(["file_id"], ["files.id"], name=op.f("fk_sessions_file_id")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_sessions_project_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_last"), "sessions", ["last"])
    op.create_index(op.f("ix_sessions_project_id"), "sessions", ["project_id"])
    op.create_table(
        "tombstones",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_root", sa.Text(), nullable=False),
        sa.Column("evidence", sa.Text()),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("journal_id", ID),
        sa.ForeignKeyConstraint(
            ["journal_id"], ["journal.id"], name=op.f("fk_tombstones_journal_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tombstones")),
        comment="What was forgotten on request: by evidence and by the words of the fact.",
    )
    op.create_index(op.f("ix_tombstones_project_root"), "tombstones", ["project_root"])
    op.create_table(
        "turns",
        sa.Column("id", ID, nullable=False),
        sa.Column("file_id", ID, nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("headless", sa.Boolean(), nullable=False),
        sa.Column("explicit", sa.Boolean(), nullable=False),
        sa.Column("end_reason", sa.Text()),
        sa.Column("quiet_at", sa.Float()),
        sa.Column("handled_at", sa.Float()),
        sa.CheckConstraint(
            "(state = 'handled') = (handled_at IS NOT NULL)", name=op.f("ck_turns_handled")
        ),
        sa.CheckConstraint("(state = 'open') = (end_reason IS NULL)", name=op.f("ck_turns_ended")),
        sa.CheckConstraint(
            "(state = 'open') = (quiet_at IS NOT NULL)", name=op.f("ck_turns_quiet")
        ),
        sa.CheckConstraint(
            "state IN ('open', 'ended', 'handled', 'baseline')", name=op.f("ck_turns_state")
        ),
        sa.ForeignKeyConstraint(["file_id"], ["files.id"], name=op.f("fk_turns_file_id")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_turns_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turns")),
        comment="A person's prompt and what followed: positions in the file, never text.",
    )
    op.create_index(
        "ix_turns_due",
        "turns",
        ["project_id", "id"],
        sqlite_where=sa.text("state = 'ended'"),
        postgresql_where=sa.text("state = 'ended'"),
    )
    op.create_index(
        "ix_turns_one_open",
        "turns",
        ["file_id"],
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_index("ix_turns_session_id", "turns", ["session_id", "id"])
