"""What composing instructions gives: parts in their order, and everything that did not load."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memoryd.instructions.markdown import headings


class Kind(StrEnum):
    """Whose instructions they are, broadest first."""

    MANAGED = "managed"
    """The administrator's, for everybody on this machine."""
    USER = "user"
    """The person's, for all projects."""
    PROJECT = "project"
    """The project's, shared by everybody who works on it."""
    LOCAL = "local"
    """The person's for this project, not shared."""


class Cause(StrEnum):
    """Why a file is looked at."""

    FILE = "file"
    """It has one of the names: ``CLAUDE.md``, ``.claude/CLAUDE.md``, ``CLAUDE.local.md``."""
    RULE = "rule"
    """It lies in a directory of rules."""
    AGENTS = "agents"
    """It is an ``AGENTS.md`` where no project or local ``CLAUDE.md`` says anything."""
    IMPORT = "import"
    """Another part names it with ``@path``."""


class When(StrEnum):
    """What makes a part load."""

    START = "start"
    """The start of a session."""
    IN_PLAY = "in_play"
    """A file that is read, written or edited."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a part loads.

    Attributes:
        cause: why the file is looked at.
        when: what makes it load.
        patterns: the ``paths`` of the rule; empty for none.
        file: the file in play that made it load, as an absolute path.
        chain: of an import, the files that lead to it, from the first importing one on.
    """

    cause: Cause
    when: When
    patterns: tuple[str, ...] = ()
    file: str | None = None
    chain: tuple[str, ...] = ()


class ImportState(StrEnum):
    """What became of an ``@path``."""

    LOADED = "loaded"
    """It is a part of its own, behind the importing one."""
    REPEATED = "repeated"
    """It stands among the parts already."""
    MISSING = "missing"
    """There is no such file; most words with an ``@`` are no imports."""
    REFUSED = "refused"
    """It leads out of the project, which is not trusted."""
    TOO_DEEP = "too_deep"
    """It is more than four imports away from the first file."""
    SKIPPED = "skipped"
    """It is there, but excluded, empty or not readable as text; the notices say more."""


@dataclass(frozen=True, slots=True)
class Import:
    """An ``@path`` in a part.

    Attributes:
        written: the path as it stands in the text.
        path: where that is, absolute.
        state: what became of it.
    """

    written: str
    path: str
    state: ImportState


@dataclass(frozen=True, slots=True)
class Part:
    """One file that loads.

    Attributes:
        path: absolute, as it is found (a symbolic link keeps its name).
        kind: whose it is; an import is of the kind of the file that names it.
        reason: why it loads.
        text: without frontmatter and comments, trimmed; never empty.
        tokens: an estimate for ``text``.
        imports: what it names with ``@path``, in the order of the text.
        notices: what is odd about the file, in words.
    """

    path: str
    kind: Kind
    reason: Reason
    text: str
    tokens: int
    imports: tuple[Import, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that leaves a project which is not trusted.

    Attributes:
        path: the link, or the file that the import names.
        target: where that leads, links resolved.
        chain: the files that lead to it; empty for a link that is found by its name.
        root: the directory to trust if it shall be followed.
    """

    path: str
    target: str
    chain: tuple[str, ...]
    root: str


@dataclass(frozen=True, slots=True)
class Instructions:
    """What loads.

    Attributes:
        cwd: the working directory, links resolved.
        root: the directory that ``memoryctl trust`` would trust for it.
        trusted: whether that is trusted.
        parts: in their order; later is closer and stronger.
        refused: what is not followed for want of trust.
        notices: what did not load for another reason, in words.
    """

    cwd: str
    root: str
    trusted: bool
    parts: tuple[Part, ...]
    refused: tuple[Refusal, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """An estimate for the texts of all parts."""
        return sum(part.tokens for part in self.parts)

    @property
    def text(self) -> str:
        """All parts as one text, each under the path that it comes from; empty without parts."""
        return "\n\n".join(
            f"# {part.path} ({describe(part)})\n\n{part.text}" for part in self.parts
        )

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of all parts, each once."""
        return tuple(dict.fromkeys(one for part in self.parts for one in headings(part.text)))


_OWNERS = {
    Kind.MANAGED: "of the administrator",
    Kind.USER: "of the person, for all projects",
    Kind.PROJECT: "of the project",
    Kind.LOCAL: "of the person, for this project",
}


def describe(part: Part) -> str:
    """Return whose instructions a part is, and what they hold for, in words."""
    owner = f"instructions {_OWNERS[part.kind]}"
    if part.reason.patterns:
        return f"{owner}, for files that match {', '.join(part.reason.patterns)}"
    return owner
