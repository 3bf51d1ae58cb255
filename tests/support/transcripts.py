"""Records of a transcript in the client's shape, made by hand."""

import json
from typing import Any

BASE = {
    "isSidechain": False,
    "userType": "external",
    "entrypoint": "cli",
    "cwd": "/home/dev/project",
    "sessionId": "5e551010-0000-4000-8000-000000000001",
    "version": "2.1.332",
    "gitBranch": "main",
    "timestamp": "2026-03-01T10:00:00.000Z",
}


def row(**fields: Any) -> bytes:
    """One line of JSON, with its newline."""
    return json.dumps(fields, ensure_ascii=False).encode() + b"\n"


def user(content: Any, uuid: str | None = "u-1", **fields: Any) -> bytes:
    """A user record; ``uuid=None`` leaves the uuid out."""
    message = {"role": "user", "content": content}
    identity = {} if uuid is None else {"uuid": uuid}
    return row(**{**BASE, "type": "user", "message": message, **identity, **fields})


def result(call: str, content: Any = "done", uuid: str = "r-1", **fields: Any) -> bytes:
    """A user record that answers a tool call."""
    error = fields.pop("is_error", False)
    block = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": error}
    return user([block], uuid, **fields)


def assistant(
    *blocks: dict[str, Any],
    uuid: str = "a-1",
    message_id: str = "msg_1",
    stop: str | None = None,
    usage: dict[str, int] | None = None,
    model: str = "claude-opus-5-5",
    **fields: Any,
) -> bytes:
    """One line of a reply."""
    message: dict[str, Any] = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(blocks),
        "stop_reason": stop,
    }
    if usage is not None:
        message["usage"] = usage
    return row(**{**BASE, "type": "assistant", "message": message, "uuid": uuid, **fields})


def text(words: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words}


def call(call_id: str, name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    """A tool_use block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def system(subtype: str, **fields: Any) -> bytes:
    """A mark of the client."""
    return row(**{**BASE, "type": "system", "subtype": subtype, "uuid": "s-1", **fields})


def queued(prompt: Any, uuid: str = "q-1", **attachment: Any) -> bytes:
    """A prompt that was typed while the model worked."""
    body = {
        "type": "queued_command",
        "prompt": prompt,
        "commandMode": "prompt",
        "origin": {"kind": "human"},
        **attachment,
    }
    return row(**{**BASE, "type": "attachment", "attachment": body, "uuid": uuid})
