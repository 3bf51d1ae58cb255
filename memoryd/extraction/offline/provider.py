"""Operations from the turns of a conversation, without a network and without a model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Final

from memoryd.extraction import dates, kinds, subjects
from memoryd.extraction.fingerprint import words
from memoryd.extraction.matching import Statement
from memoryd.extraction.offline.claims import Claim, Forget
from memoryd.extraction.offline.reading import readings
from memoryd.extraction.operations import (
    Delete,
    Evidence,
    ExtractionInput,
    MemoryType,
    Operation,
    Source,
    TurnInput,
    Utterance,
)
from memoryd.extraction.workbench import Ambiguous, Workbench, quoted, written_already
from memoryd.recall.ignoring import wish


@dataclass(frozen=True, slots=True)
class Findings:
    """What the turns ask for.

    Attributes:
        operations: one per memory at most.
        ambiguous: requests to forget that were not done: several memories may be meant.
    """

    operations: list[Operation]
    ambiguous: tuple[Ambiguous, ...]


def propose(given: ExtractionInput, *, zone: tzinfo = UTC) -> list[Operation]:
    """Return the operations that the people's own words ask for; ``zone`` is where their days end.

    Pure and deterministic: the same turns on the memories that result propose nothing.
    """
    findings = examine(given, zone=zone)
    return [*findings.operations, *map(_undone, findings.ambiguous)]


_FORGOTTEN: Final = re.compile(r"mcp__\w*memoryd\w*__forget\b")
"""The model's own call to forget, as clients name the tool."""


def _undone(unclear: Ambiguous) -> Delete:
    """Return a request to forget that is not clear, for the checks to refuse and the journal."""
    return Delete(
        name=unclear.names[0],
        candidates=unclear.names,
        evidence=(unclear.evidence,),
        explicit=True,
        reason=f"asked to forget: {quoted(unclear.query)[:200]}",
    )  # fmt: skip


def examine(given: ExtractionInput, *, zone: tzinfo = UTC) -> Findings:
    """As ``propose``, with the requests that could not be done."""
    bench = Workbench(given.memories, given.tombstones)
    for turn in given.turns:
        for spoken in _spoken(turn):
            _take(bench, turn, spoken, zone)
    return Findings(bench.operations(), tuple(bench.ambiguous))


def _spoken(turn: TurnInput) -> list[Utterance]:
    """Return what people typed in a turn, in order, each record once."""
    typed = [turn.human, *(said for said in turn.said if said.source is not Source.ASSISTANT)]
    return list({said.uuid: said for said in typed if said.source is not Source.ASSISTANT}.values())


def _take(bench: Workbench, turn: TurnInput, spoken: Utterance, zone: tzinfo) -> None:
    """Take what one prompt says to the bench."""
    for reading in readings(spoken.text):
        if wish(reading.sentence) is not None:
            continue  # About the use of memory in this session: no fact, and no rule for others.
        evidence = Evidence(
            session=turn.session,
            uuid=spoken.uuid,
            at=spoken.at,
            source=spoken.source,
            sentence=quoted(reading.sentence),
        )
        if isinstance(reading, Forget):
            # After memoryd's own tool one memory less would fit: never the one that was meant.
            if not any(map(_FORGOTTEN.match, turn.tools)):
                bench.forget(reading.query, evidence)
            continue
        if reading.type is MemoryType.USER and spoken.source is Source.HEADLESS:
            continue
        statement = stated(reading, at=spoken.at, zone=zone)
        if not written_already(statement.fact, turn.memory_written):
            reason = dates.absolute(reading.reason, spoken.at, zone=zone)
            bench.state(statement, evidence, reason=reason, asked=reading.asked)


def stated(claim: Claim, *, at: float, zone: tzinfo = UTC) -> Statement:
    """Return a claim as a statement about a subject, with its dates absolute."""
    fact = dates.absolute(claim.fact, at, zone=zone, recurring=claim.rule)
    subject = claim.subject or _subject(claim)
    return Statement(
        fact=fact,
        subject=subject,
        name=subjects.kebab(subject, statement=claim.fact, prefix=_prefix(claim)),
        type=claim.type,
        corrects=claim.corrects,
        rule=claim.rule,
        amends=claim.amends,
        day=dates.day(at, zone=zone),
    )


def _subject(claim: Claim) -> tuple[str, ...]:
    """Return the words a claim is about; a choice of a known kind is about that kind."""
    subject = subjects.order(claim.fact) if claim.rule else subjects.topic(claim.fact)
    if len(subject) == 1 and subject[0] in _BROAD:
        subject = subjects.order(claim.fact)
    named = kinds.kinds_in(claim.fact)
    if len(named) == 1:
        kind, members = next(iter(named.items()))
        chosen, about = words(" ".join(members)), words(" ".join(subject))
        if chosen <= about and len(chosen) * 2 >= len(about):
            return (kind,)
    return subject


_BROAD: Final = frozenset((
    "production", "team", "customer", "customers", "client", "clients", "data", "code", "company",
    "app", "system", "frontend", "backend",
))  # fmt: skip
"""Words that are no subject alone: unlike facts would share one memory."""


def _prefix(claim: Claim) -> str:
    """Return what a name begins with, where the words of the subject alone would mislead."""
    return "user" if claim.type is MemoryType.USER else ""
