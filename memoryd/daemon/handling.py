"""Which handler does the jobs of which kind."""

from __future__ import annotations

from datetime import datetime

from memoryd.daemon.parts import Parts
from memoryd.extraction.offline.provider import propose
from memoryd.extraction.operations import ExtractionInput, Operation
from memoryd.jobs.cleanup import Cleanup
from memoryd.jobs.extract import Extract
from memoryd.queue.jobs import JobKind
from memoryd.queue.worker import Handler


def handlers(parts: Parts) -> dict[JobKind, Handler]:
    """Return the handler of each kind."""
    return {
        JobKind.EXTRACT: Extract(
            database=parts.database,
            queue=parts.queue,
            library=parts.library,
            journal=parts.journal,
            transcripts=parts.paths.projects,
            propose=_offline,
            clock=parts.clock,
            withheld=parts.ledger.withheld_among,
            admission=parts.pausing.admission,
        ),
        JobKind.SESSION_MEMORY: parts.session_memory,
        JobKind.CLEANUP: Cleanup(database=parts.database, queue=parts.queue, clock=parts.clock),
    }


def _offline(given: ExtractionInput) -> list[Operation]:
    """Propose by rule; a person's days end where the machine's do."""
    zone = datetime.fromtimestamp(given.today).astimezone().tzinfo
    return propose(given) if zone is None else propose(given, zone=zone)
