"""Which project a working directory belongs to. Looks at the disk, starts no process.

A project is the real path of the main git root; worktrees and subdirectories share it, a nested
repository and a submodule have their own. Outside git a directory is its own project.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from stat import S_ISDIR, S_ISREG

_POINTER_LIMIT = 4096
_SLUG_LIMIT = 200
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
_WORKTREES = "/.claude/worktrees/"


class RootKind(StrEnum):
    """Why a directory is the root of a project."""

    GIT = "git"
    """It is the main working tree (or the bare repository) of a git repository."""
    DIRECTORY = "directory"
    """No repository holds it: the working directory itself."""


@dataclass(frozen=True, slots=True)
class Root:
    """The root of a project.

    Attributes:
        path: absolute, symbolic links resolved while it existed.
        kind: why it is one.
    """

    path: str
    kind: RootKind


def resolve(cwd: str) -> Root | None:
    """Return the root that ``cwd`` belongs to, or ``None`` when it is not there (any more).

    A worktree whose repository is gone counts as gone too.

    A vanished worktree of the client (``<repository>/.claude/worktrees/<name>``) still belongs
    to its repository as long as that exists.
    """
    if not cwd.startswith("/") or "\0" in cwd:
        return None
    try:
        real = _real(Path(cwd))
        if not real.is_dir():
            owner = worktree_owner(cwd)
            return resolve(owner) if owner is not None else None
        return _root(real)
    except (OSError, UnicodeError):
        return None


def worktree_owner(cwd: str) -> str | None:
    """Return the directory below which the client made the worktree ``cwd``, by its name alone."""
    owner, found, _ = f"{cwd}/".partition(_WORKTREES)
    return owner if found and owner else None


def slug(path: str) -> str:
    """Return the client's directory name for ``path`` (lossy: never decode it).

    Every UTF-16 code unit that is no ASCII letter or digit becomes ``-``; beyond 200 units the
    first 200 stay, followed by ``-`` and a hash of the whole path in base 36.
    """
    units = path.encode("utf-16-le", "surrogatepass")
    codes = [int.from_bytes(units[i : i + 2], "little") for i in range(0, len(units), 2)]
    name = "".join(
        chr(code) if code < 128 and chr(code).isalnum() else "-"  # noqa: PLR2004 - end of ASCII
        for code in codes
    )
    if len(name) <= _SLUG_LIMIT:
        return name
    digest = 0
    for code in codes:
        digest = (digest * 31 + code) & 0xFFFFFFFF
    if digest >= 1 << 31:
        digest = (1 << 32) - digest
    return f"{name[:_SLUG_LIMIT]}-{_base36(digest)}"


def _base36(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = _BASE36[digit] + digits
        if not number:
            return digits


def _root(directory: Path) -> Root:
    for candidate in (directory, *directory.parents):
        dot_git = candidate / ".git"
        try:
            mode = dot_git.stat().st_mode
        except OSError:
            continue
        if S_ISDIR(mode):
            return Root(str(candidate), RootKind.GIT)
        if S_ISREG(mode):
            return Root(str(_main_root(candidate, dot_git)), RootKind.GIT)
    return Root(str(directory), RootKind.DIRECTORY)


def _main_root(directory: Path, dot_git: Path) -> Path:
    """Follow a ``.git`` file to the main root; a submodule or a stray file is its own root.

    Raises:
        FileNotFoundError: the repository that the file names is gone.
    """
    named = _pointer(dot_git, "gitdir:")
    if named is None:
        return directory
    git_dir = (directory / named).resolve(strict=True)
    shared = _pointer(git_dir / "commondir")
    if shared is None:
        return directory
    common = _real(git_dir / shared)
    # A hostile directory must not claim another repository's memories: the main repository has
    # to know this worktree, and to know it at this place.
    if git_dir.parent != common / "worktrees":
        return directory
    back = _pointer(git_dir / "gitdir")
    if back is not None and _real(git_dir / back) != dot_git:
        return directory
    return common.parent if common.name == ".git" else common


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _pointer(path: Path, prefix: str = "") -> str | None:
    """Return the path that a small git file names, or ``None``."""
    try:
        # Whatever else stands at this name must not make the reader wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not S_ISREG(os.fstat(descriptor).st_mode):
            return None
        line = os.fsdecode(os.read(descriptor, _POINTER_LIMIT)).partition("\n")[0]
    except OSError:
        return None
    finally:
        os.close(descriptor)
    if not line.startswith(prefix):
        return None
    return line[len(prefix) :].strip() or None
