"""Where a client works: its project, its session of now, and the service's socket."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from memoryd.surroundings import Surroundings, surroundings

BEGUN = "11111111-1111-4111-8111-111111111111"
NOW = "22222222-2222-4222-8222-222222222222"


def place(home: Path, **environ: str) -> Surroundings:
    return Surroundings("/shop", {"HOME": str(home), **environ})


def record(home: Path, process: int, content: str) -> None:
    folder = home / ".claude" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{process}.json").write_text(content)


@pytest.mark.parametrize(
    ("given", "told", "project"),
    [
        (None, "/home/me/shop", "/home/me/shop"),
        ("/elsewhere", "/home/me/shop", "/elsewhere"),
        ("sub", None, "{here}/sub"),
        (None, None, "{here}"),
        (None, "", "{here}"),
    ],
)
def test_the_project_is_named_told_or_here(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: str | None,
    told: str | None,
    project: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    environ = {} if told is None else {"CLAUDE_PROJECT_DIR": told}
    found = surroundings(environ, given)
    assert found.project == project.format(here=os.path.realpath(tmp_path))


def test_other_clients_name_no_session(tmp_path: Path) -> None:
    record(tmp_path, os.getppid(), json.dumps({"sessionId": NOW}))
    assert place(tmp_path).session() is None
    assert place(tmp_path).named_session() == {}


def test_the_session_is_that_of_the_environment(tmp_path: Path) -> None:
    assert place(tmp_path, CLAUDE_CODE_SESSION_ID=BEGUN).session() == BEGUN


@pytest.mark.parametrize("process", ["4711", None])
def test_after_a_clear_it_is_the_one_of_the_clients_record(
    tmp_path: Path, process: str | None
) -> None:
    here = place(
        tmp_path,
        CLAUDE_CODE_SESSION_ID=BEGUN,
        **({} if process is None else {"CLAUDE_PID": process}),
    )
    number = os.getppid() if process is None else int(process)
    record(tmp_path, number, json.dumps({"pid": number, "sessionId": BEGUN}))
    assert here.named_session() == {"session": BEGUN}
    record(tmp_path, number, json.dumps({"pid": number, "sessionId": NOW}))
    assert here.named_session() == {"session": NOW}


@pytest.mark.parametrize("content", ["", "{", "[]", '"text"', "{}", '{"sessionId": null}'])
def test_a_record_that_says_nothing_changes_nothing(tmp_path: Path, content: str) -> None:
    record(tmp_path, 4711, content)
    here = place(tmp_path, CLAUDE_CODE_SESSION_ID=BEGUN, CLAUDE_PID="4711")
    assert here.session() == BEGUN


@pytest.mark.parametrize("name", ["../../etc/passwd", ".hidden", "a b", "x" * 65])
def test_what_is_no_name_of_a_session_is_not_passed_on(tmp_path: Path, name: str) -> None:
    assert place(tmp_path, CLAUDE_CODE_SESSION_ID=name).session() is None


def test_a_process_that_is_no_number_names_no_file(tmp_path: Path) -> None:
    here = place(tmp_path, CLAUDE_CODE_SESSION_ID=BEGUN, CLAUDE_PID="../x")
    assert here.session() == BEGUN


def test_the_socket_is_where_the_environment_says(tmp_path: Path) -> None:
    assert place(tmp_path, XDG_RUNTIME_DIR="/run/me").socket() == "/run/me/memoryd/memoryd.sock"
    assert place(tmp_path, MEMORYD_RUNTIME_DIR="/r").socket() == "/r/memoryd.sock"
    state = place(tmp_path, MEMORYD_STATE_DIR=str(tmp_path), MEMORYD_RUNTIME_DIR="").socket()
    assert state in {
        f"{tmp_path}/run/memoryd.sock",
        f"/run/user/{os.getuid()}/memoryd/memoryd.sock",
    }
