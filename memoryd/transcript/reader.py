"""The reader of one transcript: chunks of bytes in, events and the state of the session out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import msgspec

from memoryd.transcript.events import (
    Activity,
    AssistantText,
    Compacted,
    EndReason,
    Event,
    HumanPrompt,
    SessionStarted,
    TurnEnded,
)
from memoryd.transcript.framing import MAX_RECORD, Line, LineFramer
from memoryd.transcript.human import Entry, Human, NotHuman, NotHumanReason, classify
from memoryd.transcript.ledger import TokenLedger
from memoryd.transcript.recorded import is_models_own, parse_time, record_uuid, said_text
from memoryd.transcript.records import Found, Parsed, parse_line
from memoryd.transcript.shapes import (
    ABSENT,
    AgentName,
    AiTitle,
    AssistantRecord,
    AttachmentRecord,
    Bookkeeping,
    CustomTitle,
    Message,
    Progress,
    SystemRecord,
    Tree,
    Unknown,
    UserRecord,
)
from memoryd.transcript.state import ReaderState, SessionState

_GOES_ON = frozenset({"tool_use", "pause_turn"})
_decoder = msgspec.msgpack.Decoder(ReaderState)


@dataclass(slots=True)
class ReaderStats:
    """What a reader has met since it was made.

    Attributes:
        records: whole objects.
        skipped: objects of unknown types, and bad pieces.
        oversize: lines longer than the limit, of which envelope and 64 KiB a text were kept.
    """

    records: int = 0
    skipped: int = 0
    oversize: int = 0


class TranscriptReader:
    """Reads one transcript from front to back, in chunks of any size, and later goes on.

    The events depend on the bytes alone, not on how they were cut into chunks.

    Args:
        subagent: the file belongs to a subagent: nobody speaks in it.
        state: what ``state()`` of an earlier reader returned; ``None`` starts at position 0.
        max_record: bytes of a line beyond which it is shrunk.
    """

    def __init__(
        self,
        *,
        subagent: bool = False,
        state: bytes | None = None,
        max_record: int = MAX_RECORD,
    ) -> None:
        known = _decoder.decode(state) if state is not None else ReaderState()
        self.stats = ReaderStats()
        self._subagent = subagent
        self._framer = LineFramer(known.offset, max_record=max_record)
        self._at = known.at
        self._started = known.started
        self._session = known.session
        self._ledger = TokenLedger(known.ledger)
        self._events: list[Event] = []

    @property
    def offset(self) -> int:
        """Position after the last complete line: feed from here after a restart."""
        return self._framer.offset

    @property
    def pending_bytes(self) -> int:
        """Bytes after the last complete line."""
        return self._framer.pending_bytes

    @property
    def session(self) -> SessionState:
        """The session as far as it was read."""
        self._session.context_tokens = self._ledger.context
        self._session.conversation_tokens = self._ledger.conversation
        return self._session

    def state(self) -> bytes:
        """Return what a later reader needs to go on at ``offset``; a few KB at most."""
        return msgspec.msgpack.encode(
            ReaderState(
                offset=self.offset,
                at=self._at,
                started=self._started,
                session=self.session,
                ledger=self._ledger.state,
            )
        )

    def feed(self, chunk: bytes) -> list[Event]:
        """Read further bytes and return what their complete lines tell."""
        for line in self._framer.feed(chunk):
            self._read(line, parse_line(line.data))
        return self._take()

    def take_tail(self) -> list[Event]:
        """Read the unterminated tail, if it consists of whole objects; else leave it."""
        tail = self._framer.tail()
        if tail is None:
            return []
        parsed = parse_line(tail.data)
        if parsed.bad or not parsed.found:
            return []
        self._framer.take_tail()
        self._read(tail, parsed)
        return self._take()

    def _take(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def _read(self, line: Line, parsed: Parsed) -> None:
        self.stats.records += len(parsed.found)
        self.stats.skipped += parsed.bad
        self.stats.oversize += line.oversize
        for found in parsed.found:
            match found.record:
                case Progress() | Bookkeeping():  # about half of all: first
                    pass
                case UserRecord() | AssistantRecord() | SystemRecord() | AttachmentRecord():
                    self._tree(line, found.record, found)
                case CustomTitle() | AiTitle() | AgentName():
                    self._session.name(found.record)
                case Unknown():
                    self.stats.skipped += 1
                case _:
                    assert_never(found.record)

    def _tree(self, line: Line, record: Tree, found: Found) -> None:
        if not self._started and not _opens_session(record):
            # Marks and attachments before the first message still say where and when.
            self._see(record)
            return
        self._see(record)
        if not self._started:
            self._started = True
            self._events.append(SessionStarted(line.start, line.end, self._at))
        if self._subagent or record.is_sidechain:
            self._activity(line)
            return
        match record:
            case UserRecord():
                self._user(line, record, found)
            case AssistantRecord():
                self._assistant(line, record, found)
            case SystemRecord():
                self._system(line, record)
            case AttachmentRecord():
                self._attachment(line, record, found)
            case _:
                assert_never(record)

    def _see(self, record: Tree) -> None:
        at = parse_time(record.timestamp)
        if at is not None:
            self._at = at
        self._session.see(record, at)
        if self._subagent:
            self._session.agent_id = self._session.agent_id or record.agent_id
            self._session.parent_session = self._session.parent_session or record.session_id
        elif record.session_id:
            self._session.see_session(record.session_id)

    def _user(self, line: Line, record: UserRecord, found: Found) -> None:
        blocks = record.message.blocks if record.message else []
        for block in blocks:
            if block.type == "tool_result":
                self._session.close_tool(block.tool_use_id)
                self._ledger.note_result(block)
        verdict = classify(record)
        if isinstance(verdict, Human):
            self._prompt(line, record, found, verdict)
            return
        texts = [block.text for block in blocks if block.type == "text" and block.text]
        for text in texts:
            if verdict.why is NotHumanReason.COMPACT_SUMMARY:
                self._ledger.note_summary(text)
            else:
                self._ledger.note(text)
        self._unprompted(line, verdict)

    def _attachment(self, line: Line, record: AttachmentRecord, found: Found) -> None:
        verdict = classify(record)
        if isinstance(verdict, Human):
            self._prompt(line, record, found, verdict)
            return
        for part in record.rendered or []:
            if part.content is not ABSENT:
                self._ledger.note_attachment(part.content)
        self._unprompted(line, verdict)

    def _unprompted(self, line: Line, verdict: NotHuman) -> None:
        if verdict.why is NotHumanReason.MEMORYD and not self._session.prompts:
            self._session.own = True
        self._activity(line)
        if verdict.why is NotHumanReason.INTERRUPTED:
            self._ended(line, EndReason.INTERRUPTED)

    def _prompt(self, line: Line, record: Tree, found: Found, human: Human) -> None:
        self._ledger.note(human.text)
        if self._session.own:
            self._activity(line)
            return
        queued = human.entry is Entry.QUEUED
        if not queued:
            self._session.open_tools.clear()
        self._session.see_prompt(headless=human.headless)
        self._events.append(
            HumanPrompt(
                line.start,
                line.end,
                record_uuid(found),
                self._at,
                record.cwd or self._session.cwd,
                human.text,
                headless=human.headless,
                queued=queued,
            )
        )

    def _assistant(self, line: Line, record: AssistantRecord, found: Found) -> None:
        message = record.message
        if message is None:
            self._activity(line)
            return
        uuid = record_uuid(found)
        message_id = message.id or uuid
        if is_models_own(record):
            self._ledger.note_reply(message, message_id)
            for block in message.blocks:
                if block.type == "tool_use" and block.id:
                    self._session.open_tool(block.id)
            text = said_text(message)
            if text and not self._session.own:
                cwd = record.cwd or self._session.cwd
                self._events.append(
                    AssistantText(line.start, line.end, uuid, message_id, self._at, cwd, text)
                )
        self._activity(line)
        if _stops(message):
            self._ended(line, EndReason.STOP)

    def _system(self, line: Line, record: SystemRecord) -> None:
        match record.subtype:
            case "compact_boundary":
                metadata = record.compact_metadata
                self._session.compactions += 1
                self._ledger.compacted(metadata.post_tokens if metadata else None)
                trigger = (metadata.trigger if metadata else None) or ""
                self._events.append(Compacted(line.start, line.end, trigger, self._at))
                self._activity(line)
            case "turn_duration":
                self._activity(line)
                self._ended(line, EndReason.TURN_DURATION)
            case "stop_hook_summary":
                self._activity(line)
                self._ended(line, EndReason.STOP_HOOK)
            case _:
                self._activity(line)

    def _activity(self, line: Line) -> None:
        tool_open = bool(self._session.open_tools)
        self._events.append(Activity(line.start, line.end, self._at, tool_open))

    def _ended(self, line: Line, reason: EndReason) -> None:
        self._session.open_tools.clear()
        self._events.append(TurnEnded(line.start, line.end, reason, self._at))


def _opens_session(record: Tree) -> bool:
    """Whether this is a message in the client's own shape; other agents' files have none."""
    if not isinstance(record, UserRecord | AssistantRecord):
        return False
    message = record.message
    if message is None or message.role is None or message.content is None:
        return False
    return bool(record.uuid or record.session_id or record.timestamp)


def _stops(message: Message) -> bool:
    """Whether the reply ends the turn here: thoughts before the last block do not."""
    if not message.stop_reason or message.stop_reason in _GOES_ON:
        return False
    return not message.blocks or any(block.type != "thinking" for block in message.blocks)
