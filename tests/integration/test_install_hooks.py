"""Edits of a settings file that something else changes as well."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from memoryd.errors import MemorydError
from memoryd.install import settingsfile
from memoryd.install.hooks import Hooks
from memoryd.install.hooktext import EVENTS
from memoryd.install.made import Made

COMMAND = "/opt/bin/python -I -S /opt/memoryd/hook.py"


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(Made(tmp_path / "state"), COMMAND)


def carry_out(hooks: Hooks, what: str, path: Path) -> None:
    for step in getattr(hooks, what)(path).steps:
        step.do()


@pytest.mark.parametrize("before", [None, '{"a": 1}'])
@pytest.mark.parametrize("meanwhile", [None, '{"a": 2}', "{}"])
def test_a_file_that_changed_between_plan_and_write_is_left_alone(
    hooks: Hooks, tmp_path: Path, before: str | None, meanwhile: str | None
) -> None:
    path = tmp_path / "settings.json"
    if before is not None:
        path.write_text(before)
    (step,) = hooks.install(path).steps
    path.unlink(missing_ok=True)
    if meanwhile is not None:
        path.write_text(meanwhile)
    if before == meanwhile:
        step.do()
        return
    with pytest.raises(MemorydError, match="changed by somebody else"):
        step.do()
    assert (path.read_text() if path.exists() else None) == meanwhile
    assert not list(tmp_path.glob(".settings*"))
    # And the next try works, and can be taken back.
    carry_out(hooks, "install", path)
    assert set(json.loads(path.read_text())["hooks"]) == set(EVENTS)
    carry_out(hooks, "uninstall", path)
    assert (path.read_text() if path.exists() else None) == meanwhile
    assert hooks.noted() == []


def test_a_link_that_was_turned_elsewhere_meanwhile_is_not_followed(
    hooks: Hooks, tmp_path: Path
) -> None:
    one, two, path = tmp_path / "one", tmp_path / "two", tmp_path / "settings.json"
    for place in (one, two):
        place.write_text("{}")
    path.symlink_to(one)
    (step,) = hooks.install(path).steps
    path.unlink()
    path.symlink_to(two)
    with pytest.raises(MemorydError, match="changed by somebody else"):
        step.do()
    assert (one.read_text(), two.read_text()) == ("{}", "{}")


def test_mode_and_owner_stay(hooks: Hooks, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    path.chmod(0o664)
    if os.geteuid() == 0:
        os.chown(path, 4321, 1234)
    before = path.stat()
    carry_out(hooks, "install", path)
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode, before.st_uid, before.st_gid,
    )  # fmt: skip


def test_an_upgrade_between_install_and_uninstall_changes_nothing_of_that(
    hooks: Hooks, tmp_path: Path
) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{ "hooks": {\n } }')
    carry_out(hooks, "install", path)
    later = Hooks(Made(tmp_path / "state"), COMMAND.replace("/opt", "/new"))
    carry_out(later, "install", path)
    assert "/opt/" not in path.read_text()
    carry_out(later, "uninstall", path)
    assert path.read_text() == '{ "hooks": {\n } }'
    assert not (tmp_path / "state/backups").exists(), "copies may hold keys"


@pytest.mark.parametrize(
    "note",
    [
        "not JSON",
        {"settings": {"{path}": 7}},
        {"settings": {"{path}": {"marks": {"created": 5}}}},
        {"settings": {"{path}": {"marks": {"created": [], "empty": "xy", "blank": None}}}},
    ],
)
def test_without_the_note_our_hooks_go_all_the_same(
    hooks: Hooks, tmp_path: Path, note: object
) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"a": 1}\n')
    carry_out(hooks, "install", path)
    Made(tmp_path / "state").path.write_text(
        note if isinstance(note, str) else json.dumps(note).replace("{path}", str(path))
    )
    carry_out(hooks, "uninstall", path)
    assert path.read_text() == '{"a": 1}\n'


def test_a_secret_in_the_settings_is_not_shown(hooks: Hooks, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    secret = "sk-ant-" + "api03-" + "a1B2c3D4e5" * 9
    path.write_text(json.dumps({"env": {"ANTHROPIC_AUTH_TOKEN": secret}}, indent=2))
    (step,) = hooks.install(path).steps
    shown = "\n".join(step.detail)
    assert "ANTHROPIC_AUTH_TOKEN" in shown
    assert secret not in shown


def test_a_pipe_in_place_of_the_settings_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "settings.json")
    with pytest.raises(MemorydError, match="no settings file"):
        settingsfile.read(tmp_path / "settings.json")
