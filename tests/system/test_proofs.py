"""A short run of each proof; `scripts/proof` makes them long."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.system

PROOF = Path(__file__).resolve().parents[2] / "scripts" / "proof"


@pytest.mark.parametrize(
    ("proof", "count", "more"),
    [
        ("kills", 12, []),
        ("stop", 2, []),
        ("soak", 6, []),
        ("fuzz", 300, []),
        ("watch", 200, ["--directories", "30", "--files", "60", "--idle", "0"]),
    ],
)
def test_a_short_proof(proof: str, count: int, more: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, str(PROOF), proof, "--count", str(count), "--seed", "5", *more],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["proof"] == proof
