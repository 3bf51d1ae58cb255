"""Operating a real service: pause under kill -9, reload of exclusions, metrics, doctor, config."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.ingest import prompt, reply
from support.openmetrics import parse
from support.service import COMMANDS, Service
from support.terminal import run_on_terminal

pytestmark = pytest.mark.system


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path / "home")
    service.projects.mkdir(parents=True)
    yield service
    service.run("memoryd", "stop")


def say(service: Service, uuid: str, text: str, *, name: str = "s", cwd: str = "/nowhere") -> None:
    folder = service.projects / "-nowhere"
    folder.mkdir(exist_ok=True)
    with (folder / f"{name}.jsonl").open("ab") as file:
        file.write(prompt(uuid, text, cwd=cwd, session=name))
        file.write(reply(f"a-{uuid}", "Noted.", cwd=cwd, session=name))


def uuids(service: Service, query: str) -> list[str]:
    return sorted(hit["uuid"] for hit in service.json("search", query)["hits"])


def test_kill_9_keeps_the_promise_of_a_pause(service: Service) -> None:
    service.start()
    say(service, "u1", "Remember that the harbour gate opens at seven")
    service.wait()
    service.ctl("pause")
    service.kill(service.pid())
    say(service, "u2", "Remember that the harbour gate opens at planted")
    service.start()
    assert [pause["project"] for pause in service.json("status")["paused"]] == [None]
    say(service, "u3", "Remember that the harbour crane is planted")
    service.wait()
    service.kill(service.pid())
    service.start()
    say(service, "u4", "Remember that the harbour lamp is planted")
    service.ctl("resume")
    service.kill(service.pid())
    service.start()
    say(service, "u5", "Remember that the harbour pilot is called Iris")
    service.wait()

    assert uuids(service, "harbour") == ["u1", "u5"]
    assert uuids(service, "planted") == []
    listed = json.dumps(service.json("list", "--all-projects"))
    assert "seven" in listed
    assert "Iris" in listed
    assert "planted" not in listed
    assert service.json("status")["paused"] == []


def test_learning_waits_for_the_end_of_a_pause_and_others_go_on(service: Service) -> None:
    service.start()
    say(service, "u0", "hello", cwd="/nowhere")
    service.wait()
    say(service, "u1", "Remember that the quarry is closed on Mondays", name="q", cwd="/quarry")
    service.ctl("pause", "--project", "/quarry")
    say(service, "u2", "Remember that the mill is open on Mondays", name="m", cwd="/mill")
    service.wait()
    assert "mill" in json.dumps(service.json("list", "--all-projects"))
    service.ctl("resume", "--project", "/quarry")
    service.wait()
    assert "quarry" in json.dumps(service.json("list", "--all-projects"))


def test_a_reload_takes_up_exclusions(service: Service) -> None:
    service.start()
    path = Path(service.ctl("config", "--path").strip())
    path.parent.mkdir(parents=True)
    path.write_text('exclude = ["~/client/**"]\n')
    service.ctl("config", "exclude")
    assert service.run("memoryd", "reload").returncode == 0
    while service.json("status")["exclude"] != ["~/client/**"]:
        pass
    say(service, "u1", "the vault is planted", cwd=str(service.home / "client/vault"))
    say(service, "u2", "the vault is public", name="t", cwd=str(service.home / "open"))
    service.wait()
    assert uuids(service, "vault") == ["u2"]
    assert [row["session"] for row in service.json("sessions")] == ["t"]


def test_metrics_are_valid_and_hold_no_content(service: Service) -> None:
    service.start()
    say(service, "u1", "Remember that the plantedword is here", cwd="/plantedplace")
    service.wait()
    service.ctl("recall", "plantedword")
    text = service.ctl("metrics")
    found = parse(text)
    assert found["memoryd_jobs", (("kind", "extract"), ("state", "done"))] >= 1
    assert found["memoryd_recall_seconds_count", ()] == 1
    assert found["memoryd_ingest_records_total", ()] == 2
    assert found["memoryd_memories", ()] == 1
    assert found["memoryd_turns_waiting", ()] == 0
    assert found["memoryd_resident_memory_bytes", ()] > 1 << 20
    assert "planted" not in text


def diagnosis(service: Service, code: int) -> dict[str, list[dict[str, Any]]]:
    done = service.run("memoryctl", "doctor", "--json")
    found: dict[str, list[dict[str, Any]]] = {"broken": [], "note": [], "fine": []}
    for one in json.loads(done.stdout):
        found[one["level"]].append(one)
    assert done.returncode == code, found["broken"]
    return found


def test_a_healthy_service_has_nothing_broken(service: Service) -> None:
    service.start()
    found = diagnosis(service, 0)
    assert found["broken"] == []
    assert {one["subject"] for one in found["fine"]} >= {
        "service", "state", "database", "version", "text index", "jobs", "settings", "memories",
    }  # fmt: skip
    shown = service.ctl("doctor")
    assert len(shown.splitlines()) < 24
    assert "\x1b" not in shown


def test_only_a_terminal_gets_colours(service: Service) -> None:
    command = [str(COMMANDS / "memoryctl"), "doctor"]
    code, shown = run_on_terminal(command, columns=80, environment=service.environment)
    assert code == 1
    assert "\x1b[32mfine" in shown
    assert "\x1b[31mbroken" in shown
    fine = re.sub(r"\x1b\[[0-9]*m", "", shown).partition("fine ")[2].splitlines()
    assert len(fine) > 1
    assert max(map(len, fine)) <= 80
    plain = {**service.environment, "NO_COLOR": "1"}
    assert "\x1b" not in run_on_terminal(command, columns=80, environment=plain)[1]


def test_without_the_service_the_rest_is_examined(service: Service) -> None:
    service.start()
    service.kill(service.pid())
    (finding,) = diagnosis(service, 1)["broken"]
    assert "left behind" in finding["text"]
    assert finding["mend"] == "memoryd start"


def test_the_doctor_finds_what_is_broken_and_names_what_mends_it(service: Service) -> None:
    service.start()
    service.run("memoryd", "stop")
    with closing(sqlite3.connect(service.state / "memoryd.db")) as connection:
        connection.execute(
            "INSERT INTO jobs (kind, key, payload, priority, state, run_at, max_attempts, error,"
            " created_at, finished_at) VALUES ('extract', 'extract:9', '{}', 10, 'dead', 1, 1,"
            " 'planted failure', 9e9, 2)"
        )
        connection.commit()
    (service.state / "text.db").write_bytes(b"no database at all" * 500)
    service.state.chmod(0o755)
    memory = service.projects / "-x/memory"
    memory.mkdir(parents=True)
    (memory / "broken.md").write_text("---\nname: x\n  : [\nno end\n")
    (memory / "good.md").write_text("---\nname: good\ndescription: a fact\n---\nA fact.\n")
    settings = service.home / ".config/memoryd/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("provder = 'offline'\n")
    client = service.home / ".claude/settings.json"
    client.write_text('{"autoMemoryEnabled": false}')
    found = diagnosis(service, 1)
    broken = {one["subject"]: one["mend"] for one in found["broken"]}
    notes = {one["subject"]: one["text"] for one in found["note"]}

    assert broken["service"] == "memoryd start"
    assert broken["jobs"] == "memoryctl jobs retry 1"
    assert broken["state"] == f"chmod 700 {service.state}"
    assert "text.db" in broken["text index"]
    assert "memoryctl config" in broken["settings"]
    assert all(one["mend"] for one in found["broken"])
    assert "the clock was set back" in notes["clock"]
    assert "autoMemoryEnabled" in notes["client"]
    assert "disagrees" in notes["index"]
    assert "broken.md" in notes["memories"]


def test_a_damaged_database_is_found(service: Service) -> None:
    service.start()
    service.run("memoryd", "stop")
    path = service.state / "memoryd.db"
    for extra in service.state.glob("memoryd.db-*"):
        extra.unlink()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)
    subjects = {one["subject"] for one in diagnosis(service, 1)["broken"]}
    assert {"service", "database"} <= subjects


def test_an_unreadable_transcript_is_found(bound: Service) -> None:
    say(bound, "u1", "hello")
    (bound.projects / "-nowhere/s.jsonl").chmod(0)
    assert any(one["subject"] == "transcripts" for one in diagnosis(bound, 1)["broken"])


def test_config_names_value_and_origin(service: Service) -> None:
    service.environment["MEMORYD_DATABASE_URL"] = "postgresql://me:planted@host/db"
    service.environment["MEMORYD_DRAIN_S"] = "3"
    path = Path(service.ctl("config", "--path").strip())
    path.parent.mkdir(parents=True)
    path.write_text('exclude = ["~/a"]\n[projects."/p"]\nrecall.max_memories = 1\n')
    shown = service.json("config")
    assert shown["drain_s"] == {"value": 3.0, "origin": "$MEMORYD_DRAIN_S", "locked": False}
    assert shown["exclude"] == {"value": ["~/a"], "origin": str(path), "locked": False}
    assert shown["provider"]["origin"] == "default"
    assert "planted" not in json.dumps(shown)
    assert "host/db" in shown["database_url"]["value"]
    assert service.ctl("config", "recall.max_memories", "--project", "/p").startswith("1 (")
    missing: subprocess.CompletedProcess[str] = service.run("memoryctl", "config", "nothing")
    assert missing.returncode == 1
    path.write_text("provder = 1")
    assert service.run("memoryctl", "config").returncode == 1
