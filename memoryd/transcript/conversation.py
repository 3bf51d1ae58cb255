"""A closer look at a stretch of a transcript: who said what, which tools ran, what they gave.

This is what is shown to whoever learns from a turn. Injected blocks, reminders and images are left
out; subagents, notices and commands do not appear.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from memoryd.transcript.framing import Line, LineFramer
from memoryd.transcript.human import Human, classify
from memoryd.transcript.injected import without_injections
from memoryd.transcript.lenient import clean_text, decoded
from memoryd.transcript.recorded import is_models_own, parse_time, record_uuid, said_text
from memoryd.transcript.records import Found, Parsed, parse_line
from memoryd.transcript.shapes import (
    ABSENT,
    AssistantRecord,
    AttachmentRecord,
    Block,
    SystemRecord,
    UserRecord,
)
from memoryd.transcript.toolcalls import (
    MemoryWrite,
    gist,
    memory_write,
    named_files,
    written_names,
)

RESULT_LIMIT = 4_000
"""Characters kept of the result of a tool."""

TOTAL_LIMIT = 8 * 2**20
"""Characters kept of one conversation, each item counted with a small surcharge."""

_ITEM_COST = 500
_WAITING = 256


@dataclass(frozen=True, slots=True)
class HumanText:
    """A person said something; ``start`` is the position of its line in the file."""

    start: int
    uuid: str
    at: float
    cwd: str
    text: str
    headless: bool


@dataclass(frozen=True, slots=True)
class AssistantSaid:
    """The model said something."""

    start: int
    uuid: str
    at: float
    text: str
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model called a tool.

    Attributes:
        gist: its most telling argument, one line.
        files: files it names.
        result: the first 4,000 characters of the answer; ``None`` while there is none.
        is_error: the answer says so.
        memory_write: the memory that it wrote, once it is known to have succeeded.
        functions: names of functions and types that it writes.
    """

    start: int
    id: str
    name: str
    gist: str
    files: tuple[str, ...]
    result: str | None = None
    is_error: bool = False
    memory_write: MemoryWrite | None = None
    functions: tuple[str, ...] = ()
    at: float = 0.0
    cwd: str = ""


Item = HumanText | AssistantSaid | ToolCall


@dataclass(frozen=True, slots=True)
class Conversation:
    """A stretch of a transcript.

    Attributes:
        items: in file order; a call stands where it was made, with its result.
        truncated: a text was cut, or items beyond the limit are missing.
    """

    items: tuple[Item, ...]
    truncated: bool = False


def read_conversation(
    chunks: Iterable[bytes], *, start: int, max_text: int = 64 * 1024
) -> Conversation:
    """Read a stretch of a transcript.

    Args:
        chunks: its bytes, cut anywhere; they begin at the start of a line.
        start: the position of the first byte in the file.
        max_text: characters kept of one text.
    """
    listener = _Listener(max_text)
    framer = LineFramer(start)
    for chunk in chunks:
        for line in framer.feed(chunk):
            listener.hear(line, parse_line(line.data))
    tail = framer.tail()
    if tail is not None:
        parsed = parse_line(tail.data)
        if not parsed.bad:
            listener.hear(tail, parsed)
    return Conversation(tuple(listener.items), listener.truncated)


def each_item(
    chunks: Iterable[bytes], *, start: int, max_text: int = 64 * 1024
) -> Iterator[tuple[Item, int]]:
    """Yield what a stretch of any length holds, item by item, with little in memory at once.

    A call waits for its result, and what follows it waits with it, but not for ever: an open call
    is given without one when a person goes on, or too much waits behind it.

    Args:
        chunks: its bytes, cut anywhere; they begin at the start of a line.
        start: the position of the first byte in the file.
        max_text: characters kept of one text.

    Yields:
        an item and the position from which to go on behind it.
    """
    listener = _Listener(max_text)
    framer = LineFramer(start)
    for chunk in chunks:
        for line in framer.feed(chunk):
            listener.hear(line, parse_line(line.data))
            if listener.items and listener.is_complete:
                for item in listener.drain():
                    yield item, line.end
    rest = listener.drain()
    for item in rest:
        yield item, rest[0].start


class _Listener:
    """Collects items within the limits."""

    def __init__(self, max_text: int) -> None:
        self.items: list[Item] = []
        self.truncated = False
        self._max_text = max_text
        self._room = TOTAL_LIMIT
        self._at = 0.0
        self._cwd = ""
        self._open: dict[str, tuple[int, MemoryWrite | None]] = {}

    @property
    def is_complete(self) -> bool:
        """Whether nothing more will come to the items, or is waited for any longer."""
        return (
            not self._open or len(self.items) >= _WAITING or isinstance(self.items[-1], HumanText)
        )

    def drain(self) -> list[Item]:
        """Return the items and begin anew."""
        items, self.items = self.items, []
        self._open.clear()
        self._room = TOTAL_LIMIT
        return items

    def hear(self, line: Line, parsed: Parsed) -> None:
        for found in parsed.found:
            record = found.record
            if not isinstance(
                record, UserRecord | AssistantRecord | SystemRecord | AttachmentRecord
            ):
                continue
            self._at = parse_time(record.timestamp) or self._at
            self._cwd = record.cwd or self._cwd
            if record.is_sidechain:
                continue
            if isinstance(record, AssistantRecord):
                self._assistant(line, record, found)
            elif isinstance(record, UserRecord | AttachmentRecord):
                self._prompt(line, record, found)

    def _prompt(self, line: Line, record: UserRecord | AttachmentRecord, found: Found) -> None:
        if isinstance(record, UserRecord) and record.message is not None:
            for block in record.message.blocks:
                if block.type == "tool_result":
                    self._result(block)
        verdict = classify(record)
        if isinstance(verdict, Human):
            text = self._cut(verdict.text, self._max_text)
            uuid = record_uuid(found)
            self._add(HumanText(line.start, uuid, self._at, self._cwd, text, verdict.headless))

    def _assistant(self, line: Line, record: AssistantRecord, found: Found) -> None:
        if record.message is None or not is_models_own(record):
            return
        blocks = record.message.blocks
        texts = [block.text for block in blocks if block.type == "text" and block.text]
        text = without_injections(said_text(texts)).strip()
        if text:
            text = self._cut(text, self._max_text)
            self._add(AssistantSaid(line.start, record_uuid(found), self._at, text, self._cwd))
        for block in blocks:
            if block.type == "tool_use":
                self._call(line, block)

    def _call(self, line: Line, block: Block) -> None:
        value: Any = decoded(block.input) if block.input is not ABSENT else None
        arguments = value if isinstance(value, dict) else {}
        name = clean_text(block.name or "")
        write = memory_write(name, arguments)
        if write is not None:
            content = self._cut(clean_text(write.content), self._max_text)
            write = replace(write, path=clean_text(write.path), content=content)
        files = tuple(map(clean_text, named_files(arguments)))
        call = ToolCall(
            line.start,
            block.id or "",
            name,
            clean_text(gist(arguments)),
            files,
            functions=written_names(arguments),
            at=self._at,
            cwd=self._cwd,
        )
        if self._add(call) and call.id:
            self._open[call.id] = (len(self.items) - 1, write)

    def _result(self, block: Block) -> None:
        index, write = self._open.pop(block.tool_use_id or "", (-1, None))
        call = self.items[index] if index >= 0 else None
        if not isinstance(call, ToolCall):
            return
        failed = bool(block.is_error)
        text = without_injections(clean_text(_result_text(block))).strip()
        self.items[index] = replace(
            call,
            result=self._cut(text, RESULT_LIMIT),
            is_error=failed,
            memory_write=None if failed else write,
        )

    def _cut(self, text: str, limit: int) -> str:
        kept = text[: min(limit, max(self._room, 0))]
        self.truncated |= len(kept) < len(text)
        self._room -= len(kept)
        return kept

    def _add(self, item: Item) -> bool:
        self._room -= _ITEM_COST
        if self._room < 0:
            self.truncated = True
            return False
        self.items.append(item)
        return True


def _result_text(block: Block) -> str:
    """Return the text of a tool's answer; images and references have none."""
    value: Any = decoded(block.content) if block.content is not ABSENT else ""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
