"""A project with memories, and everything that gives them back, without a service around it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from memoryd.clock import ManualClock
from memoryd.daemon.ledger import SessionLedger
from memoryd.daemon.prefetching import Prefetch
from memoryd.daemon.retrieval import Retrieval
from memoryd.daemon.shelf import Shelves
from memoryd.db.engine import Database
from memoryd.memory.library import MemoryLibrary
from memoryd.projects import slug
from memoryd.stores.journal import SqlJournal
from memoryd.transcript.toolcalls import is_memory_file

ROOT = "/home/dev/project"


class Desk:
    """Recall over one scratch configuration directory.

    Attributes:
        events: what was told of things that went wrong.
    """

    def __init__(self, config: Path, database: Database, clock: ManualClock | None = None) -> None:
        self.config = config
        self.clock = clock or ManualClock()
        self.events: list[tuple[str, dict[str, Any]]] = []
        journal = SqlJournal(database)
        library = MemoryLibrary(
            config=config,
            home=config.parent,
            managed=None,
            environ={},
            always=False,
            journal=journal,
            clock=self.clock,
            rng=Random(7),
        )
        self.shelves = Shelves(library, journal, told=lambda _: False, clock=self.clock)
        self.ledger = SessionLedger(
            database=database,
            clock=self.clock,
            transcripts=config / "projects",
            is_memory=lambda path: is_memory_file(path) or library.shares(path),
            on_event=self._event,
        )
        self.retrieval = Retrieval(
            shelves=self.shelves,
            journal=journal,
            ledger=self.ledger,
            may_read=lambda _: True,
            max_memories=lambda _: 5,
            clock=self.clock,
        )
        self.prefetch = Prefetch(
            retrieval=self.retrieval, ledger=self.ledger, rng=Random(11), on_event=self._event
        )

    @property
    def memory(self) -> Path:
        """The memory directory of the project."""
        return self.config / "projects" / slug(ROOT) / "memory"

    def keep(self, name: str, description: str, body: str = "") -> str:
        """Write a memory as a person would; return the path of its file."""
        self.memory.mkdir(parents=True, exist_ok=True)
        path = self.memory / f"{name}.md"
        head = f"---\nname: {name}\ndescription: {description}\nmetadata:\n  type: project\n---\n\n"
        path.write_text(head + (body or description))
        return str(path)

    def say(self, session: str, *records: bytes, root: str = ROOT) -> Path:
        """Append records to the transcript of a session."""
        folder = self.config / "projects" / slug(root)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{session}.jsonl"
        with path.open("ab") as file:
            file.writelines(records)
        return path

    def close(self) -> None:
        """Stop as the service does."""
        self.prefetch.close()
        self.ledger.stop(30)

    def _event(self, name: str, **facts: Any) -> None:
        self.events.append((name, facts))


@contextmanager
def desk(config: Path, database: Database, clock: ManualClock | None = None) -> Iterator[Desk]:
    """A desk that is stopped at the end."""
    made = Desk(config, database, clock)
    yield made
    made.close()
