"""What an assistant asks to be kept through a tool: its own words, never a person's.

The same checks hold as for what is learned from a conversation; here is only what a single
sentence without a conversation needs more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from typing import Final

from memoryd.extraction import dates
from memoryd.extraction.checks import check
from memoryd.extraction.offline.provider import stated
from memoryd.extraction.offline.reading import statement
from memoryd.extraction.operations import (
    Create,
    Evidence,
    ExistingMemory,
    ExtractionInput,
    MemoryType,
    Operation,
    Source,
    Tombstone,
    TurnInput,
    Utterance,
)
from memoryd.extraction.workbench import Workbench, quoted

_ORIGIN: Final = "noted by the assistant, confirmed by nobody"
_APPLIES: Final = re.compile(r"^\*\*How to apply:\*\*.*$", re.MULTILINE)
_CHECK: Final = "**How to apply:** check it before relying on it."

_CLAUSE: Final = (
    r"(?:^(?:note\s+that\s+)?|[;:.!?(\n\u2014\uff1b\uff1a\uff0c\u3002]\s*|"
    r"\s(?:and|but|because|since)\s+)"
)
"""Where something may begin to be said."""
_ABOUT_PERSON: Final = re.compile(
    rf"{_CLAUSE}(?:(?:the|this|our|my)\s+)?(?:user|person|human|developer)(?:'s\s+(?:name|role|job|age|"
    r"preferences?|editor|background|opinion|email|wish|taste|birthday|native|favou?rite)\b|\s+"
    r"(?:(?:also|always|usually|strongly|really|generally|never)\s+)?(?:prefers?|likes?|loves?|"
    r"hates?|dislikes?|wants?|wishes|expects|asked|told|said|insists|thinks|believes|knows|speaks|"
    r"lives|feels|works\s+(?:as|at|for|in|on|from|with)|uses|does(?:n't|\s+not)\s+(?:like|want|"
    r"know|use)|is\s+(?:an?|the|our|my|not|new|from|based|fluent|familiar|working|called|named)|"
    r"has\s+(?:\w+\s+){0,3}(?:years?|experience|worked))\b)|"
    rf"{_CLAUSE}(?:he|she)\s+(?:prefers|likes|loves|hates|dislikes|wants|is|works|uses|lives)\b|"
    rf"{_CLAUSE}(?:claude(?:\s+code)?|(?:the|this|an?|all|any|every)\s+(?:\w+\s+)?assistants?)\s+"
    r"(?:(?:also|always|never)\s+)?(?:should|must|shall|ought|(?:has|have|needs?)\s+to|"
    r"(?:is|are)\s+(?:allowed|permitted|expected|supposed))\b|"
    rf"{_CLAUSE}(?:这位|该|本?项目的?)?(?:用户|开发者|主人|他|她)(?:的(?:名字|偏好|角色|职业|习惯)|"
    r"(?:更|很|最|不|非常|比较|通常|总是|一直)*(?:喜欢|偏好|偏爱|希望|想要|要求|讨厌|习惯|认为|"
    r"住在|叫|是))",
    re.IGNORECASE,
)
"""What is said of the person or asked of the assistant, as models write it, or may be."""

ONLY_TYPED: Final = (
    "what the person is, prefers, or wants done is believed only when the person types it"
)


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing is kept.

    Attributes:
        reason: why, in words.
        name: of the memory it would have been, or been added to.
        evidence: the words.
    """

    reason: str
    name: str
    evidence: tuple[Evidence, ...]


def note(
    text: str,
    *,
    type: MemoryType | None = None,  # noqa: A002 - the parameter's name on the socket
    memories: Iterable[ExistingMemory],
    tombstones: Iterable[Tombstone] = (),
    shown: tuple[str, ...] = (),
    at: float,
    session: str,
    uuid: str,
    zone: tzinfo = UTC,
) -> list[Operation] | Refused:
    """Return what keeping an assistant's statement takes, or why it is not kept.

    New memories get the mark ``assistant``. What a person said is not changed, nor what was
    forgotten on request brought back.

    Args:
        text: the statement; redacted, since it goes into a memory.
        type: which kind of memory; without it the words decide.
        memories: what is kept for the project now.
        tombstones: what must not come back.
        shown: outputs of tools of the session; a text that repeats one is not kept.
        at: when it was said, seconds since 1970 UTC.
        session: where it was said.
        uuid: of the record that stands for it.
        zone: where the person's day ends.
    """
    said = Evidence(
        session=session, uuid=uuid, at=at, source=Source.ASSISTANT, sentence=quoted(text)
    )
    personal = (MemoryType.USER, MemoryType.FEEDBACK)
    claim = statement(text)
    if claim is None:
        return []
    about_person = claim.type is MemoryType.USER or _ABOUT_PERSON.search(claim.fact) is not None
    if about_person or (type or claim.type) in personal:
        return Refused(ONLY_TYPED, stated(claim, at=at, zone=zone).name, (said,))
    claim = replace(claim, type=type or claim.type)
    reason = dates.absolute(claim.reason, at, zone=zone)
    why = f"{reason}; {_ORIGIN}" if reason else _ORIGIN
    kept = tuple(memories)
    bench = Workbench(kept, ())
    bench.state(stated(claim, at=at, zone=zone), said, reason=why, asked=False)
    operations = [_cautious(operation) for operation in bench.operations()]
    turn = TurnInput(
        session=session,
        human=Utterance(source=Source.HUMAN, uuid="", at=at, text=""),
        said=(Utterance(source=Source.ASSISTANT, uuid=uuid, at=at, text=text),),
        tool_texts=shown,
    )
    # Only a person's newer words bring back what a person had forgotten.
    buried = tuple(replace(grave, at=max(grave.at, at)) for grave in tombstones)
    given = ExtractionInput(turns=(turn,), memories=kept, tombstones=buried, today=at)
    verdict = check(given, operations)
    if verdict.rejected:
        first = verdict.rejected[0]
        return Refused(first.reason, first.operation.name, first.operation.evidence)
    return verdict.accepted


def _cautious(operation: Operation) -> Operation:
    """Return an operation whose new memory tells the reader to check it."""
    if not isinstance(operation, Create):
        return operation
    return replace(operation, body=_APPLIES.sub(_CHECK, operation.body))
