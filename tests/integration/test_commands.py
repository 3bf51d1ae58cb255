"""``memoryctl`` against a real server whose methods are scripted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from memoryd.cli import quick
from memoryd.cli.commands import memoryctl
from memoryd.cli.main import main
from memoryd.clock import SystemClock
from memoryd.daemon.calls import Call, Method
from memoryd.daemon.listener import open_listener
from memoryd.daemon.server import Server
from memoryd.errors import NotFound
from memoryd.protocol import MethodName
from structlog.testing import CapturingLogger

HOSTILE = "\x1b]52;c;cGxhbnRlZA==\x07\x1b[2J\x9b31mtitle\u202egnp\r\nsecond"

MEMORY = {
    "name": "deploy-day",
    "type": "project",
    "description": "We deploy on Tuesdays",
    "path": "/c/projects/-p/memory/deploy-day.md",
    "age_days": 3.4,
    "score": 1.5,
    "text": "We deploy on Tuesdays.\nNever on Fridays.",
    "stale": ["`make ship` is gone"],
    "marks": ["headless"],
    "provenance": {"session": "s1", "evidence": ["u1"]},
}
LISTED = {**MEMORY, "project": "/p"}
JOB = {
    "id": 7,
    "kind": "extract",
    "key": "extract:3",
    "project": "/p",
    "state": "dead",
    "attempt": 5,
    "run_at": "2026-12-01T12:00:00Z",
    "error": "Timeout",
}
STATUS = {
    "version": "0.1.0",
    "pid": 42,
    "uptime_s": 7384,
    "socket": "/run/memoryd.sock",
    "provider": "offline",
    "projects": 2,
    "sessions": 1234,
    "memories": 31,
    "jobs": {"queued": 1, "running": 0, "done": 12, "dead": 0, "cancelled": 0},
    "ingest": {
        "bytes": 5 << 20,
        "records": 12345,
        "skipped": 3,
        "oversize": 0,
        "lag_bytes": 0,
        "pending_bytes": 17,
        "index_lag": 0,
        "scans": 4,
        "busy_s": 0.5,
    },
    "budget": {},
    "warnings": [f"warning {HOSTILE}"] * 12,
}
SESSION = {
    "session": "s1",
    "project": "/p",
    "title": HOSTILE,
    "started": "2026-12-01T11:00:00Z",
    "last": "2026-12-01T12:00:00Z",
    "turns": 4,
    "context_tokens": 12000,
    "live": False,
    "state": "present",
}
CHANGED = {"name": "deploy-day", "action": "create", "journal_id": 17}
CHANGE = {"changed": [CHANGED], "journal_id": 17, "reason": "", "warnings": [], "matches": []}

ANSWERS: dict[str, Any] = {
    MethodName.RECALL: {
        "query": "q",
        "project": "/p",
        "selector": "offline",
        "memories": [MEMORY],
        "elapsed_ms": 1.0,
        "text": "for a prompt",
    },
    MethodName.STATUS: STATUS,
    MethodName.WAIT: {"done": True},
    MethodName.REMEMBER: CHANGE,
    MethodName.FORGET: CHANGE,
    MethodName.UNDO: CHANGE,
    MethodName.LIST: [LISTED],
    MethodName.SHOW: {
        **LISTED,
        "why": [{"at": "2026-11-28", "source": "human", "session": "s1", "sentence": "Tuesdays!"}],
    },
    MethodName.LOG: [
        {
            "id": 17,
            "at": "2026-12-01T12:00:00Z",
            "actor": "memoryd",
            "action": "create",
            "state": "done",
            "name": "deploy-day",
            "reason": "said so",
        }
    ],
    MethodName.SEARCH: {
        "query": "q",
        "hits": [
            {
                "session": "s1",
                "project": "/p",
                "uuid": "u1",
                "timestamp": "2026-12-01T12:00:00Z",
                "role": "human",
                "snippet": HOSTILE,
                "score": 2.0,
            }
        ],
        "elapsed_ms": 1.0,
    },
    MethodName.SESSIONS: [SESSION],
    MethodName.PROJECTS: [{"project": "/p", "sessions": 3, "memories": 2, "last": None}],
    MethodName.JOBS_LIST: [JOB],
    MethodName.JOBS_SHOW: JOB,
    MethodName.JOBS_WHY: {"id": 7, "why": "it is dead: Timeout"},
    MethodName.JOBS_RETRY: {"id": 7, "state": "queued", "changed": True},
    MethodName.JOBS_CANCEL: {"id": 7, "state": "cancelled", "changed": True},
}


class Script:
    """What the server answers and what it was asked."""

    def __init__(self) -> None:
        self.answers = dict(ANSWERS)
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def methods(self) -> list[Method]:
        return [Method(name, self._handler(name)) for name in ANSWERS]

    def _handler(self, name: str) -> Any:
        def handler(call: Call) -> Any:
            self.asked.append((name, dict(call.params._values)))
            answer = self.answers[name]
            if isinstance(answer, Exception):
                raise answer
            return answer

        return handler


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    monkeypatch.setenv("MEMORYD_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    script = Script()
    server = Server(
        open_listener(tmp_path / "run" / "memoryd.sock", {}),
        script.methods(),
        clock=SystemClock(),
        log=CapturingLogger(),
    )
    server.start()
    yield script
    server.stop(10)


@pytest.mark.parametrize(
    ("command", "method", "params"),
    [
        ("recall which db", "recall", {"query": "which db", "cwd": "HERE"}),
        ("recall q --project sub", "recall", {"query": "q", "project": "HERE/sub"}),
        ("recall q --all-projects", "recall", {"query": "q", "all_projects": True}),
        (
            "recall q --limit 3 --offline",
            "recall",
            {"query": "q", "cwd": "HERE", "limit": 3, "selector": "offline"},
        ),
        ("status", "status", {}),
        ("wait --timeout 3", "wait", {"timeout_s": 3.0}),
        ("remember a fact", "memory.remember", {"text": "a fact", "cwd": "HERE"}),
        (
            "remember x --type user --project . --yes",
            "memory.remember",
            {"text": "x", "type": "user", "project": "HERE"},
        ),
        ("forget the thing", "memory.forget", {"query": "the thing", "cwd": "HERE"}),
        ("list", "memory.list", {"cwd": "HERE"}),
        ("list --all-projects", "memory.list", {"all_projects": True}),
        ("show n", "memory.show", {"name": "n", "why": False, "cwd": "HERE"}),
        ("show n --why", "memory.show", {"name": "n", "why": True, "cwd": "HERE"}),
        ("log", "memory.log", {"limit": 20, "cwd": "HERE"}),
        ("undo 17 --yes", "memory.undo", {"id": 17}),
        ("search a b", "search", {"query": "a b", "limit": 20}),
        ("search a --project . --limit 2", "search", {"query": "a", "limit": 2, "project": "HERE"}),
        ("sessions", "sessions", {}),
        ("sessions --project .", "sessions", {"project": "HERE"}),
        ("projects", "projects", {}),
        ("jobs list", "jobs.list", {"limit": 50}),
        ("jobs list --state dead", "jobs.list", {"limit": 50, "state": "dead"}),
        ("jobs show 7", "jobs.show", {"id": 7}),
        ("jobs why 7", "jobs.why", {"id": 7}),
        ("jobs retry 7 --yes", "jobs.retry", {"id": 7}),
        ("jobs cancel 7", "jobs.cancel", {"id": 7}),
    ],
)
def test_commands_ask_for_the_right_thing(
    script: Script,
    capsys: pytest.CaptureFixture[str],
    command: str,
    method: str,
    params: dict[str, Any],
) -> None:
    here = str(Path.cwd())
    expected = {
        name: value.replace("HERE", here) if isinstance(value, str) else value
        for name, value in params.items()
    }
    assert main(command.split()) == 0
    assert script.asked == [(method, expected)]
    assert capsys.readouterr().err == ""


READING = {
    "recall q": MethodName.RECALL,
    "status": MethodName.STATUS,
    "list": MethodName.LIST,
    "show n": MethodName.SHOW,
    "log": MethodName.LOG,
    "search q": MethodName.SEARCH,
    "sessions": MethodName.SESSIONS,
    "projects": MethodName.PROJECTS,
    "jobs list": MethodName.JOBS_LIST,
    "jobs show 7": MethodName.JOBS_SHOW,
    "jobs why 7": MethodName.JOBS_WHY,
}


@pytest.mark.parametrize("command", READING)
def test_every_reading_command_prints_the_answer_as_json(
    script: Script, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert main([*command.split(), "--json"]) == 0
    expected = script.answers[READING[command]]
    if command == "recall q":
        expected = {name: value for name, value in expected.items() if name != "text"}
    assert json.loads(capsys.readouterr().out) == expected


@pytest.mark.parametrize("command", [*READING, "remember x", "forget x", "undo 17 --yes"])
@pytest.mark.usefixtures("script")
def test_threat_09_nothing_printed_commands_the_terminal(
    script: Script, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    def poison(value: Any) -> Any:
        if isinstance(value, str):
            return HOSTILE + value
        if isinstance(value, list):
            return [poison(item) for item in value]
        if isinstance(value, dict):
            return {name: poison(item) for name, item in value.items()}
        return value

    script.answers = {name: poison(value) for name, value in ANSWERS.items()}
    assert main(command.split()) == 0
    printed = capsys.readouterr().out
    assert not [char for char in printed if ord(char) < 32 and char != "\n"]
    assert not [char for char in printed if char in "\x7f\x9b\x9d\u202e"]
    assert "planted" not in printed
    assert "cGxhbnRlZA" not in printed


@pytest.mark.usefixtures("script")
def test_recall_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recall", "q"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1. deploy-day  (project, 3 days, headless)",
        "   We deploy on Tuesdays",
        "   | We deploy on Tuesdays.",
        "   | Never on Fridays.",
        "   ! no longer holds: `make ship` is gone",
        "   /c/projects/-p/memory/deploy-day.md",
    ]


def test_nothing_found_is_no_failure(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script.answers[MethodName.RECALL] = {**ANSWERS[MethodName.RECALL], "memories": []}
    script.answers[MethodName.SEARCH] = {**ANSWERS[MethodName.SEARCH], "hits": []}
    script.answers[MethodName.LIST] = []
    script.answers[MethodName.FORGET] = {"changed": [], "matches": [], "reason": "nothing fits"}
    for command in ("recall q", "search q", "list", "forget q"):
        assert main(command.split()) == 0
    assert capsys.readouterr().out.splitlines() == [
        "nothing known that helps with that",
        "nothing found",
        f"no memories yet in the project of {Path.cwd()}",
        "nothing fits; memoryctl list shows what there is",
    ]


@pytest.mark.usefixtures("script")
def test_status_fits_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert lines[0] == "memoryd   0.1.0, pid 42, up 2 h 3 min"
    assert "read      5.0 MiB, 12,345 records, 3 skipped, 0 oversize" in lines
    assert lines[-1].endswith("and 4 more: memoryctl status --json")


def test_wait_fails_at_the_timeout(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    script.answers[MethodName.WAIT] = {"done": False}
    assert main(["wait", "--timeout", "2"]) == 1
    assert "not done within 2 s" in capsys.readouterr().err


def test_forget_lists_several_and_removes_none(
    script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    match = {"name": "deploy-day", "description": "We deploy on Tuesdays"}
    script.answers[MethodName.FORGET] = {"changed": [], "matches": [match, {**match, "name": "b"}]}
    assert main(["forget", "deploy"]) == 1
    out, err = capsys.readouterr()
    assert "several memories fit" in err
    assert "deploy-day" in out


def test_refusals_are_one_line_and_exit_1(
    script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    script.answers[MethodName.SHOW] = NotFound(f"no memory {HOSTILE}", hint="see: memoryctl list")
    assert main(["show", "x"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("memoryctl: no memory title")
    assert err.endswith("; see: memoryctl list\n")
    assert err.count("\n") == 1
    assert "\x1b" not in err


@pytest.mark.parametrize("command", ["recall q", "status", "wait", "list", "jobs list"])
def test_without_a_service_one_line_says_how_to_start_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    monkeypatch.setenv("MEMORYD_RUNTIME_DIR", str(tmp_path))
    assert main(command.split()) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "start it with: memoryd start" in err


@pytest.mark.parametrize(
    "command",
    [
        "",
        "rekall",
        "recall",
        "recall q --limit 0",
        "log --limit 1001",
        "recall q --limit many",
        "recall q --nothing",
        "recall q --project",
        "recall q --json=yes",
        "status extra",
        "wait --timeout soon",
        "wait --timeout -1",
        "remember",
        "remember x --type opinion",
        "remember x --project ./not-there",
        "show",
        "jobs",
        "jobs list --state odd",
        "jobs show x",
        "undo 17",
    ],
)
def test_wrong_usage_exits_2_having_asked_nothing(
    script: Script, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert main(command.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Usage:" in err or "Error:" in err
    assert script.asked == []


@pytest.mark.parametrize("command", ["recall", "remember", "forget", "search"])
def test_blank_words_are_wrong_usage(
    script: Script, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert main([command, " "]) == 2
    assert "is empty" in capsys.readouterr().err
    assert script.asked == []


@pytest.mark.usefixtures("script")
def test_changes_are_told_with_the_number_that_undo_takes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["remember", "x"]) == 0
    assert capsys.readouterr().out == "created deploy-day  (change 17)\n"


def test_directing_a_job_says_when_that_changed_nothing(
    script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    script.answers[MethodName.JOBS_RETRY] = {"id": 7, "state": "done", "changed": False}
    assert main(["jobs", "retry", "7"]) == 0
    assert main(["jobs", "cancel", "7"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "nothing changed: job 7 is done",
        "job 7 is cancelled",
    ]


def test_short_help_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recall", "-h"]) == 0
    assert "Usage: memoryctl recall" in capsys.readouterr().out


def test_a_locale_without_utf_8_changes_neither_words_nor_project(
    script: Script, tmp_path: Path
) -> None:
    place = tmp_path / "我的 项目"
    place.mkdir()
    code = "import sys; from memoryd.cli.main import main; sys.exit(main(sys.argv[1:]))"
    bare = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for command in (["recall", "部署"], ["remember", "部署", "--project", "../我的 项目"]):
        subprocess.run(
            [sys.executable, "-c", code, *command],
            env={**os.environ, **bare},
            cwd=place,
            stdout=subprocess.DEVNULL,
            timeout=60,
            check=True,
        )
    assert [asked for _, asked in script.asked] == [
        {"query": "部署", "cwd": str(place)},
        {"text": "部署", "project": str(place)},
    ]


@pytest.mark.parametrize("command", [["recall", "x"], ["context"], ["install", "--dry-run"]])
def test_a_working_directory_that_was_deleted_is_told(command: list[str], tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    gone = f"import os; os.rmdir({str(place)!r})"
    code = "import sys; from memoryd.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"{gone}; {code}", *command],
        env={**os.environ, "HOME": str(tmp_path)},
        cwd=place,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or "working directory" in done.stderr, done.stderr


def test_wrong_commands_name_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rekall", "q"]) == 2
    assert "Did you mean 'recall'?" in capsys.readouterr().err


def commands(group: click.Group, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*prefix, name))
        else:
            yield (*prefix, name)


@pytest.mark.parametrize("command", list(commands(memoryctl)), ids=" ".join)
def test_every_command_has_help_with_an_example(
    capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    assert main([*command, "--help"]) == 0
    out = capsys.readouterr().out
    assert f"\n  memoryctl {' '.join(command)}" in out.partition("\nExamples:")[2]


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "a", "b"],
        ["recall", "--limit", "3", "a", "--project=x y", "--json", "--offline", "--all-projects"],
        ["recall", "--limit=1000", "--", "--json", "-x"],
        ["recall", "-", "a"],
        ["recall", "--project", "--json", "a"],
        ["recall", "--limit", "2", "--limit", "4", "a"],
        ["status"],
        ["status", "--json"],
        ["wait"],
        ["wait", "--timeout", "0.5"],
    ],
)
def test_the_quick_way_and_click_agree(arguments: list[str]) -> None:
    parsed = quick.parse(arguments)
    assert parsed is not None
    name, found = parsed
    command = memoryctl.commands[name]
    with command.make_context(name, arguments[1:]) as context:
        slow = context.params
    assert found == {
        key: value for key, value in slow.items() if key in found or value not in (None, False)
    } or (name == "wait" and found == {} and slow == {"timeout": 60.0})


FORBIDDEN = [
    "click",
    "rich",
    "asyncio",
    "argparse",
    "socket",
    "selectors",
    "typing",
    "pathlib",
    "dataclasses",
    "structlog",
    "sqlalchemy",
    "msgspec",
    "watchdog",
    "apscheduler",
    "anthropic",
    "logging",
    "subprocess",
    "threading",
    "memoryd.daemon",
    "memoryd.paths",
    "memoryd.settings",
]


@pytest.mark.parametrize("command", ["recall q", "status", "wait"])
@pytest.mark.usefixtures("script")
def test_quick_commands_load_nothing_heavy(command: str) -> None:
    code = (
        "import sys; from memoryd.cli.main import main; code = main(sys.argv[1:]);"
        "print('\\n'.join(sys.modules), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        # -I: no coverage hooks and the like; -S would hide the installed package.
        [sys.executable, "-c", code, *command.split()],
        env={name: value for name, value in os.environ.items() if "COV" not in name},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = done.stderr.split()
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout.split()
    assert not set(FORBIDDEN) & (set(loaded) - set(bare))


@pytest.mark.usefixtures("script")
def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    code = "import sys; from memoryd.cli.main import main; sys.exit(main(['status', '--json']))"
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("option", ["", "--json"])
def test_names_that_are_not_text_are_printed(script: Script, option: str) -> None:
    script.answers[MethodName.PROJECTS] = [
        {"project": os.fsdecode(b"/p/\xff"), "sessions": 1, "memories": 0, "last": None}
    ]
    code = "import sys; from memoryd.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "projects", *option.split()],
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"/p/\udcff" in done.stdout
