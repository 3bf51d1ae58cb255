"""The socket that the service listens on: made safely, or inherited from the service manager."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
import sys
from collections.abc import MutableMapping
from pathlib import Path

from memoryd.daemon.private import PRIVATE_FILE, private_directory
from memoryd.errors import AlreadyRunning, ConfigError

MAX_PATH_BYTES = 107 if sys.platform == "linux" else 103
BACKLOG = 512

_FIRST_INHERITED_FD = 3
_NEW_NAME = ".new.sock"  # Not longer than the final name, which was measured.
_PROBE_S = 2.0


class Listener:
    """A listening Unix socket.

    Attributes:
        socket: non-blocking.
        path: where clients find it.
        inherited: it belongs to the service manager, which goes on listening after us.
    """

    def __init__(self, listening: socket.socket, path: Path, *, inherited: bool) -> None:
        listening.setblocking(False)
        self.socket = listening
        self.path = path
        self.inherited = inherited
        self._identity = None if inherited else _identity(path)

    def touch(self) -> bool:
        """Renew the time of the socket file, so that cleaners of temporary directories keep it.

        Returns:
            False when the file is no longer ours: nobody can connect any more.
        """
        if self.inherited:
            return True
        if _identity(self.path) != self._identity:
            return False
        os.utime(self.path)
        return True

    def close(self) -> None:
        """Stop listening, and remove the socket file if it is still ours."""
        if not self.inherited and _identity(self.path) == self._identity:
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
        self.socket.close()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def open_listener(path: Path, environ: MutableMapping[str, str]) -> Listener:
    """Listen on the inherited socket if there is one, else on ``path``.

    The caller holds the locks of the instance: only then is a socket file without a listener
    known to be stale.

    Raises:
        ConfigError: the path is too long, or what was inherited is no listening Unix socket.
        UnsafePath: the directory is not ours alone.
        AlreadyRunning: another service answers there.
    """
    inherited = take_inherited(environ)
    if inherited is not None:
        return Listener(inherited, Path(os.fsdecode(inherited.getsockname())), inherited=True)
    check_length(path)
    directory = private_directory(path.parent)
    _refuse_living(path)
    new = directory / _NEW_NAME
    new.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(os.fspath(new))
        new.chmod(PRIVATE_FILE)
        listening.listen(BACKLOG)
        new.rename(path)  # Whoever sees the name can connect, and only the person can.
    except BaseException:
        listening.close()
        new.unlink(missing_ok=True)
        raise
    return Listener(listening, path, inherited=False)


def check_length(path: Path) -> None:
    """Refuse a path that the system cannot bind.

    Raises:
        ConfigError: says the limit and the way out.
    """
    length = len(os.fsencode(path))
    if length > MAX_PATH_BYTES:
        raise ConfigError(
            f"the socket path has {length} bytes, the system allows {MAX_PATH_BYTES}: {path}",
            hint="set MEMORYD_RUNTIME_DIR to a shorter directory",
        )


def _refuse_living(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise ConfigError(f"{path} is in the way: it is not a socket", hint="move it away")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_S)
        try:
            probe.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return  # Stale: its process was killed.
        except BlockingIOError:
            pass  # Its queue of connections is full, so somebody listens.
        except TimeoutError:
            pass
    raise AlreadyRunning(
        f"another service answers on {path}",
        hint="stop it, or set MEMORYD_RUNTIME_DIR to a directory of this instance's own",
    )


def take_inherited(environ: MutableMapping[str, str]) -> socket.socket | None:
    """Take the socket that systemd passed to this process, if any.

    The variables are removed, so that children do not take them for theirs.

    Raises:
        ConfigError: it passed something else than one listening Unix stream socket.
    """
    pid, count = environ.get("LISTEN_PID"), environ.get("LISTEN_FDS")
    if pid != str(os.getpid()) or not count:
        return None
    for name in ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"):
        environ.pop(name, None)
    hint = "the socket unit needs exactly one ListenStream= with a path"
    if count != "1":
        raise ConfigError(f"{count} sockets were inherited instead of one", hint=hint)
    os.set_inheritable(_FIRST_INHERITED_FD, False)
    inherited = socket.socket(fileno=_FIRST_INHERITED_FD)
    listens = (
        inherited.family == socket.AF_UNIX
        and inherited.type == socket.SOCK_STREAM
        and inherited.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    )
    if not listens:
        inherited.close()
        raise ConfigError("the inherited file is no listening Unix stream socket", hint=hint)
    return inherited


def peer_uid(connection: socket.socket) -> int:
    """Return the user id of the process at the other end.

    Raises:
        OSError: the system does not tell.
    """
    if sys.platform == "linux":
        ids = struct.Struct("3i")
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, ids.size)
        return int(ids.unpack(raw)[1])
    else:  # noqa: RET505 - mypy knows the platform only from a whole if/else
        # struct xucred { u_int version; uid_t uid; … }, level SOL_LOCAL, option LOCAL_PEERCRED.
        raw = connection.getsockopt(0, 1, struct.calcsize("=IIh16I"))
        return int(struct.unpack_from("=II", raw)[1])
