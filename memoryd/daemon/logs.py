"""Log lines: one JSON object each, on stderr, in the journal, or in a file that stays small.

Key fields are ``event job kind key attempt ms tokens``. What was said in a transcript and what a
memory holds is never logged; ``daemon.failures`` says what is kept of an error.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

import structlog

from memoryd.daemon.failures import failure_facts
from memoryd.daemon.private import PRIVATE_FILE

MAX_FILE = 5 << 20
"""Bytes after which the log file becomes ``memoryd.log.1``, replacing the former one."""

LEVELS: Mapping[str, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}

_STDERR = 2
_SYSLOG = {"debug": 7, "info": 6, "warning": 4, "error": 3, "critical": 2}


class RotatingStderr:
    """Writes to file descriptor 2, which is made to be the log file.

    So what the interpreter itself says at a crash stands in the same file.
    """

    def __init__(self, path: Path, max_bytes: int = MAX_FILE) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._size = self._open()

    def write(self, text: str) -> None:
        """Append whole lines."""
        data = text.encode(errors="backslashreplace")
        with self._lock:
            if self._size and self._size + len(data) > self._max_bytes:
                self._path.rename(self._path.with_name(self._path.name + ".1"))
                self._size = self._open()
            os.write(_STDERR, data)
            self._size += len(data)

    def flush(self) -> None:
        """Do nothing: every write goes to the system at once."""

    def _open(self) -> int:
        """Open the file as standard error and return its size."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self._path, flags, PRIVATE_FILE)
        os.fchmod(fd, PRIVATE_FILE)
        os.dup2(fd, _STDERR)
        os.close(fd)
        return os.fstat(_STDERR).st_size


def under_journal(environ: Mapping[str, str], fd: int = _STDERR) -> bool:
    """Tell whether ``fd`` leads to the journal (``JOURNAL_STREAM`` names its device and inode)."""
    try:
        found = os.fstat(fd)
    except OSError:
        return False
    return environ.get("JOURNAL_STREAM") == f"{found.st_dev}:{found.st_ino}"


def configure(
    level: str, *, stream: TextIO | RotatingStderr | None = None, journal: bool = False
) -> None:
    """Send log lines of memoryd and of the libraries to ``stream``.

    Args:
        level: one of ``LEVELS``; libraries are never heard below ``warning``.
        stream: where to; standard error by default.
        journal: begin lines with their syslog priority, such as ``<6>``.
    """
    render = structlog.processors.JSONRenderer(ensure_ascii=False, default=str)

    def for_journal(logger: Any, name: str, event: structlog.typing.EventDict) -> str:
        return f"<{_SYSLOG.get(str(event.get('level')), 6)}>{render(logger, name, event)!s}"

    last: structlog.typing.Processor = for_journal if journal else render
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            _error_without_data,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(file=stream or sys.stderr),  # type: ignore[arg-type] # it needs write and flush only
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers[:] = [_FromLibraries()]
    root.setLevel(max(logging.WARNING, LEVELS[level]))
    logging.captureWarnings(capture=True)


def _error_without_data(
    _logger: Any, _name: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Replace ``exc_info`` by what may be said of it."""
    exc_info = event.pop("exc_info", None)
    if exc_info is True:
        exc_info = sys.exc_info()[1]
    elif isinstance(exc_info, tuple):
        exc_info = exc_info[1]
    if isinstance(exc_info, BaseException):
        event.update(failure_facts(exc_info))
    return event


class _FromLibraries(logging.Handler):
    """Hands records of the standard library's logging to structlog."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log the template of a record: its arguments may hold anything."""
        said = str(record.msg)
        if record.name == "py.warnings":  # ``file:line: Category: text``, the text left out.
            said = ": ".join(said.split(": ", 2)[:2])
        structlog.get_logger().log(
            record.levelno,
            "library",
            logger=record.name,
            said=said[:300],
            **(failure_facts(record.exc_info[1]) if record.exc_info and record.exc_info[1] else {}),
        )
