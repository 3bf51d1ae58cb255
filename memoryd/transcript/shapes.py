"""The records of a transcript as types: only the fields that are read, everything optional.

Versions of the client differ in what they write, so no field is required and unknown fields are
skipped without being decoded. ``records.parse_line`` makes these from bytes.
"""

from __future__ import annotations

from typing import Any, Union, get_args

import msgspec
from msgspec import Raw, Struct, field

ABSENT = Raw()
"""Stands for an undecoded part that is not there; compare with ``is``."""


class Block(Struct, kw_only=True, gc=False):
    """One content block of a message; which fields are set depends on ``type``."""

    type: str | None = None
    text: str | None = None
    thinking: Raw = ABSENT
    id: str | None = None
    name: str | None = None
    input: Raw = ABSENT
    tool_use_id: str | None = None
    content: Raw = ABSENT
    is_error: bool | None = None


class Usage(Struct, kw_only=True, gc=False):
    """Token counts of one model call, repeated on every line of its message."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None

    @property
    def prompt(self) -> int:
        """Tokens sent: uncached, written to the cache and read from it."""
        return (
            (self.input_tokens or 0)
            + (self.cache_creation_input_tokens or 0)
            + (self.cache_read_input_tokens or 0)
        )


class Message(Struct, kw_only=True, gc=False):
    """A message of the Messages API as the client stores it."""

    role: str | None = None
    content: str | list[Block] | None = None
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Usage | None = None

    @property
    def blocks(self) -> list[Block]:
        """The content as blocks, whatever its form."""
        content = self.content
        if isinstance(content, str):
            return [Block(type="text", text=content)]
        return content or []


class Origin(Struct, kw_only=True, gc=False):
    """Who caused a prompt, where the client says so."""

    kind: str | None = None


class CompactMetadata(Struct, kw_only=True, gc=False):
    """What a compaction boundary tells about itself."""

    trigger: str | None = None
    pre_tokens: int | None = field(name="preTokens", default=None)
    post_tokens: int | None = field(name="postTokens", default=None)


class Attachment(Struct, kw_only=True, rename="camel", gc=False):
    """The body of an attachment record; ``prompt`` is text or a list of blocks."""

    type: str | None = None
    prompt: str | list[Block] | None = None
    command_mode: str | None = None
    origin: Origin | None = None
    is_meta: bool | None = None


class Rendered(Struct, kw_only=True, gc=False):
    """An attachment as the model saw it."""

    content: Raw = ABSENT


class TreeRecord(Struct, kw_only=True, rename="camel", tag_field="type", gc=False):
    """What all records of the conversation tree share."""

    uuid: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    session_id: str | None = None
    version: str | None = None
    git_branch: str | None = None
    is_sidechain: bool | None = None
    agent_id: str | None = None
    entrypoint: str | None = None


class UserRecord(TreeRecord, kw_only=True, rename="camel", tag="user", gc=False):
    """A prompt, a tool result, or something the client put into the conversation."""

    message: Message | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    prompt_source: str | None = None
    turn_origin: str | None = None
    origin: Origin | None = None
    plan_content: str | None = None
    source_tool_use_id: str | None = field(name="sourceToolUseID", default=None)


class AssistantRecord(TreeRecord, kw_only=True, rename="camel", tag="assistant", gc=False):
    """One content block of a reply (all blocks in one record in old versions)."""

    message: Message | None = None
    is_api_error_message: bool | None = None


class SystemRecord(TreeRecord, kw_only=True, rename="camel", tag="system", gc=False):
    """A mark by the client: turn ended, compaction, error, notice."""

    subtype: str | None = None
    compact_metadata: CompactMetadata | None = None


class AttachmentRecord(TreeRecord, kw_only=True, rename="camel", tag="attachment", gc=False):
    """Context that the client adds; prompts typed while the model worked come as these too."""

    attachment: Attachment | None = None
    rendered: list[Rendered] | None = None


class CustomTitle(Struct, kw_only=True, tag_field="type", tag="custom-title"):
    """The name a person gave to the session."""

    title: str | None = field(name="customTitle", default=None)


class AiTitle(Struct, kw_only=True, tag_field="type", tag="ai-title"):
    """The title a model gave to the session."""

    title: str | None = field(name="aiTitle", default=None)


class AgentName(Struct, kw_only=True, tag_field="type", tag="agent-name"):
    """The name of the session's agent."""

    title: str | None = field(name="agentName", default=None)


class Progress(Struct, kw_only=True, tag_field="type", tag="progress", gc=False):
    """A sign of life of a tool or subagent; its body is never decoded."""


class Bookkeeping(Struct, frozen=True):
    """A record of a known kind that nothing here reads."""

    type: str


class Kept(Struct, tag_field="type", gc=False):
    """As ``Bookkeeping``, but decoded together with other lines."""


class Unknown(Struct, frozen=True):
    """A whole object of a kind that is not known (``None``: it names none)."""

    type: str | None


Titled = CustomTitle | AiTitle | AgentName
Tree = UserRecord | AssistantRecord | SystemRecord | AttachmentRecord
Tagged = Tree | Titled | Progress
Record = Tagged | Bookkeeping | Kept | Unknown

BOOKKEEPING = frozenset(
    {
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "atis-latch",
        "attribution-snapshot",
        "bridge-session",
        "content-replacement",
        "cost-state",
        "file-history-delta",
        "file-history-snapshot",
        "frame-link",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "queue-operation",
        "relocated",
        "summary",
        "tag",
        "tools-used",
        "worktree-state",
    }
)
"""Types that are known and not read. ``summary`` is among them because it usually carries the
title of another session."""

TAGGED = frozenset(
    {
        "user",
        "assistant",
        "system",
        "attachment",
        "custom-title",
        "ai-title",
        "agent-name",
        "progress",
    }
)
"""Types that have a struct of their own."""

tagged_decoder = msgspec.json.Decoder(Tagged)

_KEPT: tuple[Any, ...] = tuple(
    msgspec.defstruct("Kept", [], bases=(Kept,), tag_field="type", tag=kind, gc=False)
    for kind in sorted(BOOKKEEPING)
)
lines_decoder: msgspec.json.Decoder[Tagged | Kept] = msgspec.json.Decoder(
    Union[(*get_args(Tagged), *_KEPT)]
)
"""For many lines at once, none of an unknown type."""
