"""What becomes of two queued jobs with one dedupe key: a pure rule, used wherever they meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from memoryd.queue.jobs import Priority


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The columns of a queued job that merging decides about. Instants are seconds since 1970.

    Attributes:
        attempt: runs so far; above 0 the job waits for a retry.
    """

    payload: Mapping[str, Any]
    priority: int
    run_at: float
    deadline: float | None
    attempt: int
    snoozed: bool


def merge(old: Waiting, new: Waiting) -> Waiting:
    """Return the one job that stands for both ``old``, which waits, and ``new``, which came later.

    The payload is the new one, the priority the smaller one. The instant:

    - a more urgent newcomer, or one that a person asked for, brings its own if that is earlier,
      and so ends a backoff or a snooze;
    - a less urgent newcomer, a retry, a snoozed job or one without deadline leaves the old one;
    - otherwise it slides to the later one, but never beyond the first deadline.
    """
    merged = replace(old, payload=new.payload, priority=min(old.priority, new.priority))
    if new.priority < old.priority or new.priority == Priority.EXPLICIT:
        if new.run_at < old.run_at:
            return replace(merged, run_at=new.run_at, snoozed=False)
        return merged
    if new.priority > old.priority or old.attempt > 0 or old.snoozed or old.deadline is None:
        return merged
    return replace(merged, run_at=min(max(old.run_at, new.run_at), old.deadline))
