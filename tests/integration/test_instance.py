"""Locks, socket files and private directories, on the real file system."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from memoryd.daemon.instance import Instance, lock_holder
from memoryd.daemon.listener import MAX_PATH_BYTES, open_listener, take_inherited
from memoryd.daemon.private import private_directory
from memoryd.errors import AlreadyRunning, ConfigError, UnsafePath
from memoryd.paths import Paths

HOLD = """
import sys
from memoryd.daemon.instance import Instance
from memoryd.daemon.listener import open_listener
from memoryd.paths import Paths
import os
paths = Paths.from_environment(os.environ)
instance = Instance(paths)
listener = open_listener(paths.socket, {})
print("held", flush=True)
sys.stdin.read()
"""


def paths_in(base: Path, *, state: str = "state", run: str = "run", config: str = "c") -> Paths:
    return Paths.from_environment(
        {
            "HOME": str(base),
            "MEMORYD_STATE_DIR": str(base / state),
            "MEMORYD_RUNTIME_DIR": str(base / run),
            "CLAUDE_CONFIG_DIR": str(base / config),
        }
    )


@contextmanager
def holder(paths: Paths) -> Iterator[subprocess.Popen[str]]:
    """A real process that holds the locks and the socket of ``paths``."""
    environment = {
        **os.environ,
        "MEMORYD_STATE_DIR": str(paths.state),
        "MEMORYD_RUNTIME_DIR": str(paths.runtime),
        "CLAUDE_CONFIG_DIR": str(paths.config),
    }
    with subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_instance_is_refused_with_pid_and_socket(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    with holder(paths) as process:
        with pytest.raises(AlreadyRunning) as caught:
            Instance(paths)
        assert f"pid {process.pid}" in str(caught.value)
        assert str(paths.socket) in str(caught.value)
        found = lock_holder(paths.lock)
        assert found is not None
        assert found.pid == process.pid


def test_a_second_instance_on_the_same_client_directory_is_refused(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "c")
    other = paths_in(tmp_path, state="other", run="other-run", config="link")
    with holder(paths) as process, pytest.raises(AlreadyRunning, match="already serves") as caught:
        Instance(other)
    assert f"pid {process.pid}" in str(caught.value)
    assert str(paths.socket) in str(caught.value)
    assert not list(paths.config.iterdir())


def test_a_second_instance_on_the_same_socket_directory_is_refused(tmp_path: Path) -> None:
    other = paths_in(tmp_path, state="other", config="d")
    with holder(paths_in(tmp_path)), pytest.raises(AlreadyRunning, match="socket directory"):
        Instance(other)


def test_instances_with_directories_of_their_own_run_side_by_side(tmp_path: Path) -> None:
    with holder(paths_in(tmp_path)):
        instance = Instance(paths_in(tmp_path, state="s2", run="r2", config="c2"))
        assert instance.warnings == []
        instance.release()


def test_a_killed_instance_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    with holder(paths) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert paths.socket.is_socket()
    instance = Instance(paths)
    listener = open_listener(paths.socket, {})
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(str(paths.socket))
    listener.close()
    instance.release()
    assert not paths.socket.exists()
    assert lock_holder(paths.lock) is None


def test_a_process_id_in_the_lock_file_is_not_believed(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    private_directory(paths.state)
    paths.lock.write_text(f"{os.getpid()}\n/nowhere\n")
    assert lock_holder(paths.lock) is None
    instance = Instance(paths)
    assert paths.lock.read_text() == f"{os.getpid()}\n{paths.socket}\n"
    instance.release()


def test_a_living_socket_is_not_stolen(tmp_path: Path) -> None:
    paths = paths_in(tmp_path)
    first = open_listener(paths.socket, {})
    with pytest.raises(AlreadyRunning, match="another service"):
        open_listener(paths.socket, {})
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(str(paths.socket))
    first.close()


def test_closing_leaves_the_socket_of_a_successor(tmp_path: Path) -> None:
    path = tmp_path / "run" / "memoryd.sock"
    first = open_listener(path, {})
    path.unlink()
    assert first.touch() is False
    second = open_listener(path, {})
    first.close()
    assert path.is_socket()
    assert second.touch() is True
    second.close()


def test_a_path_that_is_too_long_names_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / ("d" * MAX_PATH_BYTES) / "memoryd.sock"
    with pytest.raises(ConfigError, match=f"allows {MAX_PATH_BYTES}") as caught:
        open_listener(path, {})
    assert "MEMORYD_RUNTIME_DIR" in caught.value.hint


def test_the_longest_path_works(tmp_path: Path) -> None:
    name = "d" * (MAX_PATH_BYTES - len(os.fsencode(tmp_path)) - len("//memoryd.sock"))
    path = tmp_path / name / "memoryd.sock"
    assert len(os.fsencode(path)) == MAX_PATH_BYTES
    open_listener(path, {}).close()


def test_something_else_at_the_path_is_not_removed(tmp_path: Path) -> None:
    path = private_directory(tmp_path / "run") / "memoryd.sock"
    path.write_text("mine")
    with pytest.raises(ConfigError, match="in the way"):
        open_listener(path, {})
    assert path.read_text() == "mine"


def test_threat_07_a_linked_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafePath, match="symbolic link"):
        open_listener(tmp_path / "run" / "memoryd.sock", {})
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_threat_07_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    os.chown(tmp_path / "run", 65534, 65534)
    with pytest.raises(UnsafePath, match="another user"):
        open_listener(tmp_path / "run" / "memoryd.sock", {})


def test_open_directories_are_closed_only_when_they_hold_nothing_else(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir(mode=0o755)
    (own / "memoryd.sock").touch()
    private_directory(own)
    assert own.stat().st_mode & 0o777 == 0o700

    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    (shared / "letter.txt").touch()
    with pytest.raises(UnsafePath, match=r"letter\.txt") as caught:
        private_directory(shared)
    assert "chmod 700" in caught.value.hint
    assert shared.stat().st_mode & 0o777 == 0o755


def test_a_file_where_a_directory_is_needed(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    with pytest.raises(UnsafePath):
        Instance(paths_in(tmp_path))
    (tmp_path / "c").touch()
    with pytest.raises(UnsafePath, match="client's directory"):
        Instance(paths_in(tmp_path, state="s2"))


INHERIT = """
import os, sys
from memoryd.daemon.listener import take_inherited
from memoryd.errors import ConfigError
os.dup2(int(sys.argv[1]), 3)
os.environ["LISTEN_PID"] = str(os.getpid())
try:
    taken = take_inherited(os.environ)
except ConfigError as error:
    print(error)
    sys.exit()
connection, _ = taken.accept()
connection.sendall(b"inherited")
print(os.get_inheritable(taken.fileno()), "LISTEN_FDS" in os.environ)
"""


def inherit(fd: int, count: str = "1") -> str:
    """What a process says that gets ``fd`` as its inherited socket."""
    done = subprocess.run(
        [sys.executable, "-c", INHERIT, str(fd)],
        pass_fds=(fd,),
        env={**os.environ, "LISTEN_FDS": count},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


def test_an_inherited_socket_is_used(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as peer:
        listening.bind(str(path))
        listening.listen()
        peer.connect(str(path))
        assert inherit(listening.fileno()) == "False False"
        assert peer.recv(100) == b"inherited"
    assert path.exists()


def test_wrong_inheritance_is_refused() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams:
        assert "no listening Unix stream socket" in inherit(datagrams.fileno())
        assert "2 sockets were inherited" in inherit(datagrams.fileno(), count="2")


def test_what_another_process_inherits_is_not_ours() -> None:
    assert take_inherited({"LISTEN_PID": "1", "LISTEN_FDS": "1"}) is None
    assert take_inherited({}) is None
