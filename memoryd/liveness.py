"""Which sessions are live: a client runs them now.

The client keeps one file per process in ``<config>/sessions/``; it stays behind after a kill, so
the process is looked up too. Where there is no such directory, a transcript written within the
last minute counts as live.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from memoryd.regular import open_regular

RECENT_S = 60.0
_MAX_FILE = 64 * 1024


def live_sessions(config: Path) -> frozenset[str] | None:
    """Return the ids of the sessions that running clients name.

    Args:
        config: the client's directory.

    Returns:
        ``None`` where the client keeps no such files, so that age has to decide.
    """
    try:
        files = [entry for entry in os.scandir(config / "sessions") if entry.name.endswith(".json")]
    except OSError:
        return None
    found = set()
    for file in files:
        try:
            with open_regular(file.path) as stream:
                content = json.loads(stream.read(_MAX_FILE))
        except (OSError, ValueError):
            continue
        if not isinstance(content, dict):
            continue
        pid, session = content.get("pid"), content.get("sessionId")
        if isinstance(pid, int) and isinstance(session, str) and _runs(pid):
            found.add(session)
    return frozenset(found)


def is_live(session: str, last: float | None, *, named: frozenset[str] | None, now: float) -> bool:
    """Return whether a client runs the session now.

    Args:
        session: its id.
        last: when it was last written, seconds since 1970 UTC.
        named: what `live_sessions` returned.
        now: seconds since 1970 UTC.
    """
    if named is None:
        return last is not None and now - last < RECENT_S
    return session in named


def _runs(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
