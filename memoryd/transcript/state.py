"""What is known of a session from its transcript so far, small enough to stand beside a cursor."""

from __future__ import annotations

import msgspec

from memoryd.transcript.growth import Growth
from memoryd.transcript.ledger import LedgerState
from memoryd.transcript.lenient import clean_text
from memoryd.transcript.shapes import AgentName, AiTitle, CustomTitle, Titled, TreeRecord

MAX_ALIASES = 16
MAX_OPEN_TOOLS = 64
MAX_TITLE = 200
_MAX_NAME = 256
_MAX_PATH = 4096


class SessionState(msgspec.Struct, kw_only=True):
    """A session as its transcript shows it.

    Attributes:
        custom_title: the name a person gave.
        ai_title: the title a model gave.
        agent_name: the name of its agent.
        aliases: session ids recorded inside, in order of appearance, at most 16.
        agent_id: of a subagent's file.
        parent_session: the session that a subagent's file names as its own.
        cwd: last working directory.
        version: last version of the client.
        git_branch: last branch.
        started: first timestamp, seconds since 1970 UTC.
        last: latest timestamp.
        headless: every prompt so far came through ``-p`` or an SDK.
        own: memoryd caused this session: its first prompt was memoryd's.
        prompts: prompts of a person.
        open_tools: ids of tool calls without a result, oldest first, at most 64.
        context_tokens: usage of the last call and an estimate of what came after.
        conversation_tokens: the same without system prompt, tools and instructions.
        compactions: how often the client compacted it.
        growth: when a summary of it is due.
    """

    custom_title: str = ""
    ai_title: str = ""
    agent_name: str = ""
    aliases: list[str] = []
    agent_id: str | None = None
    parent_session: str | None = None
    cwd: str = ""
    version: str = ""
    git_branch: str = ""
    started: float | None = None
    last: float | None = None
    headless: bool = False
    own: bool = False
    prompts: int = 0
    open_tools: list[str] = []
    context_tokens: int = 0
    conversation_tokens: int = 0
    compactions: int = 0
    growth: Growth = msgspec.field(default_factory=Growth)

    @property
    def title(self) -> str:
        """The best title there is, or an empty string."""
        return self.custom_title or self.ai_title or self.agent_name

    def name(self, record: Titled) -> None:
        """Take a title from its record."""
        title = " ".join(clean_text(record.title or "").split())[:MAX_TITLE]
        match record:
            case CustomTitle():
                self.custom_title = title
            case AiTitle():
                self.ai_title = title
            case AgentName():
                self.agent_name = title

    def see_time(self, at: float) -> None:
        """Take the time of a record of the conversation."""
        if self.started is None or self.last is None:
            self.started = at if self.started is None else self.started
            self.last = at
        elif at > self.last:
            self.last = at

    def see(self, record: TreeRecord) -> None:
        """Take from a record of the conversation where it was written."""
        if record.cwd:
            self.cwd = record.cwd[:_MAX_PATH]
        if record.version:
            self.version = record.version[:_MAX_NAME]
        if record.git_branch is not None:
            self.git_branch = record.git_branch[:_MAX_NAME]

    def see_session(self, session_id: str) -> None:
        """Remember an id that the session is also known by."""
        if session_id not in self.aliases and len(self.aliases) < MAX_ALIASES:
            self.aliases.append(session_id[:_MAX_NAME])

    def see_prompt(self, *, headless: bool) -> None:
        """Count a prompt of a person."""
        self.headless = headless and (self.headless or not self.prompts)
        self.prompts += 1

    def open_tool(self, call_id: str) -> None:
        """A tool was called."""
        if call_id not in self.open_tools:
            self.open_tools.append(call_id[:_MAX_NAME])
            if len(self.open_tools) > MAX_OPEN_TOOLS:
                del self.open_tools[0]

    def close_tool(self, call_id: str | None) -> None:
        """A tool answered; an answer that names no call closes the oldest one."""
        if call_id is None:
            del self.open_tools[:1]
        elif (name := call_id[:_MAX_NAME]) in self.open_tools:
            self.open_tools.remove(name)


class ReaderState(msgspec.Struct, kw_only=True):
    """All that a reader must remember to go on at ``offset``."""

    offset: int = 0
    at: float = 0.0
    started: bool = False
    session: SessionState = msgspec.field(default_factory=SessionState)
    ledger: LedgerState = msgspec.field(default_factory=LedgerState)
