"""Which memory a new statement belongs to, and what it does to it.

Looked up by subject, not by date: the same fact again changes nothing, a newer one about the same
thing replaces the older one, another fact about the same thing is added to its memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from memoryd.extraction import kinds, subjects, topics
from memoryd.extraction.fingerprint import containment, likeness, words
from memoryd.extraction.operations import MemoryType

_SAME: Final = 0.85  # share of a fact's words that a statement must have to be the same
_SUBJECT: Final = 0.7  # likeness of two subjects that are one
_OPPOSED: Final = 0.6  # likeness of two statements of which one denies the other


_NEAR: Final = 0.6  # share of words below which a memory is not looked at closely
_STANCE: Final = words("always never")


class Relation(StrEnum):
    """What a new statement is to a memory."""

    SAME = "same"
    """The memory says so already, or said so before it learned better."""
    REPLACES = "replaces"
    """It contradicts one statement of the memory."""
    ADDS = "adds"
    """It is about the same subject."""


@dataclass(frozen=True, slots=True)
class Found:
    """The memory a statement belongs to.

    Attributes:
        name: of the memory.
        relation: what the statement is to it.
        olds: the statements that it replaces, as they stand in body or description.
    """

    name: str
    relation: Relation
    olds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A fact to find a memory for.

    Attributes:
        fact: one sentence, dates absolute.
        subject: the words it is about.
        name: the name a memory of its own would get.
        type: which kind of memory it would be.
        corrects: it says that something else holds no more.
        rule: it orders a way of working.
        amends: it is kept only where it corrects a memory, and only one.
        day: ``YYYY-MM-DD`` on which it was said.
    """

    fact: str
    subject: tuple[str, ...]
    name: str
    type: MemoryType
    corrects: bool = False
    rule: bool = False
    amends: bool = False
    day: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A memory to compare with.

    Attributes:
        name: file stem.
        type: ``None`` when unknown.
        description: one line.
        body: whole.
        modified: seconds since 1970 UTC of its last change.
        terms: content words of all its text.
        kinds: known kinds of which it names a member.
    """

    name: str
    type: MemoryType | None
    description: str
    body: str
    modified: float
    terms: frozenset[str] = field(init=False, repr=False)
    kinds: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        text = f"{self.name}\n{self.description}\n{self.body}"
        object.__setattr__(self, "terms", words(text))
        object.__setattr__(self, "kinds", frozenset(kinds.kinds_in(text)))


def find(statement: Statement, memories: Sequence[Known], *, at: float) -> Found | None:
    """Return the memory that a statement belongs to, or ``None`` if it has none yet.

    Args:
        statement: what was said.
        memories: all that are kept.
        at: when it was said; an older statement never replaces one that is newer.
    """
    scores: list[tuple[float, Found]] = []
    fact, subject = words(statement.fact), words(" ".join(statement.subject))
    of_kinds = kinds.kinds_in(statement.fact).keys()
    for memory in memories:
        near = (
            memory.name == statement.name
            or containment(subject, memory.terms) >= _NEAR
            or containment(fact, memory.terms) >= _NEAR
            or bool(of_kinds & memory.kinds)
        )
        if not near or not _comparable(statement, memory):
            continue
        scored = _compare(statement, memory, at)
        if scored is not None:
            scores.append(scored)
    if not scores:
        return None
    best = max(scores, key=lambda pair: pair[0])[1]
    if statement.amends and best.relation is Relation.REPLACES:
        meant = [found for _, found in scores if found.relation is Relation.REPLACES]
        return best if len(meant) == 1 else None
    return best


def _comparable(statement: Statement, memory: Known) -> bool:
    """Say whether both tell of the person, or neither; of a known kind it does not matter."""
    if memory.type is statement.type or MemoryType.USER not in {memory.type, statement.type}:
        return True
    return bool(statement.subject) and kinds.kind_named(statement.subject[0]) is not None


def _compare(statement: Statement, memory: Known, at: float) -> tuple[float, Found] | None:
    """Return how surely a memory is the one, and the relation."""
    held = topics.statements(memory.body)
    lines = list(dict.fromkeys(line for line in (*held, memory.description) if line))
    same = Found(memory.name, Relation.SAME)
    if any(_same(statement, line) for line in lines):
        return 4.0, same
    if at <= memory.modified and _held_once(statement, memory):
        return 3.5, same
    scored = [(score, line) for line in lines if (score := _contradiction(statement, line)) > 0]
    if scored:
        surely = 3.0 + max(scored)[0] / 2
        if statement.day < topics.last_day(memory.body):
            return surely, same
        olds = tuple(line for score, line in scored)
        return surely, Found(memory.name, Relation.REPLACES, olds)
    return _added(statement, memory, held)


def _added(statement: Statement, memory: Known, held: list[str]) -> tuple[float, Found] | None:
    """Return the relation of a statement that contradicts nothing."""
    if memory.name == statement.name:
        if statement.corrects and not statement.rule and len(held) == 1:
            return 3.0, Found(memory.name, Relation.REPLACES, (held[0],))
        return 1.0, Found(memory.name, Relation.ADDS)
    alike = max((_about(statement, line) for line in held), default=0.0)
    return (alike, Found(memory.name, Relation.ADDS)) if alike >= _SUBJECT else None


def _held_once(statement: Statement, memory: Known) -> bool:
    """Say whether a memory tells that the statement held until a later day."""
    return any(
        statement.day <= former.day and _same(statement, former.text)
        for former in topics.past(memory.body)
    )


def _same(statement: Statement, line: str) -> bool:
    """Say whether a line states what the statement does."""
    mine, theirs = _content(statement.fact), _content(line)
    if containment(mine, theirs) < _SAME and not _same_choice(statement, line):
        return False
    if kinds.differ(kinds.values_in(statement.fact), kinds.values_in(line)):
        return False
    return not _opposed(statement.fact, line)


def _same_choice(statement: Statement, line: str) -> bool:
    """Say whether both choose the same of one kind, in whatever words and language."""
    if len(statement.subject) != 1 or kinds.kind_named(statement.subject[0]) is None:
        return False
    mine = {one for one in _choice(statement.fact) if one[0] == statement.subject[0]}
    theirs = {one for one in _choice(line) if one[0] == statement.subject[0]}
    return bool(mine) and mine == theirs


def _content(text: str) -> frozenset[str]:
    """Return the words of a statement but for those that only say for or against."""
    return words(text) - _STANCE


def _choice(text: str) -> frozenset[tuple[str, str]]:
    """Return the members of known kinds that a statement speaks for."""
    pros, cons = kinds.sides(text)
    chosen: set[tuple[str, str]] = set()
    for kind, members in kinds.kinds_in(text).items():
        for member in members:
            stems = words(member)
            if stems <= pros or not stems & cons:
                chosen.add((kind, member))
    return frozenset(chosen)


def _opposed(fact: str, line: str) -> bool:
    """Say whether one speaks for what the other speaks against."""
    pros, cons = kinds.sides(fact)
    their_pros, their_cons = kinds.sides(line)
    return bool((pros & their_cons) - their_pros) or bool((cons & their_pros) - pros)


def _contradiction(statement: Statement, line: str) -> float:
    """Return how surely the statement contradicts a line: 0 for not at all, up to 1."""
    fact = statement.fact
    if likeness(_content(fact), _content(line)) >= _OPPOSED and _opposed(fact, line):
        return 1.0
    if _other_choice(statement, line):
        return 0.9
    about = _about(statement, line)
    if kinds.differ(kinds.values_in(fact), kinds.values_in(line)):
        if about >= _SUBJECT:
            return about * 0.8
        subject, theirs = words(" ".join(statement.subject)), words(line)
        if statement.corrects and subject and subject <= theirs:
            return 0.5 + likeness(subject, theirs) / 4
    elif (
        statement.corrects
        and not statement.rule
        and about >= _SUBJECT
        and not kinds.values_in(line)
        and not _same_choice(statement, line)
    ):
        return about * 0.6
    return 0.0


def _other_choice(statement: Statement, line: str) -> bool:
    """Say whether a statement chooses another of its kind than a line, or speaks against it."""
    kind = statement.subject[0] if len(statement.subject) == 1 else ""
    if kinds.kind_named(kind) is None:
        return False
    ours = {member for name, member in _choice(statement.fact) if name == kind}
    held = {member for name, member in _choice(line) if name == kind}
    if ours and held:
        return not ours & held
    against = kinds.sides(statement.fact)[1]
    return any(words(member) <= against for member in held)


def _about(statement: Statement, line: str) -> float:
    """Return how alike the subjects of the statement and a line are."""
    subject = words(" ".join(statement.subject))
    if not subject:
        return 0.0
    one_kind = len(statement.subject) == 1 and kinds.kind_named(statement.subject[0]) is not None
    if one_kind and statement.subject[0] in kinds.kinds_in(line):
        return 0.8
    if statement.rule:
        theirs = words(" ".join(subjects.order(line)))
    else:
        theirs = words(" ".join(subjects.topic(line)))
    return likeness(subject, theirs)


def recall(query: str, memories: Iterable[Known]) -> list[str]:
    """Return the names of the memories that a request to forget may mean, all equally likely.

    One name is a clear match. A memory counts when it has (nearly) all words of the query; among
    several the one counts whose name and description, not only its body, have them.
    """
    wanted = words(query)
    memories = list(memories)
    slug = subjects.kebab(subjects.order(query)) if wanted else ""
    exact = [
        memory.name for memory in memories if memory.name == query.strip() or memory.name == slug
    ]
    if len(exact) == 1:
        return exact
    scored: list[tuple[float, float, str]] = []
    for memory in memories:
        share = containment(wanted, memory.terms)
        if share >= _enough(query, len(wanted)):
            head = words(f"{memory.name} {memory.description}")
            scored.append((share, containment(wanted, head), memory.name))
    if not scored:
        return []
    top = max(scored)[:2]
    return sorted(name for share, head, name in scored if (share, head) == top)


def _enough(query: str, count: int) -> float:
    """Return the share of a query's words that a memory must have."""
    if not query.isascii():  # Pairs that straddle two words match nothing.
        return 0.5
    return 1.0 if count <= 2 else 0.75  # noqa: PLR2004 - of two words both
