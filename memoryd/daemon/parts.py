"""What the methods and the jobs of a running service work with."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from memoryd.clock import Clock
from memoryd.daemon.ledger import SessionLedger
from memoryd.daemon.pausing import Pausing
from memoryd.daemon.places import Places
from memoryd.daemon.shelf import Shelves
from memoryd.db.engine import Database
from memoryd.ingest.service import Ingest
from memoryd.jobs.session_memory import SessionMemory
from memoryd.memory.library import MemoryLibrary
from memoryd.paths import Paths
from memoryd.queue.queue import Queue
from memoryd.search.index import TextIndex
from memoryd.stores.journal import SqlJournal


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One of each; made by `memoryd.daemon.run`, which also starts and stops them."""

    paths: Paths
    clock: Clock
    rng: Random
    database: Database
    queue: Queue
    journal: SqlJournal
    library: MemoryLibrary
    index: TextIndex
    ingest: Ingest
    shelves: Shelves
    places: Places
    pausing: Pausing
    ledger: SessionLedger
    session_memory: SessionMemory
