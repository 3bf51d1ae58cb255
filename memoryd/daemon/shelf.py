"""The memories of projects, kept ready for recall while they are asked for.

A shelf holds the last look at one directory and the ranker over it. It is looked at again when the
directory's own time changed (a file came, went, or was replaced) or the system told of a change (a
file was written in place); where the system tells nothing, at every use. Only changed files are
read and ranked anew. Few shelves are kept: the least recently used one is given up, and every one
that nobody asks for in a while.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from memoryd.clock import Clock
from memoryd.errors import MemorydError
from memoryd.jobs.applying import own
from memoryd.memory import index as memory_index
from memoryd.memory.library import MemoryLibrary
from memoryd.memory.snapshot import Snapshot
from memoryd.memory.store import MemoryStore
from memoryd.memory.topic import Topic
from memoryd.recall.ranker import Note, Ranker
from memoryd.recall.selection import Manifest
from memoryd.stores.journal import SqlJournal

SHELVES = 4
KEPT_S = 600.0
"""Seconds without a question after which a shelf is given up."""


@dataclass(slots=True)
class Shelf:
    """One directory as it was last seen, from the point of view of one project.

    Attributes:
        store: the directory.
        ranker: over exactly the memories of ``topics``.
        snapshot: the last look.
        topics: the memories that belong to the project, by name.
        manifest: what the selector knows of each of ``topics``.
        seen: device, inode and times of the directory just before the last look; ``None`` to look.
        used: monotonic instant at which it was last asked for.
        lock: held while the shelf is used.
    """

    store: MemoryStore
    ranker: Ranker = field(default_factory=lambda: Ranker(context=False))
    snapshot: Snapshot | None = None
    topics: dict[str, Topic] = field(default_factory=dict)
    manifest: list[Manifest] = field(default_factory=list)
    seen: tuple[int, ...] | None = None
    used: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Shelves:
    """Opens shelves and keeps the last few.

    Args:
        library: the memory directories.
        journal: knows which project a memory is about, where two share a directory.
        told: whether `changed` is called for every change below a directory.
        clock: how long a shelf was not used.
        on_read: called after memories were read and ranked.
    """

    def __init__(
        self,
        library: MemoryLibrary,
        journal: SqlJournal,
        *,
        told: Callable[[Path], bool],
        clock: Clock,
        on_read: Callable[[], None] = lambda: None,
    ) -> None:
        self._library = library
        self._told = told
        self._journal = journal
        self._clock = clock
        self._on_read = on_read
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, Path], Shelf] = OrderedDict()

    def of(self, root: str) -> Shelf:
        """Return the shelf of a project; use it under its lock, after `refresh`."""
        store = self._library.store(root)
        key = (root, store.directory)
        with self._lock:
            shelf = self._kept.pop(key, None) or Shelf(store)
            self._kept[key] = shelf
            shelf.used = self._clock.monotonic()
            while len(self._kept) > SHELVES:
                self._kept.popitem(last=False)
        return shelf

    def give_up_unused(self) -> int:
        """Give up the shelves that nobody asked for in `KEPT_S`; return how many."""
        oldest = self._clock.monotonic() - KEPT_S
        with self._lock:
            unused = [key for key, shelf in self._kept.items() if shelf.used < oldest]
            for key in unused:
                del self._kept[key]
        return len(unused)

    def changed(self, directory: str | None) -> None:
        """Note that something changed in a directory, or for ``None`` perhaps anywhere."""
        with self._lock:
            for shelf in self._kept.values():
                if directory is None or str(shelf.store.directory) == directory:
                    shelf.seen = None

    def refresh(self, shelf: Shelf) -> None:
        """Look at the directory again if need be; the caller holds the shelf's lock.

        Raises:
            MemorydError: the directory cannot be read.
        """
        standing = _standing(shelf.store.directory)
        if standing == shelf.seen and standing and self._told(shelf.store.directory):
            return
        # Set before the look: a change during it is noted after, and looked at next time.
        shelf.seen = standing
        before = shelf.snapshot
        now = shelf.store.scan(before)
        if before is not None and dict(before.files) == dict(now.files):
            shelf.snapshot = now
            return
        topics = own(self._journal, shelf.store, now)
        for name in shelf.topics.keys() - topics.keys():
            shelf.ranker.remove(name)
        for name, topic in topics.items():
            if shelf.topics.get(name) is not topic:
                shelf.ranker.put(Note(name, name, topic.title, topic.description, topic.body))
        shelf.topics, shelf.snapshot = topics, now
        shelf.manifest = [_entry(topic) for topic in topics.values()]
        self._on_read()

    def is_current(self, root: str) -> bool:
        """Tell whether `refresh` would have nothing to do, and nobody uses the shelf now."""
        store = self._library.store(root)
        with self._lock:
            shelf = self._kept.get((root, store.directory))
        if shelf is None or not shelf.lock.acquire(blocking=False):
            return False
        try:
            standing = _standing(store.directory)
            return standing is not None and shelf.seen == standing and self._told(store.directory)
        finally:
            shelf.lock.release()

    def topics(self, root: str) -> dict[str, Topic]:
        """Return the memories of a project by name, without keeping a shelf for it.

        Raises:
            MemorydError: the directory cannot be read.
        """
        store = self._library.store(root)
        return own(self._journal, store, store.scan())

    def named(self, root: str) -> int:
        """Return how many memory files a project has, without a look into them: fast.

        Where two projects share a directory, those that are known to be the other's do not count.
        """
        store = self._library.store(root)
        with self._lock:
            shelf = self._kept.get((root, store.directory))
        if shelf is not None and shelf.lock.acquire(blocking=False):
            try:
                if shelf.seen is not None and shelf.seen == _standing(store.directory):
                    return len(shelf.topics)
            finally:
                shelf.lock.release()
        try:
            files = [
                entry.name.removesuffix(".md")
                for entry in os.scandir(store.directory)
                if entry.name.endswith(".md")
                and not entry.name.startswith(".")
                and entry.name != memory_index.FILE
                and entry.is_file(follow_symlinks=False)
            ]
        except OSError:
            return 0
        origins = self._journal.origins(str(store.directory)) if files else {}
        return sum(origins.get(name, (root, ""))[0] == root for name in files)

    def count(self, root: str) -> int:
        """Return how many memories a project has; a directory that cannot be read has none."""
        try:
            return len(self.topics(root))
        except MemorydError:
            return 0


def _entry(topic: Topic) -> Manifest:
    kind = None if topic.type is None else topic.type.value
    return Manifest(topic.name, topic.name, kind, topic.description, topic.modified)


def _standing(directory: Path) -> tuple[int, ...] | None:
    """Return what changes when a file comes, goes or is replaced; ``None`` without a directory."""
    try:
        found = directory.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns
