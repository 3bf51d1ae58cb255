"""Taking comments out of instructions: they are for the people who maintain the file."""

from __future__ import annotations

from memoryd.instructions.inline import Piece, spans
from memoryd.instructions.markdown import Block, Line, lines


def strip_comments(text: str) -> str:
    """Return a text without its block HTML comments.

    A block comment begins a line that is in no list and no quotation. It goes with the empty
    lines behind it; what follows it on its last line stays. Comments inside a line of prose, in
    code and in HTML stay, as does one that is never closed. Every other byte stays.
    """
    if "<!--" not in text:
        return text
    kept: list[str] = []
    block: list[str] = []
    swallow = False
    for line in lines(text):
        comment = line.block is Block.COMMENT and line.top
        if block and not (comment and not line.begins):
            swallow = _settle(block, kept)
        if comment:
            block.append(line.raw)
            continue
        swallow = swallow and _empty(line)
        if not swallow:
            kept.append(line.raw)
    _settle(block, kept)
    return "".join(kept)


def _settle(block: list[str], kept: list[str]) -> bool:
    """Keep what is left of a block; tell whether nothing was."""
    text = "".join(block)
    block.clear()
    left, at = "", 0
    for span in spans(text):
        if span.piece is Piece.COMMENT:
            left, at = left + text[at : span.start], span.end
    left += text[at:]
    if left.strip():
        kept.append(left)
    return not left.strip()


def _empty(line: Line) -> bool:
    return line.block is Block.BLANK and line.top
