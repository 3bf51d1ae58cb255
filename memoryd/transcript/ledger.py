"""How many tokens of context a session holds: reported usage, and an estimate of what came since.

Texts are only measured when somebody asks: in a stretch of tool calls each new call reports the
prompt itself, and what was noted before it is forgotten unmeasured.
"""

from __future__ import annotations

from typing import Any

import msgspec

from memoryd.transcript.lenient import decoded
from memoryd.transcript.shapes import ABSENT, Block, Message
from memoryd.transcript.tokens import PER_CALL, PER_TOOL_RESULT, estimate_tokens

Noted = str | msgspec.Raw

_KEPT = 64 * 1024
"""Bytes of an undecoded part that is kept for later; a longer one is measured at once."""

_KEPT_IN_ALL = 4 * _KEPT
"""Bytes and characters of all that is kept; when there is more, all of it is measured."""


class LedgerState(msgspec.Struct, kw_only=True):
    """What must be remembered between chunks.

    Attributes:
        call: message id of the last call.
        prompt: tokens of its prompt; after a compaction, of what is known to be left.
        reported: the largest output count reported for it.
        output: tokens of its blocks, estimated.
        after: tokens of what came after it, estimated.
        prefix: tokens of system prompt, tools and instructions, known from the first call.
        summary_counted: a compaction told its size, so its summary is not counted again.
    """

    call: str | None = None
    prompt: int = 0
    reported: int = 0
    output: int = 0
    after: int = 0
    prefix: int | None = None
    summary_counted: bool = False


class TokenLedger:
    """Follows the conversation and keeps its size."""

    def __init__(self, state: LedgerState) -> None:
        self._state = state
        self._output: list[Noted] = []
        self._after: list[Noted] = []
        self._kept = 0

    @property
    def state(self) -> LedgerState:
        """What must be remembered, complete: everything noted is measured first."""
        self.settle()
        return self._state

    @property
    def context(self) -> int:
        """Tokens of the whole context."""
        state = self.state
        return state.prompt + max(state.reported, state.output) + state.after

    @property
    def conversation(self) -> int:
        """Tokens without the fixed prefix."""
        return max(0, self.context - (self._state.prefix or 0))

    def note(self, text: str) -> None:
        """Count a text that the model will read with its next prompt."""
        self._note(self._after, text)

    def note_attachment(self, text: msgspec.Raw) -> None:
        """Count what an attachment showed; before the first call it belongs to the prefix."""
        if self._state.prefix is not None:
            self._note(self._after, text)

    def note_summary(self, text: str) -> None:
        """Count the summary of a compaction, unless the boundary told its size."""
        if not self._state.summary_counted:
            self._note(self._after, text)

    def note_result(self, block: Block) -> None:
        """Count a tool result."""
        self._state.after += PER_TOOL_RESULT
        if block.content is not ABSENT:
            self._note(self._after, block.content)

    def note_reply(self, message: Message, message_id: str) -> None:
        """Count a line of a reply; all lines of one message are one call."""
        usage = message.usage
        if usage is not None and usage.prompt > 0:
            if message_id != self._state.call:
                self._begin_call(message_id, usage.prompt)
            self._state.prompt = max(self._state.prompt, usage.prompt)
            self._state.reported = max(self._state.reported, usage.output_tokens or 0)
            target = self._output
        else:
            target = self._after
        for block in message.blocks:
            for part in (block.text, block.thinking, block.input):
                if part is not None and part is not ABSENT:
                    self._note(target, part)

    def compacted(self, post_tokens: int | None) -> None:
        """Start afresh behind a compaction boundary."""
        self._forget()
        prefix = self._state.prefix
        self._state = LedgerState(
            prompt=prefix or 0,
            after=post_tokens or 0,
            prefix=prefix,
            summary_counted=post_tokens is not None,
        )

    def _begin_call(self, message_id: str, prompt: int) -> None:
        prefix = prompt if self._state.prefix is None else min(self._state.prefix, prompt)
        if self._state.call is None:
            # The first call of all, or since a compaction: what was not said is the prefix.
            self.settle()
            prefix = min(prefix, max(0, prompt - self._state.after))
        self._forget()
        self._state = LedgerState(call=message_id, output=PER_CALL, prefix=prefix)

    def _note(self, target: list[Noted], part: Noted) -> None:
        size = len(part) if isinstance(part, str) else memoryview(part).nbytes
        if isinstance(part, str):
            target.append(part)
        elif size <= _KEPT:
            # A copy, so that the line it stands in can be freed.
            target.append(part.copy())
        elif target is self._output:
            self._state.output += _tokens(part)
        else:
            self._state.after += _tokens(part)
        self._kept += size
        if self._kept > _KEPT_IN_ALL:
            self.settle()

    def settle(self) -> None:
        """Measure what was noted, so that no text is held."""
        self._state.output += sum(map(_tokens, self._output))
        self._state.after += sum(map(_tokens, self._after))
        self._forget()

    def _forget(self) -> None:
        self._output.clear()
        self._after.clear()
        self._kept = 0


def _tokens(noted: Noted) -> int:
    if isinstance(noted, str):
        return estimate_tokens(noted)
    return _value_tokens(decoded(noted), noted)


def _value_tokens(value: Any, raw: msgspec.Raw) -> int:
    """Measure text as text, lists of blocks by their texts, anything else by its JSON."""
    if isinstance(value, str):
        return estimate_tokens(value)
    if isinstance(value, list):
        texts = [b["text"] for b in value if isinstance(b, dict) and isinstance(b.get("text"), str)]
        return sum(map(estimate_tokens, texts))
    return estimate_tokens(bytes(raw).decode("utf-8", "replace"))
