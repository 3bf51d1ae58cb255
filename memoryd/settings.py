"""Settings: from the system's file, the person's file, its project tables and the environment.

A later source wins over an earlier one, except for keys that the system's file lists as
``locked``. ``load`` is pure; ``read`` reads the files. ``memoryctl help settings`` lists the keys.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from memoryd.errors import ConfigError

SYSTEM_FILE = Path("/etc/memoryd/config.toml")
PROVIDERS = ("offline",)
LOG_LEVELS = ("debug", "info", "warning", "error")

DEFAULT = "default"
"""The origin of a value that no source sets."""

# These say where things are (``memoryd.paths``), before any setting is read.
PATH_VARIABLES = frozenset({"MEMORYD_STATE_DIR", "MEMORYD_RUNTIME_DIR", "MEMORYD_CONFIG"})


@dataclass(frozen=True, slots=True)
class Key:
    """One setting.

    Attributes:
        name: dotted, as written in the file: table, then key.
        default: its value when no source sets it.
        parse: turns a TOML value or an environment string into the value; raises ``ValueError``
            with what it must be.
        per_project: may stand in ``[projects."/path"]``.
    """

    name: str
    default: Any
    parse: Callable[[Any], Any]
    per_project: bool = False

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "MEMORYD_" + self.name.upper().replace(".", "_")


def _seconds(least: float, most: float) -> Callable[[Any], float]:
    def parse(value: Any) -> float:
        wrong = ValueError(f"must be a number of seconds from {least:g} to {most:g}")
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise wrong
        try:
            number = float(value)
        except ValueError:
            raise wrong from None
        if not least <= number <= most:
            raise wrong
        return number

    return parse


def _integer(least: int, most: int) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        wrong = ValueError(f"must be a whole number from {least} to {most}")
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise wrong
        try:
            number = int(value)
        except ValueError:
            raise wrong from None
        if not least <= number <= most:
            raise wrong
        return number

    return parse


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise ValueError("must be true or false")


def _choice(choices: tuple[str, ...], what: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if value in choices:
            return str(value)
        raise ValueError(f"{what}: {', '.join(choices)}")

    return parse


def _database_url(value: Any) -> str:
    if isinstance(value, str) and (value == "" or value.startswith(("sqlite", "postgresql"))):
        return value
    raise ValueError("must be a URL that begins with sqlite: or postgresql:")


def _globs(value: Any) -> tuple[str, ...]:
    globs = value.split(":") if isinstance(value, str) else value
    wrong = ValueError('must be a list of directories such as "~/client/**"')
    if not isinstance(globs, list) or not all(isinstance(item, str) for item in globs):
        raise wrong
    globs = [item for item in globs if item]
    if not all(item == "~" or item.startswith(("/", "~/", "**/")) for item in globs):
        raise ValueError(f"{wrong}; each begins with / or ~/ or **/")
    return tuple(globs)


KEYS: Mapping[str, Key] = {
    key.name: key
    for key in (
        Key("provider", "offline", _choice(PROVIDERS, "is not available here; available")),
        Key("database_url", "", _database_url),
        Key("exclude", (), _globs),
        Key("drain_s", 20.0, _seconds(0, 300)),
        Key("log.level", "info", _choice(LOG_LEVELS, "must be one of")),
        Key("extract.debounce_s", 5.0, _seconds(0, 3600)),
        Key("extract.deadline_s", 60.0, _seconds(0, 24 * 3600)),
        Key("recall.max_memories", 5, _integer(0, 50), per_project=True),
        Key("memory.always", default=False, parse=_flag),
    )
}
_TABLES = frozenset(name.partition(".")[0] for name in KEYS if "." in name)


@dataclass(frozen=True, slots=True)
class LogSettings:
    """``[log]``."""

    level: str


@dataclass(frozen=True, slots=True)
class ExtractSettings:
    """``[extract]``: seconds after the last turn, and at most after the first."""

    debounce_s: float
    deadline_s: float


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """``[recall]``."""

    max_memories: int


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """``[memory]``."""

    always: bool


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, and where each value comes from.

    Attributes:
        provider: who extracts and selects.
        database_url: empty for SQLite in the state directory. Not shown in ``repr``: it may hold
            a password.
        exclude: globs over working directories whose sessions are not taken in.
        drain_s: seconds that requests and jobs in flight get when the service stops.
        origins: by dotted name: ``default``, the path of a file, or ``$VARIABLE``.
        locked: dotted names that only the system's file decides.
        warnings: what was found odd without being an error.
    """

    provider: str
    database_url: str = field(repr=False)
    exclude: tuple[str, ...]
    drain_s: float
    log: LogSettings
    extract: ExtractSettings
    recall: RecallSettings
    memory: MemorySettings
    origins: Mapping[str, str] = field(repr=False)
    locked: frozenset[str] = field(repr=False)
    warnings: tuple[str, ...]
    _projects: Mapping[str, Mapping[str, tuple[Any, str]]] = field(repr=False)

    def for_project(self, root: Path) -> Settings:
        """Return the settings for a project: those of the nearest table at or above ``root``."""
        for folder in (root, *root.parents):
            if (own := self._projects.get(str(folder))) is not None:
                values = {**self.values(), **{name: value for name, (value, _) in own.items()}}
                origins = {**self.origins, **{name: origin for name, (_, origin) in own.items()}}
                return _settings(values, origins, self.locked, self.warnings, {})
        return replace(self, _projects={})

    def values(self) -> dict[str, Any]:
        """Return every value by its dotted name."""
        found: dict[str, Any] = {}
        for name in KEYS:
            table, _, key = name.rpartition(".")
            found[name] = getattr(getattr(self, table) if table else self, key)
        return found


@dataclass(frozen=True, slots=True)
class Source:
    """A settings file.

    Attributes:
        name: its path, for messages.
        text: its contents.
    """

    name: str
    text: str


def read(
    user_file: Path, environ: Mapping[str, str], *, home: Path, system_file: Path = SYSTEM_FILE
) -> Settings:
    """Read the files that exist and load them.

    Raises:
        ConfigError: a file cannot be read or holds something that is not a setting.
    """
    sources = [_source(path) for path in (system_file, user_file)]
    return load(sources[0], sources[1], environ, home=home)


def _source(path: Path) -> Source | None:
    try:
        return Source(str(path), path.read_bytes().decode())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text") from None


def load(
    system: Source | None, user: Source | None, environ: Mapping[str, str], *, home: Path
) -> Settings:
    """Combine the sources.

    Args:
        system: defaults of the machine, with ``locked = ["key", …]``.
        user: the person's file.
        environ: ``MEMORYD_…`` variables win over both.
        home: what ``~`` means in the names of project tables.

    Raises:
        ConfigError: names the file or variable, the key, and the nearest key that exists.
    """
    fixed = _File(system, home, may_lock=True) if system else None
    own = _File(user, home, may_lock=False) if user else None
    variables, warnings = _from_environment(environ)
    values: dict[str, Any] = {name: key.default for name, key in KEYS.items()}
    origins = dict.fromkeys(KEYS, DEFAULT)
    locked = fixed.locked if fixed else frozenset()
    layers = [layer for layer in (fixed, own) if layer]
    for layer in layers:
        for name, value in layer.values.items():
            if layer is fixed or name not in locked:
                values[name], origins[name] = value, layer.name
    projects: dict[str, dict[str, tuple[Any, str]]] = {}
    for layer in layers:
        for root, table in layer.projects.items():
            target = projects.setdefault(root, {})
            for name, value in table.items():
                # Only the system's file decides a locked key, and the environment beats tables.
                if (layer is fixed or name not in locked) and (
                    name not in variables or name in locked
                ):
                    target[name] = (value, layer.name)
    for name, (value, variable) in variables.items():
        if name not in locked:
            values[name], origins[name] = value, f"${variable}"
    return _settings(values, origins, locked, warnings, projects)


class _File:
    """The contents of one file, checked key by key."""

    def __init__(self, source: Source, home: Path, *, may_lock: bool) -> None:
        self.name = source.name
        try:
            tree = tomllib.loads(source.text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{source.name}: {error}") from None
        names: list[str] = _strings(tree.pop("locked", []), f"{source.name}: 'locked'")
        if names and not may_lock:
            raise ConfigError(f"{source.name}: only the system's file may lock keys")
        self.locked = self._locked(names)
        tables = tree.pop("projects", {})
        self.values = self._check(tree, KEYS)
        self.projects: dict[str, dict[str, Any]] = {}
        if not isinstance(tables, dict):
            raise ConfigError(f'{source.name}: write [projects."/path"] with settings below it')
        allowed = {name: key for name, key in KEYS.items() if key.per_project}
        for path, table in tables.items():
            if not isinstance(table, dict):
                raise ConfigError(f'{source.name}: [projects."{path}"] is no table')
            root = home / path.removeprefix("~/") if path.startswith("~/") else Path(path)
            if not root.is_absolute():
                raise ConfigError(f"{source.name}: the project {path!r} is no absolute path")
            self.projects[str(PurePosixPath(root))] = self._check(table, allowed)

    def _locked(self, names: list[str]) -> frozenset[str]:
        """Expand the names of tables to their keys."""
        found: set[str] = set()
        for name in names:
            inside = {known for known in KEYS if known == name or known.startswith(f"{name}.")}
            if not inside:
                raise ConfigError(_unknown(f"{self.name}: locked", name, KEYS))
            found |= inside
        return frozenset(found)

    def _check(self, tree: Mapping[str, Any], allowed: Mapping[str, Key]) -> dict[str, Any]:
        flat: dict[str, Any] = {}
        for name, value in tree.items():
            if name in _TABLES and isinstance(value, dict):
                flat.update({f"{name}.{key}": inner for key, inner in value.items()})
            else:
                flat[name] = value
        found: dict[str, Any] = {}
        for name, value in flat.items():
            key = allowed.get(name)
            if key is None and name in KEYS:
                raise ConfigError(f"{self.name}: {name!r} cannot be set for one project")
            if key is None:
                raise ConfigError(_unknown(self.name, name, allowed))
            try:
                found[name] = key.parse(value)
            except ValueError as error:
                raise ConfigError(f"{self.name}: {name} = {value!r} {error}") from None
        return found


def _strings(value: Any, what: str) -> list[str]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    raise ConfigError(f"{what} must be a list of names")


def _from_environment(
    environ: Mapping[str, str],
) -> tuple[dict[str, tuple[Any, str]], tuple[str, ...]]:
    """Return values with their variables by key, and warnings about variables that look alike.

    An unknown variable is no error: others may use the prefix too.
    """
    by_variable = {key.variable: key for key in KEYS.values()}
    found: dict[str, tuple[Any, str]] = {}
    warnings: list[str] = []
    for variable, text in sorted(environ.items()):
        if not variable.startswith("MEMORYD_") or variable in PATH_VARIABLES:
            continue
        key = by_variable.get(variable)
        if key is None:
            if near := _near(variable, by_variable, 0.8):
                warnings.append(f"the environment sets {variable}; did you mean {near[0]}?")
            continue
        try:
            found[key.name] = (key.parse(text), variable)
        except ValueError as error:
            shown = "" if key.name == "database_url" else f" = {text!r}"
            raise ConfigError(f"${variable}{shown} {error}") from None
    return found, tuple(warnings)


def _unknown(where: str, name: str, known: Mapping[str, Key]) -> str:
    near = _near(name, known, 0.5)
    if not near:  # The right key in the wrong table, or without one.
        last = name.rpartition(".")[2]
        near = [key for key in known if key.rpartition(".")[2] == last][:1]
    return f"{where}: unknown key {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def _near(name: str, known: Iterable[str], cutoff: float) -> list[str]:
    import difflib  # noqa: PLC0415 - only a mistake needs it

    return difflib.get_close_matches(name, known, n=1, cutoff=cutoff)


def _settings(
    values: Mapping[str, Any],
    origins: Mapping[str, str],
    locked: frozenset[str],
    warnings: tuple[str, ...],
    projects: Mapping[str, Mapping[str, tuple[Any, str]]],
) -> Settings:
    if values["extract.deadline_s"] < values["extract.debounce_s"]:
        raise ConfigError(
            f"extract.deadline_s ({values['extract.deadline_s']:g}) is less than "
            f"extract.debounce_s ({values['extract.debounce_s']:g})"
        )
    return Settings(
        provider=values["provider"],
        database_url=values["database_url"],
        exclude=values["exclude"],
        drain_s=values["drain_s"],
        log=LogSettings(values["log.level"]),
        extract=ExtractSettings(values["extract.debounce_s"], values["extract.deadline_s"]),
        recall=RecallSettings(values["recall.max_memories"]),
        memory=MemorySettings(values["memory.always"]),
        origins=MappingProxyType(dict(origins)),
        locked=locked,
        warnings=warnings,
        _projects=projects,
    )
