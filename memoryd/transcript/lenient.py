"""Making a record of odd shape fit the types: invalid text repaired, misfit fields left out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from memoryd.transcript.shrink import shrunk

_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def _string(value: Any) -> Any:
    return value if isinstance(value, str) else None


def _flag(value: Any) -> Any:
    return value if isinstance(value, bool) else None


def _count(value: Any) -> Any:
    return int(value) if type(value) in (int, float) and 0 <= value < 2**53 else None


def _same(value: Any) -> Any:
    return value


def _blocks(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return None
    blocks = ({"type": "text", "text": b} if isinstance(b, str) else b for b in value)
    return [_fit(block, _BLOCK) for block in blocks if isinstance(block, dict)]


def _rendered(value: Any) -> Any:
    if not isinstance(value, list):
        return None
    return [item for item in value if isinstance(item, dict)]


def _object(fields: dict[str, Callable[[Any], Any]]) -> Callable[[Any], Any]:
    return lambda value: _fit(value, fields) if isinstance(value, dict) else None


def _fit(value: dict[str, Any], fields: dict[str, Callable[[Any], Any]]) -> dict[str, Any]:
    fitted = ((name, fit(value[name])) for name, fit in fields.items() if name in value)
    return {name: found for name, found in fitted if found is not None}


_Fields = dict[str, Callable[[Any], Any]]

_BLOCK: _Fields = {
    **dict.fromkeys(("type", "text", "id", "name", "tool_use_id"), _string),
    **dict.fromkeys(("thinking", "input", "content"), _same),
    "is_error": _flag,
}
_USAGE: _Fields = dict.fromkeys(
    (
        "input_tokens",
        "output_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    ),
    _count,
)
_MESSAGE: _Fields = {
    **dict.fromkeys(("role", "id", "model", "stop_reason"), _string),
    "content": _blocks,
    "usage": _object(_USAGE),
}
_ORIGIN: _Fields = {"kind": _string}
_ATTACHMENT: _Fields = {
    **dict.fromkeys(("type", "commandMode"), _string),
    "prompt": _blocks,
    "origin": _object(_ORIGIN),
    "isMeta": _flag,
}
_RECORD: _Fields = {
    **dict.fromkeys(
        (
            "type",
            "uuid",
            "timestamp",
            "cwd",
            "sessionId",
            "version",
            "gitBranch",
            "agentId",
            "entrypoint",
            "promptSource",
            "turnOrigin",
            "planContent",
            "sourceToolUseID",
            "subtype",
            "customTitle",
            "aiTitle",
            "agentName",
        ),
        _string,
    ),
    **dict.fromkeys(("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage"), _flag),
    "origin": _object(_ORIGIN),
    "message": _object(_MESSAGE),
    "attachment": _object(_ATTACHMENT),
    "rendered": _rendered,
    "compactMetadata": _object({"trigger": _string, "preTokens": _count, "postTokens": _count}),
}


def clean_text(text: str) -> str:
    """Replace what no UTF-8 file or database can hold: lone surrogates and U+0000."""
    text = text.replace("\0", _REPLACEMENT)
    return text if text.isascii() else _SURROGATE.sub(_REPLACEMENT, text)


def load(data: bytes) -> Any:
    """Decode JSON whose text may be invalid UTF-8 or hold lone surrogates.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    return json.loads(data.decode("utf-8", "replace"), strict=False, object_pairs_hook=_clean)


def decoded(raw: msgspec.Raw) -> Any:
    """Return the value of a part of a record that was kept undecoded."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        data = bytes(raw)
        try:
            return load(data)
        except RecursionError:
            return load(shrunk(data))


def fitted(data: bytes) -> bytes:
    """Return the JSON object in ``data`` reduced to the fields that are read, in clean text.

    Raises:
        ValueError: it is not a JSON object.
        RecursionError: it is nested too deeply.
    """
    value = load(data)
    if not isinstance(value, dict):
        raise ValueError("not an object")  # noqa: TRY004 - the data is wrong, not the caller
    return json.dumps(_fit(value, _RECORD), ensure_ascii=False).encode()


def _clean(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {clean_text(name): _clean_value(value) for name, value in pairs}


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean_value(item) for item in value]
    return value
