"""What every test may ask for."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Real transcripts beside the checkout, where they are present."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "corpus"
    if not folder.is_dir():
        pytest.skip("no corpus beside this checkout")
    return folder
