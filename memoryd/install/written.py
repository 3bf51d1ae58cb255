"""Files that installing writes whole: each tells its own digest, so that edits are seen. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

# Behind a first line that the reader of the file may need, such as ``#compdef``.
_MARK = re.compile(r"\A((?:#compdef [^\n]*\n)?)# Written by memoryctl install, sha256 (\w{64})\n")


class Standing(StrEnum):
    """What became of a file that was to be installed."""

    ABSENT = "absent"
    """There is none."""
    SAME = "same"
    """It is what would be installed now."""
    OLDER = "older"
    """It was installed, but today's differs: another version, place or environment."""
    EDITED = "edited"
    """It was installed and changed by somebody since."""
    FOREIGN = "foreign"
    """Somebody else made it."""


@dataclass(frozen=True, slots=True)
class Written:
    """A file to be installed.

    Attributes:
        name: of the file.
        text: its contents, with a line that tells the digest of the rest.
    """

    name: str
    text: str


def marked(name: str, text: str) -> Written:
    """Return a file with the line that tells its digest."""
    head, rest = "", text
    if text.startswith("#compdef "):
        head, _, rest = text.partition("\n")
        head += "\n"
    return Written(name, f"{head}# Written by memoryctl install, sha256 {_digest(text)}\n{rest}")


def standing(file: Written, found: bytes | None) -> Standing:
    """Say what became of a file.

    Args:
        file: as it would be installed now.
        found: the bytes that are there, ``None`` if there is no file.
    """
    if found is None:
        return Standing.ABSENT
    if found == file.text.encode():
        return Standing.SAME
    text = found.decode(errors="replace")
    mark = _MARK.match(text)
    if mark is None:
        return Standing.FOREIGN
    return Standing.OLDER if mark[2] == _digest(mark[1] + text[mark.end() :]) else Standing.EDITED


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
