"""The units for the user manager are accepted by systemd, and the service runs as they say."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from memoryd.client import Client

from support.service import COMMANDS, Service

UNITS = Path(__file__).resolve().parents[2] / "memoryd" / "systemd"

pytestmark = pytest.mark.system


@pytest.fixture
def analyze(tmp_path: Path) -> list[str]:
    """The command that analyses copies of the units in a home where the program exists."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    program = tmp_path / ".local/bin/memoryd"
    program.parent.mkdir(parents=True)
    program.symlink_to(COMMANDS / "memoryd")
    for unit in UNITS.iterdir():
        shutil.copy(unit, tmp_path)
    return [
        "env", f"HOME={tmp_path}", f"XDG_RUNTIME_DIR={tmp_path}", "systemd-analyze", "--user",
    ]  # fmt: skip


def test_systemd_accepts_the_units(analyze: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [*analyze, "verify", "./memoryd.service", "./memoryd.socket"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    # Complaints are printed while the exit code stays 0.
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_service_is_well_confined(analyze: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [*analyze, "security", "--offline=true", "--threshold=30", "./memoryd.service"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-500:]


def test_a_first_request_starts_it_and_the_manager_hears_of_its_life(tmp_path: Path) -> None:
    """Socket activation with the real programs; what is told goes to a socket of the test."""
    activate = shutil.which("systemd-socket-activate")
    if activate is None:
        pytest.skip("systemd is not installed")
    service = Service(tmp_path / "home")
    listening = service.runtime / "memoryd.sock"
    heard_at = service.runtime / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(heard_at))
        manager.settimeout(60)
        running = subprocess.Popen(
            [
                activate, f"--listen={listening}",
                f"--setenv=NOTIFY_SOCKET={heard_at}", "--setenv=WATCHDOG_USEC=900000",
                *(f"--setenv={name}={value}" for name, value in service.environment.items()),
                str(COMMANDS / "memoryd"), "start",
            ],
            env=service.environment, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            _listening(listening, running)
            with Client(listening, timeout=60) as client:
                hello = client.hello()
            told = [manager.recv(4096).decode()]
            while "WATCHDOG=1" not in told[-1]:
                told.append(manager.recv(4096).decode())
            os.kill(hello["pid"], signal.SIGTERM)
            while "STOPPING=1" not in told[-1]:
                told.append(manager.recv(4096).decode())
            code = running.wait(60)
        finally:
            running.kill()
            running.wait()

    assert told[0] == "READY=1"
    assert hello["pid"] == running.pid
    assert code == 0
    # The socket is the manager's: it goes on listening there.
    assert listening.exists()


def _listening(path: Path, process: subprocess.Popen[bytes]) -> None:
    """Return when the socket accepts connections; it is there before anything is started."""
    while process.poll() is None:
        if path.exists():
            return
    raise AssertionError(process.returncode)
