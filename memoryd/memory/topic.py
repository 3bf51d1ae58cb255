"""A topic file: one memory, its frontmatter and its text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from memoryd.errors import MemorydError
from memoryd.extraction.operations import MemoryType
from memoryd.memory import frontmatter
from memoryd.memory.frontmatter import METADATA, Frontmatter, KeyPath, State

NAME = re.compile(r"^[a-z0-9][a-z0-9-]{0,63}\Z")
"""What memoryd calls the files it makes; others it reads under any name."""

NODE_TYPE = "memory"
_HEADING = re.compile(r"^#{1,6}[ \t]+(?=[^ \t#])")
_MAX_TITLE = 200
_LEADING_BLANK = re.compile(rb"^(?:[ \t]*\r?\n)*")


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A memory file as it is on disk.

    Attributes:
        name: stem of the file.
        title: for people, at most one line.
        type: one of the four, ``None`` when the file does not say.
        description: one line, possibly empty.
        mtime_ns: of the file, nanoseconds since 1970.
        marks: what weakens it (``headless``, ``assistant``, ``external``).
        session: id of the session it first came from, if it says.
        raw: the bytes of the file.
        body_start: where the text begins in ``raw``.
        rewritable: memoryd may change it; not so when its frontmatter is broken.
        warnings: what is wrong with it, in words.
    """

    name: str
    title: str
    type: MemoryType | None
    description: str
    mtime_ns: int
    marks: tuple[str, ...]
    session: str | None
    raw: bytes
    body_start: int
    rewritable: bool
    warnings: tuple[str, ...]

    @property
    def file(self) -> str:
        """Name of the file in its directory."""
        return f"{self.name}.md"

    @cached_property
    def modified(self) -> float:
        """Seconds since 1970 UTC: the age that the client shows."""
        return self.mtime_ns / 1e9

    @property
    def body(self) -> str:
        """The text without frontmatter, decoded anew at each call: snapshots stay small."""
        return self.raw[self.body_start :].decode(errors="replace").replace("\r\n", "\n").strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """What a memory shall say.

    Attributes:
        title: for the index, one line.
        description: one line.
        body: Markdown without frontmatter.
        type: ``None`` keeps what the file says.
        marks: ``None`` keeps what the file says.
        session: id of the session it comes from; written to new files only.
    """

    title: str
    description: str
    body: str
    type: MemoryType | None = None
    marks: tuple[str, ...] | None = None
    session: str | None = None


def parse_topic(name: str, raw: bytes, mtime_ns: int) -> Topic:
    """Read a memory file; whatever is wrong with it becomes a warning, never an error."""
    document = frontmatter.parse(raw)
    warnings = list(document.warnings)
    said = (document.find("type") or "").split()
    kind = next((member for member in MemoryType if said and member == said[0].lower()), None)
    if said and kind is None:
        warnings.append(f"the type {said[0][:40]!r} is not one of the four")
    body = document.body.decode(errors="replace")
    return Topic(
        name=name,
        title=one_line(document.find("title") or "") or _title(name, document.get("name"), body),
        type=kind,
        description=one_line(document.find("description") or ""),
        mtime_ns=mtime_ns,
        marks=tuple((document.find("marks") or "").replace(",", " ").split()),
        session=document.find("originSessionId") or None,
        raw=raw,
        body_start=len(raw) - len(document.body),
        rewritable=document.state is not State.BROKEN,
        warnings=tuple(warnings),
    )


def new_topic(name: str, fields: Fields, *, now: float) -> bytes:
    """Return the bytes of a new memory file."""
    title = one_line(fields.title)
    metadata = {"node_type": NODE_TYPE}
    if fields.type is not None:
        metadata["type"] = fields.type.value
    if fields.session:
        metadata["originSessionId"] = fields.session
    metadata["modified"] = timestamp(now)
    if fields.marks:
        metadata["marks"] = ", ".join(fields.marks)
    if title and title != _title(name, name, fields.body):
        metadata["title"] = title
    block: dict[str, str | Mapping[str, str]] = {
        "name": name,
        "description": one_line(fields.description),
        METADATA: metadata,
    }
    return frontmatter.render(block, _text(fields.body).encode(errors="replace"))


def update_topic(topic: Topic, fields: Fields, *, now: float) -> tuple[bytes, bool]:
    """Return the file with new content, and whether the fact itself changed.

    Bytes of what did not change stay. The fact is description, body and type; when only title or
    marks differ, ``modified`` stays too.

    Raises:
        MemorydError: the frontmatter is broken; a second block is never stacked on it.
    """
    if not topic.rewritable:
        raise MemorydError(
            f"the memory {topic.name!r} has broken frontmatter: {topic.warnings[-1]}",
            hint=f"mend the first lines of {topic.file} with an editor",
        )
    document = frontmatter.parse(topic.raw)
    description = one_line(fields.description)
    body = _text(fields.body)
    same_body = body.strip() == topic.body
    kind = fields.type if fields.type is not None else topic.type
    changed = not same_body or description != topic.description or kind != topic.type
    changes: dict[KeyPath, str | None] = {}
    if description != topic.description:
        changes[_standing(document, "description") or ("description",)] = description
    if kind is not None and kind != topic.type:
        changes[document.place("type")] = kind.value
    if fields.marks is not None and fields.marks != topic.marks:
        changes[document.place("marks")] = ", ".join(fields.marks) or None
    title = one_line(fields.title)
    if _standing(document, "title") or title != _title(topic.name, document.get("name"), body):
        changes[document.place("title")] = title or None
    if changed:
        changes[document.place("modified")] = timestamp(now)
    new_body = None if same_body else _replaced(document, body)
    return frontmatter.edit(document, changes, body=new_body), changed


def one_line(text: str) -> str:
    """Collapse all white space and line ends to single spaces."""
    return " ".join(text.split())


def timestamp(now: float) -> str:
    """Return ``now`` (seconds since 1970) as the client writes instants: ISO, ms, ``Z``."""
    instant = datetime.fromtimestamp(round(now * 1000) / 1000, UTC)
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _title(name: str, said: str | None, body: str) -> str:
    """Return the title a memory has without saying one: its free name, its heading, its stem."""
    free = one_line(said or "")
    if free and free != name and not re.fullmatch(r"[\w.-]+", free):
        return free
    first = body.lstrip().partition("\n")[0][:_MAX_TITLE]
    heading = _HEADING.match(first)
    if heading is not None:
        return one_line(first[heading.end() :].rstrip(" \t\r#"))
    words = name.replace("-", " ").replace("_", " ").strip() or name
    return words[:1].upper() + words[1:]


def _standing(document: Frontmatter, key: str) -> KeyPath | None:
    path = document.place(key)
    return path if path in document.fields else None


def _text(body: str) -> str:
    text = body.replace("\r\n", "\n").strip()
    return f"{text}\n" if text else ""


def _replaced(document: Frontmatter, body: str) -> bytes:
    """Return the new text with the blank lines before it and the line ends of the old one."""
    old = document.body
    leading = _LEADING_BLANK.match(old)
    crlf = b"\r\n" in old and old.count(b"\r\n") == old.count(b"\n")
    text = (body.replace("\n", "\r\n") if crlf else body).encode(errors="replace")
    return (leading[0] if leading else b"") + text
