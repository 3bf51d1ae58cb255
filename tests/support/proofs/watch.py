"""Watching at scale: start, idling, a storm of appends; with file events and without any."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from memoryd.client import Client

from support.service import Service

WITHOUT_EVENTS = (
    "unshare", "--user", "--map-root-user", "sh", "-c",
    'echo 0 > /proc/sys/user/max_inotify_watches && exec "$@"', "sh",
)  # fmt: skip
"""Starts a command that the kernel refuses every watch of inotify."""


def watch(
    scratch: Path,
    *,
    seed: int,
    directories: int,
    files: int,
    appends: int,
    events: bool,
    idle_s: float,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Run the proof; return figures.

    Raises:
        AssertionError: something did not arrive.
    """
    rng = Random(seed)
    service = Service(scratch / "home", prefix=() if events else WITHOUT_EVENTS)
    paths = [
        service.projects / f"-p{number % directories}" / f"s{number}.jsonl"
        for number in range(files)
    ]
    for number in range(directories):
        (service.projects / f"-p{number}").mkdir(parents=True)
    for number, path in enumerate(paths):
        path.write_bytes(_line(f"old-{number}", path))
    tell(f"{files} transcripts in {directories} directories")
    figures: dict[str, Any] = {}
    try:
        began = time.monotonic()
        service.start()
        figures["first_start_s"] = round(time.monotonic() - began, 2)
        service.wait(600)
        figures["caught_up_s"] = round(time.monotonic() - began, 2)
        service.stop()
        began = time.monotonic()
        service.start()
        figures["start_s"] = round(time.monotonic() - began, 2)
        service.wait(600)
        pid = service.pid()
        figures["rss_mib"] = _rss_mib(pid)
        tell(f"{figures}; now idling")
        figures["idle_cpu_percent"] = _idle_cpu(pid, idle_s) if idle_s else 0.0
        figures["scans_before"] = service.json("status")["ingest"]["scans"]
        before = service.json("status")["turns"]
        began = time.monotonic()
        for number in range(appends):
            path = paths[rng.randrange(files)]
            with path.open("ab", buffering=0) as stream:
                stream.write(_line(f"new-{number}", path))
        figures["appended_s"] = round(time.monotonic() - began, 2)
        tell(f"{appends} appends written")
        began = time.monotonic()
        with Client(service.runtime / "memoryd.sock", timeout=900) as client:
            # Nobody asks to wait, which would itself look at everything.
            while client.call("status")["turns"] < before + appends:
                assert time.monotonic() - began < 600, client.call("status")["ingest"]
                time.sleep(0.1)
            figures["read_after_s"] = round(time.monotonic() - began, 2)
            status = client.call("status")
        figures["scans_after"] = status["ingest"]["scans"]
        figures["warnings"] = status["warnings"]
        assert service.run("memoryctl", "wait", "--timeout", "600", timeout=700).returncode == 0
        figures["rss_after_mib"] = _rss_mib(pid)
        _check(service.json("status"), turns=before + appends, events=events)
    finally:
        service.run("memoryd", "stop")
    return figures


def _check(status: dict[str, Any], *, turns: int, events: bool) -> None:
    assert status["turns"] == turns, status
    assert status["jobs"]["dead"] == 0, status
    assert status["ingest"]["lag_bytes"] == status["ingest"]["index_lag"] == 0, status
    polled = any("every 10 seconds" in warning for warning in status["warnings"])
    assert polled is not events, status


def _line(uuid: str, path: Path) -> bytes:
    record = {
        "type": "user", "uuid": uuid, "sessionId": path.stem, "cwd": f"/nowhere/{path.parent.name}",
        "timestamp": "2026-11-30T10:00:00.000Z", "isSidechain": False,
        "message": {"role": "user", "content": "And what comes next?"},
    }  # fmt: skip
    return json.dumps(record).encode() + b"\n"


def _rss_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return round(int(line.split()[1]) / 1024, 1)
    return 0.0


def _idle_cpu(pid: int, seconds: float) -> float:
    def ticks() -> int:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    before = ticks()
    time.sleep(seconds)
    return round(100 * (ticks() - before) / os.sysconf("SC_CLK_TCK") / seconds, 2)
