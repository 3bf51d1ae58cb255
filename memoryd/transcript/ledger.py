"""How many tokens of context a session holds: reported usage, and an estimate of what came since.

Texts are only measured when somebody asks: in a stretch of tool calls each new call reports the
prompt itself, and what was noted before it is forgotten unmeasured.
"""

from __future__ import annotations

from typing import Any

import msgspec

from memoryd.transcript.lenient import decoded
from memoryd.transcript.shapes import ABSENT, Block, Usage
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

    @property
    def asked(self) -> int:
        """Tokens of the conversation before the last call, as it reported them."""
        return max(0, self._state.prompt - (self._state.prefix or 0))

    @property
    def most(self) -> int:
        """No fewer than the tokens of the conversation, without measuring anything."""
        state = self._state  # No token is shorter than a character.
        output = max(state.reported, state.output + _size(self._output))
        after = state.after + _size(self._after)
        return max(0, state.prompt + output + after - (state.prefix or 0))

    def note(self, text: str) -> None:
        """Count a text that the model will read with its next prompt."""
        self._after.append(text)

    def note_attachment(self, text: msgspec.Raw) -> None:
        """Count what an attachment showed; before the first call it belongs to the prefix."""
        if self._state.prefix is not None:
            self._after.append(text)

    def note_summary(self, text: str) -> None:
        """Count the summary of a compaction, unless the boundary told its size."""
        if not self._state.summary_counted:
            self._after.append(text)

    def note_result(self, block: Block) -> None:
        """Count a tool result."""
        self._state.after += PER_TOOL_RESULT
        if block.content is not ABSENT:
            self._after.append(block.content)

    def note_reply(self, usage: Usage | None, blocks: list[Block], message_id: str) -> bool:
        """Count a line of a reply; all lines of one message are one call.

        Returns:
            whether a call begins with it that reports its prompt.
        """
        prompt = 0 if usage is None else usage.prompt
        begins = False
        target = self._after
        if usage is not None and prompt > 0:
            begins = message_id != self._state.call
            if begins:
                self._begin_call(message_id, prompt)
            state = self._state
            state.prompt = max(state.prompt, prompt)
            state.reported = max(state.reported, usage.output_tokens or 0)
            target = self._output
        for block in blocks:
            if block.text is not None:
                target.append(block.text)
            if block.thinking is not ABSENT:
                target.append(block.thinking)
            if block.input is not ABSENT:
                target.append(block.input)
        return begins

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
        prefix = self._state.prefix
        if prefix is None or prompt < prefix:
            prefix = prompt
        if self._state.call is None:
            # The first call of all, or since a compaction: what was not said is the prefix.
            self.settle()
            prefix = min(prefix, max(0, prompt - self._state.after))
        self._forget()
        state = self._state  # In place: there is one for every few lines.
        state.call = message_id
        state.prompt = prompt
        state.reported = state.after = 0
        state.output = PER_CALL
        state.prefix = prefix
        state.summary_counted = False

    def let_go(self) -> None:
        """Hold on to nothing but small copies, so that the lines that were read can be freed."""
        if self._output or self._after:
            self._output, output = _kept(self._output)
            self._after, after = _kept(self._after)
            self._state.output += output
            self._state.after += after
            if _size(self._output) + _size(self._after) > _KEPT_IN_ALL:
                self.settle()

    def settle(self) -> None:
        """Measure what was noted, so that no text is held."""
        self._state.output += sum(map(_tokens, self._output))
        self._state.after += sum(map(_tokens, self._after))
        self._forget()

    def _forget(self) -> None:
        self._output.clear()
        self._after.clear()


def _size(noted: list[Noted]) -> int:
    return sum(map(len, noted))


def _kept(noted: list[Noted]) -> tuple[list[Noted], int]:
    """Return what is kept of what was noted, and the tokens of the rest."""
    kept: list[Noted] = []
    tokens = 0
    for part in noted:
        if isinstance(part, str):
            kept.append(part)
        elif len(part) > _KEPT:
            tokens += _tokens(part)
        else:
            kept.append(part.copy())
    return kept, tokens


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
