# ruff: noqa: INP001 - it lies beside the scripts, which are no package
"""The development environment, for scripts that were started with another interpreter."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

PYTHON = Path(__file__).resolve().parents[1] / ".venv" / "bin" / "python"


def enter() -> None:
    """Run the script again with ``.venv`` where the libraries of memoryd are missing."""
    if importlib.util.find_spec("msgspec") and importlib.util.find_spec("Stemmer"):
        return
    if not PYTHON.exists() or Path(sys.executable) == PYTHON:
        sys.exit("the libraries of memoryd are not installed here; run first: ./scripts/install")
    os.execv(PYTHON, [str(PYTHON), *sys.argv])  # noqa: S606 - the script itself, no shell
