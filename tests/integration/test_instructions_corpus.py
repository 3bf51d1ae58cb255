"""Instructions of real sessions are composed again as the client sent them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from memoryd.instructions.composing import Surroundings, compose

pytestmark = pytest.mark.corpus


def sent(corpus: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the working directory and the files of every set of instructions."""
    found = []
    for transcript in sorted((corpus / "client").rglob("*.jsonl")):
        for raw in transcript.read_bytes().split(b"\n"):
            if b'"instructions"' not in raw:
                continue
            record = json.loads(raw)
            attachment = record.get("attachment") or {}
            if attachment.get("type") == "instructions":
                files = [one for one in attachment["files"] if one["type"] != "AutoMem"]
                found.append((record["cwd"], files))
    return found


def test_sets_of_real_sessions_are_composed_again(corpus: Path, tmp_path: Path) -> None:
    sets = sent(corpus)
    assert len(sets) > 10
    for number, (cwd, files) in enumerate(sets):
        base = (tmp_path / str(number)).resolve()
        for file in files:
            path = base / file["path"].lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{file['content']}\n", encoding="utf-8")
        users = [Path(file["path"]).parent for file in files if file["type"] == "User"]
        config = base / str(users[0]).lstrip("/")
        here = base / cwd.lstrip("/")
        here.mkdir(parents=True, exist_ok=True)
        found = compose(str(here), Surroundings(str(config), str(config.parent)))
        assert [(part.kind.value, part.path, part.text) for part in found.parts] == [
            (one["type"].lower(), str(base / one["path"].lstrip("/")), one["content"])
            for one in files
        ]
