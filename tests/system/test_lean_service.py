"""The service holds nothing that it does not use."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

AFTER_READY = """
import os, sys

from memoryd.daemon.lean import lean_imports

with lean_imports():
    from memoryd.daemon import run

def tell(service):
    begin = service.start
    def start():
        begin()
        print(*sys.modules, flush=True)
        service._shutdown()
    service.start = start
    return service

made = run.MemoryService
run.MemoryService = lambda **parts: tell(made(**parts))
from memoryd.daemon.__main__ import main
sys.argv[1:] = []
sys.exit(main())
"""

NEVER = (
    "_hashlib",
    "alembic",
    "anthropic",
    "asyncio",
    "click",
    "concurrent.futures.process",
    "difflib",
    "email",
    "html",
    "importlib.metadata",
    "multiprocessing",
    "pygments",
    "rich",
    "sqlalchemy.dialects.mysql",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.orm",
    "ssl",
)


def test_after_ready_nothing_is_loaded_that_is_not_in_use(tmp_path: Path) -> None:
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    environment = {"HOME": str(tmp_path), "MEMORYD_RUNTIME_DIR": str(tmp_path / "r"), "PATH": ""}

    done = subprocess.run(
        [sys.executable, "-c", AFTER_READY],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "memoryd.daemon.server" in loaded
    assert loaded & set(NEVER) == set()


def test_who_needs_what_is_kept_out_still_gets_it() -> None:
    script = """
from memoryd.daemon.lean import lean_imports

with lean_imports():
    import apscheduler.executors.pool, structlog
import asyncio, hashlib, importlib.metadata, multiprocessing.pool, rich, ssl, sys
from concurrent.futures.process import BrokenProcessPool

async def three():
    await asyncio.sleep(0)
    return 3

assert structlog.stdlib.asyncio.run(three()) == asyncio.run(three()) == 3
assert asyncio is sys.modules["asyncio"]
assert hashlib.sha256(b"").digest() == hashlib.new("sha256").digest()
assert importlib.metadata.version("APScheduler").startswith("3.")
assert issubclass(BrokenProcessPool, apscheduler.executors.pool.BrokenProcessPool)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
