"""``hook``: the client says what happens in a session, and is told what helps there."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, assert_never

from memoryd.admission import Admission
from memoryd.clock import Clock
from memoryd.daemon.calls import Call
from memoryd.daemon.places import Places
from memoryd.daemon.shelf import Shelves
from memoryd.hooks.answers import MAX_CONTEXT, SILENCE, context, greeting
from memoryd.hooks.events import (
    Compacted,
    Compacting,
    Event,
    EventName,
    Place,
    Prompted,
    SessionBegan,
    Source,
    ToolsAnswered,
    TurnEnded,
    Written,
)
from memoryd.hooks.stdin import name_of, parse
from memoryd.memory.library import MemoryLibrary
from memoryd.memory.location import CONFIG_DIRECTORY, SWITCHES
from memoryd.protocol import instant
from memoryd.transcript.human import typed_words

WAIT_S = 0.08
"""So long a prompt waits for what helps with it. What comes later goes with a tool's result."""

_MARGIN_S = 0.005
_TOPIC = ".md"
OTHER = "other"
"""Events that mean nothing here are counted under this name."""


class Delivery(Protocol):
    """What was found for a prompt."""

    @property
    def text(self) -> str:
        """For the prompt, `memoryd.hooks.answers.MAX_CONTEXT` long at most."""


class Prefetching(Protocol):
    """Looks for what helps with a prompt while nobody waits."""

    def ask(
        self, query: str, roots: Sequence[str], session: str, turn_id: str, wait_s: float
    ) -> Delivery | None:
        """Begin, and return what was found; ``None`` when nothing was, or not in time.

        What comes later is collected; the session's former ticket is worth nothing any more.
        """

    def collect(self, ticket: str, wait_s: float = 0.0) -> Delivery | None:
        """Return what was found, once; ``None`` when nothing was, or not in time."""

    def current(self, session: str) -> str | None:
        """Return the ticket of the session that was not collected yet."""

    def end(self, session: str) -> None:
        """Let it expire."""

    def warm(self, roots: Sequence[str], session: str) -> None:
        """Begin to make ready what the first prompt will need."""


class Ledger(Protocol):
    """Knows what sessions have of memory."""

    def locate(self, session: str, transcript: str) -> None:
        """Say where the transcript of a session is."""

    def forked(self, session: str, transcript: str, context_tokens: int) -> None:
        """Note that a session begins with a copy of another's history."""

    def note_touched(self, session: str, path: str, how: str) -> None:
        """Note that the model met a file itself, if it is one of a memory."""

    def ignoring(self, session: str) -> bool:
        """Tell whether the person said that memory is to be ignored."""

    def hear(self, session: str, prompt: str) -> None:
        """Listen whether the person says so, or takes it back."""

    def withhold(self, session: str, withheld: bool) -> None:
        """Note whether nothing is to be learned from a session."""

    def compacted(self, session: str) -> None:
        """Note that what the session had is no longer before its model."""

    def was_compacted(self, session: str) -> bool:
        """Tell whether the session was ever compacted."""

    def given(self, session: str) -> frozenset[str]:
        """Return what the session has before it."""

    def note_given(self, session: str, sizes: Mapping[str, int]) -> None:
        """Note what it was given."""


class Summarizing(Protocol):
    """Keeps the summaries of sessions."""

    def given(self, session: str, most: int) -> tuple[str, str]:
        """Return what a session is given of its summary, and a name for this state of it."""

    def hasten(self, session: str) -> None:
        """Bring it up to date soon."""


class Reading(Protocol):
    """Reads transcripts."""

    def hint(self, path: str) -> None:
        """Say that there may be something new."""

    def notice_turn_end(self, session: str) -> None:
        """Say that the turn of a session is over."""


@dataclass(slots=True)
class Tally:
    """How often an event came.

    Attributes:
        count: in all.
        given: of them, how many were answered with something to print.
        last: when, seconds since 1970 UTC.
        seconds: spent on them, in sum.
    """

    count: int = 0
    given: int = 0
    last: float = 0.0
    seconds: float = 0.0


class Hooking:
    """Answers hooks: within milliseconds, without writing to the database.

    Args:
        config: the client's directory; hooks of a client with another one are not answered.
        reading: told of ended turns.
        library: the memory directories.
        shelves: the memories.
        places: the projects.
        admission: returns what may be taken in.
        ledger: what sessions have.
        prefetch: finds what helps.
        summaries: of sessions.
        clock: the time.
    """

    def __init__(
        self,
        *,
        config: Path,
        reading: Reading,
        library: MemoryLibrary,
        shelves: Shelves,
        places: Places,
        admission: Callable[[], Admission],
        ledger: Ledger,
        prefetch: Prefetching,
        summaries: Summarizing,
        clock: Clock,
    ) -> None:
        self._config = os.path.abspath(config)  # noqa: PTH100 - resolve() would follow links
        self._reading = reading
        self._library = library
        self._shelves = shelves
        self._places = places
        self._admission = admission
        self._ledger = ledger
        self._prefetch = prefetch
        self._summaries = summaries
        self._clock = clock
        self._begun_anew: dict[str, str] = {}
        self._lock = threading.Lock()
        self._tallies: dict[str, Tally] = {}
        self._turns = itertools.count()

    def __call__(self, call: Call) -> dict[str, Any]:
        """Handle the method ``hook``."""
        began = self._clock.monotonic()
        stdin = call.params.mapping("stdin")
        environment = {
            name: value
            for name, value in call.params.mapping("environment", {}).items()
            if name in SWITCHES and isinstance(value, str)
        }
        output = SILENCE
        event = parse(stdin)
        if event is not None and not self._is_ours(event.place, environment):
            return {"output": output}
        try:
            if event is not None:
                output = self._answer(event, environment, call)
        finally:
            self._count(name_of(stdin), output, began)
        return {"output": output}

    def tallies(self) -> dict[str, Tally]:
        """Return what came since the start, by the name of the event."""
        with self._lock:
            return {name: self._tallies[name] for name in sorted(self._tallies)}

    def seen(self) -> dict[str, dict[str, Any]]:
        """Return the same for ``status``."""
        return {
            name: {"count": tally.count, "given": tally.given, "last": instant(tally.last)}
            for name, tally in self.tallies().items()
        }

    def _count(self, name: EventName | None, output: str, began: float) -> None:
        with self._lock:
            tally = self._tallies.setdefault(OTHER if name is None else name.value, Tally())
            tally.count += 1
            tally.given += output != SILENCE
            tally.last = self._clock.now()
            tally.seconds += self._clock.monotonic() - began

    def _answer(self, event: Event, environment: Mapping[str, str], call: Call) -> str:
        match event:
            case SessionBegan():
                return self._begin(event, environment)
            case Prompted():
                return self._prompt(event, environment, call)
            case ToolsAnswered():
                return self._tools(event, environment)
            case TurnEnded():
                self._end(event.place, environment)
            case Compacting() | Compacted():
                self._compact(event, environment)
            case Written(file=file):
                if file:
                    self._reading.hint(file)
            case _:
                assert_never(event)
        return SILENCE

    def _end(self, place: Place, environment: Mapping[str, str]) -> None:
        if place.transcript:
            self._reading.hint(place.transcript)
        self._root(place, environment)
        self._reading.notice_turn_end(place.session)
        self._prefetch.end(place.session)

    def _compact(self, event: Compacting | Compacted, environment: Mapping[str, str]) -> None:
        session, transcript = event.place.session, event.place.transcript
        if transcript:
            self._reading.hint(transcript)
        if isinstance(event, Compacting):
            if self._root(event.place, environment) is not None:
                self._summaries.hasten(session)
        else:
            self._ledger.compacted(session)
            # Its context began anew before this is told: what was given then is in it.
            if state := self._begun_anew.pop(session, ""):
                self._ledger.note_given(session, {state: 0})

    def _begin(self, event: SessionBegan, environment: Mapping[str, str]) -> str:
        root = self._root(event.place, environment)
        if root is None:
            return SILENCE
        session = self._located(event.place)
        if event.source is Source.FORK and event.context_tokens and event.place.transcript:
            self._ledger.forked(session, event.place.transcript, event.context_tokens)
        memories = self._shelves.named(root)
        if memories:
            self._prefetch.warm([root], session)
        if event.source is Source.COMPACT:
            self._ledger.compacted(session)
        if self._ledger.ignoring(session):
            return SILENCE
        told = greeting(memories)
        summary = self._summary(event.source, session, MAX_CONTEXT - len(told) - 1)
        return context(EventName.SESSION_START, "\n".join(filter(None, (told, summary))))

    def _summary(self, source: Source, session: str, room: int) -> str:
        """Return the session's summary where a compaction took away what it sums up.

        A client that resumes or forks a session repeats all it had, what hooks gave included.
        """
        if source is Source.RESUME and not self._ledger.was_compacted(session):
            return ""
        if source not in (Source.COMPACT, Source.RESUME):
            return ""
        text, state = self._summaries.given(session, room)
        if not text or state in self._ledger.given(session):
            return ""
        self._ledger.note_given(session, {state: 0})
        if source is Source.COMPACT:
            self._begun_anew[session] = state
        return text

    def _prompt(self, event: Prompted, environment: Mapping[str, str], call: Call) -> str:
        words = typed_words(event.text)
        if not words:
            return SILENCE
        root = self._root(event.place, environment)
        if root is None:
            return SILENCE
        session = self._located(event.place)
        self._ledger.hear(session, words)
        if self._ledger.ignoring(session):
            return SILENCE
        turn = event.turn or f"turn-{next(self._turns)}"
        patience = max(0.0, call.remaining_s(WAIT_S + _MARGIN_S) - _MARGIN_S)
        delivery = self._prefetch.ask(words, [root], session, turn, patience)
        return SILENCE if delivery is None else context(EventName.USER_PROMPT_SUBMIT, delivery.text)

    def _tools(self, event: ToolsAnswered, environment: Mapping[str, str]) -> str:
        session = event.place.session
        topics = [(path, touch) for path, touch in event.touched if path.endswith(_TOPIC)]
        ticket = self._prefetch.current(session)
        if not topics and ticket is None:
            return SILENCE
        root = self._root(event.place, environment)
        if root is None:
            return SILENCE
        for path, touch in topics:
            self._ledger.note_touched(session, path, touch)
        if ticket is None or self._ledger.ignoring(session):
            return SILENCE
        delivery = self._prefetch.collect(ticket)
        return SILENCE if delivery is None else context(event.name, delivery.text)

    def _located(self, place: Place) -> str:
        """Return the session, whose transcript the ledger may have to look into."""
        if place.transcript:
            self._ledger.locate(place.session, place.transcript)
        return place.session

    def _root(self, place: Place, environment: Mapping[str, str]) -> str | None:
        """Return the project's root; ``None`` where nothing may be heard or said."""
        root = self._places.of(place.cwd)
        admission = self._admission()
        if admission.excludes(place.cwd, root) or admission.paused(root):
            return None
        off = self._library.may_write(root, environment) is not None
        self._ledger.withhold(place.session, off)
        return None if off else root

    def _is_ours(self, place: Place, environment: Mapping[str, str]) -> bool:
        """Tell whether the client keeps its files where this service reads them."""
        given = environment.get(CONFIG_DIRECTORY)
        if given and not self._is_config(given):
            return False
        # <config>/projects/<directory>/<session>.jsonl
        return not place.transcript or self._is_config(
            place.transcript.rpartition("/")[0].rpartition("/")[0].removesuffix("/projects")
        )

    def _is_config(self, directory: str) -> bool:
        plain = os.path.normpath(directory)
        return plain == self._config or os.path.realpath(plain) == os.path.realpath(self._config)
