"""Single values of frontmatter, quoted and bare."""

from __future__ import annotations

import re

_MAX_FLOW = 4096
_LEADING = frozenset("-?:,[]{}#&*!|>'\"%@`~=")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off"})
_NUMBER = re.compile(
    r"^[-+]?(?:0[xob][\da-f_]+|[\d_]*\.?[\d_]+(?:e[-+]?\d+)?|\.inf|\.nan)$", re.IGNORECASE
)
_DATE = re.compile(r"^\d{4}-\d{1,2}-\d{1,2}$")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]")
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "b": "\b", "a": "\a"}
_QUOTED = re.compile(r"""^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')(?:[ \t]+\#.*)?$""", re.DOTALL)
_PAIR = re.compile(
    r"""[ \t]*([^\s:,{}"']+)[ \t]*:[ \t]*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,{}]*)"""
)


def decode_scalar(text: str) -> str:
    """Return what a value says; anything but a well-formed quotation stands for itself."""
    text = text.strip()
    match = _QUOTED.match(text)
    if match is None:
        return text
    double, single = match.groups()
    if double is None:
        return str(single).replace("''", "'")
    return _ESCAPE.sub(_unescape, double)


def encode_scalar(value: str) -> str:
    """Return ``value`` as one line that both a strict and a lenient reader take as this string."""
    if _is_plain(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_UNPRINTABLE.sub(_escape, escaped)}"'


def flow_mapping(text: str) -> dict[str, str] | None:
    """Read ``{a: b, c: "d"}`` of one level; ``None`` when it is anything else."""
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")) or len(text) > _MAX_FLOW:
        return None
    inner, position, values = text[1:-1], 0, {}
    while inner[position:].strip():
        match = _PAIR.match(inner, position)
        if match is None:
            return None
        values[match[1]] = decode_scalar(match[2])
        position = match.end()
        rest = inner[position:].lstrip()
        if rest and not rest.startswith(","):
            return None
        position = len(inner) - len(rest) + 1 if rest else len(inner)
    return values


def _is_plain(value: str) -> bool:
    return not (
        not value
        or value != value.strip()
        or value[0] in _LEADING
        or value.endswith(":")
        or ": " in value
        or ":\t" in value
        or " #" in value
        or "\t#" in value
        or value.lower() in _WORDS
        or value in {"---", "..."}
        or _NUMBER.match(value)
        or _DATE.match(value)
        or _UNPRINTABLE.search(value)
    )


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] == "\n":
        return "\\n"
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # noqa: PLR2004 - one byte


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number <= 0x10FFFF else "\ufffd"  # noqa: PLR2004 - end of Unicode
    return _SIMPLE.get(code, code)
