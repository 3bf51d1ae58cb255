"""What a memory directory held at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memoryd.errors import MemorydError
from memoryd.memory import index
from memoryd.memory.directory import FileKey, MemoryDirectory
from memoryd.memory.topic import Topic, parse_topic


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The memories and the index, as they were read.

    Attributes:
        directory: where.
        topics: by name, in the order of names; of memories in the directory itself only.
        files: what each was read from, for the next look.
        index: bytes of ``MEMORY.md``, ``None`` when there is none or it cannot be read.
        unreadable: names of memories that exist but cannot be read safely.
        warnings: what was passed over or is odd, in words.
    """

    directory: Path
    topics: Mapping[str, Topic]
    files: Mapping[str, FileKey]
    index: bytes | None
    unreadable: frozenset[str]
    warnings: tuple[str, ...]

    def line_of(self, name: str) -> str | None:
        """Return the own index line of a memory as it is now."""
        topic = self.topics.get(name)
        return None if topic is None else index.line_of(topic)

    def newest(self) -> tuple[Topic, ...]:
        """Return the memories, newest mtime first."""
        return tuple(sorted(self.topics.values(), key=lambda t: (-t.mtime_ns, t.name)))


def scan(path: Path, folder: MemoryDirectory | None, previous: Snapshot | None) -> Snapshot:
    """Read a directory; files whose key is as in ``previous`` are taken from there.

    Raises:
        MemorydError: the directory cannot be listed.
    """
    if folder is None:
        return Snapshot(path, {}, {}, None, frozenset(), ())
    listing = folder.listing(index=index.FILE)
    topics: dict[str, Topic] = {}
    files: dict[str, FileKey] = {}
    unreadable = {file.removesuffix(".md") for file in listing.skipped}
    warnings = [*listing.skipped.values()]
    for file, key in listing.files.items():
        name = file.removesuffix(".md")
        if previous is not None and previous.files.get(name) == key:
            topics[name], files[name] = previous.topics[name], key
            continue
        try:
            found = folder.read(file)
        except MemorydError as error:
            unreadable.add(name)
            warnings.append(f"{error}: skipped")
            continue
        if found is not None:
            topics[name] = parse_topic(name, found.raw, found.key.mtime_ns)
            files[name] = found.key
    for name, topic in topics.items():
        warnings.extend(f"{name}: {warning}" for warning in topic.warnings)
    return Snapshot(
        path, topics, files, _index(folder, warnings), frozenset(unreadable), tuple(warnings)
    )


def _index(folder: MemoryDirectory, warnings: list[str]) -> bytes | None:
    try:
        found = folder.read(index.FILE)
    except MemorydError as error:
        warnings.append(f"{error}: the index is not read")
        return None
    return None if found is None else found.raw
