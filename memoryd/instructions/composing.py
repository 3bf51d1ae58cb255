"""Composing instructions: what loads, in which order, and why."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from memoryd import projects
from memoryd.instructions.candidates import Place, between, places, up_to
from memoryd.instructions.comments import strip_comments
from memoryd.instructions.frontmatter import parse
from memoryd.instructions.globs import everything, excluded, matches
from memoryd.instructions.imports import find_imports
from memoryd.instructions.parts import (
    Cause,
    Import,
    ImportState,
    Instructions,
    Kind,
    Part,
    Reason,
    Refusal,
    When,
)
from memoryd.instructions.reader import Entry, Reader
from memoryd.instructions.trust import Root, is_trusted, root_of, within
from memoryd.transcript.tokens import estimate_tokens

MAX_HOPS = 4
"""Imports that lead to a file one after another."""

MAX_IMPORTS = 500
"""Imports of one file that are looked at."""

MAX_RULES = 1000
"""Files and directories that are looked at in one directory of rules, at any depth."""

MAX_TEXT = 16 * 1024 * 1024
"""Characters of all parts together."""

_NO_TEXT = re.compile(
    r"\.(?:7z|a|avif|avi|bin|bmp|bz2|class|db|dll|docx?|dylib|eot|exe|flac|gif|gz|ico|jar|jpe?g|m4a"
    r"|mkv|mov|mp3|mp4|o|odt|ogg|otf|parquet|pdf|png|pptx?|pyc|rar|so|sqlite|tar|tgz|tiff?|ttf|wasm"
    r"|wav|webm|webp|woff2?|xlsx?|xz|zip|zst)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Everything outside the project that decides what loads.

    Attributes:
        config: the client's directory.
        home: the person's home directory.
        managed: the administrator's file, ``None`` for none.
        trusted: directories that may name files outside themselves.
        excludes: globs of files that do not load (``claudeMdExcludes``).
        off: why nothing loads at all, in words; empty when it does.
        notices: what could not be found out, in words.
    """

    config: str
    home: str
    managed: str | None = None
    trusted: frozenset[str] = frozenset()
    excludes: tuple[str, ...] = ()
    off: str = ""
    notices: tuple[str, ...] = ()


def compose(
    cwd: str,
    surroundings: Surroundings,
    *,
    files: Sequence[str] = (),
    reader: Reader | None = None,
    every_rule: bool = False,
) -> Instructions:
    """Return the instructions for a working directory.

    What loads at the start comes at its place in the order, and so does what files in play add,
    so that later is always closer. No file is written, no other is read than those that load or
    are judged.

    Args:
        cwd: absolute; need not exist.
        surroundings: what decides besides the project.
        files: files in play, absolute; need not exist.
        reader: one that was used before answers faster.
        every_rule: load rules with ``paths`` as if a file of theirs were in play.
    """
    reader = reader or Reader()
    here = reader.real(cwd) or "/"
    home = reader.real(surroundings.home) or "/"
    root = root_of(here, home)
    trusted = is_trusted(root, surroundings.trusted)
    if surroundings.off:
        notices = (*surroundings.notices, surroundings.off)
        return Instructions(here, root.path, trusted, (), (), notices)
    return _Composer(here, home, surroundings, reader, every_rule=every_rule).run(root, files)


@dataclass(frozen=True, slots=True)
class _Source:
    """A file that may load.

    Attributes:
        place: what it belongs to.
        path: as it is found.
        real: links resolved.
        root: how far it reaches, ``None`` for everywhere.
        patterns: of a rule; empty without a condition.
    """

    place: Place
    path: str
    real: str
    root: Root | None
    patterns: tuple[str, ...] = ()


@dataclass(slots=True)
class _Composer:
    here: str
    home: str
    surroundings: Surroundings
    reader: Reader
    every_rule: bool
    seen: set[str] = field(default_factory=set)
    refused: list[Refusal] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    left: int = MAX_TEXT

    def run(self, root: Root, files: Sequence[str]) -> Instructions:
        self.notices.extend(self.surroundings.notices)
        inside = self._in_play(files)
        sources = list(self._sources(inside))
        parts: dict[int, list[Part]] = {}
        # What loads at the start is settled first: a file in play repeats none of it.
        for index, source in enumerate(sources):
            if source.place.cause is Cause.AGENTS and any(map(_speaks, parts.values())):
                continue
            if not source.place.nested and not source.patterns:
                parts[index] = self._load(source, Reason(source.place.cause, When.START))
        for index, source in enumerate(sources):
            if index not in parts and (reason := self._reason(source, inside)):
                parts[index] = self._load(source, reason)
        return Instructions(
            self.here,
            root.path,
            is_trusted(root, self.surroundings.trusted),
            tuple(part for index in sorted(parts) for part in parts[index]),
            tuple(dict.fromkeys(self.refused)),
            tuple(dict.fromkeys(self.notices)),
        )

    def _in_play(self, files: Sequence[str]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for file in files:
            path = posixpath.normpath(file)
            if not self._below(path):
                folder = self.reader.real(posixpath.dirname(path)) or "/"
                path = posixpath.join(folder, posixpath.basename(path))
            if self._below(path):
                found[path] = None
            else:
                self.notices.append(f"{file} is not below the working directory: it adds nothing")
        return tuple(found)

    def _below(self, path: str) -> bool:
        return path != self.here and within(path, self.here)

    def _sources(self, files: tuple[str, ...]) -> Iterator[_Source]:
        config = self.reader.real(self.surroundings.config) or self.surroundings.config
        managed = self.surroundings.managed
        skipped = self._repeated_by_worktree()
        for place in places(managed, config, up_to(self.here), between(self.here, files)):
            if place.owner is None:
                root = None
            elif self.reader.real(posixpath.join(place.owner, ".claude")) == config and (
                posixpath.dirname(place.path) != place.owner
            ):
                # The person's own directory, as seen from the home directory.
                continue
            elif place.owner in skipped and place.kind is not Kind.LOCAL:
                if os.path.lexists(place.path):
                    self.notices.append(f"{place.path} is not repeated: this worktree has its own")
                continue
            elif self.reader.real(place.owner) == place.owner:
                root = root_of(place.owner, self.home)
            else:
                # Reached through a link: it must not lead out of where we are.
                root = root_of(self.here, self.home)
            if place.cause is Cause.RULE:
                yield from self._rules(place, root)
            elif source := self._source(place, place.path, root):
                yield source

    def _repeated_by_worktree(self) -> frozenset[str]:
        """Return the directories whose files the worktree that we are in has too."""
        top = root_of(self.here, self.home)
        main = projects.resolve(self.here) if top.git else None
        if main is None or main.path == top.path or not within(top.path, main.path):
            return frozenset()
        return frozenset(
            one for one in up_to(posixpath.dirname(top.path)) if within(one, main.path)
        )

    def _source(self, place: Place, path: str, root: Root | None) -> _Source | None:
        if not os.path.lexists(path):
            return None
        real = self.reader.real(path)
        if real is None or not self._allowed(path, real, root, ()):
            return None
        return _Source(place, path, real, root)

    def _allowed(self, path: str, target: str, root: Root | None, chain: tuple[str, ...]) -> bool:
        """Tell whether something may be followed, and note it if not."""
        if root is None or within(target, root.path):
            return True
        if is_trusted(root, self.surroundings.trusted):
            return True
        self.refused.append(Refusal(path, target, chain, root.path))
        return False

    def _rules(self, place: Place, root: Root | None) -> Iterator[_Source]:
        """Yield the rules of a directory by their names, those in its directories included."""
        start = self._source(place, place.path, root)
        if start is None:
            return
        names = 0
        visited = {start.real}
        stack = [start]
        while stack:
            rule = stack.pop()
            if not os.path.isdir(rule.real):
                if rule.path.endswith(".md"):
                    yield replace(rule, patterns=self._patterns(rule))
                continue
            listed = self._listed(rule, MAX_RULES - names)
            names += len(listed)
            for entry in reversed(listed):
                found = self._source(place, f"{rule.path}/{entry.name}", root)
                if found is None or (entry.directory and found.real in visited):
                    continue
                visited.add(found.real)
                stack.append(found)

    def _listed(self, directory: _Source, most: int) -> list[Entry]:
        """Return the directories and Markdown files in a directory, by name."""
        entries = self.reader.entries(directory.real)
        if isinstance(entries, str):
            self.notices.append(f"{directory.path} {entries}")
            return []
        rules = [entry for entry in entries if entry.directory or entry.name.endswith(".md")]
        if len(rules) > most:
            place = directory.place.path
            self.notices.append(f"{place} holds more than {MAX_RULES} rules: not all load")
        return rules[:most]

    def _patterns(self, rule: _Source) -> tuple[str, ...]:
        """Return the condition of a rule."""
        text = self.reader.read(rule.real).text
        patterns = () if text is None else parse(text).patterns
        return () if everything(patterns) else patterns

    def _reason(self, source: _Source, files: tuple[str, ...]) -> Reason | None:
        """Return why a source loads with the files in play, if it does."""
        cause = source.place.cause
        if cause is Cause.AGENTS:
            return None
        for file in files:
            base = source.place.owner or self.here
            if not within(file, base):
                continue
            path = posixpath.relpath(file, base)
            if not source.patterns or matches(source.patterns, path):
                return Reason(cause, When.IN_PLAY, source.patterns, file)
        if self.every_rule and source.patterns:
            return Reason(cause, When.IN_PLAY, source.patterns)
        return None

    def _load(self, source: _Source, reason: Reason) -> list[Part]:
        """Return the part of a source, and those of its imports behind it."""
        if source.real in self.seen:
            return []
        if source.place.kind is not Kind.MANAGED and excluded(
            self.surroundings.excludes, source.path, source.real
        ):
            self.notices.append(f"{source.path} is excluded by claudeMdExcludes")
            return []
        content = self.reader.read(source.real)
        if content.text is None:
            if not content.absent:
                self.notices.append(f"{source.path} {content.notice}: skipped")
            return []
        self.seen.add(source.real)
        document = parse(content.text)
        text = strip_comments(document.body).strip()
        if not text:
            return []
        if len(text) > self.left:
            self.notices.append(f"{source.path} is too much: {MAX_TEXT >> 20} MiB loaded before it")
            return []
        self.left -= len(text)
        notices = [content.notice] if content.notice else []
        if not document.readable:
            notices.append("has frontmatter that cannot be read: it counts as none")
        written = find_imports(text)
        if len(written) > MAX_IMPORTS:
            notices.append(f"imports more than {MAX_IMPORTS} files: the first are looked at")
        imports, parts = [], []
        for one in written[:MAX_IMPORTS]:
            found, loaded = self._import(one, source, reason)
            imports.append(found)
            parts.extend(loaded)
        part = Part(
            source.path,
            source.place.kind,
            reason,
            text,
            estimate_tokens(text),
            tuple(imports),
            tuple(notices),
        )
        return [part, *parts]

    def _import(self, written: str, source: _Source, reason: Reason) -> tuple[Import, list[Part]]:
        path = _joined(written, posixpath.dirname(source.real), self.home)
        real = self.reader.real(path)
        shown = posixpath.normpath(path)
        if real is not None and self.reader.real(shown) != real:
            # ``link/../x`` is not where it seems to be.
            shown = real
        chain = (*reason.chain, source.path)
        state, parts = ImportState.MISSING, []
        if real is None:
            pass
        elif not self._allowed(shown, real, source.root, chain):
            state = ImportState.REFUSED
        elif not os.path.isfile(real):
            # A FIFO or a device is there, but nothing to load.
            state = ImportState.SKIPPED if self._odd(shown, real) else ImportState.MISSING
        elif real in self.seen:
            state = ImportState.REPEATED
        elif len(chain) > MAX_HOPS:
            state = ImportState.TOO_DEEP
            self.notices.append(f"{shown} is more than {MAX_HOPS} imports away: skipped")
        elif _NO_TEXT.search(real):
            state = ImportState.SKIPPED
            self.notices.append(f"{shown} is no text by its name: skipped")
        else:
            parts = self._load(
                replace(source, path=shown, real=real),
                replace(reason, cause=Cause.IMPORT, chain=chain),
            )
            state = ImportState.LOADED if parts else ImportState.SKIPPED
        return Import(written, shown, state), parts

    def _odd(self, path: str, real: str) -> bool:
        if os.path.isdir(real) or not os.path.lexists(real):
            return False
        self.notices.append(f"{path} is no regular file: skipped")
        return True


def _joined(written: str, folder: str, home: str) -> str:
    if written.startswith("~/"):
        return posixpath.join(home, written[2:])
    return posixpath.join(folder, written)


def _speaks(parts: list[Part]) -> bool:
    """Tell whether a CLAUDE.md of a project, or a local one, is there."""
    return any(
        part.reason.cause is Cause.FILE and part.kind in (Kind.PROJECT, Kind.LOCAL)
        for part in parts
    )
