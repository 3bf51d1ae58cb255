import json
import os
from pathlib import Path

import pytest
from memoryd.memory.location import (
    AutoMemory,
    Layer,
    Scope,
    auto_memory_state,
    memory_directory,
    read_layers,
)

HOME = Path("/home/dev")


def state(environ: dict[str, str], *layers: tuple[Scope, object]) -> AutoMemory:
    made = [
        Layer(scope, Path(f"/{scope}.json"), c if isinstance(c, bytes) else json.dumps(c).encode())
        for scope, c in layers
    ]
    return auto_memory_state(environ, made, home=HOME)


def test_memories_live_under_the_key_of_the_root() -> None:
    config = Path("/c")
    where = memory_directory(config, "/home/dev/my.app", auto_memory_directory=None)
    assert where == Path("/c/projects/-home-dev-my-app/memory")
    assert memory_directory(config, "/x", auto_memory_directory="/m") == Path("/m")


def test_on_unless_switched_off() -> None:
    assert state({}).on
    assert not state({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}).on
    assert not state({}, (Scope.PROJECT, {"autoMemoryEnabled": False})).on
    assert not state({"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"}).on


def test_the_environment_beats_the_settings_and_says_so() -> None:
    forced = state(
        {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0"}, (Scope.USER, {"autoMemoryEnabled": False})
    )
    assert forced.on
    assert "environment" in forced.why
    off = state({}, (Scope.USER, {"env": {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}}))
    assert not off.on
    assert "/user.json" in off.why


def test_the_stronger_file_decides() -> None:
    found = state(
        {}, (Scope.MANAGED, {"autoMemoryEnabled": True}), (Scope.USER, {"autoMemoryEnabled": False})
    )
    assert found.on
    assert "/managed.json" in found.why


def test_a_repository_cannot_move_memories() -> None:
    assert state({}, (Scope.PROJECT, {"autoMemoryDirectory": "/evil"})).directory is None
    assert state({}, (Scope.LOCAL, {"autoMemoryDirectory": "/evil"})).directory is None
    assert state({}, (Scope.USER, {"autoMemoryDirectory": "~/m"})).directory == "/home/dev/m"
    bad = state({}, (Scope.USER, {"autoMemoryDirectory": "../m"}))
    assert bad.directory is None
    assert bad.warnings


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b"[" * 100_000])
def test_settings_that_cannot_be_read_are_reported_and_switch_nothing(content: bytes) -> None:
    found = state({}, (Scope.USER, content))
    assert found.on
    assert "/user.json" in found.warnings[0]


def test_layers_are_read_strongest_first(tmp_path: Path) -> None:
    config, root = tmp_path / "config", tmp_path / "root"
    (root / ".claude").mkdir(parents=True)
    config.mkdir()
    (config / "settings.json").write_text("{}")
    os.mkfifo(root / ".claude" / "settings.json")
    (root / ".claude" / "settings.local.json").mkdir()
    layers = read_layers(config, root, tmp_path / "none.json")
    assert [(layer.scope, layer.content) for layer in layers] == [
        (Scope.LOCAL, None),
        (Scope.PROJECT, None),
        (Scope.USER, b"{}"),
    ]
