"""A throw-away PostgreSQL server on a Unix socket."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL

SERVER_LIBRARIES = Path("/usr/lib/postgresql")


def find_binary(name: str) -> str | None:
    """Look on PATH, then where Debian keeps the binaries of each version."""
    found = shutil.which(name)
    if found is not None:
        return found
    versions = sorted(SERVER_LIBRARIES.glob(f"*/bin/{name}"))
    return str(versions[-1]) if versions else None


def unprivileged_user() -> str | None:
    """PostgreSQL refuses to run as root: name another user, if this process is root's."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@contextmanager
def throwaway_server() -> Iterator[str | None]:
    """Run a server for as long as the context lasts and give its URL; ``None`` without binaries."""
    initdb, server = find_binary("initdb"), find_binary("postgres")
    if initdb is None or server is None:
        yield None
        return
    user = unprivileged_user()
    identity = pwd.getpwnam(user) if user is not None else None
    # Short, because a socket's path is: the system's temporary directory, not pytest's.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    process: subprocess.Popen[bytes] | None = None
    try:
        if identity is not None:
            os.chown(folder, identity.pw_uid, identity.pw_gid)
        data = folder / "data"

        def start(*command: str) -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                command,
                cwd=folder,
                user=None if identity is None else identity.pw_uid,
                group=None if identity is None else identity.pw_gid,
                extra_groups=None if identity is None else [],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )

        setup = start(
            initdb, "-D", str(data), "-U", "memoryd", "--auth=trust", "--no-sync", "-E", "UTF8"
        )
        said, _ = setup.communicate()
        if setup.returncode != 0:
            raise RuntimeError(said.decode(errors="replace"))
        process = start(
            *(server, "-D", str(data), "-k", str(folder), "-h", ""),
            *("-c", "fsync=off", "-c", "max_connections=60", "-c", "shared_buffers=16MB"),
        )
        _wait_until_ready(process)
        yield URL.create(
            "postgresql", username="memoryd", database="postgres", query={"host": str(folder)}
        ).render_as_string(hide_password=False)
    finally:
        if process is not None:
            # A fast shutdown: the one that SIGTERM asks for waits for every open connection.
            process.send_signal(signal.SIGINT)
            process.communicate()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_until_ready(process: subprocess.Popen[bytes]) -> None:
    said = []
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line)
        if b"ready to accept connections" in line:
            return
    raise RuntimeError(b"".join(said).decode(errors="replace"))
