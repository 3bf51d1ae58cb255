"""The blocks of a Markdown text, as far as instructions need them: what is code, HTML, prose.

A line belongs to one block. Containers (quotations, lists) are followed so that code inside them is
seen; what they mean otherwise does not matter here. The rules are those of CommonMark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from memoryd.instructions.inline import TAG


class Block(StrEnum):
    """What a line is part of."""

    BLANK = "blank"
    """Nothing but white space, outside code and HTML."""
    PROSE = "prose"
    """A paragraph, a heading, a table."""
    CODE = "code"
    """Fenced or indented, fences included."""
    HTML = "html"
    """A block of HTML other than a comment."""
    COMMENT = "comment"
    """A block that starts with a comment, up to the end of the line that closes it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes:
        raw: the whole line with its end.
        text: without end and without the marks of the containers around it.
        block: what it is part of.
        begins: it does not continue the block of the line before.
        top: it stands in no container.
    """

    raw: str
    text: str
    block: Block
    begins: bool
    top: bool


_TAGS = (
    "address article aside base basefont blockquote body caption center col colgroup dd details "
    "dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 "
    "head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option "
    "p param search section summary table tbody td tfoot th thead title tr track ul"
).replace(" ", "|")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_QUOTE = re.compile(r"^ {0,3}> ?")
_ITEM = re.compile(r"^( {0,3}(?:[-*+]|\d{1,9}[.)]))(?: |$)")
_RULE = re.compile(r"^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?: |$)")
_COMMENT = re.compile(r"^ {0,3}<!--(?!-?>)")
_HTML = (
    (re.compile(r"^ {0,3}<(?:script|pre|style|textarea)(?:\s|>|$)", re.IGNORECASE),
     re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)),
    (re.compile(r"^ {0,3}<\?"), re.compile(r"\?>")),
    (re.compile(r"^ {0,3}<![a-z]", re.IGNORECASE), re.compile(r">")),
    (re.compile(r"^ {0,3}<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"^ {{0,3}}</?(?:{_TAGS})(?:\s|/?>|$)", re.IGNORECASE), None),
)  # fmt: skip
_ALONE = re.compile(rf"^ {{0,3}}{TAG}\s*$", re.IGNORECASE)
_CLOSED = re.compile("-->")
_INTERRUPTING = (_FENCE, _COMMENT, _HEADING, _QUOTE, _ITEM, *(start for start, _ in _HTML))
_MARKS = re.compile(r"[ \t>*+\-\d.)]+")
_TAB = 4
_CODE = " " * _TAB
_DEPTH = 64
_PLAIN = frozenset({Block.BLANK, Block.PROSE})
_EMPTY = Line("\n", "", Block.BLANK, begins=True, top=True)
# What a line begins with that is more than prose.
_SIGNS = frozenset(">-*+_#`~<0123456789")
_LONGEST_RULE = 200


def lines(text: str) -> Iterator[Line]:
    r"""Yield the lines of a text; joining their ``raw`` gives it back. Lines end at ``\n``."""
    reader = _Reader()
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield reader.blank() if text[start] == "\n" else reader.line(text[start:end])
        start = end


def headings(text: str) -> tuple[str, ...]:
    """Return the headings of a text that are written with ``#``, outside code."""
    found = []
    for line in lines(text):
        if line.block is Block.PROSE and _HEADING.match(line.text):
            words = line.text.strip().lstrip("#").strip()
            bare = words.rstrip("#")
            # Signs at the end that stand apart close the heading.
            found.append(bare.rstrip() if not bare or bare.endswith(" ") else words)
    return tuple(heading for heading in found if heading)


class _Reader:
    """Goes through a text once.

    Containers are numbers: 0 is a quotation, anything else the indentation that continues an item
    of a list. The block is the one that the next line may continue.
    """

    def __init__(self) -> None:
        self._containers: list[int] = []
        self._block = Block.BLANK
        self._fence = ""
        self._end: re.Pattern[str] | None = None

    def blank(self) -> Line:
        """Read an empty line; texts may hold millions."""
        if self._containers or self._block not in _PLAIN:
            return self.line("\n")
        self._block = Block.BLANK
        return _EMPTY

    def line(self, raw: str) -> Line:
        """Read the next line, whatever it is."""
        rest, depth = self._continued(_expand(raw.rstrip("\r\n")))
        if depth < len(self._containers):
            if self._block is Block.PROSE and rest.strip() and not _interrupts(rest):
                return Line(raw, rest.strip(), Block.PROSE, begins=False, top=False)
            del self._containers[depth:]
            self._close()
        before = self._block
        if self._takes(rest):
            return self._made(raw, rest, self._goes_on(rest), begins=False)
        rest, opened = self._opened(rest)
        if opened or before is not Block.PROSE:
            self._close()
        block, continues = self._new(rest)
        return self._made(raw, rest, block, begins=not continues)

    def _made(self, raw: str, rest: str, block: Block, *, begins: bool) -> Line:
        return Line(raw, rest, block, begins=begins, top=not self._containers)

    def _close(self) -> None:
        self._block, self._fence, self._end = Block.BLANK, "", None

    def _continued(self, text: str) -> tuple[str, int]:
        """Return what is left of a line behind the containers it continues, and how many."""
        for depth, width in enumerate(self._containers):
            if width == 0:
                match = _QUOTE.match(text)
                if match is None:
                    return text, depth
                text = text[match.end() :]
            elif text.strip() and not text.startswith(" " * width):
                return text, depth
            else:
                text = text[width:]
        return text, len(self._containers)

    def _opened(self, text: str) -> tuple[str, bool]:
        """Open the containers that begin on a line; return what is left of it."""
        opened = False
        while len(self._containers) < _DEPTH and _special(text):
            if match := _QUOTE.match(text):
                self._containers.append(0)
                text = text[match.end() :]
            elif not _is_rule(text) and (match := _ITEM.match(text)):
                rest = text[match.end(1) :]
                spaces = len(rest) - len(rest.lstrip(" "))
                # More than four spaces behind the mark are one, and then code.
                width = len(match[1]) + (spaces if spaces <= _TAB and rest.strip() else 1)
                self._containers.append(width)
                text = text[width:]
            else:
                break
            opened = True
        return text, opened

    def _takes(self, rest: str) -> bool:
        """Tell whether code or HTML that is open takes this line, whatever it is."""
        match self._block:
            case Block.CODE:
                return bool(self._fence) or not rest.strip() or rest.startswith(_CODE)
            case Block.HTML | Block.COMMENT:
                return self._end is not None or bool(rest.strip())
            case _:
                return False

    def _goes_on(self, rest: str) -> Block:
        block = self._block
        if (self._fence and _closes(rest, self._fence)) or (
            self._end is not None and self._end.search(rest)
        ):
            self._close()
        return block

    def _new(self, rest: str) -> tuple[Block, bool]:
        """Return what a line begins, and whether it continues the open paragraph instead."""
        prose = self._block is Block.PROSE
        if not rest.strip():
            return self._begun(Block.BLANK), False
        if rest.startswith(_CODE) and not prose:
            return self._begun(Block.CODE), False
        block = self._marked(rest, prose=prose) if _special(rest) else None
        if block is not None:
            return block, False
        return self._begun(Block.PROSE), prose

    def _marked(self, rest: str, *, prose: bool) -> Block | None:
        """Return the block that a line begins with its first signs, ``None`` for a paragraph."""
        if _HEADING.match(rest) or _is_rule(rest):
            self._close()
            return Block.PROSE
        if (match := _FENCE.match(rest)) and not (match[1][0] == "`" and "`" in match[2]):
            self._fence = match[1]
            return self._begun(Block.CODE)
        if _COMMENT.match(rest):
            return self._until(_CLOSED, self._begun(Block.COMMENT), rest)
        for start, end in _HTML:
            if start.match(rest):
                return self._until(end, self._begun(Block.HTML), rest)
        return self._begun(Block.HTML) if not prose and _ALONE.match(rest) else None

    def _begun(self, block: Block) -> Block:
        self._block = block
        return block

    def _until(self, end: re.Pattern[str] | None, block: Block, rest: str) -> Block:
        self._end = end
        if end is not None and end.search(rest):
            self._close()
        return block


def _expand(text: str) -> str:
    """Expand the tabs of the indentation and of the marks of containers, and no others."""
    match = _MARKS.match(text)
    if match is None or "\t" not in match[0]:
        return text
    return match[0].expandtabs(_TAB) + text[match.end() :]


def _special(rest: str) -> bool:
    """Tell whether a line may begin anything but prose."""
    mark = rest[:_TAB].lstrip(" ")
    return bool(mark) and mark[0] in _SIGNS


def _is_rule(rest: str) -> bool:
    return len(rest) <= _LONGEST_RULE and _RULE.match(rest) is not None


def _interrupts(rest: str) -> bool:
    """Tell whether a line ends a paragraph although it does not continue its containers."""
    if not _special(rest):
        return False
    return _is_rule(rest) or any(pattern.match(rest) for pattern in _INTERRUPTING)


def _closes(rest: str, fence: str) -> bool:
    mark = rest.strip()
    return not rest.startswith(_CODE) and len(mark) >= len(fence) and not mark.strip(fence[0])
