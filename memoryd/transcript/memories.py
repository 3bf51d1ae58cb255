"""What a transcript tells about memories in it: given, met by the model itself, or ignored.

Line by line and only from lines that may tell it, so that a long transcript is looked through at
the speed of searching bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, assert_never

import msgspec
from msgspec import Struct

from memoryd.transcript.human import Human, classify
from memoryd.transcript.injected import RECALL_TAG
from memoryd.transcript.lenient import decoded
from memoryd.transcript.recorded import is_models_own, parse_time
from memoryd.transcript.records import parse_line
from memoryd.transcript.shapes import (
    AssistantRecord,
    Attachment,
    AttachmentRecord,
    Block,
    SystemRecord,
    Tree,
    UserRecord,
)
from memoryd.transcript.toolcalls import memory_write, named_files

_TELLING = (b"emor", b"EMOR", "记忆".encode(), "記憶".encode(), b"compact_boundary")
_BLOCK = re.compile(rf"<{RECALL_TAG}>(.*?)</{RECALL_TAG}>", re.DOTALL)
_CLAIM = re.compile(r"<memory-claim\b([^<>]*)>.*?</memory-claim>", re.DOTALL)
_PATH = re.compile(r'\spath="([^"]*)"')

_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#x27;", "'"), ("&amp;", "&"))


class Use(StrEnum):
    """What the model did with a memory file itself."""

    READ = "read"
    WRITTEN = "written"
    EDITED = "edited"


_TOOLS = {
    "Read": Use.READ,
    "Write": Use.WRITTEN,
    "Edit": Use.EDITED,
    "MultiEdit": Use.EDITED,
    "NotebookEdit": Use.EDITED,
}


class Given(Struct, frozen=True, gc=False):
    """A memory that was given to the model.

    Attributes:
        path: of its file.
        size: UTF-8 bytes of what was given.
        at: when, seconds since 1970 UTC; 0 where the record does not tell.
    """

    path: str
    size: int
    at: float


class Touched(Struct, frozen=True, gc=False):
    """A file that the model read, wrote or changed; whether it is a memory is not known here."""

    path: str
    use: Use
    at: float


class Compacted(Struct, frozen=True, gc=False):
    """What stands before is no longer in the conversation."""

    at: float


class Said(Struct, frozen=True, gc=False):
    """Words of a person that may be about memory."""

    text: str
    at: float


Remembrance = Given | Touched | Compacted | Said


def remembrances(line: bytes) -> list[Remembrance]:
    """Return what one line (without its newline) tells, mostly nothing."""
    if not any(part in line for part in _TELLING):
        return []
    found: list[Remembrance] = []
    for piece in parse_line(line).found:
        # The model of a subagent has a conversation of its own.
        if isinstance(piece.record, Tree) and not piece.record.is_sidechain:
            found += _told(piece.record, piece.data)
    return found


def _told(record: Tree, data: bytes) -> Iterator[Remembrance]:
    at = parse_time(record.timestamp) or 0.0
    match record:
        case AssistantRecord():
            if is_models_own(record) and record.message is not None:
                for block in record.message.blocks:
                    yield from _called(block, at)
        case AttachmentRecord() | UserRecord():
            verdict = classify(record)
            if isinstance(verdict, Human):
                yield Said(verdict.text, at)
            elif isinstance(record, AttachmentRecord):
                yield from _attached(record, data, at)
        case SystemRecord():
            if record.subtype == "compact_boundary":
                yield Compacted(at)
        case _:
            assert_never(record)


def given(text: str, at: float) -> Iterator[Given]:
    """Yield the memories that a text injected by memoryd gives."""
    for block in _BLOCK.finditer(text):
        for claim in _CLAIM.finditer(block[1]):
            path = _PATH.search(claim[1])
            if path is not None:
                yield Given(_plain(path[1]), len(claim[0].encode(errors="replace")), at)


def _plain(attribute: str) -> str:
    """Return an attribute as it was before it was written into the block."""
    for written, meant in _ESCAPES:
        attribute = attribute.replace(written, meant)
    return attribute


def uses(name: str, arguments: dict[str, Any]) -> Iterator[tuple[str, Use]]:
    """Yield the files that a tool call reads or writes, as far as it names them.

    Args:
        name: of the tool.
        arguments: its input.
    """
    use = _TOOLS.get(name)
    if use is not None:
        for path in named_files(arguments):
            yield path, use
    elif name == "Bash" and (written := memory_write(name, arguments)) is not None:
        yield written.path, Use.WRITTEN


def _called(block: Block, at: float) -> Iterator[Touched]:
    if block.type != "tool_use" or not block.name:
        return
    arguments = decoded(block.input)
    if isinstance(arguments, dict):
        for path, use in uses(block.name, arguments):
            yield Touched(path, use, at)


def _attached(record: AttachmentRecord, data: bytes, at: float) -> Iterator[Remembrance]:
    match record.attachment:
        case Attachment(type="hook_additional_context"):
            yield from given(_context(_body(data)), at)
        case Attachment(type="file"):
            # A file that the person named, or that the client puts back after a compaction.
            if (name := _body(data).filename) is not None:
                yield Touched(name, Use.READ, at)
        case _:
            pass


class _Body(Struct):
    content: Any = None
    filename: str | None = None


class _Attached(Struct):
    attachment: _Body | None = None


_attached_decoder = msgspec.json.Decoder(_Attached)


def _body(data: bytes) -> _Body:
    try:
        return _attached_decoder.decode(data).attachment or _Body()
    except (msgspec.DecodeError, RecursionError):
        return _Body()


def _context(body: _Body) -> str:
    """Return the text of a hook's context, which stands as one string or several."""
    parts = body.content if isinstance(body.content, list) else [body.content]
    return "\n".join(part for part in parts if isinstance(part, str))
