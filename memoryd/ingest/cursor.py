"""Where reading a file stands, and whether the file on the disk is still the one that was read.

Pure: the reader brings what it found on the disk, this module decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

import msgspec

HEAD_BYTES = 4096
ANCHOR_BYTES = 256


class Verdict(StrEnum):
    """What became of a file since it was last read."""

    UNCHANGED = "unchanged"
    """Nothing lies behind the cursor."""
    GROWN = "grown"
    """The same file with more behind the cursor."""
    REPLACED = "replaced"
    """Shorter, rewritten, or another file: to be read from its start."""


class Mark(msgspec.Struct, array_like=True, frozen=True):
    """What the next pass over a file must know besides its offset.

    Attributes:
        turn: row id of the turn that new records belong to, 0 if there is none.
        reread_to: below this position a turn met again is the same turn at a new place, not a
            copy: the file was replaced and is being read anew.
        anchor: digest of the last bytes before the offset.
        reader: state of the transcript reader.
    """

    turn: int = 0
    reread_to: int = 0
    anchor: bytes = b""
    reader: bytes | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A file as it is on the disk now."""

    device: int
    inode: int
    size: int


@dataclass(frozen=True, slots=True)
class Position:
    """How far a file was read.

    Attributes:
        device: of the file when it was read.
        inode: as above.
        offset: everything before it is handled.
        head_length: how many of the first bytes ``head_hash`` covers.
        head_hash: digest of them, ``None`` before anything was read.
        anchor: digest of the last bytes before ``offset``, empty before anything was read.
    """

    device: int
    inode: int
    offset: int
    head_length: int
    head_hash: bytes | None
    anchor: bytes


def judge(position: Position, found: Found, head: bytes, anchor: bytes) -> Verdict:
    """Say what became of a file.

    The device number alone proves nothing: some file systems get another one at each mount.

    Args:
        position: how far it was read.
        found: the file now.
        head: its first ``position.head_length`` bytes.
        anchor: its last (at most `ANCHOR_BYTES`) bytes before ``position.offset``.
    """
    if found.inode != position.inode or found.size < position.offset:
        return Verdict.REPLACED
    if position.head_hash is not None and digest(head) != position.head_hash:
        return Verdict.REPLACED
    if position.anchor and digest(anchor) != position.anchor:
        return Verdict.REPLACED
    return Verdict.UNCHANGED if found.size == position.offset else Verdict.GROWN


def digest(data: bytes) -> bytes:
    """Return 16 bytes that stand for ``data``."""
    return blake2b(data, digest_size=16).digest()


def uuid_key(uuid: str) -> int:
    """Return the signed 64-bit digest by which a record's uuid is remembered."""
    raw = blake2b(uuid.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big", signed=True)


def signed(number: int) -> int:
    """Return an inode or device number as a database holds it: 64 bits with a sign."""
    return number - (1 << 64) if number >= 1 << 63 else number


def encode_mark(mark: Mark) -> bytes:
    """Return ``mark`` as bytes for the database."""
    return msgspec.msgpack.encode(mark)


def decode_mark(data: bytes | None) -> Mark | None:
    """Return what `encode_mark` made, ``None`` for bytes of another version."""
    if data is None:
        return Mark()
    try:
        return msgspec.msgpack.decode(data, type=Mark)
    except msgspec.DecodeError:
        return None
