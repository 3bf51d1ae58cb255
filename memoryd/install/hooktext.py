"""memoryd's hooks in the text of a settings file of the client: put in, taken out. Pure.

Only what is put in or taken out changes; all other bytes stay as they are.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from memoryd.install.jsontext import Array, JsonTextError, Member, Node, Object, String, parse

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolBatch",
    "Stop",
    "SubagentStop",
    "SessionEnd",
    "PreCompact",
    "PostCompact",
)
"""The events of the client that memoryd is told of."""
TIMEOUT_S = 5

_BOM = "\ufeff"
_HOOKS = "hooks"
_HOOK = ("memoryd", "hook.py")
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Marks:
    """What the text was like before, as far as it cannot be seen afterwards.

    Attributes:
        created: containers that were not there: ``hooks``, and events by their names.
        empty: the white space between the brackets of containers that were there and empty;
            the outermost object has the name ``""``.
        blank: the whole text, if it had no value at all.
    """

    created: frozenset[str] = frozenset()
    empty: dict[str, str] = field(default_factory=dict)
    blank: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it for a note."""
        return {"created": sorted(self.created), "empty": self.empty, "blank": self.blank}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Marks:
        """Read it from a note."""
        return cls(frozenset(found["created"]), dict(found["empty"]), found["blank"])


@dataclass(frozen=True, slots=True)
class Found:
    """One of memoryd's hooks in a text.

    Attributes:
        event: that it is for.
        groups: the event's array.
        group: its element that holds the hook.
        handlers: the array of hooks in it.
        handler: the hook.
        command: what it runs.
    """

    event: str
    groups: Array
    group: Object
    handlers: Array
    handler: Object
    command: String


def is_ours(command: str) -> bool:
    """Tell whether a command runs memoryd's hook, of whichever installation."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return bool(words) and PurePosixPath(words[-1]).parts[-2:] == _HOOK


def find(text: str) -> list[Found]:
    """Return memoryd's hooks in a text.

    Raises:
        JsonTextError: the text, or ``hooks`` in it, is not what the client reads.
    """
    if not text.strip(_SPACE + _BOM):
        return []
    return list(_found(parse(text.removeprefix(_BOM))))


def put_in(text: str, command: str, marks: Marks | None) -> tuple[str, Marks]:
    """Return the text with a hook for every event, and what uninstalling must know.

    A hook of another installation gets the command in its place.

    Args:
        text: of the settings file, empty if there is none.
        command: for the shell.
        marks: of an earlier time, if its hooks may still be there.

    Raises:
        JsonTextError: as for ``find``.
    """
    bom, text = _split(text)
    now = Marks()
    if not text.strip(_SPACE):
        now = replace(now, blank=text)
        text = "{}" + (text or "\n")
    elif ours := list(_found(parse(text))):
        now = _guessed(text, ours) if marks is None else marks
    for event in EVENTS:
        text, now = _ensure(text, event, command, now)
    while extra := next((one for one in _found(parse(text)) if one.event not in EVENTS), None):
        text = _without(text, extra, now)
    return bom + text, now


def take_out(text: str, marks: Marks | None) -> str:
    """Return the text without memoryd's hooks, and without what was made to hold them.

    Args:
        text: of the settings file.
        marks: from ``put_in``; without them a container that becomes empty goes too.

    Raises:
        JsonTextError: as for ``find``.
    """
    bom, text = _split(text)
    if not text.strip(_SPACE):
        return bom + text
    while ours := next(_found(parse(text)), None):
        text = _without(text, ours, marks)
    root = _root(parse(text))
    if marks is not None and marks.blank is not None and not root.members:
        text = marks.blank
    return bom + text


def is_nothing(text: str) -> bool:
    """Tell whether a settings file with this text says nothing."""
    _, text = _split(text)
    return not text.strip(_SPACE) or not _root(parse(text)).members


def _split(text: str) -> tuple[str, str]:
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _root(node: Node) -> Object:
    if not isinstance(node, Object):
        raise JsonTextError("it is not a JSON object")
    return node


def _hooks(root: Object) -> Object | None:
    node = root.get(_HOOKS)
    if node is not None and not isinstance(node, Object):
        raise JsonTextError("its hooks are not a JSON object")
    return node


def _found(node: Node) -> Iterator[Found]:
    hooks = _hooks(_root(node))
    for event in hooks.members if hooks else ():
        groups = event.value
        if not isinstance(groups, Array):
            raise JsonTextError(f"its hooks for {event.key!r} are not a JSON array")
        for group in groups.items:
            handlers = group.get(_HOOKS) if isinstance(group, Object) else None
            for handler in handlers.items if isinstance(handlers, Array) else ():
                if not isinstance(handler, Object):
                    continue
                command = handler.get("command")
                if isinstance(command, String) and is_ours(command.value):
                    yield Found(event.key, groups, group, handlers, handler, command)  # type: ignore[arg-type]


def _ensure(text: str, event: str, command: str, marks: Marks) -> tuple[str, Marks]:
    root = _root(parse(text))
    ours = [one for one in _found(root) if one.event == event]
    if ours:
        for extra in reversed(ours[1:]):
            text = _without(text, extra, marks)
        first = next(one for one in _found(parse(text)) if one.event == event).command
        if first.value == command:
            return text, marks
        return text[: first.start] + _json(command) + text[first.end :], marks
    handler = {"type": "command", "command": command, "timeout": TIMEOUT_S}
    groups: Any = [{"hooks": [handler]}]
    hooks = _hooks(root)
    if hooks is None:
        marks = replace(marks, created=marks.created | {_HOOKS, event})
        return _insert(text, root, "", (_HOOKS, {event: groups}), marks)
    place = hooks.get(event)
    if place is None:
        marks = replace(marks, created=marks.created | {event})
        return _insert(text, hooks, _HOOKS, (event, groups), marks)
    if not isinstance(place, Array):  # Told by _found already.
        raise JsonTextError(f"its hooks for {event!r} are not a JSON array")
    return _insert(text, place, event, (None, groups[0]), marks)


def _guessed(text: str, ours: list[Found]) -> Marks:
    """Return marks for hooks that nobody noted: what holds only them was made for them."""
    only = {
        event
        for event in {one.event for one in ours}
        if all(
            any(one.group is group and len(one.handlers.items) == 1 for one in ours)
            for group in next(one.groups for one in ours if one.event == event).items
        )
    }
    hooks = _hooks(_root(parse(text)))
    every = hooks is not None and all(member.key in only for member in hooks.members)
    return Marks(frozenset(only | {_HOOKS} if every else only))


@dataclass(frozen=True, slots=True)
class _Style:
    """How a text is laid out.

    Attributes:
        lines: values may stand on lines of their own.
        newline: its line end.
        unit: of indentation.
        colon: with the white space behind it.
        gap: white space behind a comma on one line.
    """

    lines: bool
    newline: str
    unit: str
    colon: str
    gap: str

    def render(self, key: str | None, value: Any, indent: str | None) -> str:
        """Return a member or an element; on one line if ``indent`` is ``None``."""
        name = "" if key is None else _json(key) + self.colon
        if indent is None:
            separators = ("," + self.gap, self.colon)
            return name + json.dumps(value, ensure_ascii=False, separators=separators)
        separators = (",", self.colon)
        shown = json.dumps(value, ensure_ascii=False, indent=self.unit, separators=separators)
        return name + shown.replace("\n", self.newline + indent)


def _style(text: str, root: Object) -> _Style:
    break_ = text.find("\n")
    newline = "\r\n" if break_ > 0 and text[break_ - 1] == "\r" else "\n"
    if not root.members:
        return _Style(lines=True, newline=newline, unit="  ", colon=": ", gap=" ")
    first = root.members[0]
    lead = text[root.start + 1 : first.start]
    outer = _indent_of_line(text, root.start)
    unit = lead.rpartition("\n")[2].removeprefix(outer) if "\n" in lead else "  "
    spaced = text[first.value.start - 1] in _SPACE
    return _Style(
        lines="\n" in text[root.start : root.end],
        newline=newline,
        unit=unit,
        colon=": " if spaced else ":",
        gap=" " if spaced else "",
    )


def _indent_of_line(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _insert(
    text: str, into: Object | Array, name: str, new: tuple[str | None, Any], marks: Marks
) -> tuple[str, Marks]:
    """Append a member or an element to a container called ``name``."""
    style = _style(text, _root(parse(text)))
    elements = _elements(into)
    if not elements:
        inner = text[into.start + 1 : into.end - 1]
        marks = replace(marks, empty={**marks.empty, name: inner})
        if style.lines:
            base = _indent_of_line(text, into.start)
            indent = base + style.unit
            shown = style.newline + indent + style.render(*new, indent) + style.newline + base
        else:
            shown = style.render(*new, None)
        return text[: into.start + 1] + shown + text[into.end - 1 :], marks
    last = elements[-1]
    before = elements[-2].end if len(elements) > 1 else into.start + 1
    lead = text[before : last.start].rpartition(",")[2]
    if "\n" in lead:
        indent = lead.rpartition("\n")[2]
        shown = f",{style.newline}{indent}{style.render(*new, indent)}"
    else:
        shown = f",{style.gap}{style.render(*new, None)}"
    return text[: last.end] + shown + text[last.end :], marks


def _without(text: str, ours: Found, marks: Marks | None) -> str:
    """Return the text without one hook and without the containers that were made for it."""
    if len(ours.handlers.items) > 1:
        return _cut(text, ours.handlers, ours.handler, "")
    if len(ours.groups.items) > 1:
        return _cut(text, ours.groups, ours.group, "")
    root = _root(parse(text))
    hooks = _hooks(root)
    if hooks is None or not _was_created(ours.event, marks):
        return _cut(text, ours.groups, ours.group, _inner(ours.event, marks))
    if len(hooks.members) > 1 or not _was_created(_HOOKS, marks):
        return _cut(text, hooks, _member(hooks, ours.event), _inner(_HOOKS, marks))
    return _cut(text, root, _member(root, _HOOKS), _inner("", marks))


def _was_created(name: str, marks: Marks | None) -> bool:
    return marks is None or name in marks.created


def _inner(name: str, marks: Marks | None) -> str:
    return marks.empty.get(name, "") if marks else ""


def _member(of: Object, key: str) -> Member:
    return next(member for member in of.members if member.key == key)


def _cut(text: str, out_of: Object | Array, element: Member | Node, inner: str) -> str:
    """Take an element away with its comma; an only one leaves ``inner`` between the brackets."""
    elements = _elements(out_of)
    at = elements.index(element)
    if at > 0:
        return text[: elements[at - 1].end] + text[element.end :]
    if len(elements) > 1:
        return text[: element.start] + text[elements[1].start :]
    return text[: out_of.start + 1] + inner + text[out_of.end - 1 :]


def _elements(of: Object | Array) -> Sequence[Member | Node]:
    return of.members if isinstance(of, Object) else of.items


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
