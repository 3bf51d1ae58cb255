"""The whole service with its rows in PostgreSQL."""

from pathlib import Path

import pytest

from support.service import SCRIPTS, Service


@pytest.mark.postgres
@pytest.mark.system
def test_learns_recalls_and_undoes(tmp_path: Path, postgres_url: str) -> None:
    service = Service(tmp_path / "home", MEMORYD_DATABASE_URL=postgres_url)
    service.projects.mkdir(parents=True)
    service.start()
    try:
        service.replay(SCRIPTS / "samples", piece=500)
        service.wait()
        found = service.json("recall", "staging database port", "--all-projects")["memories"]
        status = service.json("status")
        entry = service.json("log", "--all-projects")[0]
        service.ctl("undo", str(entry["id"]), "--yes")
        undone = service.json("log", "--all-projects")[0]
    finally:
        service.stop()

    assert "6544" in found[0]["text"]
    assert status["turns"] == 10
    assert status["jobs"]["dead"] == 0
    assert undone["undoes"] == entry["id"]
    assert not (service.state / "memoryd.db").exists()
