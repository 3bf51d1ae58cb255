"""A memory store on a real directory and a real database, and ways to stop it half-way."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from memoryd.clock import ManualClock
from memoryd.db.engine import Database
from memoryd.extraction.operations import Evidence, MemoryType, Source
from memoryd.memory.changes import Write
from memoryd.memory.store import MemoryStore
from memoryd.memory.topic import Fields
from memoryd.stores.journal import SqlJournal

ROOT = "/home/dev/project"


class Killed(BaseException):
    """The process died here."""


@dataclass
class Room:
    """A project's memories for one test."""

    directory: Path
    database: Database
    clock: ManualClock = field(default_factory=ManualClock)

    @property
    def journal(self) -> SqlJournal:
        return SqlJournal(self.database)

    def store(self, on_step: Callable[[str], None] = lambda _: None) -> MemoryStore:
        return MemoryStore(
            self.directory,
            project_root=ROOT,
            journal=self.journal,
            clock=self.clock,
            rng=Random(),
            on_step=on_step,
            lock_wait_s=0.0,
        )

    @property
    def index(self) -> str:
        path = self.directory / "MEMORY.md"
        return path.read_text() if path.exists() else ""

    def text(self, name: str) -> str:
        return (self.directory / f"{name}.md").read_text()


def said(uuid: str = "u-1") -> tuple[Evidence, ...]:
    return (
        Evidence(session="s", uuid=uuid, at=1.0, source=Source.HUMAN, sentence="We use uv here."),
    )


def write(name: str, body: str = "body", description: str = "about it", uuid: str = "u-1") -> Write:
    content = Fields(title=name, description=description, body=body, type=MemoryType.PROJECT)
    return Write(name=name, content=content, reason="said so", evidence=said(uuid))
