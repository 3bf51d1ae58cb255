"""A strict reader of the part of OpenMetrics 1.0 that memoryd writes."""

from __future__ import annotations

import math
import re

Key = tuple[str, tuple[tuple[str, str], ...]]

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_ABOUT = re.compile(rf"# (TYPE|UNIT|HELP) ({_NAME}) (.*)")
_SAMPLE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (\S+)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
_SUFFIXES = {
    "counter": {"_total"},
    "gauge": {""},
    "info": {"_info"},
    "summary": {"_count", "_sum"},
}


def parse(text: str) -> dict[Key, float]:
    """Return every number by its name and labels; what the format forbids is an assertion."""
    assert text.endswith("# EOF\n")
    found: dict[Key, float] = {}
    families: dict[str, str] = {}
    family, order = "", 0
    for line in text.removesuffix("# EOF\n").splitlines():
        about = _ABOUT.fullmatch(line)
        if about:
            word, name, value = about.groups()
            rank = ("TYPE", "UNIT", "HELP").index(word)
            if word == "TYPE":
                assert name not in families, f"{name} comes twice"
                families[name] = value
                family = name
            else:
                assert name == family, line
                assert rank > order, line
                assert word == "HELP" or name.endswith(f"_{value}"), line
            order = rank
            continue
        sample = _SAMPLE.fullmatch(line)
        assert sample, line
        name, labels, number = sample.groups()
        assert name.removeprefix(family) in _SUFFIXES[families[family]], line
        assert name.startswith(family), line
        key = (name, _labels(labels or ""))
        assert key not in found, line
        found[key] = float(number)
        assert math.isfinite(found[key]), line
        order = 3
    return found


def _labels(text: str) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        label = _LABEL.match(text, position)
        assert label, text
        unescaped = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], label[2])
        found.append((label[1], unescaped))
        position = label.end()
    assert len({name for name, _ in found}) == len(found), text
    return tuple(found)
