"""Fixtures of tests that start real processes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.service import Service


@pytest.fixture
def bound(tmp_path: Path) -> Iterator[Service]:
    """A running service that permission bits bind, also where the tests run as root."""
    prefix: tuple[str, ...] = ()
    if os.getuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("setpriv is needed to test permissions as root")
        prefix = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
    made = Service(tmp_path / "home", prefix=prefix)
    made.projects.mkdir(parents=True)
    made.start()
    yield made
    made.stop()
