"""The hook as the client runs it, against a real service, and against everything else."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from memoryd.client import Client
from memoryd.hook import PATIENCE_S

from support.hooks import COMMAND, EVENTS, HOOK, SESSION, context_of, run_hook, sample
from support.service import Service
from support.transcripts import assistant, row, text, user

pytestmark = pytest.mark.system

FACT = "The staging database listens on port 6543."
QUESTION = "which port does the staging database listen on?"


class Shop:
    """A project with a memory, and a client that runs hooks in it."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.root = service.home / "shop"
        self.root.mkdir()
        self.folder = service.projects / "-shop"
        self.folder.mkdir()
        service.ctl("remember", FACT, cwd=self.root)

    def hook(self, kind: str, *, environment: dict[str, str] | None = None, **more: Any) -> str:
        """Run a hook; return what the model is given."""
        given = sample(kind, str(self.root), str(self.service.projects), **more)
        given["transcript_path"] = more.get(
            "transcript_path", str(self.folder / f"{given['session_id']}.jsonl")
        )
        return context_of(run_hook(given, {**self.service.environment, **(environment or {})}))

    def ask(self, **more: Any) -> str:
        """Ask what the memory answers; return what the model is given."""
        return self.hook("UserPromptSubmit", prompt=QUESTION, **more)

    def append(self, *lines: bytes, session: str = SESSION) -> None:
        """Write to a transcript."""
        with (self.folder / f"{session}.jsonl").open("ab") as file:
            file.write(b"".join(lines))

    def memories(self) -> set[str]:
        """Return the names of the project's memories."""
        return {found["name"] for found in self.service.json("list", cwd=self.root)}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    service = Service(tmp_path_factory.mktemp("hooks") / "home")
    service.projects.mkdir(parents=True)
    service.start()
    yield Shop(service)
    service.stop()


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    service = Service(tmp_path / "home")
    service.projects.mkdir(parents=True)
    service.start()
    yield Shop(service)
    service.stop()


# What it prints while the service answers


@pytest.mark.parametrize("kind", EVENTS)
def test_every_event_is_answered_in_its_form(running: Shop, kind: str) -> None:
    given = running.hook(kind, session=f"every-{kind}")
    if kind.startswith("SessionStart"):
        assert "1 memory of" in given
    else:
        assert given == ""


def test_a_prompt_gets_what_helps_once(running: Shop) -> None:
    given = running.ask(session="once")
    assert "port 6543" in given
    assert given.startswith("<memoryd-recall>")
    assert "MEMORY.md" not in given
    assert running.ask(session="once", prompt_id="another") == ""
    assert "port 6543" in running.ask(session="another")


def test_a_prompt_that_nothing_helps_with_gets_nothing(running: Shop) -> None:
    assert running.hook("UserPromptSubmit", prompt="thanks!", session="thanks") == ""


def test_after_a_compaction_it_may_be_given_again(running: Shop) -> None:
    assert running.ask(session="compacted")
    running.hook("PreCompact", session="compacted")
    assert running.ask(session="compacted", prompt_id="2") == ""
    running.hook("PostCompact", session="compacted")
    assert running.ask(session="compacted", prompt_id="3")


def test_what_the_model_read_itself_is_not_given(running: Shop) -> None:
    (memory,) = running.service.json("list", cwd=running.root)
    read = {"tool_name": "Read", "tool_input": {"file_path": memory["path"]}}
    call: dict[str, Any] = {**read, "tool_response": "x"}
    running.hook("PostToolBatch", tool_calls=[call], session="reader")
    assert running.ask(session="reader") == ""
    running.hook("PostToolUse", session="older", **call)
    assert running.ask(session="older") == ""


def test_subagents_get_nothing(running: Shop) -> None:
    assert running.ask(session="agents", agent_id="a01", agent_type="Explore") == ""
    assert running.ask(session="agents")


@pytest.mark.parametrize(
    "prompt",
    [
        f"<task-notification>\n{QUESTION}\n</task-notification>",
        f"[memoryd-request]\n{QUESTION}",
        f"<system-reminder>{QUESTION}</system-reminder>",
        "",
    ],
)
def test_prompts_of_programs_get_nothing(running: Shop, prompt: str) -> None:
    assert running.hook("UserPromptSubmit", prompt=prompt, session="programs") == ""


def test_ignoring_memory_is_heard_and_taken_back(running: Shop) -> None:
    def say(words: str, turn: str) -> str:
        more: dict[str, Any] = {"prompt": words, "prompt_id": turn, "session": "ignoring"}
        return running.hook("UserPromptSubmit", **more)

    say("Please ignore your memory in this session.", "1")
    assert say(QUESTION, "2") == ""
    assert running.hook("SessionStart-resume", session="ignoring") == ""
    say("You can use your memory again.", "3")
    assert "port 6543" in say(QUESTION, "4")


@pytest.mark.parametrize(
    "switch",
    [
        {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"},
        {"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "true"},
        {"CLAUDE_CONFIG_DIR": "/nowhere/else"},
        {"MEMORYD_CHILD": "1"},
    ],
)
def test_switches_in_the_clients_environment(running: Shop, switch: dict[str, str]) -> None:
    assert running.hook("SessionStart-startup", environment=switch, session="off") == ""
    assert running.ask(environment=switch, session="off") == ""


def test_the_directory_of_the_service_is_no_other(running: Shop) -> None:
    config = running.service.projects.parent
    link = running.service.home / "linked"
    link.symlink_to(config)
    for number, same in enumerate((config, f"{config}/", link)):
        environment = {"CLAUDE_CONFIG_DIR": str(same)}
        assert running.ask(environment=environment, session=f"same-{number}")


def test_a_transcript_elsewhere_is_of_another_client(running: Shop) -> None:
    for path in ("/nowhere/.claude/projects/-shop/elsewhere.jsonl", "/nowhere/elsewhere.jsonl"):
        assert running.ask(session="elsewhere", transcript_path=path) == ""


def test_settings_of_the_client_switch_off_and_always_switches_on(shop: Shop) -> None:
    settings = shop.service.projects.parent / "settings.json"
    settings.write_text('{"autoMemoryEnabled": false}')
    assert shop.hook("SessionStart-startup") == ""
    assert shop.ask() == ""
    shop.service.stop()
    shop.service.environment["MEMORYD_MEMORY_ALWAYS"] = "true"
    shop.service.start()
    assert shop.hook("SessionStart-startup")
    assert shop.ask()


def test_paused_and_excluded_projects_get_nothing(shop: Shop) -> None:
    shop.service.ctl("pause", "--project", str(shop.root))
    assert shop.hook("SessionStart-startup") == ""
    assert shop.ask() == ""
    shop.service.ctl("resume")
    assert shop.ask()
    shop.service.stop()
    shop.service.environment["MEMORYD_EXCLUDE"] = f"{shop.root}/**"
    shop.service.start()
    assert shop.hook("SessionStart-startup") == ""
    assert shop.ask(session="excluded") == ""


def test_a_project_without_memories_is_told_nothing(running: Shop) -> None:
    assert running.hook("SessionStart-startup", cwd=str(running.service.home)) == ""


def test_status_metrics_and_doctor_tell_which_hooks_came(shop: Shop) -> None:
    shop.ask()
    shop.hook("Stop")
    shop.hook("OfTomorrow")
    hooks = shop.service.json("status")["hooks"]
    assert {name: (seen["count"], seen["given"]) for name, seen in hooks.items()} == {
        "UserPromptSubmit": (1, 1),
        "Stop": (1, 0),
        "other": (1, 0),
    }
    metrics = shop.service.ctl("metrics")
    assert 'memoryd_hook_seconds_count{event="Stop"} 1' in metrics
    assert 'memoryd_hooks_given_total{event="UserPromptSubmit"} 1' in metrics
    doctor = json.loads(shop.service.run("memoryctl", "doctor", "--json").stdout)
    assert any("the client's last one was" in finding["text"] for finding in doctor)


# What it tells the service


def test_a_stop_ends_the_turn(shop: Shop) -> None:
    asked = user(
        "Remember that the harvest scheduler keeps its state in the north bucket.",
        cwd=str(shop.root), promptSource="typed", origin={"kind": "human"},
    )  # fmt: skip
    shop.append(asked, assistant(text("Noted."), cwd=str(shop.root)))
    shop.hook("Stop")
    # Nobody asks to wait: that would end the turn too.
    with Client(shop.service.runtime / "memoryd.sock") as client:
        while client.call("jobs.list", {"state": "done"}) == []:
            assert client.status()["pid"]
    assert len(shop.memories()) == 2
    database = sqlite3.connect(f"file:{shop.service.state / 'memoryd.db'}?mode=ro", uri=True)
    assert database.execute("SELECT end_reason FROM turns").fetchall() == [("notice",)]
    database.close()


def test_what_was_given_is_not_learned_from(shop: Shop) -> None:
    before = shop.memories()
    given = shop.ask()
    told = f"{given}\n<memoryd-recall>\nRemember that we always deploy on Friday.\n"
    cwd = str(shop.root)
    shop.append(
        user("Please look at the routes.", promptSource="typed", cwd=cwd),
        row(
            type="attachment", uuid="h-1", cwd=cwd, sessionId=SESSION,
            attachment={"type": "hook_additional_context", "content": [told, FACT],
                        "hookName": "UserPromptSubmit", "hookEvent": "UserPromptSubmit"},
        ),
        user(f"UserPromptSubmit hook additional context: {told}", "u-2", cwd=cwd),
        assistant(text("Done."), stop="end_turn", cwd=cwd),
    )  # fmt: skip
    shop.service.wait()
    assert shop.memories() == before


def test_a_locked_database_keeps_no_hook_waiting(shop: Shop) -> None:
    locked = sqlite3.connect(shop.service.state / "memoryd.db", isolation_level=None)
    locked.execute("BEGIN IMMEDIATE")
    try:
        assert shop.hook("SessionStart-startup")
        assert shop.ask()
        assert shop.hook("Stop") == ""
        assert shop.service.json("status")["hooks"].keys() == {
            "SessionStart", "UserPromptSubmit", "Stop",
        }  # fmt: skip
    finally:
        locked.execute("ROLLBACK")
        locked.close()


# Sizes


@pytest.mark.parametrize("size", [60_000, 65_536, 70_000, 900_000])
def test_long_input_is_taken_whole(running: Shop, size: int) -> None:
    (memory,) = running.service.json("list", cwd=running.root)
    call = {"tool_name": "Read", "tool_input": {"file_path": memory["path"]},
            "tool_response": "é\n" * (size // 8)}  # fmt: skip
    running.hook("PostToolBatch", tool_calls=[call], session=f"long-{size}")
    assert running.ask(session=f"long-{size}") == ""


def test_of_giant_input_the_event_arrives(shop: Shop) -> None:
    assert shop.hook("PostToolBatch", tool_calls=[{"tool_response": "x" * 5_000_000}]) == ""
    assert shop.hook("UserPromptSubmit", zzz="x" * 3_000_000, prompt=QUESTION) == ""
    assert shop.service.json("status")["hooks"].keys() == {"PostToolBatch", "UserPromptSubmit"}


@pytest.mark.parametrize(
    "garbage", [b"", b"\n", b"null", b"[]", b'"x"', b"{", b"\0\xff\n\n{}", b"{}\n{}", b"[" * 10**5]
)
def test_garbage_on_standard_input(running: Shop, garbage: bytes) -> None:
    assert context_of(run_hook(garbage, running.service.environment)) == ""
    assert running.service.pid()


# Without a service


def answering(path: Path, answer: Callable[[socket.socket], None]) -> socket.socket:
    """Listen, and do with each peer what ``answer`` does."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()

    def serve() -> None:
        while True:
            try:
                peer = listening.accept()[0]
            except OSError:
                return
            with peer:
                try:
                    answer(peer)
                except OSError:
                    continue

    threading.Thread(target=serve, daemon=True).start()
    return listening


def never(peer: socket.socket) -> None:
    while peer.recv(1 << 20):
        pass


def endless(peer: socket.socket) -> None:
    while True:
        peer.sendall(b"x" * 65536)


def after_half(peer: socket.socket) -> None:
    peer.sendall(b'{"jsonrpc":"2.0","id":1,"result":{"output":"half')
    never(peer)


def says(line: bytes) -> Callable[[socket.socket], None]:
    def answer(peer: socket.socket) -> None:
        peer.recv(1 << 20)
        peer.sendall(line)

    return answer


def resets(peer: socket.socket) -> None:
    peer.recv(1)


@pytest.mark.parametrize(
    "answer",
    [
        never,
        endless,
        after_half,
        resets,
        says(b"HTTP/1.1 200 OK\r\n\r\nhello"),
        says(b"\n\n\n"),
        says(b"\xff\xfe\0\n"),
        says(b'{"jsonrpc":"2.0","id":1,"result":{"output":{"decision":"block"}}}\n'),
        says(b'{"jsonrpc":"2.0","id":1,"result":{"output":"\\ud800"}}\n'),
        says(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"busy"}}\n'),
    ],
)
def test_whoever_else_answers(tmp_path: Path, answer: Callable[[socket.socket], None]) -> None:
    service = Service(tmp_path / "home")
    listening = answering(service.runtime / "memoryd.sock", answer)
    try:
        for stdin in (sample("Stop", "/x", "/p"), sample("Stop", "/x", "/p", y="z" * 500_000)):
            assert context_of(run_hook(stdin, service.environment)) == ""
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


Held = tuple[socket.socket, ...]


def nothing(path: Path) -> Held:
    assert not path.exists()
    return ()


def left_behind(path: Path) -> Held:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
    return ()


def datagrams(path: Path) -> Held:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.bind(str(path))
    return (made,)


def full(path: Path) -> Held:
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(path))
    made.listen(0)
    waiting = socket.socket(socket.AF_UNIX)
    waiting.connect(str(path))
    return made, waiting


def a_file(path: Path) -> Held:
    path.write_text("no socket")
    return ()


def a_pipe(path: Path) -> Held:
    os.mkfifo(path)
    return ()


@pytest.mark.parametrize("there", [nothing, left_behind, datagrams, full, a_file, a_pipe])
def test_nobody_answers(tmp_path: Path, there: Callable[[Path], Held]) -> None:
    service = Service(tmp_path / "home")
    held = there(service.runtime / "memoryd.sock")
    for kind in EVENTS:
        given = sample(kind, "/x", "/p")
        assert context_of(run_hook(given, service.environment)) == ""
    for end in held:
        end.close()


def test_a_path_too_long_for_a_socket(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "MEMORYD_RUNTIME_DIR": "/" + "x" * 200}
    assert context_of(run_hook(sample("Stop", "/x", "/p"), environment)) == ""
    assert context_of(run_hook(sample("Stop", "/x", "/p"), {})) == ""


def test_a_stopped_service(shop: Shop) -> None:
    pid = shop.service.pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        for kind in EVENTS:
            assert shop.hook(kind) == ""
    finally:
        os.kill(pid, signal.SIGCONT)
    assert shop.ask(session="afterwards")


# What the client does with its ends


def start(environment: dict[str, str], **ends: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(COMMAND, env=environment, stderr=subprocess.PIPE, **ends)


def silent(process: subprocess.Popen[bytes]) -> None:
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(30) == 0


def test_input_that_never_ends(running: Shop) -> None:
    read, write = os.pipe()
    os.write(write, b'{"hook_event_name":"Stop"')
    process = start(running.service.environment, stdin=read, stdout=subprocess.DEVNULL)
    silent(process)
    os.close(read)
    os.close(write)


def test_input_that_does_not_block(running: Shop) -> None:
    read, write = os.pipe()
    os.set_blocking(read, False)
    ask = sample(
        "UserPromptSubmit", str(running.root), str(running.service.projects),
        prompt=QUESTION, session="no-block", transcript_path=None,
    )  # fmt: skip
    process = start(running.service.environment, stdin=read, stdout=subprocess.PIPE)
    os.write(write, json.dumps(ask).encode())
    os.close(write)
    assert process.stdout is not None
    assert b"port 6543" in process.stdout.read()
    process.stdout.close()
    silent(process)
    os.close(read)


@pytest.mark.parametrize("ends", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "</dev/null", ">/dev/full"])
def test_ends_that_are_closed(running: Shop, tmp_path: Path, ends: str) -> None:
    given = sample("SessionStart-startup", str(running.root), str(running.service.projects))
    (tmp_path / "stdin").write_text(json.dumps({**given, "transcript_path": ""}))
    script = f'"$0" -I -S "$1" <"$2" {ends}'
    done = subprocess.run(
        ["/bin/sh", "-c", script, sys.executable, HOOK, tmp_path / "stdin"],
        env=running.service.environment,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    if ends == "2>&-":
        assert b"1 memory of" in done.stdout
    else:
        assert done.stdout == b""


def test_nobody_reads_what_it_prints(running: Shop) -> None:
    read, write = os.pipe()
    os.close(read)
    given = sample("SessionStart-startup", str(running.root), str(running.service.projects))
    process = start(running.service.environment, stdin=subprocess.PIPE, stdout=write)
    os.close(write)
    assert process.stdin is not None
    process.stdin.write(json.dumps({**given, "transcript_path": ""}).encode())
    process.stdin.close()
    silent(process)


def test_an_interrupt_is_no_traceback(running: Shop) -> None:
    watched = f"""
import signal, sys
sys.argv = [{str(HOOK)!r}]
import _signal
made = _signal.setitimer
def tell(*arguments):
    made(*arguments)
    signal.raise_signal(signal.SIGINT)
_signal.setitimer = tell
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"), {{"__name__": "__main__"}})
"""
    done = subprocess.run(
        [sys.executable, "-c", watched],
        env=running.service.environment,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_it_loads_nothing_that_is_written_in_python() -> None:
    """Every module beyond a bare interpreter's is a part of it or compiled."""
    script = f"""
import sys, posix
before = set(sys.modules)
given = {{"__name__": "hook"}}
exec(compile(open({str(HOOK)!r}).read(), "hook", "exec"), given)
given["request"](b"{{}}", {{b"CLAUDE_CONFIG_DIR": b"/x"}}, 1)
given["output"](b'{{"jsonrpc":"2.0","id":1,"result":{{"output":"text"}}}}\\n')
import _socket, _signal
for name in set(sys.modules) - before:
    print(name, str(getattr(sys.modules[name], "__file__", "")).endswith(".py"))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True
    )
    loaded = dict(line.split() for line in done.stdout.splitlines())
    assert set(loaded) <= {"_json", "_socket", "posix", "time", "_signal"}
    assert "True" not in loaded.values()


def test_it_promises_to_give_up_in_time() -> None:
    assert PATIENCE_S < 0.15


@pytest.mark.corpus
def test_what_the_real_client_gave_to_hooks(shop: Shop, corpus: Path) -> None:
    examples = json.loads((corpus / "client" / "hook-examples.json").read_text())
    for given in examples.values():
        stem = given["transcript_path"].rpartition("/")[2]
        here = {**given, "cwd": str(shop.root), "transcript_path": str(shop.folder / stem)}
        context = context_of(run_hook(here, shop.service.environment))
        assert bool(context) == (given["hook_event_name"] == "SessionStart")
    seen = shop.service.json("status")["hooks"]
    assert sum(tally["count"] for tally in seen.values()) == len(examples)
