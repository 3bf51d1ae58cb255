from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memoryd.extraction.dates import absolute, day

from support.extraction import TUESDAY


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("due on Friday", "due on 2026-12-04 (Friday)"),
        ("due on Tuesday", "due on 2026-12-08 (Tuesday)"),
        ("due this Thursday", "due 2026-12-03 (Thursday)"),
        ("due next Friday", "due 2026-12-11 (Friday)"),
        ("since last Monday", "since 2026-11-23 (Monday)"),
        ("due tomorrow", "due 2026-12-02"),
        ("we moved yesterday", "we moved on 2026-11-30"),
        ("we moved last night", "we moved on 2026-11-30 (night)"),
        ("by the day after tomorrow", "by 2026-12-03"),
        ("next week", "the week of 2026-12-07"),
        ("by the end of the month", "by the end of 2026-12"),
        ("next quarter", "2027-Q1"),
        ("next month", "2027-01"),
        ("in two weeks", "2026-12-15"),
        ("3 days ago", "2026-11-28"),
        ("on March 15", "on 2027-03-15"),
        ("on the 15th of October", "on 2026-10-15"),
        ("on Dec 24, 2027", "on 2027-12-24"),
        ("on February 30", "on February 30"),
        ("never on Fridays", "never on Fridays"),
        ("someday", "someday"),
        ("2026-12-24", "2026-12-24"),
        ("明天发布", "2026-12-02发布"),
        ("下周五发布", "2026-12-11（下周五）发布"),
        ("周五发布", "2026-12-04（周五）发布"),
        ("本周三", "2026-12-02（本周三）"),
        ("12月20日", "2026-12-20"),
        ("2027年1月5号", "2027-01-05"),
        ("三天后", "2026-12-04"),
        ("两周前", "2026-11-17"),
    ],
)
def test_dates_are_counted_from_the_day_they_were_said(said: str, meant: str) -> None:
    assert absolute(said, TUESDAY) == meant


def test_the_day_ends_where_the_person_is() -> None:
    late = datetime(2026, 12, 1, 23, 30, tzinfo=UTC).timestamp()
    east = timezone(timedelta(hours=8))
    assert absolute("due tomorrow", late) == "due 2026-12-02"
    assert absolute("due tomorrow", late, zone=east) == "due 2026-12-03"
    assert day(late, zone=east) == "2026-12-02"


@given(st.text(max_size=80), st.floats(min_value=0, max_value=4e9))
@example("due Friday", TUESDAY)
@example("done EOW", TUESDAY)
@example("周五发布", TUESDAY)
@example("月底、年底、季度末", TUESDAY)
@settings(deadline=None)
def test_absolute_dates_stay(text: str, at: float) -> None:
    once = absolute(text, at)
    assert absolute(once, at) == once
