"""A pseudo-terminal to run a command on."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence


def run_on_terminal(
    command: Sequence[str], *, columns: int, environment: Mapping[str, str]
) -> tuple[int, str]:
    """Run a command on a terminal of so many columns; return its exit code and what it showed."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    kept = {name: value for name, value in environment.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={"TERM": "xterm", **kept}
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:  # Linux says so when the last one has closed the other end.
            pass
        os.close(ours)
        code = process.wait()
    return code, shown.decode().replace("\r\n", "\n")
