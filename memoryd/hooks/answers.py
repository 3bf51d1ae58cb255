"""What a hook prints: context for the model, in the form that the client takes."""

from __future__ import annotations

import json
from typing import Final

from memoryd.hooks.events import EventName
from memoryd.recall.present import BLOCK

MAX_CONTEXT: Final = 10_000
"""UTF-16 code units that reach the model whole; of a longer text the client shows a preview."""

SILENCE: Final = ""
"""Nothing to print."""


def greeting(memories: int) -> str:
    """Return what a session is told at its beginning; nothing where there are no memories."""
    if memories <= 0:
        return ""
    kept = "1 memory" if memories == 1 else f"{memories:,} memories"
    return (
        f"<{BLOCK}>\nmemoryd keeps {kept} of earlier sessions in this project. "
        f"What clearly helps with a prompt is given along with it.\n</{BLOCK}>"
    )


def context(name: EventName, text: str) -> str:
    """Return what to print so that the model sees ``text``; nothing for no text.

    Args:
        name: of the event that is answered. Never one at the end of a turn: there it would force
            another one, and at a compaction it would become an instruction.
        text: at most `MAX_CONTEXT` long.

    Raises:
        ValueError: the event takes no context, or the text is longer.
    """
    if not text:
        return SILENCE
    if name not in _TAKES_CONTEXT:
        raise ValueError(f"no context at {name}")
    if len(text.encode("utf-16-le", "surrogatepass")) // 2 > MAX_CONTEXT:
        raise ValueError(f"more than {MAX_CONTEXT} characters of context")
    answer = {"hookSpecificOutput": {"hookEventName": name.value, "additionalContext": text}}
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


_TAKES_CONTEXT = frozenset(
    {
        EventName.SESSION_START,
        EventName.USER_PROMPT_SUBMIT,
        EventName.POST_TOOL_USE,
        EventName.POST_TOOL_BATCH,
    }
)
