"""Reading the parameters of a request: the right type, or a refusal that names the parameter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import EllipsisType
from typing import Any, NoReturn, overload

from memoryd.errors import ProtocolError
from memoryd.protocol import ErrorCode

MAX_TEXT = 256 << 10
MAX_PATH = 4096
_SESSION = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,64}")


class Params:
    """The parameters of one request by name. Names nobody asks for are ignored."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    @overload
    def text(self, name: str, *, limit: int = ...) -> str: ...
    @overload
    def text(self, name: str, default: str, *, limit: int = ...) -> str: ...
    @overload
    def text(self, name: str, default: None, *, limit: int = ...) -> str | None: ...

    def text(
        self, name: str, default: str | EllipsisType | None = ..., *, limit: int = MAX_TEXT
    ) -> str | None:
        """Return a string of at most ``limit`` characters; empty only if that is the default."""
        value = self._values.get(name)
        if value is None:
            return self._missing(name) if default is ... else default
        if not isinstance(value, str):
            _refuse(name, "must be a string")
        if len(value) > limit:
            _refuse(name, f"is longer than {limit:,} characters")
        if default is ... and not value.strip():
            _refuse(name, "is empty")
        return value

    @overload
    def integer(self, name: str, *, least: int, most: int) -> int: ...
    @overload
    def integer(self, name: str, default: int, *, least: int, most: int) -> int: ...
    @overload
    def integer(self, name: str, default: None, *, least: int, most: int) -> int | None: ...

    def integer(
        self, name: str, default: int | EllipsisType | None = ..., *, least: int, most: int
    ) -> int | None:
        """Return a whole number from ``least`` to ``most``."""
        value = self._values.get(name)
        if value is None:
            return self._missing(name) if default is ... else default
        if not isinstance(value, int) or isinstance(value, bool):
            _refuse(name, "must be a whole number")
        if not least <= value <= most:
            _refuse(name, f"must be from {least} to {most}")
        return value

    def seconds(self, name: str, default: float, *, most: float) -> float:
        """Return a number from 0 to ``most``."""
        value = self._values.get(name)
        if value is None:
            return default
        if not isinstance(value, int | float) or isinstance(value, bool):
            _refuse(name, "must be a number")
        if not 0 <= value <= most:
            _refuse(name, f"must be from 0 to {most:g}")
        return float(value)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return true or false, the default when absent."""
        value = self._values.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            _refuse(name, "must be true or false")
        return value

    @overload
    def session(self, name: str) -> str: ...
    @overload
    def session(self, name: str, default: None) -> str | None: ...

    def session(self, name: str, default: EllipsisType | None = ...) -> str | None:
        """Return the id of a session, a name that can stand in a path."""
        value = self._values.get(name)
        if value is None:
            return self._missing(name) if default is ... else default
        if not isinstance(value, str) or not _SESSION.fullmatch(value):
            _refuse(name, "must be 1 to 64 letters, digits, '.', '_' or '-', no '.' first")
        return value

    def choice(self, name: str, choices: Sequence[str], default: str | None = None) -> str | None:
        """Return one of ``choices``, or the default when absent."""
        value = self.text(name, None)
        if value is None:
            return default
        if value not in choices:
            _refuse(name, f"must be one of: {', '.join(choices)}")
        return value

    def mapping(
        self, name: str, default: Mapping[str, Any] | EllipsisType = ...
    ) -> Mapping[str, Any]:
        """Return an object as it is, or the default when absent."""
        value = self._values.get(name)
        if value is None:
            return self._missing(name) if isinstance(default, EllipsisType) else default
        if not isinstance(value, dict):
            _refuse(name, "must be an object")
        return value

    def directory(self, *names: str) -> Path | None:
        """Return the first of the named absolute paths, or ``None`` when all are absent."""
        for name in names:
            value = self.text(name, None, limit=MAX_PATH)
            if value is None:
                continue
            if "\0" in value or not Path(value).is_absolute():
                _refuse(name, "must be an absolute path")
            return Path(value)
        return None

    @staticmethod
    def _missing(name: str) -> NoReturn:
        _refuse(name, "is missing")


def _refuse(name: str, why: str) -> NoReturn:
    raise ProtocolError(f"parameter {name!r} {why}", code=ErrorCode.INVALID_PARAMS)
