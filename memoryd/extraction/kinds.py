"""Things of which one is chosen at a time, and values that replace each other.

Two statements about the same kind ("use pnpm" and "we moved to bun") have one subject though they
share no word; two ports, addresses or days of one subject contradict each other.
"""

# ruff: noqa: RUF001 - Chinese punctuation is what is read here.

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memoryd.extraction.fingerprint import words


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of thing of which a project uses one.

    Attributes:
        name: kebab-case; names the memory.
        applies: when a choice among them matters, for "How to apply".
        members: lower case; a member of several words is matched as a whole.
    """

    name: str
    applies: str
    members: tuple[str, ...]


KINDS: Final = (
    Kind(
        "python-package-manager",
        "when installing a Python dependency, creating an environment or running a script",
        ("pip", "pip3", "uv", "poetry", "pipenv", "conda", "mamba", "pdm", "rye", "hatch"),
    ),
    Kind(
        "js-package-manager",
        "when installing a JavaScript dependency or running a package script",
        ("npm", "pnpm", "yarn", "bun", "npx"),
    ),
    Kind(
        "issue-tracker",
        "when filing, naming or looking for an issue",
        ("jira", "linear", "asana", "trello", "github issues", "gitlab issues", "youtrack",
         "shortcut", "bugzilla", "redmine", "clickup"),
    ),
    Kind(
        "database",
        "when the database is queried, configured or migrated",
        ("postgres", "postgresql", "mysql", "mariadb", "sqlite", "mongodb", "mongo", "dynamodb",
         "cockroachdb"),
    ),
    Kind(
        "ci-service",
        "when working on the build pipeline",
        ("jenkins", "github actions", "gitlab ci", "circleci", "travis", "buildkite", "teamcity",
         "drone"),
    ),
    Kind(
        "cloud-provider",
        "when deploying or naming infrastructure",
        ("aws", "gcp", "azure", "google cloud", "hetzner", "digitalocean", "fly.io", "heroku",
         "阿里云", "腾讯云"),
    ),
    Kind(
        "chat-service",
        "when pointing people to a channel",
        ("slack", "discord", "microsoft teams", "mattermost", "zulip", "飞书", "钉钉", "企业微信"),
    ),
    Kind(
        "wiki-service",
        "when looking for or writing team documents",
        ("confluence", "notion", "语雀"),
    ),
    Kind(
        "js-test-runner",
        "when writing or running JavaScript tests",
        ("jest", "vitest", "mocha", "jasmine", "ava"),
    ),
    Kind(
        "python-test-runner"
        ,
        "when writing or running Python tests"
        , ("pytest", "unittest", "nose")),
    Kind("indentation", "when writing code", ("tabs", "spaces", "制表符", "空格")),
    Kind("python-formatter", "when formatting Python code", ("black", "ruff", "yapf", "autopep8")),
    Kind("js-linter", "when linting JavaScript code", ("eslint", "biome", "oxlint")),
    Kind(
        "js-bundler",
        "when bundling the front end",
        ("webpack", "vite", "rollup", "parcel", "esbuild", "turbopack"),
    ),
    Kind(
        "container-runtime",
        "when building or running containers",
        ("docker", "podman", "apple container", "nerdctl"),
    ),
    Kind("merge-strategy", "when merging a branch", ("rebase", "squash", "merge commits")),
    Kind("editor",
        "when naming editor commands or settings"
        , ("vim", "neovim", "emacs", "vs code", "vscode", "zed")),
    Kind("shell", "when writing shell commands", ("bash", "zsh", "fish", "powershell")),
    Kind(
        "error-tracker",
        "when looking for reported errors",
        ("sentry", "rollbar", "bugsnag"),
    ),
    Kind(
        "monitoring-service",
        "when looking at metrics or alerts",
        ("grafana", "datadog", "kibana", "new relic", "prometheus", "cloudwatch"),
    ),
)  # fmt: skip
"""Kinds worth knowing: tools that teams change, and that assistants guess wrong."""

_BY_MEMBER: Final = {member: kind for kind in KINDS for member in kind.members}
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_HAN_MEMBERS: Final = tuple(member for member in _BY_MEMBER if _HAN.search(member))
_LATIN_MEMBERS: Final[dict[str, list[str]]] = {}
for _member in sorted(_BY_MEMBER, key=len, reverse=True):
    if _member not in _HAN_MEMBERS:
        _LATIN_MEMBERS.setdefault(_member.partition(" ")[0], []).append(_member)
_WORD: Final = re.compile(r"(?<![\w./-])[a-z][a-z0-9]*(?:\.[a-z0-9]+)*(?![\w-])", re.ASCII)
_WORD_GOES_ON: Final = re.compile(r"[\w-]", re.ASCII)

_VALUES: Final = (
    ("url", re.compile(r"https?://[^\s<>\"'，。；）)]+")),
    ("date", re.compile(r"(?<![\d-])\d{4}-(?:\d\d-\d\d|\d\d|Q\d)(?![\d-])")),
    ("version", re.compile(r"(?<![\w.-])v?\d+(?:\.\d+){1,3}(?![\w.]*\d)")),
    ("number", re.compile(r"(?<![\w.:/-])\d+(?![\w/:-]|\.\d)")),
    ("host", re.compile(
        r"(?<![\w@/])(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|internal|local|cn|"
        r"example)\b(?::\d+)?"
        )),
)  # fmt: skip

# What follows one of these is not chosen, or is no longer so.
_AGAINST: Final = re.compile(
    r"\b(?:not|instead of|rather than|never|don'?t|do not|no longer|stop(?:ped)?|avoid|without|"
    r"from|"
    r"over|hates?|dislikes?|cannot stand|against)\b(?: (?:ever )?us(?:e|ing|ed)\b)?|"
    r"(?:不要|不再|不用|而不是|不是|别再?|禁止|严禁|代替|替代|取代|永远不|"
    r"不喜欢|讨厌|从)",
    re.IGNORECASE,
)
_FOR: Final = re.compile(
    r"\b(?:to|use|using|but|always|prefer|like|love|is|are|and)\b|[,;.:，；。：]|(?:改用|改成|"
    r"改为|换成|"
    r"迁移到|切换到|到|而是|要用|应该用|总是|一律)",
    re.IGNORECASE,
)


def member_kind(text: str) -> Kind | None:
    """Return the kind of which ``text`` is a member, as a whole."""
    return _BY_MEMBER.get(text.strip().lower())


def kinds_in(text: str) -> dict[str, frozenset[str]]:
    """Return the members named in ``text``, by kind."""
    lower = text.lower()
    members = {member for member in _HAN_MEMBERS if member in lower}
    for word in _WORD.finditer(lower):
        for member in _LATIN_MEMBERS.get(word[0], ()):
            end = word.start() + len(member)
            if lower.startswith(member, word.start()) and not _WORD_GOES_ON.match(lower, end):
                members.add(member)
                break
    found: dict[str, set[str]] = {}
    for member in members:
        found.setdefault(_BY_MEMBER[member].name, set()).add(member)
    return {kind: frozenset(found[kind]) for kind in sorted(found)}


def shared(new: str, old: str) -> str | None:
    """Return the kind that two things belong to, or that of the one of them whose kind is known."""
    one, other = kinds_in(new), kinds_in(old)
    common = one.keys() & other.keys()
    if common:
        return min(common)
    either = [*one, *other]
    return either[0] if len(either) == 1 else None


def kind_named(name: str) -> Kind | None:
    """Return the kind called ``name``."""
    return next((kind for kind in KINDS if kind.name == name), None)


@lru_cache(maxsize=4096)
def values_in(text: str) -> frozenset[tuple[str, str]]:
    """Return the values named in ``text`` as (sort, value): addresses, days, versions, numbers."""
    found: set[tuple[str, str]] = set()
    for sort, pattern in _VALUES:
        found |= {(sort, match.lower().rstrip(".,")) for match in pattern.findall(text)}
        text = pattern.sub(" ", text)
    return frozenset(found)


def differ(one: Iterable[tuple[str, str]], other: Iterable[tuple[str, str]]) -> bool:
    """Say whether both name values of a same sort, and none of that sort is shared."""
    first, second = _sorted(one), _sorted(other)
    return any(not first[sort] & second[sort] for sort in first.keys() & second.keys())


def _sorted(values: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Return values by sort."""
    found: dict[str, set[str]] = {}
    for sort, value in values:
        found.setdefault(sort, set()).add(value)
    return found


@lru_cache(maxsize=4096)
def sides(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the content words that a statement speaks for, and those it speaks against.

    "Use uv, not pip" is for uv and against pip; "never force-push" is against both its words.
    """
    pros: list[str] = []
    cons: list[str] = []
    rest = text
    against = False
    while rest:
        found = (_FOR if against else _AGAINST).search(rest)
        piece = rest[: found.start()] if found else rest
        (cons if against else pros).append(piece)
        rest = rest[found.end() :] if found else ""
        against = not against
    negative = words(" ".join(cons))
    return words(" ".join(pros)) - negative, negative
