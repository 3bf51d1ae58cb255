"""``MEMORY.md``: the lines that are memoryd's own among the lines of others.

The client shows the first 200 lines and 25,000 bytes of it at every start, and what stands below
is not seen. An own line is ``- [Title](file.md) — hook``. It is recognised by its words, not by its
shape: a line is memoryd's when it is what memoryd writes, or last wrote, for that file. The
client writes lines of the same shape with hooks of its own; those stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

from memoryd.memory.frontmatter import split_lines
from memoryd.memory.topic import Topic, one_line

FILE = "MEMORY.md"
MAX_LINES = 200
MAX_BYTES = 24 * 1024
"""Below the client's 25,000 bytes; in bytes of the whole file, UTF-8."""
MAX_LINE = 200
"""Characters of an own line, without its end."""
MAX_TITLE = 60

_IN_TITLE = frozenset("\\[]()<>`")
_IN_HOOK = _IN_TITLE - frozenset("()")
"""Without brackets no parenthesis makes a link, and prose is full of them."""
_OWN = re.compile(r"^- \[((?:[^\\\[\]]|\\.)+)\]\(([^()\s<>]+\.md)\) — (.+)$")
_MENTION = re.compile(r"\]\(\s*<?(?:\./)?([^()<>]+?\.md)>?(?:#[^)\s]*)?(?:\s+\"[^\"]*\")?\s*\)")
_BACKSLASH = re.compile(r"\\(.)")
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


@dataclass(frozen=True, slots=True)
class IndexLine:
    """One own line; made by ``IndexLine.of``, which cuts to size."""

    title: str
    file: str
    hook: str

    @classmethod
    def of(cls, title: str, file: str, hook: str) -> IndexLine | None:
        """Return the line for a file, at most 200 characters; ``None`` if its name takes them."""
        link = len(_link(file))
        clean_title = _cut(
            _clean(title) or _clean(file.removesuffix(".md")) or "Memory", MAX_TITLE, _IN_TITLE
        )
        room = MAX_LINE - len("- []() — ") - link - len(_escape(clean_title, _IN_TITLE))
        clean_hook = _cut(_clean(hook) or clean_title, room, _IN_HOOK)
        return cls(clean_title, file, clean_hook) if clean_hook else None

    def render(self) -> str:
        """Return the line without its end."""
        title, hook = _escape(self.title, _IN_TITLE), _escape(self.hook, _IN_HOOK)
        return f"- [{title}]({_link(self.file)}) — {hook}"


@dataclass(frozen=True, slots=True)
class Reconciled:
    """An index that agrees with the topics.

    Attributes:
        raw: the new bytes of the file.
        warnings: what a person should know, in words.
        left_out: names of the memories without a line, for want of room; newest first.
    """

    raw: bytes
    warnings: tuple[str, ...]
    left_out: tuple[str, ...]


def parse_line(text: str) -> IndexLine | None:
    """Read a line of exactly the own shape; ``None`` for anything else."""
    match = _OWN.match(text)
    if match is None:
        return None
    try:
        file = unquote_to_bytes(match[2]).decode()
    except UnicodeDecodeError:
        return None
    line = IndexLine(_unescape(match[1]), file, _unescape(match[3]))
    return line if line.render() == text else None


def line_of(topic: Topic) -> str | None:
    """Return the own line of a memory: its title, and its description as the hook."""
    hook = topic.description or one_line(topic.body[:1000].partition("\n")[0].lstrip("#"))
    line = IndexLine.of(topic.title, topic.file, hook)
    return None if line is None else line.render()


def candidates(raw: bytes) -> dict[str, str]:
    """Return the lines of own shape, and the file each names."""
    found: dict[str, str] = {}
    for line in split_lines(raw):
        text = _text(line)
        parsed = None if text is None else parse_line(text)
        if text is not None and parsed is not None:
            found[text] = parsed.file
    return found


def reconcile(
    raw: bytes,
    topics: Iterable[Topic],
    *,
    written: Collection[str] = (),
    changed: Collection[str] = (),
) -> Reconciled:
    """Make the index agree with the topics.

    Lines of others stay byte for byte in their order. A memory that one of them links to gets no
    line. Own lines stay where they are while they are right; those of changed memories move, and
    missing ones come, before the first own line of an older memory. When all do not fit, those
    of the oldest memories are left out.

    Args:
        raw: the file now; empty when there is none.
        topics: all memories of the directory.
        written: own lines memoryd wrote before, for memories that changed or went since.
        changed: names of the memories whose lines move to their place by age.
    """
    lines = split_lines(raw)
    by_name = {topic.name: topic for topic in topics}
    names = [_owner(line, by_name, written) for line in lines]
    foreign = [line for line, name in zip(lines, names, strict=True) if name is None]
    newline = _newline(
        [line for line, name in zip(lines, names, strict=True) if name is not None] + lines
    )
    mentioned = _mentioned(foreign, by_name)
    order = sorted(by_name.keys() - mentioned, key=lambda name: (-by_name[name].mtime_ns, name))
    wanted, left_out = _fitting(foreign, [by_name[name] for name in order], newline)
    warnings = []
    if _exceeds(len(foreign), sum(map(len, foreign))):
        warnings.append(
            f"{FILE} has {len(foreign)} lines and {sum(map(len, foreign))} bytes that are not "
            f"memoryd's; the client reads only {MAX_LINES} lines and {MAX_BYTES} bytes"
        )
    placed = _Placing(wanted, frozenset(changed))
    return Reconciled(placed.weave(lines, names, newline.encode()), tuple(warnings), left_out)


class _Placing:
    """Own lines on their way into the file."""

    def __init__(self, wanted: dict[str, bytes], changed: frozenset[str]) -> None:
        self.rank = {name: rank for rank, name in enumerate(wanted)}
        self.wanted = wanted
        self.changed = changed

    def weave(self, lines: list[bytes], names: list[str | None], newline: bytes) -> bytes:
        """Put the own lines among the others: the first run of own lines takes what moves."""
        first = next((i for i, name in enumerate(names) if name is not None), len(lines))
        end = next((i for i in range(first, len(lines)) if names[i] is None), len(lines))
        elsewhere: list[bytes] = []
        taken: set[str] = set()
        for line, name in zip(lines[end:], names[end:], strict=True):
            if name is None:
                elsewhere.append(line)
            elif name in self.rank and name not in taken:
                taken.add(name)
                elsewhere.append(self.wanted[name])
        run = self._run([name for name in names[first:end] if name is not None], taken)
        head = lines[:first]
        if run and head and not head[-1].endswith(b"\n"):
            head = [*head[:-1], head[-1] + newline]
        return b"".join([*head, *(self.wanted[name] for name in run), *elsewhere])

    def _run(self, present: Sequence[str], taken: set[str]) -> list[str]:
        staying = dict.fromkeys(
            name
            for name in present
            if name in self.rank and name not in taken and name not in self.changed
        )
        run = list(staying)
        moving = [name for name in self.rank if name not in staying and name not in taken]
        for name in reversed(moving):
            older = (i for i, other in enumerate(run) if self.rank[other] > self.rank[name])
            run.insert(next(older, len(run)), name)
        return run


def _owner(line: bytes, topics: dict[str, Topic], written: Collection[str]) -> str | None:
    """Return the memory whose own line this is, ``None`` when it is not memoryd's."""
    text = _text(line)
    parsed = None if text is None else parse_line(text)
    if text is None or parsed is None:
        return None
    name = parsed.file.removesuffix(".md")
    now = None if name not in topics else line_of(topics[name])
    return name if text == now or text in written else None


def _fitting(
    foreign: list[bytes], topics: Sequence[Topic], newline: str
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Return the lines that fit beside the foreign ones, by name, and the names of the rest."""
    count, size = len(foreign), sum(map(len, foreign))
    if foreign and not foreign[-1].endswith(b"\n"):
        size += len(newline)
    wanted: dict[str, bytes] = {}
    for position, topic in enumerate(topics):
        line = line_of(topic)
        if line is None:
            continue
        ended = f"{line}{newline}".encode()
        count, size = count + 1, size + len(ended)
        if _exceeds(count, size):
            return wanted, tuple(other.name for other in topics[position:])
        wanted[topic.name] = ended
    return wanted, ()


def _newline(lines: Iterable[bytes]) -> str:
    """Return the end of the first line that has one."""
    ended = next((line for line in lines if line.endswith(b"\n")), b"\n")
    return "\r\n" if ended.endswith(b"\r\n") else "\n"


def _exceeds(lines: int, size: int) -> bool:
    return lines > MAX_LINES or size > MAX_BYTES


def _mentioned(foreign: Iterable[bytes], names: Collection[str]) -> set[str]:
    found = set()
    for line in foreign:
        for match in _MENTION.finditer(line.decode(errors="replace")):
            for target in (match[1], unquote_to_bytes(match[1]).decode(errors="replace")):
                stem = target.removesuffix(".md")
                if stem in names:
                    found.add(stem)
    return found


def _text(line: bytes) -> str | None:
    try:
        return line.rstrip(b"\r\n").decode()
    except UnicodeDecodeError:
        return None


def _link(file: str) -> str:
    """Return ``file`` as a link target: white space, brackets and the like in percent form."""
    return "".join(
        char if char.isalnum() or char in "-._~" else quote(char, safe="") for char in file
    )


def _clean(text: str) -> str:
    return one_line(_UNPRINTABLE.sub(" ", text))


def _escape(text: str, special: frozenset[str]) -> str:
    return "".join(f"\\{char}" if char in special else char for char in text)


def _unescape(text: str) -> str:
    return _BACKSLASH.sub(r"\1", text)


def _cut(text: str, room: int, special: frozenset[str]) -> str:
    """Cut so that the escaped text takes at most ``room`` characters, with an ellipsis."""
    if len(_escape(text, special)) <= room:
        return text
    size, end = 1, 0
    for char in text:
        size += 2 if char in special else 1
        if size > room:
            break
        end += 1
    cut = text[:end].rstrip()
    return f"{cut}…" if cut else ""
