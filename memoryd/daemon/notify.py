"""What the service manager is told (``sd_notify``): datagrams to ``$NOTIFY_SOCKET``."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping


class Notifier:
    """Speaks to systemd, or to nobody when it does not listen."""

    def __init__(self, environ: Mapping[str, str], pid: int) -> None:
        address = environ.get("NOTIFY_SOCKET", "")
        # A leading @ stands for the NUL of an abstract address.
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self.watchdog_s = _watchdog_s(environ, pid)
        """Seconds within which ``WATCHDOG=1`` is expected, or ``None``."""

    def send(self, **facts: str | int) -> None:
        """Send assignments such as ``READY=1``."""
        if not self._address:
            return
        message = "\n".join(f"{name}={value}" for name, value in facts.items())
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
            try:
                out.connect(self._address)
                out.send(message.encode())
            except OSError:
                return  # The manager is gone; the service goes on without it.

    def reloading(self) -> None:
        """Announce a reload; ``READY=1`` ends it."""
        self.send(RELOADING=1, MONOTONIC_USEC=time.monotonic_ns() // 1000)


def _watchdog_s(environ: Mapping[str, str], pid: int) -> float | None:
    microseconds = environ.get("WATCHDOG_USEC", "")
    if not microseconds.isdigit() or environ.get("WATCHDOG_PID", str(pid)) != str(pid):
        return None
    return int(microseconds) / 1e6
