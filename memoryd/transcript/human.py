"""Who typed it: decides for one record whether it holds the words of a person.

The client says so in fields that came with later versions (``origin``, ``turnOrigin``,
``promptSource``, ``entrypoint``); for older records, and for what carries no such field in any
version, the shape of the text decides.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from memoryd.transcript.injected import carries_marker, without_injections
from memoryd.transcript.lenient import clean_text
from memoryd.transcript.shapes import Attachment, AttachmentRecord, Block, UserRecord


class Entry(StrEnum):
    """How a prompt came in."""

    TYPED = "typed"
    """At the terminal or in an editor."""
    HEADLESS = "headless"
    """Through ``-p`` or an SDK: a script may have written it."""
    QUEUED = "queued"
    """Typed while the model was working."""


class NotHumanReason(StrEnum):
    """Why a record holds no words of a person."""

    META = "meta"
    """Marked so by the client: caveats, bodies of skills and commands."""
    COMMAND = "command"
    """A slash command, with its arguments."""
    COMMAND_OUTPUT = "command_output"
    """What a local command or the ``!`` mode ran and printed."""
    NOTIFICATION = "notification"
    """News of a background task."""
    INTERRUPTED = "interrupted"
    """The person stopped the model."""
    COMPACT_SUMMARY = "compact_summary"
    """The summary that continues a compacted session."""
    TOOL_RESULT = "tool_result"
    """The answer of a tool."""
    SIDECHAIN = "sidechain"
    """A conversation with a subagent."""
    TEAMMATE = "teammate"
    """A message of another agent."""
    INJECTED = "injected"
    """Reminders, hook context and attachments of the client."""
    MEMORYD = "memoryd"
    """A prompt that memoryd sent itself."""
    EMPTY = "empty"
    """No text at all: images alone, or nothing."""


class Human(Struct, frozen=True, gc=False):
    """The words of a person.

    Attributes:
        text: what was typed, without injected blocks.
        entry: how it came in.
        headless: it came through ``-p`` or an SDK (also when queued there).
    """

    text: str
    entry: Entry
    headless: bool


class NotHuman(Struct, frozen=True, gc=False):
    """Anything else."""

    why: NotHumanReason


Verdict = Human | NotHuman

_TOOL_RESULT = NotHuman(NotHumanReason.TOOL_RESULT)  # nearly all of them

_SHAPES = (
    (NotHumanReason.INTERRUPTED, r"\[Request interrupted"),
    (NotHumanReason.COMMAND, r"<command-(?:name|message|args|contents)>|<user-memory-input>"),
    (
        NotHumanReason.COMMAND_OUTPUT,
        r"<(?:local-command|bash)-(?:stdout|stderr|caveat|input)\b|Caveat: The messages below ",
    ),
    (NotHumanReason.NOTIFICATION, r"<task-(?:notification|status)\b|<system-notification\b"),
    (
        NotHumanReason.TEAMMATE,
        r"<(?:teammate|agent|cross-session)-message\b|\[Subagent hand-back\]",
    ),
    (
        NotHumanReason.COMPACT_SUMMARY,
        r"This session is being continued from a previous conversation",
    ),
    (NotHumanReason.META, r"Base directory for this skill:"),
    (
        NotHumanReason.INJECTED,
        r"(?:[A-Z][a-z]+[A-Z]\w+|Stop)(?::\w+)? hook (?:additional context|feedback|success):",
    ),
)
_HEADLESS = "sdk"
"""How the entry points of headless runs begin: ``sdk-cli``, ``sdk-py``, ``sdk-ts``."""

_SHAPE = re.compile("|".join(f"(?P<{why.name}>{shape})" for why, shape in _SHAPES))
_SLASH_COMMAND = re.compile(r"/[A-Za-z][\w:.-]*(?:\s|$)")


def classify(record: UserRecord | AttachmentRecord) -> Verdict:
    """Return the words of a person in this record, or why there are none."""
    if record.is_sidechain:
        return NotHuman(NotHumanReason.SIDECHAIN)
    match record:
        case UserRecord():
            return _classify_user(record)
        case AttachmentRecord():
            return _classify_attachment(record)
        case _:
            assert_never(record)


def typed_words(prompt: str) -> str:
    """Return the words of a person in a prompt of which only the text is known.

    Returns:
        nothing where its shape says that a program wrote it, memoryd included.
    """
    verdict = _judge([Block(type="text", text=prompt)], headless=False, queued=False)
    return verdict.text if isinstance(verdict, Human) else ""


def _classify_user(record: UserRecord) -> Verdict:
    marked = _marked_as(record)
    if marked is not None:
        return NotHuman(marked)
    blocks = record.message.blocks if record.message else []
    types = [block.type for block in blocks]
    answers_tool = "tool_result" in types
    if answers_tool and "text" not in types:
        return _TOOL_RESULT
    verdict = _judge(blocks, headless=_is_headless(record), queued=answers_tool)
    if isinstance(verdict, NotHuman):
        silent = answers_tool and verdict.why is NotHumanReason.EMPTY
        return _TOOL_RESULT if silent else verdict
    foreign = _foreign_cause(record)
    return NotHuman(foreign) if foreign else _without_plan(verdict, record.plan_content)


def _marked_as(record: UserRecord) -> NotHumanReason | None:
    """Return what the client marked a record as."""
    if record.is_compact_summary:
        return NotHumanReason.COMPACT_SUMMARY
    if record.is_meta or record.source_tool_use_id:
        return NotHumanReason.META
    return None


def _without_plan(human: Human, plan: str | None) -> Verdict:
    """Take out a plan: the model wrote it, the person approved it, the client wraps it."""
    if not plan:
        return human
    text = human.text.replace(clean_text(plan).strip(), "").strip()
    return replace(human, text=text) if text else NotHuman(NotHumanReason.EMPTY)


def _classify_attachment(record: AttachmentRecord) -> Verdict:
    body = record.attachment
    if body is None or body.type != "queued_command":
        return NotHuman(NotHumanReason.INJECTED)
    foreign = _foreign_command(body)
    if foreign is not None:
        return NotHuman(foreign)
    prompt = body.prompt or []
    blocks = [Block(type="text", text=prompt)] if isinstance(prompt, str) else prompt
    headless = (record.entrypoint or "").startswith(_HEADLESS)
    verdict = _judge(blocks, headless=headless, queued=True)
    if isinstance(verdict, Human) and _SLASH_COMMAND.match(verdict.text):
        # Commands wait in the queue as they were typed, without the client's tags.
        return NotHuman(NotHumanReason.COMMAND)
    return verdict


def _foreign_command(body: Attachment) -> NotHumanReason | None:
    """Return what else than a prompt waited in the queue."""
    if body.is_meta:
        return NotHumanReason.META
    if body.command_mode == "bash":
        return NotHumanReason.COMMAND_OUTPUT
    kind = body.origin.kind if body.origin else None
    if kind not in (None, "human") or body.command_mode not in (None, "prompt"):
        return NotHumanReason.NOTIFICATION
    return None


def _is_headless(record: UserRecord) -> bool:
    if record.origin is not None and record.origin.kind == "human":
        return False
    return (
        record.prompt_source == "sdk"
        or record.turn_origin == "sdk"
        or (record.entrypoint or "").startswith(_HEADLESS)
    )


def _foreign_cause(record: UserRecord) -> NotHumanReason | None:
    """Return what caused a prompt that the client itself does not ascribe to a person."""
    kind = record.origin.kind if record.origin else None
    if kind is not None:
        return None if kind == "human" else NotHumanReason.NOTIFICATION
    if record.prompt_source == "system":
        return NotHumanReason.NOTIFICATION
    if record.turn_origin not in (None, "human", "sdk"):
        return NotHumanReason.NOTIFICATION
    return None


def _judge(blocks: list[Block], *, headless: bool, queued: bool) -> Verdict:
    """Judge the text blocks of a prompt by their shape."""
    words = []
    why = NotHumanReason.EMPTY
    for block in blocks:
        if block.type != "text" or not block.text:
            continue
        if carries_marker(block.text):
            return NotHuman(NotHumanReason.MEMORYD)
        text = without_injections(clean_text(block.text)).strip()
        if not text:
            if block.text.strip():
                why = NotHumanReason.INJECTED
            continue
        shape = _SHAPE.match(text)
        if shape is None:
            words.append(text)
        elif shape.lastgroup is not None:
            why = NotHumanReason[shape.lastgroup]
    if not words:
        return NotHuman(why)
    entry = Entry.QUEUED if queued else Entry.HEADLESS if headless else Entry.TYPED
    return Human("\n\n".join(words), entry, headless)
