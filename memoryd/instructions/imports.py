r"""Finding ``@path`` imports in a text.

An import begins a line or stands behind white space, and ends at white space; a space inside it is
written ``\ ``. Punctuation belongs to it, so ``@notes.md.`` names a file that ends in a full stop.
Code, HTML, comments and the targets of links hold none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryd.instructions.inline import spans
from memoryd.instructions.markdown import Block, lines

_IMPORT = re.compile(r"(?:^|(?<=\s))(?P<mark>[*_]{1,3}|\[)?@(?P<path>(?:[^\s\\]|\\ )+)")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]]+\]:")


def find_imports(text: str) -> tuple[str, ...]:
    """Return the paths that a text imports, in its order, each once, as they are meant.

    Escaped spaces are plain and a fragment (``#part``) is cut off. Whether the files exist is not
    known here.
    """
    if "@" not in text:
        return ()
    found: dict[str, None] = {}
    for paragraph in _paragraphs(text):
        if "@" not in paragraph or _DEFINITION.match(paragraph):
            continue
        for match in _IMPORT.finditer(_plain(paragraph)):
            if path := _meant(match["path"], match["mark"] or ""):
                found[path] = None
    return tuple(found)


def _paragraphs(text: str) -> Iterator[str]:
    paragraph: list[str] = []
    for line in lines(text):
        if paragraph and (line.begins or line.block not in (Block.PROSE, Block.COMMENT)):
            yield "\n".join(paragraph)
            paragraph = []
        # Behind a comment a line may go on.
        if line.block is Block.PROSE or (line.block is Block.COMMENT and "-->" in line.text):
            paragraph.append(line.text)
    if paragraph:
        yield "\n".join(paragraph)


def _plain(paragraph: str) -> str:
    """Return a paragraph with spaces where no import can be."""
    pieces, at = [], 0
    for span in spans(paragraph):
        written = paragraph[span.start : span.end]
        pieces.append(paragraph[at : span.start])
        # An escaped @ is one for the reader; any other sign only ends what stands before it.
        pieces.append("\\\\" if written == "\\@" else " " * len(written))
        at = span.end
    return "".join(pieces) + paragraph[at:]


def _meant(written: str, mark: str) -> str | None:
    if mark == "[":
        written, link, _ = written.partition("](")
        if not link:
            return None
    elif mark:
        # Emphasis around the whole import is no part of it.
        written = written.removesuffix(mark)
    path = written.partition("#")[0].replace("\\ ", " ")
    if path.startswith(("./", "../", "~/")):
        return path
    if path.startswith("/"):
        return path if path != "/" else None
    return path if path and (path[0].isalnum() or path[0] in "._-") else None
