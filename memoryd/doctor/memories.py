"""The memory directories, the client's switches, and the settings."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from memoryd import settings as configuration
from memoryd.doctor.finding import Finding, broken, fine, note
from memoryd.errors import ConfigError, MemorydError
from memoryd.memory import index, snapshot
from memoryd.memory.directory import MemoryDirectory
from memoryd.memory.location import (
    MANAGED_SETTINGS,
    auto_memory_state,
    read_layers,
    shared_directory,
)
from memoryd.paths import Paths
from memoryd.settings import Settings

_SHOWN = 5


def settings(paths: Paths, environ: Mapping[str, str]) -> tuple[Settings | None, list[Finding]]:
    """Read the settings; return them, ``None`` if they cannot be used, and what was found."""
    try:
        found = configuration.read(paths.settings, environ, home=paths.home)
    except ConfigError as error:
        mend = f"mend it and run: memoryctl config ({error.hint or paths.settings})"
        return None, [broken("settings", str(error), mend)]
    odd = [note("settings", text, "memoryctl config") for text in found.warnings]
    return found, odd or [fine("settings", str(paths.settings))]


def switches(paths: Paths, environ: Mapping[str, str], always: bool) -> Iterator[Finding]:
    """Look at the client's own switches for its memory; those of projects are not looked at.

    Args:
        paths: of the instance.
        environ: of the process.
        always: memories are written even where the client's are off.
    """
    layers = read_layers(paths.config, None, MANAGED_SETTINGS.get(sys.platform))
    state = auto_memory_state(environ, layers, home=paths.home)
    for text in state.warnings:
        yield broken("client", text, "mend that file; see /status in the client")
    if state.on:
        yield fine("client", f"its auto-memory is {state.why}")
    elif always:
        yield note("client", f"its auto-memory is off ({state.why}); memory.always overrides it")
    else:
        mend = "switch it on there, or set memory.always = true"
        yield note("client", f"its auto-memory is off ({state.why}): nothing is learned", mend)


def memories(paths: Paths, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Look at every memory directory."""
    odd: list[Finding] = []
    count = 0
    shared = shared_directory(environ, paths.config, paths.home)
    folders = sorted(paths.projects.glob("*/memory"))
    for folder in [*folders, *([shared] if shared else [])]:
        try:
            with MemoryDirectory.open(folder) as opened:
                seen = snapshot.scan(folder, opened, None)
        except MemorydError as error:
            odd.append(broken("memories", str(error), error.hint or f"ls -la {folder}"))
            continue
        count += len(seen.topics)
        odd += _of(folder, seen)
    yield from odd[:_SHOWN]
    if len(odd) > _SHOWN:
        yield note("memories", f"{len(odd) - _SHOWN} more like these", "memoryctl doctor --json")
    if not odd:
        yield fine("memories", f"{count:,} can be read, their indexes agree")


def _of(folder: Path, seen: snapshot.Snapshot) -> Iterator[Finding]:
    for text in seen.warnings:
        yield note("memories", f"{folder}: {text}", "mend or remove that file")
    for topic in seen.topics.values():
        if not topic.rewritable:
            said = "; ".join(topic.warnings) or "its frontmatter is broken"
            text = f"{folder / topic.file}: {said}; memoryd leaves it alone"
            yield note("memories", text, "mend the lines between the two ---")
    result = index.reconcile(seen.index or b"", seen.topics.values())
    for text in result.warnings:
        yield note("index", f"{folder / index.FILE}: {text}", "shorten it")
    if result.raw != (seen.index or b""):
        text = f"{folder / index.FILE} disagrees with the memories; the next write mends it"
        yield note("index", text)
