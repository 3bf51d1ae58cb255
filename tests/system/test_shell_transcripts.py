"""The sessions in tests/transcripts and in the README are what a shell shows."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from support.service import SCRIPTS, Service
from support.shell import follow

pytestmark = pytest.mark.system

ROOT = Path(__file__).resolve().parents[2]
TRANSCRIPTS = sorted((ROOT / "tests" / "transcripts").glob("*.test"))


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_transcript_is_what_the_shell_shows(tmp_path: Path, transcript: Path) -> None:
    service = Service(tmp_path / "home")
    place = service.home / "shop"
    place.mkdir()
    try:
        follow(service, transcript.read_text(encoding="utf-8"), place)
    finally:
        service.stop()


def test_the_readme_shows_what_happens(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    session = readme.partition("\nThen:\n")[2].partition("\n`./scripts/demo`")[0]
    snippet = readme.partition("In Python, ")[2].partition("\n\n")[2].partition("\n\n## ")[0]
    service = Service(tmp_path / "home")
    place = service.home / "orchard"
    place.mkdir()
    replay = service.replay_command(SCRIPTS / "samples")
    service.start()
    try:
        subprocess.run([*replay, "--substitute", f"/home/dev/orchard={place}"], check=True)
        service.wait()
        follow(service, textwrap.dedent(session), place)
        told = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(snippet)],
            env=service.environment,
            cwd=place,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        assert "<memory-claim" in told.stdout
    finally:
        service.stop()
