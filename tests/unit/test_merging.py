"""Two queued jobs with one dedupe key become one."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.queue.jobs import Priority
from memoryd.queue.merging import Waiting, merge

OLD = Waiting(
    payload={"v": 1},
    priority=Priority.NORMAL,
    run_at=10.0,
    deadline=60.0,
    attempt=0,
    snoozed=False,
)
NEW = replace(OLD, payload={"v": 2}, run_at=20.0, deadline=90.0)

instants = st.floats(0, 1000, allow_nan=False)
waiting = st.builds(
    Waiting,
    payload=st.fixed_dictionaries({"v": st.integers()}),
    priority=st.sampled_from([Priority.EXPLICIT, Priority.NORMAL, Priority.LOW]),
    run_at=instants,
    deadline=st.none() | instants,
    attempt=st.integers(0, 4),
    snoozed=st.booleans(),
)


def test_debounce_slides_to_the_first_deadline_and_no_further() -> None:
    merged = merge(OLD, NEW)
    assert (merged.run_at, merged.payload) == (20.0, {"v": 2})
    assert merge(merged, replace(NEW, run_at=500.0, deadline=999.0)) == replace(merged, run_at=60.0)


def test_without_a_deadline_the_instant_stays() -> None:
    assert merge(replace(OLD, deadline=None), NEW).run_at == 10.0


def test_a_more_urgent_newcomer_brings_its_earlier_instant() -> None:
    merged = merge(OLD, replace(NEW, priority=Priority.EXPLICIT, run_at=1.0))
    assert (merged.priority, merged.run_at) == (Priority.EXPLICIT, 1.0)


def test_background_work_never_delays_an_explicit_request() -> None:
    explicit = replace(OLD, priority=Priority.EXPLICIT)
    merged = merge(explicit, NEW)
    assert (merged.priority, merged.run_at) == (Priority.EXPLICIT, 10.0)


def test_background_work_ends_neither_a_backoff_nor_a_snooze() -> None:
    late = replace(OLD, run_at=900.0)
    for waits in (replace(late, attempt=2), replace(late, snoozed=True)):
        merged = merge(waits, NEW)
        assert (merged.run_at, merged.snoozed) == (900.0, waits.snoozed)


def test_a_second_explicit_request_ends_the_snooze_of_the_first() -> None:
    snoozed = replace(OLD, priority=Priority.EXPLICIT, run_at=900.0, snoozed=True)
    merged = merge(snoozed, replace(NEW, priority=Priority.EXPLICIT))
    assert (merged.run_at, merged.snoozed) == (20.0, False)


@given(waiting, waiting)
@settings(deadline=None)
def test_nothing_gets_less_urgent_or_forgets_its_attempts(old: Waiting, new: Waiting) -> None:
    merged = merge(old, new)
    assert merged.priority == min(old.priority, new.priority)
    assert merged.attempt == old.attempt
    assert merged.deadline == old.deadline
    assert merged.payload == new.payload
    assert merged.run_at <= max(old.run_at, new.run_at)
    assert merged.snoozed <= old.snoozed
