from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from memoryd.daemon import logs
from memoryd.errors import MemorydError


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield io.StringIO()
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)


def written(stream: io.StringIO) -> list[Any]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_lines_are_json_with_level_and_time(stream: io.StringIO) -> None:
    logs.configure("info", stream=stream)
    log = structlog.get_logger()
    log.debug("hidden")
    log.info("job_done", job=3, kind="extract", ms=12, path=Path("/p"))
    (line,) = written(stream)
    assert line.pop("at").endswith("Z")
    assert line == {
        "event": "job_done",
        "job": 3,
        "kind": "extract",
        "ms": 12,
        "path": "/p",
        "level": "info",
    }


def test_the_journal_gets_priorities(stream: io.StringIO) -> None:
    logs.configure("debug", stream=stream, journal=True)
    log = structlog.get_logger()
    log.debug("a")
    log.info("b")
    log.warning("c")
    log.error("d")
    assert [line[:4] for line in stream.getvalue().splitlines()] == ["<7>{", "<6>{", "<4>{", "<3>{"]


def test_errors_lose_what_they_quote(stream: io.StringIO) -> None:
    logs.configure("info", stream=stream)
    log = structlog.get_logger()
    for error in (
        ValueError("canary"),
        MemorydError("the state is odd"),
        OSError(2, "no", "canary"),
    ):
        try:
            raise error
        except (ValueError, MemorydError, OSError):
            log.exception("failed")
    assert "canary" not in stream.getvalue()
    value, own, system = written(stream)
    assert (value["error"], "message" in value) == ("ValueError", False)
    assert (own["error"], own["message"]) == ("MemorydError", "the state is odd")
    assert system["message"] == "no"
    assert "test_errors_lose_what_they_quote" in value["where"][-1]


def test_libraries_are_heard_without_their_arguments(stream: io.StringIO) -> None:
    logs.configure("info", stream=stream)
    logging.getLogger("some.library").info("hidden")
    logging.getLogger("some.library").warning("job %s missed", "canary")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)
        warnings.warn("canary", stacklevel=1)
    first, second = written(stream)
    assert (first["logger"], first["said"]) == ("some.library", "job %s missed")
    assert second["logger"] == "py.warnings"
    assert "canary" not in stream.getvalue()


def test_the_journal_is_known_by_device_and_inode(tmp_path: Path) -> None:
    with (tmp_path / "x").open("w") as file:
        found = os.fstat(file.fileno())
        named = {"JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"}
        assert logs.under_journal(named, file.fileno())
        assert not logs.under_journal({"JOURNAL_STREAM": "1:2"}, file.fileno())
        assert not logs.under_journal({}, file.fileno())


ROTATE = """
import sys
from pathlib import Path
from memoryd.daemon.logs import RotatingStderr
stream = RotatingStderr(Path(sys.argv[1]), max_bytes=100)
for number in range(10):
    stream.write(f"line {number} " + "x" * 30 + "\\n")
print("from the interpreter", file=sys.stderr)
"""


def test_the_log_file_stays_small_private_and_takes_the_interpreters_words(tmp_path: Path) -> None:
    path = tmp_path / "memoryd.log"
    subprocess.run([sys.executable, "-c", ROTATE, str(path)], check=True, timeout=60)
    former = path.with_name("memoryd.log.1")
    assert sorted(tmp_path.iterdir()) == [path, former]
    assert path.read_text().splitlines()[-1] == "from the interpreter"
    assert "line 9" in path.read_text()
    assert "line 7" in former.read_text()
    assert former.stat().st_size <= 100
    assert {file.stat().st_mode & 0o777 for file in (path, former)} == {0o600}
