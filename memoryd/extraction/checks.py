"""What an operation must fulfil, whoever proposes it: rules, a model, or a person's command.

The answer of a model is untrusted input. Here it is held against the turns that it was given:
who said what, what was only shown by a tool, what was forgotten on request, what is kept already.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from memoryd import redaction
from memoryd.extraction import kinds
from memoryd.extraction.fingerprint import containment, fact_of, fingerprint, likeness, words
from memoryd.extraction.operations import (
    Create,
    Delete,
    Evidence,
    ExistingMemory,
    ExtractionInput,
    MemoryType,
    Operation,
    Rejected,
    Source,
    Update,
    Utterance,
    Verdict,
)

MOST_OPERATIONS: Final = 20
"""Operations accepted from one batch; the rest is refused."""
SHARED_WORDS: Final = 8
"""Consecutive words that make a text a copy of what a tool showed."""
MOST_EVIDENCE: Final = 32
_TITLE: Final = 60
_DESCRIPTION: Final = 200
_BODY: Final = 4_000
_NAMED: Final = 10  # memories in a reason
_SENTENCE: Final = 300
_REASON: Final = 300
_SHRINK: Final = 0.5  # share of the old content words that an update must keep
_DOUBLE: Final = 0.9  # likeness of two facts that are one

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_RESERVED: Final = frozenset({"memory"})  # MEMORY.md is the index, also where case is ignored
_PLACEHOLDER: Final = re.compile(
    r"^\s*(?:\.{3,}|…+|-+|n/?a|none|null|todo|tbd|fixme|placeholder|unchanged|"
    r"\(?same as (?:before|above)\)?|"
    r"lorem ipsum.*|内容|无|待定|略)[\s.。]*$|"
    r"\[(?:(?:\.{3}|…)[^\]\n]*|(?:the )?(?:rest|remainder|remaining)\b[^\]]*|unchanged[^\]]*|"
    r"(?:existing|previous|old) content[^\]]*|insert [^\]]*|placeholder[^\]]*|其余[^\]]*|"
    r"保持不变[^\]]*)\]|"
    r"\((?:(?:the )?(?:rest|remainder) [^)]*unchanged|unchanged)\)|^\s*(?:\.{3}|…)\s*$|"
    r"<(?:insert|placeholder|body|content)[^>]*>|\bTODO: (?:fill|write|add)\b",
    re.IGNORECASE | re.MULTILINE,
)
_CONTROL: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_JOINERS: Final = "\u200c\u200d"  # in words of some scripts and in emoji
_FRONTMATTER: Final = re.compile(r"\A\s*---\s*$", re.MULTILINE)
_MARKUP: Final = re.compile(r"<!--|</?[a-z][a-z-]*(?:\s[^>]*)?>", re.IGNORECASE)
_MARKER: Final = "[memoryd-request]"
_WORD: Final = re.compile(r"[^\W_\u3400-\u9fff]+|[\u3400-\u9fff]")
_TRUST: Final = {Source.HUMAN: 3, Source.HEADLESS: 2, Source.ASSISTANT: 1}


def check(
    given: ExtractionInput,
    operations: Iterable[Operation],
    *,
    clean: Callable[[str], str] = redaction.clean,
) -> Verdict:
    """Return which operations are lawful, and why the others are not.

    Args:
        given: what the proposer saw; nothing else counts as evidence.
        operations: as proposed, in order; of two for one memory the first counts.
        clean: gives a text without its secrets; one that it changes is refused.
    """
    verdict = Verdict()
    judge = _Judge(given, clean)
    for operation in operations:
        reason = judge.refuse(operation)
        if reason is None and len(verdict.accepted) >= MOST_OPERATIONS:
            reason = f"more than {MOST_OPERATIONS} operations in one batch"
        if reason is None:
            verdict.accepted.append(operation)
            judge.take(operation)
        else:
            verdict.rejected.append(Rejected(operation, reason))
    return verdict


def standing(evidence: Iterable[Evidence]) -> Source:
    """Return the source that an operation stands on: the most trusted one of its evidence."""
    return max((one.source for one in evidence), key=_TRUST.__getitem__)


@dataclass(slots=True)
class _Judge:
    """Holds one batch against what it was made from."""

    given: ExtractionInput
    clean: Callable[[str], str]
    said: dict[tuple[str, str], Utterance] = field(init=False)
    shown: dict[str, frozenset[tuple[str, ...]]] = field(init=False)
    memories: dict[str, ExistingMemory] = field(init=False)
    touched: set[str] = field(default_factory=set)
    facts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.said = {}
        shown: dict[str, set[tuple[str, ...]]] = {}
        for turn in self.given.turns:
            for spoken in (*turn.said, turn.human):
                self.said[turn.session, spoken.uuid] = spoken
            for text in turn.tool_texts:
                shown.setdefault(turn.session, set()).update(_runs(text))
        self.shown = {session: frozenset(runs) for session, runs in shown.items()}
        self.memories = {memory.name: memory for memory in self.given.memories}

    def take(self, operation: Operation) -> None:
        """Count an operation as accepted."""
        self.touched.add(operation.name)
        if isinstance(operation, Create):
            self.facts.append(fact_of(operation.body))

    def refuse(self, operation: Operation) -> str | None:
        """Return why an operation is not lawful, or ``None`` if it is."""
        if not _NAME.fullmatch(operation.name) or operation.name in _RESERVED:
            return "the name is not kebab-case of 1 to 64 characters"
        if operation.name in self.touched:
            return "a second operation on one memory"
        reason = self._evidence(operation.evidence) or self._target(operation)
        if reason is None and not isinstance(operation, Delete):
            reason = self._text(operation) or self._sources(operation)
        if reason is None:
            reason = self._trust(operation)
        if reason is None and isinstance(operation, Create):
            reason = self._repeated(operation)
        if reason is None and isinstance(operation, Update):
            reason = self._shrinks(operation)
        return reason

    def _evidence(self, evidence: tuple[Evidence, ...]) -> str | None:
        if not evidence:
            return "no evidence"
        if len(evidence) > MOST_EVIDENCE:
            return "too much evidence"
        return next((reason for one in evidence if (reason := self._proof(one))), None)

    def _proof(self, one: Evidence) -> str | None:
        """Say why one piece of evidence proves nothing."""
        spoken = self.said.get((one.session, one.uuid))
        if spoken is None:
            return "the evidence is no record of these turns"
        quote = _squeezed(one.sentence)
        repeats = spoken.source is Source.ASSISTANT and bool(
            _runs(spoken.text) & self.shown.get(one.session, frozenset())
        )
        faults = (
            (spoken.source is not one.source, "the evidence names another source than the record"),
            (len(one.sentence) > _SENTENCE, "the sentence of the evidence is too long"),
            (
                not quote or quote not in _squeezed(spoken.text),
                "the sentence of the evidence does not stand in its record",
            ),
            (_MARKER in spoken.text, "the record was caused by memoryd itself"),
            (repeats, "the assistant repeats what a tool showed"),
        )
        return next((reason for at_fault, reason in faults if at_fault), None)

    def _target(self, operation: Operation) -> str | None:
        exists = operation.name in self.memories
        if isinstance(operation, Create):
            return "a memory of this name exists" if exists else None
        if isinstance(operation, Delete) and len(operation.candidates) > 1:
            return f"several memories may be meant: {', '.join(operation.candidates[:_NAMED])}"
        return None if exists else "there is no memory of this name"

    def _text(self, operation: Create | Update) -> str | None:
        reason = operation.reason if isinstance(operation, Update) else ""
        texts = (operation.title, operation.description, operation.body, reason)
        faults = (
            _line_fault("title", operation.title, _TITLE),
            _line_fault("description", operation.description, _DESCRIPTION),
            _body_fault(operation.body),
            "the reason is too long" if len(reason) > _REASON else None,
            "the text holds memoryd's own marker"
            if any(_MARKER in text for text in texts)
            else None,
            "a placeholder stands for the text"
            if any(_PLACEHOLDER.search(text) for text in texts[:3])
            else None,
            "the text holds a secret or a private passage"
            if any(self.clean(text) != text for text in texts)
            else None,
        )
        return next((fault for fault in faults if fault), None)

    def _sources(self, operation: Create | Update) -> str | None:
        """Say why the evidence does not carry the type, or the text is a tool's."""
        sources = {one.source for one in operation.evidence}
        kind = (
            operation.type if isinstance(operation, Create) else self.memories[operation.name].type
        )
        if kind is MemoryType.USER and sources != {Source.HUMAN}:
            return "memories of the person need evidence that the person typed"
        if kind is MemoryType.FEEDBACK and Source.ASSISTANT in sources:
            return "feedback needs evidence that a person typed"
        old = self.memories.get(operation.name)
        kept = _runs(old.body) | _runs(old.description) if old else frozenset()
        for one in operation.evidence:
            kept |= _runs(self.said[one.session, one.uuid].text)
        shown = frozenset().union(
            *(self.shown.get(one.session, frozenset()) for one in operation.evidence)
        )
        copied = _runs(operation.body) | _runs(operation.description)
        if (copied & shown) - kept:
            return "the text repeats what a tool showed"
        return None

    def _trust(self, operation: Operation) -> str | None:
        """Say why the evidence may not touch the memory, or bring the fact back."""
        if not isinstance(operation, Create):
            source = standing(operation.evidence)
            reason = _outranked(operation, source, self.memories[operation.name])
            if reason is not None:
                return reason
        if isinstance(operation, Delete):
            return None
        prints = {
            fingerprint(text)
            for text in (
                fact_of(operation.body),
                operation.description,
                *(one.sentence for one in operation.evidence),
            )
        }
        newest = max(one.at for one in operation.evidence)
        for tombstone in self.given.tombstones:
            if tombstone.evidence is not None and any(
                one.uuid == tombstone.evidence for one in operation.evidence
            ):
                return "this evidence was forgotten on request"
            if tombstone.fingerprint and tombstone.fingerprint in prints and newest <= tombstone.at:
                return "this fact was forgotten on request"
        return None

    def _repeated(self, operation: Create) -> str | None:
        """Say whether a new memory holds what one of the batch, or one that is kept, holds."""
        fact = fact_of(operation.body)
        kept = [fact_of(memory.body) for memory in self.memories.values()]
        if any(_alike(fact, other) for other in (*self.facts, *kept)):
            return "the fact is kept already"
        return None

    def _shrinks(self, operation: Update) -> str | None:
        """Say whether an update changes nothing, or drops most of what was there."""
        memory = self.memories[operation.name]
        if operation.body == memory.body and operation.description == memory.description:
            return "nothing changes"
        old, new = words(memory.body), words(operation.body)
        if containment(old, new) >= _SHRINK or not old:
            return None
        corrected = any(
            one.source is not Source.ASSISTANT and corrects(one.sentence, memory.body)
            for one in operation.evidence
        )
        return None if corrected else "the update drops most of the memory without a correction"


def _outranked(operation: Update | Delete, source: Source, memory: ExistingMemory) -> str | None:
    """Say why a source may not do this to a memory."""
    if source is Source.ASSISTANT and memory.source is not Source.ASSISTANT:
        return "the assistant's words do not change what a person said"
    if isinstance(operation, Update) and operation.confirmed and source is not Source.HUMAN:
        return "only what a person typed confirms a memory"
    if source is Source.HEADLESS and memory.type is MemoryType.USER:
        return "a run without a person does not change memories of the person"
    return None


_CORRECTION: Final = re.compile(
    r"^\s*(?:no|nope|wrong|actually|correction|that'?s (?:wrong|not right|outdated))\b|"
    r"\b(?:not|no longer|instead of|rather than|any ?more|moved|migrated|switched|changed|now|"
    r"renamed|outdated|forget)\b|"
    r"不对|不是|错了|改用|改成|改为|换成|不再|迁移|搬到|现在|过时|忘",
    re.IGNORECASE,
)


def corrects(sentence: str, body: str) -> bool:
    """Say whether a sentence corrects a memory: it says so, or gives another value."""
    return _CORRECTION.search(sentence) is not None or kinds.differ(
        kinds.values_in(sentence), kinds.values_in(body)
    )


def _line_fault(label: str, text: str, most: int) -> str | None:
    """Return what is wrong with a text of one line."""
    if not text.strip():
        return f"the {label} is empty"
    if len(text) > most:
        return f"the {label} is longer than {most} characters"
    if _unclean(text, "") or _MARKUP.search(text):
        return f"the {label} holds line breaks, control characters or markup"
    return None


def _body_fault(body: str) -> str | None:
    """Return what is wrong with a body."""
    if not words(fact_of(body)):
        return "the body is empty"
    if len(body) > _BODY:
        return f"the body is longer than {_BODY} characters"
    if _unclean(body, "\n\t"):
        return "the body holds control characters"
    return "the body begins with frontmatter" if _FRONTMATTER.search(body) else None


def _alike(one: str, other: str) -> bool:
    """Say whether two facts are one: the same words, for and against the same, the same values."""
    if likeness(words(one), words(other)) < _DOUBLE:
        return False
    return kinds.sides(one) == kinds.sides(other) and kinds.values_in(one) == kinds.values_in(other)


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of consecutive words of a text."""
    said = [word.casefold() for word in _WORD.findall(text)]
    return frozenset(
        tuple(said[start : start + SHARED_WORDS]) for start in range(len(said) - SHARED_WORDS + 1)
    )


def _squeezed(text: str) -> str:
    """Return a text without regard to white space, cut marks at its end left out."""
    return "".join(text.split()).removesuffix("…")


def _unclean(text: str, allowed: str) -> bool:
    """Say whether a text holds control, format or surrogate characters beside those allowed."""
    return any(
        unicodedata.category(mark) in _CONTROL and mark not in allowed and mark not in _JOINERS
        for mark in text
    )
