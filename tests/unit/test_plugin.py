"""The plugin is the same as what ``memoryctl install`` sets up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import memoryd
from memoryd.install.hooktext import EVENTS, TIMEOUT_S, is_ours

PACKAGE = Path(memoryd.__file__).parent
PLUGIN = PACKAGE / "plugin"


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PLUGIN / name).read_text(encoding="utf-8"))
    return found


def test_version_and_name_are_those_of_the_package() -> None:
    manifest = read(".claude-plugin/plugin.json")
    assert (manifest["name"], manifest["version"]) == ("memoryd", memoryd.__version__)
    (listed,) = read(".claude-plugin/marketplace.json")["plugins"]
    assert (listed["name"], listed["source"]) == ("memoryd", "./")


def test_it_has_the_hooks_of_install() -> None:
    hooks = read("hooks/hooks.json")["hooks"]
    assert tuple(hooks) == EVENTS
    hook = '"${CLAUDE_PLUGIN_ROOT}/hook.py"'
    command = f"[ ! -r {hook} ] || exec python3 -I -S {hook}"
    handler = {"type": "command", "command": command, "timeout": TIMEOUT_S}
    assert all(groups == [{"hooks": [handler]}] for groups in hooks.values())
    assert not is_ours(command), "install must not take it for its own"


def test_it_starts_the_same_program() -> None:
    assert (PLUGIN / "hook.py").read_bytes() == (PACKAGE / "hook.py").read_bytes()


def test_it_starts_the_server_by_its_name() -> None:
    assert read(".mcp.json") == {
        "mcpServers": {"memoryd": {"command": "memoryctl", "args": ["mcp"]}}
    }
