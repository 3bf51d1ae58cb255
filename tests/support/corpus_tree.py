"""The corpus laid out as a projects directory, and what must be found in it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

# Growth series: the last file of each holds all that the others hold.
SUPERSEDED = frozenset({"H07a", "H08a", "H08b", "H08c"})
SUBAGENTS = {"H13b": "H13a", "H13c": "H13a"}


def session_of(name: str) -> str:
    """Return the session id under which a corpus file is laid out."""
    return str(uuid5(NAMESPACE_URL, f"memoryd-test:{name}"))


def lay_out(corpus: Path, target: Path) -> None:
    """Write the public transcripts and the real client's tree below ``target``."""
    shutil.copytree(corpus / "client/projects", target)
    project = target / "-public-transcripts"
    project.mkdir()
    for file in sorted((corpus / "transcripts").glob("*.jsonl")):
        name = file.stem
        if name in SUPERSEDED:
            continue
        if name in SUBAGENTS:
            folder = project / session_of(SUBAGENTS[name]) / "subagents"
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, folder / f"agent-{name.lower()}.jsonl")
        else:
            shutil.copyfile(file, project / f"{session_of(name)}.jsonl")


def objects_on(line: bytes) -> tuple[int, bool]:
    """Count the whole JSON objects on a line, the slow and obvious way.

    Returns:
        their number, and whether something on the line is not part of one.
    """
    text = line.decode(errors="replace").strip()
    decoder, at, count, rest = json.JSONDecoder(), 0, 0, False
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            rest = True
            at = text.find('{"', at + 1)
            if at < 0:
                break
            continue
        count += isinstance(value, dict)
        rest = rest or not isinstance(value, dict)
        at = end
        while at < len(text) and text[at].isspace():
            at += 1
    return count, rest


def count_records(tree: Path) -> int:
    """Count the whole objects in every transcript below ``tree``, final lines included."""
    return sum(
        objects_on(line)[0]
        for file in tree.rglob("*.jsonl")
        for line in file.read_bytes().split(b"\n")
        if line.strip()
    )


def count_sessions(tree: Path) -> int:
    """Count the session files: directly in a project, not of an agent."""
    return sum(not file.name.startswith("agent-") for file in tree.glob("*/*.jsonl"))
