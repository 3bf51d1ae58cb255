"""Which files a pattern means: ``paths`` of rules as in ``.gitignore``, exclusions as plain globs.

Patterns come with a repository and may be made to cost time, so matching takes at most the product
of the lengths of pattern and path: libraries that make one regular expression of a pattern with
many stars take minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from itertools import pairwise

MAX_EXPANSIONS = 1000
"""Patterns that one with braces may stand for; one that stands for more means nothing."""

_LONGEST = 1024
_STARS = re.compile(r"\*{2,}")


def everything(patterns: Sequence[str]) -> bool:
    """Tell whether patterns set no condition: there are none, or only ``**``."""
    return all(pattern == "**" for pattern in patterns)


def matches(patterns: Sequence[str], path: str) -> bool:
    """Tell whether ``path`` (relative, with ``/``) is meant by patterns, as in ``.gitignore``.

    A pattern without a slash, or with one at its end only, means files and directories of that
    name at any depth; another is relative to the directory that the path is relative to. A
    directory means all in it, ``x/**`` is the same as ``x``, ``!`` takes back what an earlier
    pattern of the list means, and case does not count. Braces are expanded. A pattern with an
    open bracket means nothing.
    """
    compiled = [one for pattern in patterns for one in _compiled(pattern)]
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        meant = False
        for one in compiled:
            if not (one.directory and depth == len(parts)) and _fits(one.parts, parts[:depth]):
                meant = not one.negative
        if meant:
            return True
    return False


def excluded(patterns: Sequence[str], *paths: str) -> bool:
    """Tell whether one of the absolute ``paths`` is meant by one of the globs, case counting."""
    globs = [
        parts
        for pattern in patterns
        for one in _expanded(pattern)
        if (parts := _parts(one, case=True)) is not None
    ]
    return any(_fits(glob, path.split("/")) for path in paths for glob in globs)


_Part = re.Pattern[str] | None  # ``None`` is ``**``: any number of parts.


@dataclass(frozen=True, slots=True)
class _Compiled:
    parts: tuple[_Part, ...]
    negative: bool
    directory: bool


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> tuple[_Compiled, ...]:
    return tuple(_compile(pattern))


def _compile(pattern: str) -> Iterator[_Compiled]:
    for expanded in _expanded(pattern):
        text = expanded.strip()
        if text.startswith("#"):
            continue
        negative = text.startswith("!")
        text = text.removeprefix("!")
        while text.endswith(("/**", "/**/")):
            text = text.removesuffix("/").removesuffix("/**")
        directory = text.endswith("/")
        text = text.removesuffix("/")
        whole = text.removeprefix("/") if "/" in text else f"**/{text}"
        parts = _parts(whole, case=False)
        if text and parts is not None:
            yield _Compiled(parts, negative, directory)


def _parts(text: str, *, case: bool) -> tuple[_Part, ...] | None:
    """Compile a pattern part by part; ``None`` if it has an open bracket."""
    parts: list[_Part] = []
    for part in text.split("/"):
        if part == "**":
            # One after another they mean the same as one.
            if not parts or parts[-1] is not None:
                parts.append(None)
            continue
        if _is_open(part):
            return None
        plain = _STARS.sub("*", part).replace("[^", "[!")
        parts.append(re.compile(translate(plain), 0 if case else re.IGNORECASE))
    return tuple(parts)


def _is_open(part: str) -> bool:
    at = part.find("[")
    while at >= 0:
        # A bracket right at the beginning of a set is one of its signs.
        first = at + 2 if part[at + 1 : at + 2] in ("!", "^") else at + 1
        end = part.find("]", first + 1)
        if end < 0:
            return True
        at = part.find("[", end)
    return False


def _fits(pattern: tuple[_Part, ...], parts: Sequence[str]) -> bool:
    """Match part by part; after a mismatch the last ``**`` takes one part more."""
    at = back = 0
    star = -1
    index = 0
    while index < len(parts):
        part = pattern[at] if at < len(pattern) else ...
        if part is None:
            star, back = at, index
            at += 1
        elif part is not ... and part.match(parts[index]):
            at += 1
            index += 1
        elif star >= 0:
            back += 1
            at, index = star + 1, back
        else:
            return False
    return all(part is None for part in pattern[at:])


def _expanded(pattern: str) -> list[str]:
    """Expand the braces of a pattern; nothing if it is too long, or stands for too many."""
    if len(pattern) > _LONGEST:
        return []
    open_, done = [pattern], []
    while open_:
        text = open_.pop()
        group = _group(text)
        if group is None:
            done.append(text)
        else:
            start, commas, end = group
            edges = [start, *commas, end]
            choices = [text[a + 1 : b] for a, b in pairwise(edges)]
            open_.extend(text[:start] + choice + text[end + 1 :] for choice in reversed(choices))
        if len(open_) + len(done) > MAX_EXPANSIONS:
            return []
    return done


def _group(text: str) -> tuple[int, list[int], int] | None:
    """Return where the first braces with a comma open, their commas, and where they close."""
    stack: list[tuple[int, list[int]]] = []
    found: tuple[int, list[int], int] | None = None
    for at, sign in enumerate(text):
        if sign == "{":
            stack.append((at, []))
        elif sign == "," and stack:
            stack[-1][1].append(at)
        elif sign == "}" and stack:
            start, commas = stack.pop()
            if commas and (found is None or start < found[0]):
                found = start, commas, at
            if found is not None and not stack:
                return found
    return found
