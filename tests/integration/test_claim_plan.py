"""A claim looks into two indexes, however many finished jobs there are."""

from collections.abc import Sequence

import pytest
from memoryd.clock import ManualClock
from memoryd.db.engine import Database
from memoryd.queue.jobs import JobKind
from memoryd.queue.transitions import claim_statement
from sqlalchemy import text
from sqlalchemy.dialects import sqlite

from support.jobs import job, make_queue


@pytest.mark.parametrize("kinds", [None, [JobKind.EXTRACT]])
@pytest.mark.parametrize("max_priority", [None, 0])
def test_a_claim_scans_no_table(
    sqlite_database: Database, kinds: Sequence[JobKind] | None, max_priority: int | None
) -> None:
    queue = make_queue(sqlite_database, ManualClock())
    for number in range(50):
        queue.enqueue_now(job(f"k{number}"))
    sqlite_database.checkpoint()
    statement = claim_statement(
        "w", now=1.0, lease_until=2.0, max_priority=max_priority, kinds=kinds
    )
    compiled = statement.compile(
        dialect=sqlite.dialect(paramstyle="named"), compile_kwargs={"literal_binds": True}
    )
    with sqlite_database.read() as connection:
        plan = [
            row.detail for row in connection.execute(text(f"EXPLAIN QUERY PLAN {compiled}")).all()
        ]
    assert "SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)" in plan
    assert any("ready USING INDEX ix_jobs_ready" in step for step in plan), plan
    assert any("running USING" in step and "ix_jobs_one_running (key=?)" in step for step in plan)
    assert not any("TEMP B-TREE" in step for step in plan), plan
