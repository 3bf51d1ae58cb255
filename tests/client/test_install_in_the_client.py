"""What the real client makes of what is installed for it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import memoryd
import pytest
from memoryd.install.hooktext import EVENTS

from support.messages_api import MessagesApi
from support.real_client import RealClient
from support.service import COMMANDS, Service

pytestmark = [pytest.mark.client, pytest.mark.system]

PLUGIN = Path(memoryd.__file__).parent / "plugin"
FACT = "Remember that our staging database listens on port 6543"
QUESTION = "Which port does our staging database listen on?"


def ask(client: RealClient, *arguments: str, cwd: Path | None = None) -> str:
    """Run one of the client's own commands, which must succeed, and return what it said."""
    done = subprocess.run(
        [str(client.binary), *arguments], cwd=cwd or client.home, env=client.environment,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


def servers(client: RealClient, root: Path | None = None) -> dict[str, Any]:
    found = json.loads((client.home / ".claude.json").read_text())
    if root is not None:
        found = found["projects"][str(root)]
    return dict(found.get("mcpServers", {}))


@pytest.fixture
def alone(tmp_path: Path, binary: Path) -> Service:
    """A home in which the client's command is the real one."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "claude").symlink_to(binary)
    service = Service(tmp_path / "alone", PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    # Nothing of it may leave the machine: there is nobody to answer.
    service.environment["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"
    return service


@pytest.mark.parametrize("scope", ["user", "project"])
def test_the_client_knows_the_server_until_it_is_uninstalled(
    alone: Service, binary: Path, api: MessagesApi, scope: str
) -> None:
    client = RealClient(binary, alone.home, api, {})
    project = client.project("shop")
    root = project if scope == "project" else None
    alone.ctl("install", "--yes", "--no-service", "--scope", scope, cwd=project)
    server = servers(client, root)["memoryd"]
    assert [server["command"], *server["args"]] == [str(COMMANDS.resolve() / "memoryctl"), "mcp"]
    assert "Connected" in ask(client, "mcp", "get", "memoryd", cwd=project)
    again = alone.ctl("install", "--no-service", "--scope", scope, cwd=project)
    assert again.startswith("all is installed\n")
    alone.ctl("uninstall", "--yes", "--no-service")
    assert servers(client, root) == {}
    assert not (client.config / "settings.json").exists()


def test_hooks_of_one_project_are_run_in_all_of_it_and_nowhere_else(
    client: RealClient, service: Service
) -> None:
    service.ctl("uninstall", "--yes", "--no-service")
    shop, other = client.project("shop"), client.project("other")
    (shop / "sub").mkdir()
    client.git(shop, "worktree", "add", "-q", str(client.home / "feature"))
    service.ctl("install", "--yes", "--no-service", "--scope", "project", cwd=shop / "sub")

    def seen() -> int:
        found = service.json("status")["hooks"].get("UserPromptSubmit", {"count": 0})
        return int(found["count"])

    counts = []
    for place in (shop, shop / "sub", client.home / "feature", other):
        before = seen()
        assert client.turn("Hello", cwd=place).code == 0
        counts.append(seen() - before)
    assert counts == [1, 1, 1, 0]


def test_the_plugin_is_accepted(client: RealClient) -> None:
    manifest = PLUGIN / ".claude-plugin/plugin.json"
    for path in (PLUGIN, manifest):
        assert "Validation passed" in ask(client, "plugin", "validate", "--strict", str(path))


def test_the_plugin_does_what_the_hooks_do_and_both_give_a_memory_once(
    client: RealClient, service: Service
) -> None:
    project = client.project("shop")
    ask(client, "plugin", "marketplace", "add", str(PLUGIN))
    ask(client, "plugin", "install", "memoryd@memoryd")
    said = service.run("memoryctl", "doctor", cwd=project).stdout
    assert "each event is told twice" in said
    assert client.turn(FACT, cwd=project).code == 0
    service.wait()
    hooks = service.json("status")["hooks"]
    assert hooks["UserPromptSubmit"]["count"] == 2

    def given() -> int:
        turn = client.turn(QUESTION, cwd=project)
        assert turn.code == 0
        return sum(
            text.count("<memory-claim ")
            for attachment in turn.attachments("hook_additional_context")
            for text in attachment["content"]
        )

    assert given() == 1, "told twice, it gives once"
    service.ctl("uninstall", "--yes", "--no-service")
    hooks = service.json("status")["hooks"]
    assert given() == 1, "the plugin alone does the same"
    now = service.json("status")["hooks"]
    assert now["UserPromptSubmit"]["count"] == hooks["UserPromptSubmit"]["count"] + 1
    assert set(now) <= set(EVENTS)
