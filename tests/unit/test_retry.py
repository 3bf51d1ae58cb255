"""When a failed job is tried again."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.errors import ConfigError
from memoryd.queue.jobs import (
    RETRY_BASE_S,
    RETRY_CAP_S,
    PermanentFailure,
    TransientFailure,
    next_retry,
)
from memoryd.queue.rows import describe


@given(st.integers(1, 30), st.integers())
@settings(deadline=None)
def test_the_delay_is_bounded_by_the_attempt_and_the_cap(attempt: int, seed: int) -> None:
    delay = next_retry(attempt, 100, ValueError(), Random(seed))
    assert delay is not None
    assert 0 <= delay <= min(RETRY_CAP_S, RETRY_BASE_S * 2**attempt)


def test_jobs_that_failed_together_do_not_come_back_together() -> None:
    rng = Random(1)
    delays = {next_retry(3, 5, ValueError(), rng) for _ in range(50)}
    assert len(delays) == 50


def test_retry_after_is_a_lower_bound() -> None:
    error = TransientFailure("busy", retry_after_s=1234.0)
    delay = next_retry(1, 5, error, Random(1))
    assert delay is not None
    assert 1234.0 <= delay <= 1234.0 + RETRY_BASE_S * 2


@pytest.mark.parametrize(
    ("attempt", "error"),
    [(5, ValueError()), (6, TransientFailure("x", retry_after_s=1)), (1, PermanentFailure("no"))],
)
def test_the_last_attempt_and_a_permanent_failure_are_the_end(
    attempt: int, error: Exception
) -> None:
    assert next_retry(attempt, 5, error, Random(1)) is None


def test_only_errors_of_our_own_speak_for_themselves() -> None:
    nothing: dict[str, str] = {}
    with pytest.raises(KeyError) as raised:
        nothing["what the person typed"]
    said = describe(raised.value)
    assert said.startswith("KeyError at test_retry.py:")
    assert "person" not in said
    assert describe(ConfigError("The setting x is unknown.")) == "The setting x is unknown."
    assert describe(TransientFailure("status 529")) == "status 529"
    assert len(describe(PermanentFailure("y" * 5000))) == 300
