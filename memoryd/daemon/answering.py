"""Puts together what answers on the socket."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memoryd.daemon.hooking import Hooking
from memoryd.daemon.keeping import Keeping
from memoryd.daemon.metering import Metering
from memoryd.daemon.methods import methods
from memoryd.daemon.outputs import Outputs
from memoryd.daemon.parts import Parts
from memoryd.daemon.prefetching import Prefetch
from memoryd.daemon.recalling import Recalling
from memoryd.daemon.reporting import Reporting
from memoryd.daemon.retrieval import Retrieval
from memoryd.daemon.summaries import Summaries
from memoryd.daemon.waiting import Waiting
from memoryd.settings import Settings


class Answering:
    """The methods over the parts of a service.

    Attributes:
        methods: each with its handler.
        waiting: has to be told of every job that ended.
        prefetch: has threads of its own; closed when the socket is.

    Args:
        parts: of the service.
        settings: returns those in force.
        warnings: returns what ``status`` must warn of.
        shutdown: asks the process to stop.
        on_event: told of what happens.
    """

    def __init__(
        self,
        parts: Parts,
        *,
        settings: Callable[[], Settings],
        warnings: Callable[[], list[str]],
        shutdown: Callable[[], None],
        on_event: Callable[..., None],
    ) -> None:
        clock, database, places, shelves = parts.clock, parts.database, parts.places, parts.shelves
        ledger = parts.ledger
        self.waiting = Waiting(
            ingest=parts.ingest, queue=parts.queue, database=database, clock=clock
        )
        retrieval = Retrieval(
            shelves=shelves,
            journal=parts.journal,
            ledger=ledger,
            may_read=parts.pausing.admits,
            max_memories=lambda root: settings().for_project(Path(root)).recall.max_memories,
            clock=clock,
        )
        self.prefetch = Prefetch(
            retrieval=retrieval, ledger=ledger, rng=parts.rng, on_event=on_event
        )
        summaries = Summaries(
            database=database,
            session_memory=parts.session_memory,
            places=places,
            ignoring=ledger.ignoring_among,
            on_event=on_event,
        )
        hooking = Hooking(
            config=parts.paths.config,
            reading=parts.ingest,
            library=parts.library,
            shelves=shelves,
            places=places,
            admission=parts.pausing.admission,
            ledger=ledger,
            prefetch=self.prefetch,
            summaries=summaries,
            clock=clock,
        )
        self.methods = methods(
            hooking=hooking,
            keeping=Keeping(
                library=parts.library,
                shelves=shelves,
                journal=parts.journal,
                places=places,
                clock=clock,
                outputs=Outputs(database, parts.paths.projects),
            ),
            metering=Metering(
                database=database,
                ingest=parts.ingest,
                hooks=hooking.tallies,
                count=shelves.count,
                clock=clock,
            ),
            pausing=parts.pausing,
            recalling=Recalling(
                retrieval=retrieval,
                prefetch=self.prefetch,
                ledger=ledger,
                places=places,
                clock=clock,
            ),
            reporting=Reporting(
                paths=parts.paths,
                database=database,
                queue=parts.queue,
                ingest=parts.ingest,
                index=parts.index,
                library=parts.library,
                shelves=shelves,
                places=places,
                clock=clock,
                provider=settings().provider,
                pausing=parts.pausing,
                hooks=hooking.seen,
                ignoring=ledger.ignoring_among,
                warnings=warnings,
            ),
            summaries=summaries,
            waiting=self.waiting,
            shutdown=shutdown,
        )
