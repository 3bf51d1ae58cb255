"""The block between two ``---`` lines at the top of a memory file, read as people really write it.

Real frontmatter is not strict YAML: descriptions hold unquoted ``#`` and colons, metadata stands
flat or nested, lines end in CRLF. So it is read line by line, and an edit replaces the lines of the
values that changed and no other byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from memoryd.memory.scalars import decode_scalar, encode_scalar, flow_mapping

BOM = b"\xef\xbb\xbf"
METADATA = "metadata"
MAX_BLOCK = 64 * 1024
"""Bytes of a block; nobody writes longer ones by hand."""

KeyPath = tuple[str, ...]
"""``("name",)`` at the top, or ``("metadata", "type")`` one level down."""

_FENCE = re.compile(rb"^---[ \t]*\r?\n?$")
_CLOSE = re.compile(rb"^(?:---|\.\.\.)[ \t]*\r?\n?$")
_KEY = re.compile(
    r"""^(?P<indent>[ \t]*)(?P<quote>["']?)(?P<key>[^\s:"'#\-\[\]{}*&!|>%@`,][^\s:"']*)(?P=quote)"""
    r"""[ \t]*:(?P<gap>[ \t]*)(?P<value>.*)$""",
    re.DOTALL,
)
_BLOCK_SCALAR = re.compile(r"^[|>][+-]?\d?[+-]?(?:[ \t]+#.*)?$")


class State(StrEnum):
    """Whether a file has frontmatter."""

    PRESENT = "present"
    """A block that opens and closes."""
    ABSENT = "absent"
    """No block: the whole file is body."""
    BROKEN = "broken"
    """A block that does not close where it should, or repeats a key: read, never rewritten."""


@dataclass(frozen=True, slots=True)
class Field:
    """One value and the lines it stands on.

    Attributes:
        path: keys from the top.
        value: decoded text.
        first: index of its line in ``Frontmatter.lines``.
        last: index behind its last line (more than ``first + 1`` for values of several lines).
        written: the text as it stands, quotation included.
        inline: it stands inside ``{...}`` on the line of its parent.
    """

    path: KeyPath
    value: str
    first: int
    last: int
    written: str = ""
    inline: bool = False


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A file taken apart: ``prefix + lines + closing + body`` are its bytes.

    Attributes:
        state: whether there is a block at all.
        prefix: byte order mark and opening line.
        lines: the lines of the block with their ends; empty unless ``PRESENT`` or ``BROKEN``.
        closing: the closing line; empty when absent or broken.
        body: everything after.
        fields: the values by path; of a repeated key the last one.
        warnings: what is wrong with it, in words.
    """

    state: State
    prefix: bytes
    lines: tuple[bytes, ...]
    closing: bytes
    body: bytes
    fields: Mapping[KeyPath, Field]
    warnings: tuple[str, ...]

    def get(self, *path: str) -> str | None:
        """Return the value at ``path``, or ``None``."""
        field = self.fields.get(path)
        return None if field is None else field.value

    def find(self, key: str) -> str | None:
        """Return the value of ``key`` wherever writers put it: under ``metadata`` or at the top."""
        value = self.get(METADATA, key)
        return self.get(key) if value is None else value

    def place(self, key: str) -> KeyPath:
        """Return where ``key`` stands, or belongs in a file of this form."""
        for path in ((METADATA, key), (key,)):
            if path in self.fields:
                return path
        metadata = self.fields.get((METADATA,))
        nested = metadata is not None and (
            not metadata.written or flow_mapping(metadata.written) is not None
        )
        return (METADATA, key) if nested else (key,)


def split_lines(raw: bytes) -> list[bytes]:
    """Split at line feeds only, keeping them; joining gives ``raw`` back."""
    lines = [line + b"\n" for line in raw.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def parse(raw: bytes) -> Frontmatter:
    """Take a file apart; never raises."""
    mark = BOM if raw.startswith(BOM) else b""
    lines = split_lines(raw[len(mark) :])
    if not lines or not _FENCE.match(lines[0]) or not lines[0].endswith(b"\n"):
        return _without_block(raw, lines)
    end = _end_of_block(lines)
    head = tuple(lines[1:end])
    if sum(map(len, head)) > MAX_BLOCK:
        body = b"".join(lines[end:])
        too_long = ("the frontmatter is longer than 64 KiB",)
        return Frontmatter(State.BROKEN, mark + lines[0], head, b"", body, {}, too_long)
    fields, warnings = _fields(head)
    # Which of two values a reader takes is not known, so such a block is not edited.
    repeated = bool(warnings)
    closed = end < len(lines) and _CLOSE.match(lines[end]) is not None
    if not closed and not fields:
        return Frontmatter(State.ABSENT, b"", (), b"", raw, {}, ())
    if not closed:
        warnings.append("the frontmatter is not closed by a line of three dashes")
    unclosed = [field.path[-1] for field in fields.values() if _is_unclosed(field)]
    if unclosed:
        warnings.append(f"the braces after {unclosed[0]!r} cannot be read")
    return Frontmatter(
        State.PRESENT if closed and not unclosed and not repeated else State.BROKEN,
        mark + lines[0],
        head,
        lines[end] if closed else b"",
        b"".join(lines[end + closed :]),
        fields,
        tuple(warnings),
    )


def edit(
    document: Frontmatter, changes: Mapping[KeyPath, str | None], *, body: bytes | None = None
) -> bytes:
    """Return the file with some values changed; every other byte stays.

    A value that already reads as wanted keeps its bytes, whatever their form. New keys are added
    at the end of their mapping. A file without frontmatter gets none.

    Args:
        document: not ``BROKEN``.
        changes: new values by path, at most two keys deep; ``None`` takes the key away.
        body: the new text after the block, or ``None`` to keep it.

    Raises:
        ValueError: the frontmatter is broken.
    """
    if document.state is State.BROKEN:
        raise ValueError("broken frontmatter is not edited")
    tail = document.body if body is None else body
    if document.state is State.ABSENT:
        return tail
    lines = list(document.lines)
    for first, last, replacement in sorted(_edits(document, changes), reverse=True):
        lines[first:last] = replacement
    return document.prefix + b"".join(lines) + document.closing + tail


def render(fields: Mapping[str, str | Mapping[str, str]], body: bytes) -> bytes:
    """Return a new file: a block with ``fields`` in their order, an empty line, ``body``."""
    lines = ["---"]
    for key, value in fields.items():
        if isinstance(value, str):
            lines.append(f"{key}: {encode_scalar(value)}")
        else:
            lines.append(f"{key}:")
            lines.extend(f"  {inner}: {encode_scalar(text)}" for inner, text in value.items())
    return "\n".join([*lines, "---", "", ""]).encode() + body


def _without_block(raw: bytes, lines: list[bytes]) -> Frontmatter:
    """A file that does not open with a fence; behind blank lines it is a broken block."""
    first = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    if first and first + 1 < len(lines) and _FENCE.match(lines[first]) and _key(lines[first + 1]):
        fields, _ = _fields(tuple(lines[first + 1 : _end_of_block(lines, first)]))
        end = min(_end_of_block(lines, first) + 1, len(lines))
        return Frontmatter(
            State.BROKEN,
            b"",
            tuple(lines[:end]),
            b"",
            b"".join(lines[end:]),
            fields,
            ("the frontmatter does not start on the first line",),
        )
    return Frontmatter(State.ABSENT, b"", (), b"", raw, {}, ())


def _end_of_block(lines: list[bytes], opening: int = 0) -> int:
    """Return the index of the closing line, or where the body of a broken block begins."""
    blank: int | None = None
    open_key = False
    for index in range(opening + 1, len(lines)):
        line = lines[index]
        if _CLOSE.match(line):
            return index
        if not line.strip():
            blank = index if blank is None else blank
            continue
        if line[:1] in b" \t":
            continue
        match = _key(line)
        if match is not None:
            open_key = True
        elif not (line.startswith(b"#") or (line.startswith(b"-") and open_key)):
            return index if blank is None else blank
    return len(lines) if blank is None else blank


def _key(line: bytes) -> re.Match[str] | None:
    match = _KEY.match(line.decode(errors="replace").rstrip("\r\n"))
    if match is None or (match["value"] and not match["gap"]):
        return None
    return match


def _is_unclosed(field: Field) -> bool:
    if not field.written.startswith("{"):
        return False
    if field.path == (METADATA,):
        return flow_mapping(field.written) is None
    return "}" not in field.written


def _fields(lines: tuple[bytes, ...]) -> tuple[dict[KeyPath, Field], list[str]]:
    fields: dict[KeyPath, Field] = {}
    warnings: list[str] = []
    for field in _read(lines):
        if field.path in fields:
            warnings.append(f"the key {'.'.join(field.path)!r} is repeated")
        fields[field.path] = field
    return fields, list(dict.fromkeys(warnings))


def _read(lines: tuple[bytes, ...]) -> Iterator[Field]:
    index = 0
    while index < len(lines):
        match = _key(lines[index])
        if match is None or match["indent"]:
            index += 1
            continue
        key, value = match["key"], match["value"].strip()
        last = _extent(lines, index, len(match["indent"]))
        if value or not _has_children(lines, index + 1, last):
            yield Field((key,), _value(lines, index, last, value), index, last, value)
            for inner, text in (flow_mapping(value) or {}).items():
                yield Field((key, inner), text, index, last, inline=True)
        else:
            yield Field((key,), "", index, last)
            yield from _children(lines, key, index + 1, last)
        index = last


def _children(lines: tuple[bytes, ...], parent: str, first: int, last: int) -> Iterator[Field]:
    index = first
    while index < last:
        match = _key(lines[index])
        if match is None or not match["indent"]:
            index += 1
            continue
        end = min(_extent(lines, index, len(match["indent"])), last)
        text = _value(lines, index, end, match["value"].strip())
        yield Field((parent, match["key"]), text, index, end, match["value"].strip())
        index = end


def _extent(lines: tuple[bytes, ...], index: int, indent: int) -> int:
    """Return the index behind the lines that belong to the key on line ``index``."""
    last = index + 1
    for at in range(index + 1, len(lines)):
        text = lines[at].decode(errors="replace").rstrip()
        if not text:
            continue
        width = len(text) - len(text.lstrip(" \t"))
        if width <= indent and not (width == indent and text.lstrip().startswith("- ")):
            break
        last = at + 1
    return last


def _has_children(lines: tuple[bytes, ...], first: int, last: int) -> bool:
    return any(_key(line) is not None for line in lines[first:last])


def _value(lines: tuple[bytes, ...], first: int, last: int, value: str) -> str:
    rest = [line.decode(errors="replace").strip() for line in lines[first + 1 : last]]
    if _BLOCK_SCALAR.match(value):
        return ("\n" if value.startswith("|") else " ").join(rest).strip()
    return decode_scalar(" ".join(part for part in (value, *rest) if part))


def _edits(
    document: Frontmatter, changes: Mapping[KeyPath, str | None]
) -> Iterator[tuple[int, int, list[bytes]]]:
    """Yield what takes the place of which lines; the ranges do not overlap."""
    newline = b"\r\n" if document.prefix.endswith(b"\r\n") else b"\n"
    appended: dict[KeyPath, str] = {}
    flow: dict[str, dict[str, str | None]] = {}
    for path, value in changes.items():
        field = document.fields.get(path)
        if field is None and value is None:
            continue
        if field is not None and field.value == value:
            continue
        if len(path) > 1 and _is_flow(document, path[0]):
            flow.setdefault(path[0], {})[path[1]] = value
        elif field is not None:
            line = document.lines[field.first]
            yield field.first, field.last, [] if value is None else [_set_value(line, value)]
        elif value is not None:
            appended[path] = value
    for parent, values in flow.items():
        yield _open_flow(document, parent, values, newline)
    yield from _insertions(document, appended, newline)


def _set_value(line: bytes, value: str) -> bytes:
    """Put another value on a line; key, indentation and line end stay."""
    text = line.rstrip(b"\r\n")
    head = text[: text.index(b":") + 1]
    gap = text[len(head) : len(text) - len(text[len(head) :].lstrip(b" \t"))] or b" "
    if not text[len(head) :].strip():
        gap = b" "
    return head + gap + encode_scalar(value).encode() + line[len(text) :]


def _is_flow(document: Frontmatter, parent: str) -> bool:
    field = document.fields.get((parent,))
    return field is not None and flow_mapping(field.written) is not None


def _open_flow(
    document: Frontmatter, parent: str, values: Mapping[str, str | None], newline: bytes
) -> tuple[int, int, list[bytes]]:
    """Write ``key: {a: b}`` as a block, since one of its values changes."""
    field = document.fields[(parent,)]
    merged: dict[str, str | None] = {**(flow_mapping(field.written) or {}), **values}
    children = [_line(key, text, "  ", newline) for key, text in merged.items() if text is not None]
    return field.first, field.last, [parent.encode() + b":" + newline, *children]


def _insertions(
    document: Frontmatter, appended: Mapping[KeyPath, str], newline: bytes
) -> Iterator[tuple[int, int, list[bytes]]]:
    end = len(document.lines)
    top = [_line(path[0], value, "", newline) for path, value in appended.items() if len(path) == 1]
    nested: dict[str, dict[str, str]] = {}
    for path, value in appended.items():
        if len(path) > 1:
            nested.setdefault(path[0], {})[path[1]] = value
    for parent, values in nested.items():
        field = document.fields.get((parent,))
        if field is None:
            top.append(parent.encode() + b":" + newline)
            top.extend(_line(key, value, "  ", newline) for key, value in values.items())
            continue
        match = _key(document.lines[field.first + 1]) if field.last > field.first + 1 else None
        indent = (match["indent"] if match else "") or "  "
        yield field.last, field.last, [_line(k, v, indent, newline) for k, v in values.items()]
    if top:
        yield end, end, top


def _line(key: str, value: str, indent: str, newline: bytes) -> bytes:
    return f"{indent}{key}: {encode_scalar(value)}".encode() + newline
