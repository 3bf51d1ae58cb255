"""The client's standard input of a hook, read leniently: what is unknown or odd is passed over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from memoryd.hooks.events import (
    Compacted,
    Compacting,
    Event,
    EventName,
    Place,
    Prompted,
    SessionBegan,
    Source,
    ToolsAnswered,
    Touch,
    TurnEnded,
    Written,
)

MAX_PATH = 4096
MAX_ID = 128
_SUFFIX = ".jsonl"

_TOUCHES = {
    "Read": ("file_path", Touch.READ),
    "Write": ("file_path", Touch.WRITTEN),
    "Edit": ("file_path", Touch.EDITED),
    "MultiEdit": ("file_path", Touch.EDITED),
}
"""By the name of a tool, where its input names the file."""


def name_of(stdin: Mapping[str, Any]) -> EventName | None:
    """Return the event that is meant, ``None`` when it means nothing here."""
    try:
        return EventName(stdin.get("hook_event_name", ""))
    except ValueError:
        return None


def parse(stdin: Mapping[str, Any]) -> Event | None:
    """Return what happened, or ``None`` when that means nothing here or is not told whole.

    What happens inside a subagent is `Written`, whatever it is: it takes no part in the
    conversation of the session.
    """
    name, place = name_of(stdin), _place(stdin)
    if name is None or place is None:
        return None
    if _text(stdin, "agent_id", MAX_ID):
        return Written(place, _path(stdin, "agent_transcript_path"))
    return _in_session(name, place, stdin)


def _in_session(name: EventName, place: Place, stdin: Mapping[str, Any]) -> Event:
    event: Event
    match name:
        case EventName.SESSION_START:
            tokens = stdin.get("context_tokens")
            event = SessionBegan(place, _source(stdin), tokens if type(tokens) is int else None)
        case EventName.USER_PROMPT_SUBMIT:
            text = stdin.get("prompt")
            turn = _text(stdin, "prompt_id", MAX_ID)
            event = Prompted(place, text if isinstance(text, str) else "", turn)
        case EventName.POST_TOOL_USE:
            event = ToolsAnswered(place, name, tuple(_touched([stdin])))
        case EventName.POST_TOOL_BATCH:
            calls = stdin.get("tool_calls")
            touched = _touched(calls if isinstance(calls, list) else [])
            event = ToolsAnswered(place, name, tuple(touched))
        case EventName.STOP | EventName.STOP_FAILURE | EventName.SESSION_END:
            event = TurnEnded(place)
        case EventName.SUBAGENT_STOP:
            event = Written(place, _path(stdin, "agent_transcript_path"))
        case EventName.PRE_COMPACT:
            event = Compacting(place)
        case EventName.POST_COMPACT:
            event = Compacted(place)
        case _:
            assert_never(name)
    return event


def _place(stdin: Mapping[str, Any]) -> Place | None:
    session, cwd = _name(stdin, "session_id"), _path(stdin, "cwd")
    transcript = _path(stdin, "transcript_path")
    stem = transcript.rpartition("/")[2]
    if stem.endswith(_SUFFIX) and len(stem) > len(_SUFFIX):
        session = stem.removesuffix(_SUFFIX)
    return Place(session, transcript, cwd) if session and cwd else None


def _source(stdin: Mapping[str, Any]) -> Source:
    try:
        return Source(stdin.get("source", ""))
    except ValueError:
        return Source.OTHER


def _touched(calls: Iterable[Any]) -> Iterable[tuple[str, Touch]]:
    for call in calls:
        if not isinstance(call, Mapping):
            continue
        tool, given = call.get("tool_name"), call.get("tool_input")
        if not isinstance(tool, str) or tool not in _TOUCHES or not isinstance(given, Mapping):
            continue
        parameter, touch = _TOUCHES[tool]
        if path := _path(given, parameter):
            yield path, touch


def _text(values: Mapping[str, Any], name: str, limit: int) -> str:
    value = values.get(name)
    return value if isinstance(value, str) and len(value) <= limit else ""


def _name(values: Mapping[str, Any], name: str) -> str:
    """Return an id that can be part of a file's name, as one of a session is."""
    value = _text(values, name, MAX_ID)
    return "" if value in {".", ".."} or "/" in value or "\0" in value else value


def _path(values: Mapping[str, Any], name: str) -> str:
    value = _text(values, name, MAX_PATH)
    return value if value.startswith("/") and "\0" not in value else ""
