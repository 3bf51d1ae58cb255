"""The reader of one transcript: chunks of bytes in, events and the state of the session out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
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
from memoryd.transcript.framing import MAX_RECORD, Line, LineFramer, braced_lines
from memoryd.transcript.human import Entry, Human, NotHuman, NotHumanReason, classify
from memoryd.transcript.ledger import TokenLedger
from memoryd.transcript.recorded import is_models_own, parse_instant, said_text, uuid_of
from memoryd.transcript.records import (
    Parsed,
    is_named,
    parse_closely,
    parse_line,
    stands_alone,
    whole_record,
    whole_records,
)
from memoryd.transcript.shapes import (
    ABSENT,
    AgentName,
    AiTitle,
    AssistantRecord,
    AttachmentRecord,
    Bookkeeping,
    CustomTitle,
    Kept,
    Message,
    Progress,
    Record,
    SystemRecord,
    Tree,
    TreeRecord,
    Unknown,
    UserRecord,
)
from memoryd.transcript.state import ReaderState, SessionState

_GOES_ON = frozenset({"tool_use", "pause_turn"})
_CHUNKS_ONE_BY_ONE = 8
"""For so many chunks lines are read one by one after a chunk had to be."""

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
        self._max_record = max_record
        self._one_by_one = 0
        self._known_at = known.at
        self._instant: datetime | None = None
        self._latest: datetime | None = None
        self._started = known.started
        self._session = known.session
        self._ledger = TokenLedger(known.ledger)
        self._events: list[Event] = []
        self._place: tuple[str | None, ...] = ()

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
        if self._latest is not None:
            self._session.see_time(self._latest.timestamp())
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
        # What is held ends at the first newline; between it and the last one are whole lines.
        begin = chunk.find(b"\n") + 1 if self._framer.pending_bytes else 0
        end = chunk.rfind(b"\n") + 1
        if self._one_by_one or end - begin > self._max_record:
            self._one_by_one = max(0, self._one_by_one - 1)
            end = begin
        self._feed_lines(chunk[:begin])
        if begin < end:
            ends = braced_lines(chunk, begin, end)
            lines = memoryview(chunk)[begin:end]
            records = None if ends is None else whole_records(lines, len(ends))
            if ends is None or records is None:
                self._one_by_one = _CHUNKS_ONE_BY_ONE
                end = begin
            else:
                self._feed_records(records, chunk, begin, ends)
                self._framer.skip(end - begin)
        self._feed_lines(chunk[end:])
        self._ledger.let_go()
        return self._take()

    def _feed_records(
        self, records: list[Record], chunk: bytes, begin: int, ends: list[int]
    ) -> None:
        """Follow records whose lines stand in a chunk from ``begin`` on."""
        shift = self._framer.offset - begin
        read_closely = 0
        for record, end in zip(records, ends, strict=True):
            if type(record) is Progress:  # There are many, and to ask `isinstance` takes longer.
                pass
            elif not isinstance(record, TreeRecord):
                self._follow(Line(shift + begin, shift + end, b""), record, b"")
            elif self._knows(record):
                self._converse(Line(shift + begin, shift + end, b""), record)
            else:
                read_closely += 1
                self._read_line(Line(shift + begin, shift + end, chunk[begin : end - 1]))
            begin = end
        self.stats.records += len(records) - read_closely

    def _feed_lines(self, chunk: bytes) -> None:
        for line in self._framer.feed(chunk):
            self._read_line(line)

    def _read_line(self, line: Line) -> None:
        record = whole_record(line.data)
        if record is None:
            self._read(line, parse_closely(line.data))
        else:
            self.stats.records += 1
            self.stats.oversize += line.oversize
            self._follow(line, record, line.data)

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

    def end_turn(self) -> bool:
        """Take it that the turn is over here; return whether a summary of the session is due."""
        return self._turn_over(self.offset)

    def _take(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def _read(self, line: Line, parsed: Parsed) -> None:
        self.stats.records += len(parsed.found)
        self.stats.skipped += parsed.bad
        self.stats.oversize += line.oversize
        for found in parsed.found:
            self._follow(line, found.record, found.data)

    def _follow(self, line: Line, record: Record, data: bytes) -> None:
        """Follow one record.

        Args:
            line: where it stands.
            record: the record.
            data: the bytes it was made from.
        """
        match record:
            case AssistantRecord() | UserRecord() | AttachmentRecord() | SystemRecord():
                self._place = ()
                self._see(record)
                self._converse(line, record, data)
            case CustomTitle() | AiTitle() | AgentName():
                self._session.name(record)
            case Unknown():
                self.stats.skipped += 1
            case Progress() | Kept() | Bookkeeping():
                pass
            case _:
                assert_never(record)

    def _converse(self, line: Line, record: Tree, data: bytes = b"") -> None:
        """Follow a record of the conversation; ``data`` is of no use for one with a uuid."""
        at = parse_instant(record.timestamp)
        if at is not None:
            self._instant = at
            if self._latest is None or at > self._latest:
                self._latest = at
            if self._session.started is None:
                self._session.see_time(at.timestamp())
        if not self._started:
            # Marks and attachments before the first message still say where and when.
            if not _opens_session(record):
                return
            self._started = True
            self._events.append(SessionStarted(line.start, line.end, self._at))
        if self._subagent or record.is_sidechain:
            self._activity(line)
            return
        if type(record) is UserRecord:  # faster than to match another type first
            self._user(line, record, data)
        else:
            self._hear(line, record, data)

    def _hear(self, line: Line, record: Tree, data: bytes) -> None:
        match record:  # in the order of how often they come
            case AssistantRecord():
                self._assistant(line, record, data)
            case AttachmentRecord():
                self._attachment(line, record, data)
            case SystemRecord():
                self._system(line, record)
            case UserRecord():
                self._user(line, record, data)
            case _:
                assert_never(record)

    @property
    def _at(self) -> float:
        """When the last record with a time was written."""
        return self._known_at if self._instant is None else self._instant.timestamp()

    def _knows(self, record: Tree) -> bool:
        """See where a record was written; return whether nothing is to be told from its line."""
        place = (record.cwd, record.version, record.git_branch, record.session_id, record.agent_id)
        if place == self._place:
            return is_named(record)
        if not stands_alone(record):
            return False
        self._place = place
        self._see(record)
        return True

    def _see(self, record: Tree) -> None:
        self._session.see(record)
        if self._subagent:
            self._session.agent_id = self._session.agent_id or record.agent_id
            self._session.parent_session = self._session.parent_session or record.session_id
        elif record.session_id:
            self._session.see_session(record.session_id)

    def _user(self, line: Line, record: UserRecord, data: bytes) -> None:
        texts = []
        for block in record.message.blocks if record.message else ():
            if block.type == "tool_result":
                self._session.close_tool(block.tool_use_id)
                self._ledger.note_result(block)
            elif block.type == "text" and block.text:
                texts.append(block.text)
        if not texts:  # nobody's words: nearly always the answer of a tool
            self._activity(line)
            return
        verdict = classify(record)
        if isinstance(verdict, Human):
            self._prompt(line, record, data, verdict)
            return
        for text in texts:
            if verdict.why is NotHumanReason.COMPACT_SUMMARY:
                self._ledger.note_summary(text)
            else:
                self._ledger.note(text)
        self._unprompted(line, verdict)

    def _attachment(self, line: Line, record: AttachmentRecord, data: bytes) -> None:
        verdict = classify(record)
        if isinstance(verdict, Human):
            self._prompt(line, record, data, verdict)
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

    def _prompt(self, line: Line, record: Tree, data: bytes, human: Human) -> None:
        queued = human.entry is Entry.QUEUED
        if not queued:
            self._turn_over(line.end)
        self._ledger.note(human.text)
        if self._session.own:
            self._activity(line)
            return
        if not queued:
            self._session.open_tools.clear()
        self._session.see_prompt(headless=human.headless)
        self._events.append(
            HumanPrompt(
                line.start,
                line.end,
                record.uuid or uuid_of(data),
                self._at,
                record.cwd or self._session.cwd,
                human.text,
                headless=human.headless,
                queued=queued,
            )
        )

    def _assistant(self, line: Line, record: AssistantRecord, data: bytes) -> None:
        message = record.message
        if message is None:
            self._activity(line)
            return
        uuid = record.uuid or uuid_of(data)
        message_id = message.id or uuid
        if is_models_own(record):
            session, blocks = self._session, message.blocks
            begins = self._ledger.note_reply(message.usage, blocks, message_id)
            growth = session.growth
            growth.see_reply(message_id)
            if begins and not session.own:
                growth.ask(self._ledger.asked, line.end, ended=False)
            texts = []
            for block in blocks:
                if block.type == "tool_use" and block.id:
                    session.open_tool(block.id)
                    growth.see_call()
                elif block.type == "text" and block.text:
                    texts.append(block.text)
            text = said_text(texts) if texts else ""
            if text and not session.own:
                cwd = record.cwd or session.cwd
                self._events.append(
                    AssistantText(line.start, line.end, uuid, message_id, self._at, cwd, text)
                )
        self._activity(line)
        reason = message.stop_reason
        if reason and reason not in _GOES_ON and _has_more_than_thoughts(message):
            self._ended(line, EndReason.STOP)

    def _system(self, line: Line, record: SystemRecord) -> None:
        match record.subtype:
            case "compact_boundary":
                metadata = record.compact_metadata
                self._session.compactions += 1
                self._ledger.compacted(metadata.post_tokens if metadata else None)
                self._session.growth.compacted()
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
        self._events.append(Activity(line.start, line.end))

    def _turn_over(self, position: int) -> bool:
        growth = self._session.growth
        if self._session.own or not self._started:
            return False
        if not growth.may_be_due(self._ledger.most, ended=True):  # To measure takes time.
            return False
        return growth.ask(self._ledger.conversation, position, ended=True)

    def _ended(self, line: Line, reason: EndReason) -> None:
        self._session.open_tools.clear()
        self._turn_over(line.end)
        self._events.append(TurnEnded(line.start, line.end, reason, self._at))


def _opens_session(record: Tree) -> bool:
    """Whether this is a message in the client's own shape; other agents' files have none."""
    if not isinstance(record, UserRecord | AssistantRecord):
        return False
    message = record.message
    if message is None or message.role is None or message.content is None:
        return False
    return bool(record.uuid or record.session_id or record.timestamp)


def _has_more_than_thoughts(message: Message) -> bool:
    """Whether the reply may end here: thoughts before the last block do not end it."""
    return not message.blocks or any(block.type != "thinking" for block in message.blocks)
