"""What a person who uses the real client gets from the service through its hooks."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from support.messages_api import MessagesApi, Reply, Request, ToolUse, calls, says
from support.real_client import RealClient, Turn
from support.service import Service

pytestmark = [pytest.mark.client, pytest.mark.system]

FACT = "Remember that our staging database listens on port 6543"
QUESTION = "Which port does our staging database listen on?"
_CLAIM = re.compile(r'<memory-claim [^>]*\bpath="([^"]+)"')


def given(request: Request) -> Counter[str]:
    """Return how often each memory stands in what hooks told the model, by file name."""
    return Counter(
        Path(path).name
        for text in request.texts("system")
        if "hook additional context: " in text
        for path in _CLAIM.findall(text)
    )


def summaries(request: Request) -> list[str]:
    """Return the summaries that hooks told the model."""
    told = "\n".join(request.texts("system"))
    return re.findall(r"<memory-summary .*?</memory-summary>", told, re.DOTALL)


def injected(turn: Turn) -> list[str]:
    """Return the recalls that the transcript holds."""
    return [
        text
        for attachment in turn.attachments("hook_additional_context")
        for text in attachment["content"]
        if "<memory-claim" in text
    ]


def memories(client: RealClient) -> list[Path]:
    """Return the topic files of all projects."""
    found = client.config.glob("projects/*/memory/*.md")
    return sorted(path for path in found if path.name != "MEMORY.md")


def write_memory(folder: Path, name: str, description: str, body: str) -> Path:
    """Write a memory as the client does."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.md"
    path.write_text(
        f"---\nname: {name}\ndescription: {description}\n"
        f"metadata:\n  node_type: memory\n  type: project\n---\n\n{body}\n"
    )
    return path


@pytest.fixture
def project(client: RealClient) -> Path:
    return client.project("shop")


@pytest.fixture
def fact(client: RealClient, service: Service, project: Path) -> Path:
    """The memory of what a person said in an earlier session."""
    said = client.turn(FACT, cwd=project)
    assert said.code == 0
    service.wait()
    (path,) = memories(client)
    assert "6543" in path.read_text()
    return path


def test_a_fact_reaches_the_next_session_once(
    client: RealClient, project: Path, fact: Path
) -> None:
    turn = client.turn(QUESTION, QUESTION, "And the staging database's port, again?", cwd=project)
    assert [given(request) for request in turn.requests] == [Counter({fact.name: 1})] * 3
    (text,) = injected(turn)
    assert "6543" in text
    # The client gives the index itself.
    assert "<memory-index" not in text
    assert turn.stderr == ""
    for options in (("--continue",), ("--resume", turn.session)):
        more = client.turn(QUESTION, cwd=project, options=options)
        assert more.session == turn.session
        assert given(more.requests[-1]) == {fact.name: 1}
        assert len(injected(more)) == 1


def test_the_first_request_says_how_much_is_known(
    client: RealClient, project: Path, fact: Path
) -> None:
    turn = client.turn("Hello", cwd=project)
    lines = [
        text
        for attachment in turn.attachments("hook_additional_context")
        if attachment["hookEvent"] == "SessionStart"
        for text in attachment["content"]
    ]
    assert len(lines) == 1
    assert "1 memory" in lines[0]
    assert fact.stem not in lines[0]
    # What a resumed session was told at its start is still there.
    more = client.turn("Hello again", cwd=project, options=("--continue",))
    assert len(more.attachments("hook_additional_context")) == 1
    elsewhere = client.turn("Hello", cwd=client.project("other"))
    assert elsewhere.attachments("hook_additional_context") == []


def test_what_the_model_read_itself_is_not_given(
    client: RealClient, api: MessagesApi, project: Path, fact: Path
) -> None:
    api.when("Look into your notes", calls("Read", file_path=str(fact)), says("I have read it."))
    turn = client.turn("Look into your notes", QUESTION, cwd=project)
    assert "6543" in turn.requests[1].texts("user")[-1]
    assert given(turn.requests[-1]) == {}
    assert injected(turn) == []


def test_the_tools_of_a_subagent_bring_nothing(
    client: RealClient, api: MessagesApi, project: Path, fact: Path
) -> None:
    api.when(
        "Have somebody look",
        calls("Task", description="Look", prompt=QUESTION, subagent_type="general-purpose"),
        says("Somebody looks."),
    )
    api.when(re.escape(QUESTION), calls("Read", file_path=str(project / "README.md")), says("No."))
    turn = client.turn("Have somebody look", cwd=project)
    inside = [r for r in turn.requests if "x-claude-code-agent-id" in r.headers]
    assert len(inside) == 2
    assert all(given(request) == {} for request in inside)
    # What comes back from it was typed by nobody.
    assert any("<task-notification>" in text for text in turn.requests[-1].texts("user"))
    assert injected(turn) == []
    assert fact.exists()


def test_after_60_kilobytes_a_session_gets_no_more(
    client: RealClient, service: Service, project: Path, fact: Path
) -> None:
    subjects = [
        "turbine", "harbour", "orchid", "violin", "glacier", "lantern", "saffron", "walrus",
        "cathedral", "mosaic", "papyrus", "quartz", "falcon", "tundra", "bagpipe", "compass",
        "dolphin", "ember", "fjord", "gazelle",
    ]  # fmt: skip
    filler = "The rest of this note is detail that nobody asks for. " * 66
    for subject in subjects:
        write_memory(
            fact.parent, f"{subject}-service", f"Owner of the {subject} service",
            f"The {subject} service is owned by the {subject} guild.\n\n{filler}",
        )  # fmt: skip
    service.wait()
    prompts = [f"Who owns the {subject} service?" for subject in subjects]
    turn = client.turn(*prompts, cwd=project)
    texts = injected(turn)
    assert all(len(text) <= 10_000 for text in texts)
    total = sum(len(text) for text in texts)
    assert 40_000 < total <= 61_440 + 10_000
    last = f"{subjects[-1]}-service.md"
    assert last not in given(turn.requests[-1])
    fresh = client.turn(prompts[-1], cwd=project)
    assert given(fresh.requests[-1])[last] == 1


def test_a_fork_has_what_it_copied(client: RealClient, project: Path, fact: Path) -> None:
    asked = client.turn(QUESTION, cwd=project)
    for options in (("--resume", asked.session), ("--continue",)):
        fork = client.turn(QUESTION, QUESTION, cwd=project, options=(*options, "--fork-session"))
        assert fork.session != asked.session
        assert given(fork.requests[-1]) == {fact.name: 1}


def test_a_compacted_session_is_given_again_what_it_lost(
    client: RealClient, project: Path, fact: Path
) -> None:
    asked = client.turn(QUESTION, cwd=project)
    resumed = ("--resume", asked.session)
    compacted = client.turn("/compact", cwd=project, options=resumed)
    assert compacted.code == 0
    # Nothing of ours in the request for the summary but what was there before.
    assert given(compacted.requests[-1]) == {fact.name: 1}
    after = client.turn(QUESTION, QUESTION, cwd=project, options=resumed)
    assert after.session == asked.session
    assert given(after.requests[-1]) == {fact.name: 1}


def test_a_compacted_session_is_given_its_summary_once(client: RealClient, project: Path) -> None:
    first = "Build the orchard gate, and mind the hinges."
    asked = client.turn(first, cwd=project)
    assert summaries(asked.requests[-1]) == []
    resumed = ("--resume", asked.session)
    compacted = client.turn("/compact", cwd=project, options=resumed)
    assert summaries(compacted.requests[-1]) == []
    for _ in range(2):  # Resumed again, the client repeats what was given.
        after = client.turn("Go on.", cwd=project, options=resumed)
        (told,) = summaries(after.requests[-1])
        assert f"First asked — {first}" in told


def test_after_clear_a_new_session_begins(client: RealClient, project: Path, fact: Path) -> None:
    turn = client.turn(QUESTION, "/clear", QUESTION, cwd=project)
    assert len({result["session_id"] for result in turn.results}) == 2
    assert [given(request) for request in turn.requests] == [Counter({fact.name: 1})] * 2


def test_worktrees_and_subdirectories_share_the_memories(
    client: RealClient, service: Service, project: Path, fact: Path
) -> None:
    below = project / "docs/howto"
    below.mkdir(parents=True)
    worktree = client.home / "feature"
    client.git(project, "worktree", "add", "-q", str(worktree))
    for place in (below, worktree):
        asked = client.turn(QUESTION, cwd=place)
        assert given(asked.requests[-1]) == {fact.name: 1}, place
    asked = client.turn(QUESTION, cwd=project, options=("--worktree", "other-feature"))
    assert given(asked.requests[-1]) == {fact.name: 1}
    client.turn("Remember that the release train leaves on Tuesdays", cwd=worktree)
    service.wait()
    assert len(memories(client)) == 2
    assert {path.parent for path in memories(client)} == {fact.parent}


@pytest.mark.parametrize("way", ["environment", "settings"])
def test_where_auto_memory_is_off_nothing_is_given_or_learned(
    client: RealClient, service: Service, project: Path, fact: Path, way: str
) -> None:
    switch = {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"} if way == "environment" else {}
    if way == "settings":
        path = client.config / "settings.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "autoMemoryEnabled": False}))
    turn = client.turn(
        QUESTION,
        "Remember that the release train leaves on Tuesdays",
        cwd=project,
        environment=switch,
    )
    assert turn.code == 0
    assert turn.attachments("hook_additional_context") == []
    service.wait()
    assert memories(client) == [fact]


def test_without_the_service_nobody_notices(
    client: RealClient, service: Service, project: Path, fact: Path
) -> None:
    service.stop()
    turn = client.turn(QUESTION, cwd=project)
    assert (turn.code, turn.text, turn.stderr) == (0, "Understood.", "")
    assert given(turn.requests[-1]) == {}
    kinds = {r["attachment"]["type"] for r in turn.records() if r.get("type") == "attachment"}
    assert kinds.isdisjoint({"hook_non_blocking_error", "hook_cancelled", "hook_system_message"})
    # What was said meanwhile is learned later.
    client.turn("Remember that the release train leaves on Tuesdays", cwd=project)
    service.start()
    service.wait()
    assert len(memories(client)) == 2
    assert fact in memories(client)


def test_hooks_start_no_process(
    client: RealClient, api: MessagesApi, project: Path, fact: Path, tmp_path: Path
) -> None:
    """In a process namespace of its own, the number after a hook's tells what it started."""
    isolate = ["unshare", "--pid", "--fork", "--kill-child"]
    if os.getuid() != 0:
        isolate[1:1] = ["--user", "--map-current-user"]
    if subprocess.run([*isolate, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this system has no namespaces of processes for tests")
    log = tmp_path / "next"

    def observed(command: str) -> str:
        inside = f'({command})\nsh -c "echo \\$\\$" >> {shlex.quote(str(log))}'
        return shlex.join([*isolate, "sh", "-c", inside])

    path = client.config / "settings.json"
    settings = json.loads(path.read_text())
    for groups in settings["hooks"].values():
        for group in groups:
            for hook in group["hooks"]:
                hook["command"] = observed(hook["command"])
    path.write_text(json.dumps(settings))
    api.when(
        "Look", Reply((ToolUse("Read", {"file_path": str(project / "README.md")}),)), says(".")
    )
    turn = client.turn(QUESTION, "Look", cwd=project)
    # The hooks did their work, and the next process was the third: the shell, the hook, it.
    assert given(turn.requests[-1]) == {fact.name: 1}
    assert set(log.read_text().split()) == {"3"}
    assert len(log.read_text().split()) >= 6


def test_nothing_is_learned_from_a_session_of_our_own(
    client: RealClient, service: Service, project: Path, fact: Path
) -> None:
    turn = client.turn(
        f"[memoryd-request]\n{QUESTION}", "Remember that the release train leaves on Tuesdays",
        cwd=project,
    )  # fmt: skip
    assert given(turn.requests[0]) == {}
    service.wait()
    assert memories(client) == [fact]


def test_uninstall_leaves_the_settings_as_they_were(
    client: RealClient, service: Service, project: Path
) -> None:
    path = client.config / "settings.json"
    service.ctl("uninstall", "--yes", "--no-service")
    own = b'[ {"hooks":[{"type":"command","command":"true"}]} ]'
    mine = b'{"hooks": {"Stop": ' + own + b'},\n\t"theme":"dark"}'
    path.write_bytes(mine)
    service.ctl("install", "--yes", "--no-service")
    assert client.turn("Hello", cwd=project).code == 0
    assert path.read_bytes() != mine
    service.ctl("uninstall", "--yes", "--no-service")
    assert path.read_bytes() == mine
    turn = client.turn(QUESTION, cwd=project)
    assert turn.attachments("hook_additional_context") == []
