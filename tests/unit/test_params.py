from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from memoryd.daemon.params import Params
from memoryd.errors import ProtocolError
from memoryd.protocol import ErrorCode

GOOD: list[tuple[dict[str, Any], Callable[[Params], Any], Any]] = [
    ({"a": "x"}, lambda p: p.text("a"), "x"),
    ({}, lambda p: p.text("a", None), None),
    ({"a": None}, lambda p: p.text("a", "d"), "d"),
    ({"a": ""}, lambda p: p.text("a", "d"), ""),
    ({"a": 3}, lambda p: p.integer("a", least=0, most=3), 3),
    ({}, lambda p: p.integer("a", 7, least=0, most=3), 7),
    ({"a": 1}, lambda p: p.seconds("a", 5, most=9), 1.0),
    ({}, lambda p: p.seconds("a", 5, most=9), 5),
    ({"a": True}, lambda p: p.flag("a"), True),
    ({}, lambda p: p.flag("a"), False),
    ({}, lambda p: p.flag("a", default=True), True),
    ({"a": False}, lambda p: p.flag("a", default=True), False),
    ({"a": "x"}, lambda p: p.choice("a", ("x", "y")), "x"),
    ({}, lambda p: p.choice("a", ("x", "y"), "y"), "y"),
    ({"cwd": "/c"}, lambda p: p.directory("project", "cwd"), Path("/c")),
    ({"cwd": "/c", "project": "/p"}, lambda p: p.directory("project", "cwd"), Path("/p")),
    ({}, lambda p: p.directory("project", "cwd"), None),
    ({"a": 0}, lambda p: "a" in p, True),
    ({"a": None}, lambda p: "a" in p, False),
]

BAD: list[tuple[dict[str, Any], Callable[[Params], Any], str]] = [
    ({}, lambda p: p.text("a"), "is missing"),
    ({"a": 3}, lambda p: p.text("a"), "must be a string"),
    ({"a": " \n"}, lambda p: p.text("a"), "is empty"),
    ({"a": "xxx"}, lambda p: p.text("a", limit=2), "longer than 2"),
    ({}, lambda p: p.integer("a", least=0, most=3), "is missing"),
    ({"a": True}, lambda p: p.integer("a", least=0, most=3), "whole number"),
    ({"a": 1.0}, lambda p: p.integer("a", least=0, most=3), "whole number"),
    ({"a": 4}, lambda p: p.integer("a", least=0, most=3), "from 0 to 3"),
    ({"a": "1"}, lambda p: p.seconds("a", 5, most=9), "must be a number"),
    ({"a": -1}, lambda p: p.seconds("a", 5, most=9), "from 0 to 9"),
    ({"a": 1}, lambda p: p.flag("a"), "true or false"),
    ({"a": "z"}, lambda p: p.choice("a", ("x", "y")), "one of: x, y"),
    ({"cwd": "c"}, lambda p: p.directory("project", "cwd"), "absolute path"),
    ({"cwd": "/c\0"}, lambda p: p.directory("project", "cwd"), "absolute path"),
    ({"cwd": "/" * 5000}, lambda p: p.directory("project", "cwd"), "longer than"),
]


@pytest.mark.parametrize(("values", "read", "expected"), GOOD)
def test_values_are_read(
    values: dict[str, Any], read: Callable[[Params], Any], expected: object
) -> None:
    assert read(Params(values)) == expected


@pytest.mark.parametrize(("values", "read", "why"), BAD)
def test_wrong_values_are_refused_by_name(
    values: dict[str, Any], read: Callable[[Params], Any], why: str
) -> None:
    with pytest.raises(ProtocolError, match=why) as caught:
        read(Params(values))
    assert caught.value.code == ErrorCode.INVALID_PARAMS
    assert "'a'" in str(caught.value) or "'cwd'" in str(caught.value)
