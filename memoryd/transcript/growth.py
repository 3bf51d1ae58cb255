"""How much a conversation grew since its summary was last due, and whether it is due again.

Asked at two kinds of places, which depend on the bytes of the transcript alone: where a reply
begins, whose reported prompt is the exact size of all before it, and where a turn ends.
"""

from __future__ import annotations

import msgspec

FIRST_TOKENS = 10_000
"""Conversation tokens at which a session gets its first summary."""

NEXT_TOKENS = 5_000
"""Conversation tokens by which it must have grown before the next update."""

TOOL_CALLS = 3
"""Tool calls after which an update need not wait for the end of the work."""


class Growth(msgspec.Struct, kw_only=True):
    """What must be remembered between two places where it is asked.

    Attributes:
        base: conversation tokens at the last update; ``None`` when a compaction reset it, until the
            next place.
        updates: how often an update was due.
        due_at: position behind the line at which one was last due.
        calls: tool calls since then.
        reply: id of the last reply.
        reply_calls: tool calls of that reply.
    """

    base: int | None = 0
    updates: int = 0
    due_at: int = 0
    calls: int = 0
    reply: str = ""
    reply_calls: int = 0

    def see_reply(self, message_id: str) -> None:
        """Take a line of a reply."""
        if message_id != self.reply:
            self.reply, self.reply_calls = message_id, 0

    def see_call(self) -> None:
        """Take a tool call of the last reply."""
        self.calls += 1
        self.reply_calls += 1

    def compacted(self) -> None:
        """Reset the baseline: what the conversation holds next is where it grows from."""
        self.base, self.calls = None, 0

    def may_be_due(self, most: int, *, ended: bool) -> bool:
        """Return whether it is of use to ask, if the conversation has ``most`` tokens at most."""
        return self.base is None or self._is_due(most, ended=ended)

    def ask(self, tokens: int, position: int, *, ended: bool) -> bool:
        """Ask whether an update is due; if so, what follows counts from here.

        Args:
            tokens: of the conversation.
            position: behind the line that was read last.
            ended: the turn is over here.
        """
        due = self._is_due(tokens, ended=ended)
        if due:
            self.updates += 1
            self.due_at = position
            self.calls = 0
        if due or self.base is None:
            self.base = tokens
        return due

    def _is_due(self, tokens: int, *, ended: bool) -> bool:
        return is_due(
            tokens,
            base=self.base,
            first=not self.updates,
            calls=self.calls,
            rests=ended and not self.reply_calls,
        )


def is_due(tokens: int, *, base: int | None, first: bool, calls: int, rests: bool) -> bool:
    """Decide whether the summary of a session is to be updated.

    Args:
        tokens: of the conversation now.
        base: of the conversation at the last update; ``None`` when a compaction reset it.
        first: there was no update yet; the baseline does not matter then.
        calls: tool calls since the last update.
        rests: the turn ended with a reply that called no tool.
    """
    if first:
        return tokens >= FIRST_TOKENS
    grown = 0 if base is None else tokens - base
    return grown >= NEXT_TOKENS and (calls >= TOOL_CALLS or rests)
