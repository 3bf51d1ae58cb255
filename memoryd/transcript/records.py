"""A line to records: every whole object on it, whatever stands before or between."""

from __future__ import annotations

import re

import msgspec

from memoryd.transcript.lenient import fitted, load
from memoryd.transcript.shapes import (
    BOOKKEEPING,
    TAGGED,
    AssistantRecord,
    Bookkeeping,
    Record,
    TreeRecord,
    Unknown,
    lines_decoder,
    tagged_decoder,
)
from memoryd.transcript.shrink import shrunk

_LEAD = b'{"type":"'
_SEPARATORS = re.compile(rb"(?:[ \t\r\n\0]|\xef\xbb\xbf)*+")
_OBJECT = re.compile(rb'\{\s*+"')
_BYTE = re.compile(r"\(byte (\d+)\)")
_TRAILING = "trailing characters"
_INSIDE = b",]}:"
_NOT_IN_JSON = bytes(range(0x20))
_SPACES = bytes.maketrans(_NOT_IN_JSON, b" " * len(_NOT_IN_JSON))

# Escapes, with surrogates told apart: a pair, a lone one, anything else.
_SURROGATES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_IN_VALUE_PLACE = b":[,"

_RESYNC_WORK = 64 * 2**20
"""Bytes that may be scanned in vain before the rest of a broken line is given up."""

_ATTEMPT = 1024
"""What one attempt counts at least."""

_LOOK_BACK = 64


class _Typed(msgspec.Struct):
    """The type of any object."""

    type: object = None


_raw = msgspec.json.Decoder(msgspec.Raw)
_typed = msgspec.json.Decoder(_Typed)


class Found(msgspec.Struct, frozen=True, gc=False):
    """A record and the bytes it was made from."""

    record: Record
    data: bytes


class Parsed(msgspec.Struct, frozen=True, gc=False):
    """What a line held.

    Attributes:
        found: its whole objects, in order.
        bad: pieces that are not one: torn, not JSON, not an object, runs of NUL.
    """

    found: tuple[Found, ...]
    bad: int = 0


_NOTHING = Parsed(())


def parse_line(data: bytes) -> Parsed:
    """Return every whole JSON object of a line (without its newline).

    Args:
        data: one line; it may hold anything.
    """
    record = whole_record(data)
    if record is not None:
        return Parsed((Found(record, data),))
    return parse_closely(data)


def whole_record(data: bytes) -> Record | None:
    """Return the record of a well-formed line, ``None`` where `parse_closely` must look."""
    try:
        if data.startswith(_LEAD):
            end = data.find(b'"', len(_LEAD))
            kind = data[len(_LEAD) : end].decode("ascii", "replace") if end > 0 else ""
            if kind in BOOKKEEPING:
                _raw.decode(data)
                return Bookkeeping(kind)
        record = tagged_decoder.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None
    # Names with U+0000 are cleaned on the slow way; texts are where they are taken out.
    return None if isinstance(record, TreeRecord) and "\0" in _names(record) else record


def _names(record: TreeRecord) -> str:
    """Return what is taken from a record as it stands."""
    message_id = ""
    if isinstance(record, AssistantRecord) and record.message is not None:
        message_id = record.message.id or ""
    return (
        f"{record.uuid}{record.cwd}{record.session_id}{record.version}{record.git_branch}"
        f"{record.agent_id}{message_id}"
    )


def whole_records(lines: memoryview, count: int) -> list[Record] | None:
    """Return the records of well-formed lines, ``None`` where they must be taken one by one.

    To decode many lines in one go takes half the time. A record of the conversation must still be
    asked whether it `stands_alone`.

    Args:
        lines: as `braced_lines` takes them.
        count: how many they are.
    """
    try:
        found: list[Record] = [*lines_decoder.decode_lines(lines)]
    except (msgspec.DecodeError, RecursionError):
        return None
    # More, where two objects stand on a line.
    return found if len(found) == count else None


def stands_alone(record: TreeRecord) -> bool:
    """Return whether everything that is taken from a record is in it, without its line."""
    return bool(record.uuid) and "\0" not in _names(record)


def is_named(record: TreeRecord) -> bool:
    """Return whether a record `stands_alone`, if it is known that its place does."""
    if not record.uuid or "\0" in record.uuid:
        return False
    if type(record) is not AssistantRecord or record.message is None:
        return True
    return "\0" not in (record.message.id or "")


def parse_closely(data: bytes) -> Parsed:
    """Return every whole JSON object of a line that is not one well-formed object."""
    if not data.strip(b" \t\r"):
        return _NOTHING
    found = []
    pieces, bad = _objects(data)
    for piece in pieces:
        record = _record(piece)
        if record is None:
            bad += 1
        else:
            found.append(Found(record, piece))
    return Parsed(tuple(found), bad)


def _record(piece: bytes) -> Record | None:
    """Return the record of one whole object; ``None`` if it cannot be decoded at all."""
    try:
        piece, kind = _type_of(piece)
    except (msgspec.DecodeError, RecursionError):
        return None
    if isinstance(kind, str) and kind in BOOKKEEPING:
        return Bookkeeping(kind)
    if not isinstance(kind, str) or kind not in TAGGED:
        return Unknown(kind if isinstance(kind, str) else None)
    try:
        return tagged_decoder.decode(fitted(piece))
    except RecursionError:
        return tagged_decoder.decode(fitted(shrunk(piece)))


def _type_of(piece: bytes) -> tuple[bytes, object]:
    """Return the object (made flat where it is too deep to decode) and its ``type``."""
    try:
        return piece, _typed.decode(piece).type
    except RecursionError:
        flat = shrunk(piece)
        return flat, _typed.decode(flat).type
    except msgspec.DecodeError:
        return piece, load(piece).get("type")


def _objects(data: bytes) -> tuple[list[bytes], int]:
    """Split a line into its whole objects and the number of other pieces."""
    plain = _SURROGATES.sub(_no_lone_surrogate, data.translate(_SPACES))
    pieces: list[bytes] = []
    bad = 0
    work = _RESYNC_WORK
    pos = 0
    while True:
        gap = _SEPARATORS.match(data, pos)
        end = gap.end() if gap else pos
        bad += b"\0" in data[pos:end]
        pos = end
        if pos >= len(data):
            return pieces, bad
        end, _ = _whole(plain, pos)
        if end:
            if plain[pos] == _LEAD[0]:
                pieces.append(plain[pos:end].rstrip())
                end = pos + len(pieces[-1])
            else:
                bad += 1
            pos = end
            continue
        bad += 1
        pos, work = _resync(plain, pos + 1, work)


def _resync(data: bytes, pos: int, work: int) -> tuple[int, int]:
    """Find the next object that is no part of a torn one; work is what may still be scanned."""
    while work > 0:
        candidate = _OBJECT.search(data, pos)
        if candidate is None:
            break
        pos = candidate.start()
        end, read = _whole(data, pos)
        work -= read + _ATTEMPT
        if not end:
            pos += 1
        elif _is_fragment(data, pos, end):
            pos = end
        else:
            return pos, work
    return len(data), work


def _is_fragment(data: bytes, pos: int, end: int) -> bool:
    """Whether the object is a part of a torn one: its syntax goes on, or began before it."""
    if end < len(data) and data[end] in _INSIDE:
        return True
    before = data[max(0, pos - _LOOK_BACK) : pos].rstrip()
    if before and before[-1] not in _IN_VALUE_PLACE:
        return False
    try:
        _, kind = _type_of(data[pos:end])
    except (msgspec.DecodeError, RecursionError):
        return True
    return kind not in BOOKKEEPING and kind not in TAGGED


def _no_lone_surrogate(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if escape["lone"] else escape[0]


def _whole(data: bytes, pos: int) -> tuple[int, int]:
    """Return where the JSON value at ``pos`` ends (0: it is none), and how many bytes were read."""
    view = memoryview(data)[pos:]
    try:
        _raw.decode(view)
    except RecursionError:
        return _whole_by_counting(data, pos)
    except msgspec.DecodeError as error:
        message = str(error)
        at = _BYTE.search(message)
        read = int(at[1]) if at else len(view)
        # The decoder names the byte after the first one that is too much.
        return (pos + read - 1 if _TRAILING in message else 0), read
    return len(data), len(view)


_BRACKETS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


def _whole_by_counting(data: bytes, pos: int) -> tuple[int, int]:
    """Find the end of a value that is nested too deeply for the decoder."""
    depth = 0
    for token in _BRACKETS.finditer(data, pos):
        first = token[0][:1]
        if first in b"[{":
            depth += 1
        elif first in b"]}":
            depth -= 1
            if depth <= 0:
                return token.end(), token.end() - pos
    return 0, len(data) - pos
