"""JSON text with the place of every value, so that a part can be changed alone. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

_SPACE = re.compile(r"[ \t\r\n]*")
_ATOM = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_PLAIN = r'[^"\\\x00-\x1f]*'
_STRING = re.compile(rf'"{_PLAIN}(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{{4}}){_PLAIN})*"')
_DEPTH = 200


class JsonTextError(ValueError):
    """The text is no JSON that can be edited; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a text.

    Attributes:
        start: where it begins, in characters.
        end: where it has ended.
    """

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object.

    Attributes:
        start: where its key begins.
        key: decoded.
        value: behind the colon.
    """

    start: int
    key: str
    value: Node

    @property
    def end(self) -> int:
        """Where its value has ended."""
        return self.value.end


@dataclass(frozen=True, slots=True)
class Object(Node):
    """An object, from ``{`` to ``}``."""

    members: tuple[Member, ...]

    def get(self, key: str) -> Node | None:
        """Return the value of a key, ``None`` if there is none."""
        return next((member.value for member in self.members if member.key == key), None)


@dataclass(frozen=True, slots=True)
class Array(Node):
    """An array, from ``[`` to ``]``."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class String(Node):
    """A string, with its quotes.

    Attributes:
        value: decoded.
    """

    value: str


@dataclass(frozen=True, slots=True)
class Atom(Node):
    """A number, ``true``, ``false`` or ``null``."""


def parse(text: str) -> Node:
    """Return the value that a text holds.

    Raises:
        JsonTextError: it is no JSON, has a key twice in one object, or is nested too deep.
    """
    scanner = _Scanner(text)
    node = scanner.value(scanner.space(0), _DEPTH)
    end = scanner.space(node.end)
    if end != len(text):
        raise scanner.error("something follows the value", end)
    return node


T = TypeVar("T", Node, Member)


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text

    def error(self, what: str, at: int) -> JsonTextError:
        line = self._text.count("\n", 0, at) + 1
        column = at - self._text.rfind("\n", 0, at)
        return JsonTextError(f"line {line}, column {column}: {what}")

    def space(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int) -> Node:
        if not depth:
            raise self.error("nested too deep", at)
        match self._text[at : at + 1]:
            case "{":
                return self._object(at, depth)
            case "[":
                items, end = self._list(at, "]", lambda place: self.value(place, depth - 1))
                return Array(at, end, tuple(items))
            case '"':
                return self._string(at)
            case _:
                atom = _ATOM.match(self._text, at)
                if atom is None:
                    raise self.error("a value is expected", at)
                return Atom(at, atom.end())

    def _object(self, at: int, depth: int) -> Object:
        seen: set[str] = set()

        def member(place: int) -> Member:
            if self._text[place : place + 1] != '"':
                raise self.error("a key in double quotes is expected", place)
            key = self._string(place)
            if key.value in seen:
                raise self.error(f"the key {key.value!r} is there twice", place)
            seen.add(key.value)
            colon = self.space(key.end)
            if self._text[colon : colon + 1] != ":":
                raise self.error("a colon is expected", colon)
            return Member(place, key.value, self.value(self.space(colon + 1), depth - 1))

        members, end = self._list(at, "}", member)
        return Object(at, end, tuple(members))

    def _list(self, at: int, close: str, element: Callable[[int], T]) -> tuple[list[T], int]:
        """Read what is separated by commas between the bracket at ``at`` and ``close``."""
        found: list[T] = []
        place = self.space(at + 1)
        if self._text[place : place + 1] == close:
            return found, place + 1
        while True:
            found.append(element(place))
            place = self.space(found[-1].end)
            mark = self._text[place : place + 1]
            if mark == close:
                return found, place + 1
            if mark != ",":
                raise self.error(f"a comma or {close} is expected", place)
            place = self.space(place + 1)

    def _string(self, at: int) -> String:
        found = _STRING.match(self._text, at)
        if found is None:
            raise self.error("a string is not well formed", at)
        return String(at, found.end(), json.loads(found[0]))
