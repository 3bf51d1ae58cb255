"""Numbers as OpenMetrics text, which Prometheus and its kin read. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class Kind(StrEnum):
    """What a number does."""

    COUNTER = "counter"
    """Only grows; begins again with the service unless the database keeps it."""
    GAUGE = "gauge"
    """Goes up and down."""
    INFO = "info"
    """Always 1; its labels say something."""
    SUMMARY = "summary"
    """How many there were, and their sum."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A number.

    Attributes:
        value: finite.
        labels: by name.
        suffix: behind the name of the family, as its kind demands (``_total``, ``_sum`` …).
    """

    value: float
    labels: Mapping[str, str] = field(default_factory=dict)
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """Numbers of one meaning.

    Attributes:
        name: ends in the unit where there is one.
        kind: what they do.
        about: one sentence.
        samples: each with other labels.
        unit: ``seconds``, ``bytes``, or empty.
    """

    name: str
    kind: Kind
    about: str
    samples: Sequence[Sample]
    unit: str = ""


def gauge(
    name: str,
    about: str,
    value: float | Mapping[tuple[tuple[str, str], ...], float],
    unit: str = "",
) -> Family:
    """Return a family of gauges: one number, or numbers by their labels."""
    if isinstance(value, Mapping):
        samples = [Sample(number, dict(labels)) for labels, number in value.items()]
    else:
        samples = [Sample(value)]
    return Family(name, Kind.GAUGE, about, samples, unit)


def counter(name: str, about: str, value: float, unit: str = "") -> Family:
    """Return a family of one counter."""
    return Family(name, Kind.COUNTER, about, [Sample(value, suffix="_total")], unit)


def render(families: Sequence[Family]) -> str:
    """Return the exposition of the families, its end mark included."""
    lines = []
    for family in families:
        lines.append(f"# TYPE {family.name} {family.kind}")
        if family.unit:
            lines.append(f"# UNIT {family.name} {family.unit}")
        lines.append(f"# HELP {family.name} {_escape(family.about)}")
        lines += [_line(family.name, sample) for sample in family.samples]
    return "\n".join([*lines, "# EOF", ""])


def _line(name: str, sample: Sample) -> str:
    labels = ",".join(f'{key}="{_escape(value)}"' for key, value in sample.labels.items())
    shown = f"{{{labels}}}" if labels else ""
    return f"{name}{sample.suffix}{shown} {sample.value:.15g}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
