"""The methods that look at memories and change them for a person: ``memory.*``."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, assert_never
from uuid import uuid4

from memoryd.clock import Clock
from memoryd.daemon.calls import Call
from memoryd.daemon.places import Places
from memoryd.daemon.retrieval import marks
from memoryd.daemon.shelf import Shelves
from memoryd.errors import MemorydError, NotFound
from memoryd.extraction.noted import ONLY_TYPED, Refused, note
from memoryd.extraction.operations import ExistingMemory, MemoryType, Operation
from memoryd.extraction.remember import Ambiguous, Match, Nothing, forget, from_statement
from memoryd.jobs.applying import change_of, distinct, existing, graves, own
from memoryd.memory.changes import AppliedGroup, Remove
from memoryd.memory.journal import Action, Entry
from memoryd.memory.library import MemoryLibrary
from memoryd.memory.snapshot import Snapshot
from memoryd.memory.store import MemoryStore
from memoryd.memory.topic import Topic
from memoryd.protocol import instant
from memoryd.recall.claims import age_days
from memoryd.redaction import clean
from memoryd.redaction.values import MARK
from memoryd.stores.journal import SqlJournal


class Speaker(StrEnum):
    """Who asks; also who the journal says it was."""

    PERSON = "person"
    """Somebody at a keyboard, or a program in their name."""
    ASSISTANT = "assistant"
    """A model, through a tool."""


SESSION = "command"
"""The session id of evidence that was given to a command instead of said in a session."""

_MOST = 1000


class Keeping:
    """Answers ``memory.remember forget list show log undo``.

    Args:
        library: the memory directories.
        shelves: the memories of each project.
        journal: of all changes.
        places: the projects.
        clock: the time.
        outputs: what tools showed lately in a session.
    """

    def __init__(
        self,
        *,
        library: MemoryLibrary,
        shelves: Shelves,
        journal: SqlJournal,
        places: Places,
        clock: Clock,
        outputs: Callable[[str], tuple[str, ...]],
    ) -> None:
        self._library = library
        self._shelves = shelves
        self._journal = journal
        self._places = places
        self._clock = clock
        self._outputs = outputs

    def remember(self, call: Call) -> dict[str, Any]:
        """Keep a statement as a memory of the project."""
        text = clean(call.params.text("text"))
        named = call.params.choice("type", [member.value for member in MemoryType])
        kind = None if named is None else MemoryType(named)
        speaker = _speaker(call)
        session = call.params.session("session", None)
        store = self._store(self._places.made(call.params))
        seen = store.record_external()
        match speaker:
            case Speaker.PERSON:
                operations = from_statement(
                    text,
                    type=kind,
                    memories=self._known(store, seen),
                    at=self._clock.now(),
                    session=SESSION,
                    uuid=f"command-{uuid4()}",
                )
            case Speaker.ASSISTANT:
                operations = self._noted(text, kind, store, seen, session)
            case _:
                assert_never(speaker)
        if not operations:
            return _changed(None, reason=_nothing_kept(text))
        operations = distinct(operations, set(seen.topics) | seen.unreadable)
        group = store.apply([change_of(op) for op in operations], based_on=seen, actor=speaker)
        return _answer(group, reason=_same(operations, group))

    def _noted(
        self,
        text: str,
        kind: MemoryType | None,
        store: MemoryStore,
        seen: Snapshot,
        session: str | None,
    ) -> list[Operation]:
        """Return what keeping an assistant's words takes.

        Raises:
            MemorydError: they are not kept; the journal says so too.
        """
        found = note(
            text,
            type=kind,
            memories=self._known(store, seen),
            tombstones=self._journal.tombstones(store.project_root),
            shown=() if session is None else self._outputs(session),
            at=self._clock.now(),
            session=session or SESSION,
            uuid=f"tool-{uuid4()}",
        )
        if not isinstance(found, Refused):
            return found
        action = Action.UPDATE if found.name in seen.topics else Action.CREATE
        store.reject(
            found.name,
            action=action,
            reason=found.reason,
            actor=Speaker.ASSISTANT,
            evidence=found.evidence,
        )
        hint = (
            "memoryd keeps it by itself once they type it"
            if found.reason == ONLY_TYPED
            else "ask the person"
        )
        raise MemorydError(f"not kept: {found.reason}", hint=hint)

    def _known(self, store: MemoryStore, seen: Snapshot) -> tuple[ExistingMemory, ...]:
        return tuple(existing(topic) for topic in own(self._journal, store, seen).values())

    def forget(self, call: Call) -> dict[str, Any]:
        """Remove the one memory that is meant; several are listed, none removed."""
        query = call.params.text("query", None) or call.params.text("name")
        speaker = _speaker(call)
        store = self._store(self._places.root(call.params))
        seen = store.record_external()
        kept = own(self._journal, store, seen)
        found = forget(query, tuple(existing(topic) for topic in kept.values()))
        match found:
            case Match():
                topic = kept[found.name]
                self._journal.bury(
                    store.project_root,
                    graves(self._journal, store, topic, at=self._clock.now()),
                )
                change = Remove(name=found.name, reason="asked for")
                group = store.apply([change], based_on=seen, actor=speaker)
                return _answer(group) | {"matches": []}
            case Ambiguous():
                matches = [
                    {"name": name, "description": clean(kept[name].description)}
                    for name in found.names
                ]
                return _changed(None, reason="several memories fit") | {"matches": matches}
            case Nothing():
                return _changed(None, reason="no memory fits") | {"matches": []}

    def listing(self, call: Call) -> list[dict[str, Any]]:
        """List the memories of the project or of all projects, the newest first."""
        found = []
        for root in self._places.roots(call.params):
            directory = self._library.store(root).directory
            origins = self._journal.origins(str(directory))
            found += [
                {
                    **_facts(topic, self._clock.now(), origins.get(topic.name, ("", None))[1]),
                    "project": root,
                    "path": str(directory / topic.file),
                }
                for topic in self._shelves.topics(root).values()
            ]
        return sorted(found, key=lambda memory: (memory["age_days"], memory["name"]))

    def show(self, call: Call) -> dict[str, Any]:
        """Return one memory, with ``why`` also what it stands on."""
        name = call.params.text("name").removesuffix(".md")
        root = self._places.root(call.params)
        topic = self._shelves.topics(root).get(name)
        directory = self._library.store(root).directory
        if topic is None:
            raise NotFound(
                f"there is no memory {clean(name)[:80]!r} in {root}",
                hint="memoryctl list shows what there is",
            )
        history = self._journal.history(str(directory), name)
        answer = {
            **_facts(topic, self._clock.now(), history[-1].actor if history else None),
            "project": root,
            "path": str(directory / topic.file),
            "text": clean(topic.body),
        }
        if call.params.flag("why"):
            answer["why"] = [
                {
                    "at": instant(item.at),
                    "source": item.source.value,
                    "session": item.session,
                    "uuid": item.uuid,
                    "sentence": item.sentence,
                    "change": entry.id,
                }
                for entry in history
                for item in entry.evidence
            ]
        return answer

    def log(self, call: Call) -> list[dict[str, Any]]:
        """List changes, the newest first, refused ones included."""
        limit = call.params.integer("limit", 20, least=1, most=_MOST)
        everywhere = call.params.flag("all_projects")
        root = None if everywhere else self._places.root(call.params)
        return [_logged(entry) for entry in self._journal.entries(project_root=root, limit=limit)]

    def undo(self, call: Call) -> dict[str, Any]:
        """Take back one change."""
        number = call.params.integer("id", least=1, most=2**62)
        entry = self._journal.get(number)
        store = self._library.store(entry.project_root)
        return _answer(store.undo(number, actor=Speaker.PERSON))

    def _store(self, root: str) -> MemoryStore:
        forbidden = self._library.may_write(root)
        if forbidden is not None:
            raise MemorydError(
                f"the client's auto-memory is off ({forbidden.why}), so nothing is written",
                hint="switch it on there, or set memory.always = true in memoryd's settings",
            )
        return self._library.store(root)


def _speaker(call: Call) -> Speaker:
    return Speaker(call.params.choice("by", list(Speaker), Speaker.PERSON) or Speaker.PERSON)


def _facts(topic: Topic, now: float, actor: str | None) -> dict[str, Any]:
    return {
        "name": topic.name,
        "type": None if topic.type is None else topic.type.value,
        "description": clean(topic.description),
        "age_days": age_days(now, topic.modified),
        "marks": [mark.value for mark in marks(topic, actor)],
    }


def _logged(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "at": instant(entry.at),
        "project": entry.project_root,
        "name": entry.name,
        "action": entry.action.value,
        "actor": entry.actor,
        "state": entry.state.value,
        "reason": entry.reason,
        "undoes": entry.undoes,
        "group": entry.group,
    }


def _answer(group: AppliedGroup, *, reason: str = "") -> dict[str, Any]:
    if group.dropped and not group.applied:
        raise group.dropped[0].error
    return _changed(group, reason=reason)


def _changed(group: AppliedGroup | None, *, reason: str = "") -> dict[str, Any]:
    applied = () if group is None else group.applied
    return {
        "changed": [
            {"name": made.name, "action": made.action.value, "journal_id": made.id}
            for made in applied
        ],
        "journal_id": applied[0].id if applied else None,
        "reason": "" if applied else reason,
        "warnings": [] if group is None else list(group.warnings),
    }


def _same(operations: list[Operation], group: AppliedGroup) -> str:
    return "that is known already" if operations and group.unchanged else ""


def _nothing_kept(text: str) -> str:
    if not text.strip():
        return "nothing is left without the private passages"
    if MARK in text:
        return "nothing is kept of a sentence with a secret, unless the rest says something"
    return "that is known already, or holds no statement to keep"
