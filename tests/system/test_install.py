"""``memoryctl install`` and ``uninstall`` with the real file system.

Service managers of a person do not run here: ``systemctl`` is a stand-in that records its calls,
and so is the client's ``claude``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.fake_claude import FakeClaude
from support.fake_systemctl import FakeSystemctl
from support.service import COMMANDS, Service

pytestmark = pytest.mark.system

# What is installed is the program itself, also where the environment is reached by a link.
PROGRAM = COMMANDS.resolve() / "memoryd"


@pytest.fixture
def systemctl(tmp_path: Path) -> FakeSystemctl:
    return FakeSystemctl(tmp_path / "bin")


@pytest.fixture
def service(tmp_path: Path, systemctl: FakeSystemctl) -> Service:
    path = f"{systemctl.folder}{os.pathsep}{os.environ['PATH']}"
    service = Service(tmp_path / "home", PATH=path)
    # As the manager has it: the socket is in a folder of the runtime directory.
    shared = service.runtime / "run"
    shared.mkdir()
    service.environment["XDG_RUNTIME_DIR"] = str(shared)
    del service.environment["MEMORYD_RUNTIME_DIR"]
    FakeClaude(systemctl.folder, service.home)
    return service


def tree(home: Path) -> dict[str, str]:
    return {
        str(path.relative_to(home)): path.read_text() if path.is_file() else "folder"
        for path in sorted(home.rglob("*"))
    }


def test_install_once_twice_and_take_it_back(service: Service, systemctl: FakeSystemctl) -> None:
    (service.home / ".config").mkdir()
    (service.state.parent).mkdir(parents=True)
    before = tree(service.home)

    shown = service.ctl("install", "--dry-run")
    assert tree(service.home) == before
    assert systemctl.changes() == []

    said = service.ctl("install", "--yes")
    assert all(line in said for line in shown.splitlines())
    folder = service.home / ".config/systemd/user"
    unit = (folder / "memoryd.service").read_text()
    assert f"\nExecStart={PROGRAM} start\n" in unit
    assert (folder / "memoryd.socket").stat().st_mode & 0o777 == 0o644
    assert "\nListenStream=%t/memoryd/memoryd.sock\n" in (folder / "memoryd.socket").read_text()
    assert systemctl.changes() == ["daemon-reload", "enable --now memoryd.socket memoryd.service"]

    assert service.ctl("install").startswith("all is installed\n")
    assert systemctl.changes() == []

    service.ctl("uninstall", "--yes")
    assert systemctl.changes() == [
        "disable --now memoryd.socket memoryd.service",
        "daemon-reload",
    ]
    after = tree(service.home)
    after.pop(str(service.state.relative_to(service.home)))  # The state directory stays, empty.
    after.pop(".claude.json")  # The client's own, which it writes when it likes.
    assert after == before
    assert service.ctl("uninstall").startswith("nothing is installed")


def test_off_a_terminal_without_yes_nothing_happens(
    service: Service, systemctl: FakeSystemctl
) -> None:
    before = tree(service.home)
    for command in ("install", "uninstall"):
        done = service.run("memoryctl", command)
        assert done.returncode == (2 if command == "install" else 0), done.stderr
    assert tree(service.home) == before
    assert systemctl.changes() == []
    service.ctl("install", "--yes")
    installed = tree(service.home)
    assert service.run("memoryctl", "uninstall").returncode == 2
    assert tree(service.home) == installed


def test_an_upgrade_writes_anew_and_restarts(service: Service, systemctl: FakeSystemctl) -> None:
    service.ctl("install", "--yes")
    systemctl.changes()
    service.environment["CLAUDE_CONFIG_DIR"] = str(service.home / "other $100% client")
    said = service.ctl("install", "--yes")
    assert "memoryd.service anew" in said
    assert systemctl.changes() == ["daemon-reload", "restart memoryd.socket memoryd.service"]
    unit = (service.home / ".config/systemd/user/memoryd.service").read_text()
    assert f'Environment="CLAUDE_CONFIG_DIR={service.home}/other $100%% client"' in unit
    assert f'"-{service.home}/other $100%% client"' in unit


def test_what_a_person_edited_is_kept(service: Service) -> None:
    service.ctl("install", "--yes")
    unit = service.home / ".config/systemd/user/memoryd.service"
    edited = unit.read_text() + "# mine\n"
    unit.write_text(edited)
    assert "memoryd.service.edited" in service.ctl("install", "--yes")
    assert unit.with_name("memoryd.service.edited").read_text() == edited
    unit.write_text(edited)
    service.ctl("uninstall", "--yes")
    assert not unit.exists()
    assert unit.with_name("memoryd.service.edited").read_text() == edited


def test_a_unit_of_somebody_else_is_left_alone(service: Service, systemctl: FakeSystemctl) -> None:
    unit = service.home / ".config/systemd/user/memoryd.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\nExecStart=/mine\n")
    done = service.run("memoryctl", "install", "--yes")
    assert done.returncode == 1
    assert "was not written by memoryctl install" in done.stderr
    assert "stays" in service.ctl("uninstall", "--yes")
    assert unit.read_text() == "[Service]\nExecStart=/mine\n"
    assert systemctl.changes() == []


def test_a_manager_that_refuses_is_quoted(service: Service, systemctl: FakeSystemctl) -> None:
    systemctl.break_("enable")
    done = service.run("memoryctl", "install", "--yes")
    assert done.returncode == 1
    assert "No medium found" in done.stderr
    systemctl.break_("")
    service.ctl("install", "--yes")
    assert systemctl.state()["enabled"] == ["memoryd.service", "memoryd.socket"]


def test_without_a_manager_it_runs_in_the_background(
    service: Service, systemctl: FakeSystemctl
) -> None:
    systemctl.break_("*")
    try:
        said = service.ctl("install", "--yes")
        assert f"{PROGRAM} start" in said
        assert "~/.profile" in said
        pid = service.pid()
        assert service.ctl("install", "--yes").startswith("all is installed")
        assert service.pid() == pid
        # The doctor names that line, not a command that does nothing more, until it is there.
        line = f"{PROGRAM} start"
        profile = service.home / ".profile"
        assert f"add this line to {profile}: {line}\n" in service.ctl("doctor")
        profile.write_text(f"umask 077\n{line}\n")
        assert "does not start by itself" not in service.ctl("doctor")
        assert "stop the memoryd" in service.ctl("uninstall", "--yes")
        assert service.run("memoryctl", "status").returncode == 3
    finally:
        service.stop()


def test_uninstall_stops_no_service_that_a_person_started(
    service: Service, systemctl: FakeSystemctl
) -> None:
    systemctl.break_("*")
    service.start()
    try:
        assert service.ctl("uninstall", "--yes").startswith("nothing is installed")
        assert service.pid()
    finally:
        service.stop()


def test_systemd_accepts_what_is_installed(service: Service, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    service.environment["MEMORYD_STATE_DIR"] = str(service.home / "a state % of $affairs")
    service.ctl("install", "--yes")
    folder = service.home / ".config/systemd/user"
    done = subprocess.run(
        [
            "env", f"HOME={service.home}", f"XDG_RUNTIME_DIR={tmp_path}",
            "systemd-analyze", "--user", "verify", "./memoryd.service", "./memoryd.socket",
        ],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
