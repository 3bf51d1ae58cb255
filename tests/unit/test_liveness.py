"""Which sessions the client's own files name as running."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from memoryd.liveness import is_live, live_sessions


def test_files_of_running_processes_name_live_sessions(tmp_path: Path) -> None:
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (sessions / "1.json").write_text(json.dumps({"pid": os.getpid(), "sessionId": "here"}))
    (sessions / "2.json").write_text(json.dumps({"pid": ended.pid, "sessionId": "ended"}))
    (sessions / "3.json").write_text("[]")
    (sessions / "4.json").write_text('{"pid": "x"')
    (sessions / "5.key").write_text(json.dumps({"pid": os.getpid(), "sessionId": "key"}))
    os.mkfifo(sessions / "6.json")  # Nobody writes: to open it as a file would never end.
    (sessions / "7.json").mkdir()
    assert live_sessions(tmp_path) == frozenset({"here"})


def test_without_such_files_age_decides(tmp_path: Path) -> None:
    named = live_sessions(tmp_path)
    assert named is None
    assert is_live("s", 950.0, named=named, now=1000.0)
    assert not is_live("s", 900.0, named=named, now=1000.0)
    assert not is_live("s", 999.0, named=frozenset(), now=1000.0)
