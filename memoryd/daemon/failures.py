"""What may be logged of an error: where it happened and its kind, never the data it met."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

from memoryd.errors import MemorydError

MAX_FRAMES = 12


def failure_facts(error: BaseException) -> dict[str, Any]:
    """Return log fields for ``error``.

    The message of a foreign exception may quote what was being read (a transcript, a parameter),
    so only messages of memoryd's own and of the operating system are kept.

    Returns:
        ``error`` (type), ``where`` (innermost frames last), and ``message`` where it is safe.
    """
    facts: dict[str, Any] = {
        "error": type(error).__name__,
        "where": [
            f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_tb(error.__traceback__)[-MAX_FRAMES:]
        ],
    }
    if isinstance(error, MemorydError):
        facts["message"] = str(error)
    elif isinstance(error, OSError) and error.strerror:
        facts["message"] = error.strerror
    if error.__cause__ is not None:
        facts["cause"] = type(error.__cause__).__name__
    return facts
