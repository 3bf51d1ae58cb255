"""Real transcripts, laid out as their client does it."""

import shutil
from pathlib import Path

import pytest
from memoryd.db.engine import Database

from support.ingest import Bench


@pytest.mark.corpus
def test_a_real_tree_settles_with_each_turn_once(
    tmp_path: Path, sqlite_database: Database, corpus: Path
) -> None:
    bench = Bench(tmp_path, sqlite_database)
    shutil.copytree(corpus / "client" / "projects", bench.projects, dirs_exist_ok=True)
    assert bench.settle()

    sessions = {path.stem for path in bench.projects.glob("*/*.jsonl")}
    assert {row[0] for row in bench.sessions("id")} == sessions
    prompts = [row[0] for row in bench.turns("uuid")]
    assert len(prompts) == len(set(prompts)) > len(sessions) / 2
    assert {row[0] for row in bench.turns("state")} == {"ended"}
    assert sum(1 for (kind,) in bench.files("kind") if kind == "subagent") == len(
        list(bench.projects.rglob("agent-*.jsonl"))
    )
    status = bench.ingest.status()
    assert (status.lag_bytes, status.index_lag, status.foreign) == (0, 0, 0)
    assert status.warnings == ()


@pytest.mark.corpus
def test_a_growing_real_session_ends_like_its_last_state(
    tmp_path: Path, sqlite_database: Database, corpus: Path
) -> None:
    grown = sorted((corpus / "transcripts").rglob("H08*.jsonl"))
    assert len(grown) == 4
    bench = Bench(tmp_path, sqlite_database)
    for stage in grown:
        data = stage.read_bytes()
        size = bench.file().stat().st_size if bench.file().exists() else 0
        bench.append(data[size:])
        bench.scan()
    bench.append(b"\n")
    bench.settle()
    step_by_step = bench.turns("uuid", "start", "end"), bench.indexed()

    database_file = tmp_path / "whole"
    database_file.mkdir()
    whole = Bench(database_file, sqlite_database)
    whole.write(grown[-1].read_bytes() + b"\n", "again")
    whole.settle()

    # The same history under another name is a copy: nothing is learned or indexed twice.
    assert (whole.turns("uuid", "start", "end"), bench.indexed()) == step_by_step
    assert whole.sessions("id", "turns")[0][1] == whole.sessions("id", "turns")[1][1]
