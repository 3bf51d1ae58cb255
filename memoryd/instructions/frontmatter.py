"""The block at the top of an instruction file, of which only ``paths`` means something.

People write patterns bare (``paths: **/*.ts``), which strict YAML refuses. A bare value of
``paths`` is taken as it stands; a list is read strictly, and a block that cannot be read has no
``paths``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BLOCK = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_LIMIT = 64 * 1024
_KEY = re.compile(r"""^(["']?)([^\s"'#:\-\[\]{}][^"':]*?)\1[ \t]*:(?:[ \t]+(.*))?$""")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_QUOTED = re.compile(r"""^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')[ \t]*(?:#.*)?$""")
_ESCAPED = re.compile(r"\\(.)")
_ENTRY = re.compile(r"""[ \t\n]*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,\[\]"']*)[ \t\n]*(,|\]|$)""")
# What strict YAML does not take as the beginning of an unquoted text.
_RESERVED = frozenset("*&!%@`{}|>,")
_NOT_TEXT = re.compile(r"^(?:[-+]?[\d.]+|true|false|null|~)?$", re.IGNORECASE)


class _UnreadableError(Exception):
    """The block cannot be read."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file taken apart.

    Attributes:
        body: the text without the block.
        patterns: what ``paths`` lists, empty where it says nothing.
        readable: ``False`` if there is a block that cannot be read.
    """

    body: str
    patterns: tuple[str, ...]
    readable: bool


def parse(text: str) -> Document:
    """Take a file apart; never raises.

    A block opens on the first line and closes with the next line of three dashes; without
    that all is body.
    """
    match = _BLOCK.match(text)
    if match is None:
        return Document(text, (), readable=True)
    body = text[match.end() :]
    if len(match[1]) > _LIMIT:
        return Document(body, (), readable=False)
    try:
        return Document(body, tuple(_paths(match[1].replace("\r\n", "\n"))), readable=True)
    except _UnreadableError:
        return Document(body, (), readable=False)


def _paths(block: str) -> list[str]:
    """Return the patterns of the last ``paths`` at the top level.

    Raises:
        _UnreadableError: it, or the structure around it, cannot be read.
    """
    fields: dict[str, tuple[str, list[str]]] = {}
    rest: list[str] | None = None
    for line in block.split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] in " \t" or (line.startswith("- ") and rest is not None):
            if rest is None:
                raise _UnreadableError
            rest.append(line.strip())
            continue
        match = _KEY.match(line)
        if match is None:
            raise _UnreadableError
        rest = []
        fields[match[2]] = (match[3] or "").strip(), rest
    value, lines = fields.get("paths", ("", []))
    return _value(value, lines)


def _value(value: str, lines: list[str]) -> list[str]:
    bare = _COMMENT.sub("", value).strip()
    if bare.startswith("["):
        return _list("\n".join([value, *lines]))
    if bare in ("|", ">", "|-", ">-"):
        return _commas(" ".join(lines))
    if bare:
        return _scalar(value, bare, lines)
    items = [line for line in lines if not line.startswith("#")]
    if not all(line.startswith("-") for line in items):
        # A mapping holds no patterns.
        return []
    return [pattern for line in items for pattern in _item(line[1:].strip())]


def _scalar(value: str, bare: str, lines: list[str]) -> list[str]:
    if any(_KEY.match(line) for line in lines):
        raise _UnreadableError
    if bare[0] in "\"'":
        return _commas(_unquoted(" ".join([value, *lines])))
    # ``{a,b}/**`` is a pattern, ``{a: b}`` a mapping.
    if _NOT_TEXT.match(bare) or (bare.startswith("{") and bare.endswith("}") and ": " in bare):
        return []
    return _commas(" ".join([bare, *lines]))


def _item(item: str) -> list[str]:
    if item.startswith("["):
        return _list(item)
    if item[:1] in ('"', "'"):
        return _commas(_unquoted(item))
    item = _COMMENT.sub("", item).strip()
    if item[:1] in _RESERVED and item:
        raise _UnreadableError
    return [] if _NOT_TEXT.match(item) else _commas(item)


def _list(text: str) -> list[str]:
    """Read ``[a, "b"]``; a comment may follow it."""
    found: list[str] = []
    at = 1
    while match := _ENTRY.match(text, at):
        entry, end = match[1].strip(), match[2]
        if entry[:1] in _RESERVED and entry:
            break
        if entry[:1] in ('"', "'"):
            found.extend(_commas(_unquoted(entry)))
        elif not _NOT_TEXT.match(entry):
            found.extend(_commas(entry))
        at = match.end()
        if end == "]":
            if _COMMENT.sub("", text[at:]).strip():
                break
            return found
        if not end:
            break
    raise _UnreadableError


def _unquoted(text: str) -> str:
    match = _QUOTED.match(text)
    if match is None:
        raise _UnreadableError
    if match[1] is not None:
        return _ESCAPED.sub(r"\1", match[1])
    return str(match[2]).replace("''", "'")


def _commas(text: str) -> list[str]:
    """Split at commas that stand in no braces."""
    found, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth = max(0, depth + (sign == "{") - (sign == "}"))
        if sign == "," and not depth:
            found.append(text[start:at])
            start = at + 1
    found.append(text[start:])
    return [pattern for part in found if (pattern := part.strip())]
