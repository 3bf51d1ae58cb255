"""A socket that takes requests and answers none."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def silent_socket(path: Path) -> Iterator[threading.Event]:
    """Listen on ``path``; the event is set when a first request has come."""
    asked = threading.Event()
    kept: list[socket.socket] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()

        def take() -> None:
            connection, _ = listener.accept()
            kept.append(connection)
            connection.recv(1)
            asked.set()

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        try:
            yield asked
        finally:
            for connection in kept:
                connection.close()
