"""Trees of files, written at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def put(base: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files by their paths below ``base``, with the directories that they need."""
    for name, content in files.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
