"""Relative dates made absolute: a memory outlives the week in which it was said.

English and Chinese. What is replaced keeps the day of the week as said; what names no day exactly
("soon", "in a while") stays as it is.
"""

# ruff: noqa: RUF001 - Chinese punctuation is what is read here.

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS: Final = tuple(name.lower() for name in calendar.month_name)
_DAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "couple of": 2, "a couple of": 2,
    "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
    "十": 10, "日": 7, "天": 7,
}  # fmt: skip
_COUNT: Final = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a couple of)"
_HAN_COUNT: Final = r"(?:\d{1,3}|[一二两三四五六七八九十])"

ENGLISH_DATE: Final = (
    rf"(?:the day after tomorrow|tomorrow|today|tonight|yesterday|last night|this morning|"
    rf"(?:(?:this|next|last|coming)\s+)?{_DAY}(?!s)|"
    rf"(?:the\s+)?end of (?:the|this|next) (?:week|month|quarter|year)|"
    rf"(?:this|next|last) (?:week|month|quarter|year)|in {_COUNT} (?:day|week|month)s?|"
    rf"{_COUNT} (?:day|week|month)s? ago|{_COUNT} (?:day|week|month)s? from (?:now|today)|"
    rf"{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?|"
    rf"(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}})?|"
    rf"\d{{4}}-\d\d-\d\d|{_MONTH} \d{{4}}|EOD|EOW|EOM)"
)
"""Source of a pattern that matches one date in English; for patterns that ignore case."""

CHINESE_DATE: Final = (
    rf"(?:大后天|后天|明天|明晚|今天|今晚|昨天|昨晚|前天|"
    r"(?:(?:上个?|下个?|本|这个?)?(?:周|星期|礼拜)[一二三四五六日天1-7])|(?:上个?|下个?|本|"
    r"这个?)(?:周|星期|月)(?:底|末)?|"
    rf"月底|年底|季度末|{_HAN_COUNT}\s*(?:天|周|个星期|个月)(?:之?后|前|内)|"
    rf"(?:\d{{4}}年)?\d{{1,2}}月\d{{1,2}}[日号]|\d{{4}}-\d\d-\d\d)"
)
"""The same in Chinese."""


def absolute(text: str, at: float, *, zone: tzinfo = UTC, recurring: bool = False) -> str:
    """Return ``text`` with its dates counted from the day of ``at``.

    Args:
        text: one or more sentences.
        at: when they were said, seconds since 1970 UTC.
        zone: where the speaker's day begins and ends.
        recurring: a bare day of the week is every such day, as in "never deploy on a Friday".
    """
    today = datetime.fromtimestamp(at, zone).date()

    def english(found: re.Match[str]) -> str:
        if _EVERY.search(text[: found.start()]) or (recurring and _BARE_DAY.fullmatch(found[0])):
            return found[0]
        ahead = _AHEAD.search(text[: found.start()]) is not None
        said = _english(found[0], today, ahead=ahead)
        if said is None:
            return found[0]
        alone = found[0].lower() in _ADVERBS and not _PREPOSITION.search(text[: found.start()])
        if alone:
            return f"on {said}"
        if found[0].lower() in _PERIODS and not _PREPOSITION.search(text[: found.start()]):
            follows = _CLAUSE_END.match(text, found.end()) is not None
            return f"in {said}" if follows else said
        return said

    def chinese(found: re.Match[str]) -> str:
        if text[: found.start()].endswith(("每", "每个", "每逢")) or (
            recurring and _BARE_HAN_DAY.fullmatch(found[0])
        ):
            return found[0]
        before = text[max(0, found.start() - _DATE_LENGTH) : found.start()]
        if (_HAN_ENDED if found[0] in _HAN_ENDS else _HAN_DATED).search(before):
            return found[0]
        return _chinese(found[0], today) or found[0]

    text = _ENGLISH.sub(english, text)
    text = _HAN_YEAR.sub(lambda found: f"{today.year + _HAN_YEARS[found[0]]} 年", text)
    return _CHINESE.sub(chinese, text)


def day(at: float, *, zone: tzinfo = UTC) -> str:
    """Return the day of ``at`` as ``YYYY-MM-DD``."""
    return datetime.fromtimestamp(at, zone).date().isoformat()


_ADVERBS: Final = frozenset(
    ("today", "tonight", "tomorrow", "yesterday", "last night", "this morning")
)
_PERIODS: Final = frozenset(
    f"{which} {unit}" for which in ("last", "this", "next")
    for unit in ("week", "month", "quarter", "year")
)  # fmt: skip
_CLAUSE_END: Final = re.compile(r"\s*(?:$|[,.;:)!]|(?:to|for|because|and|but|by|on|at|btw|so)\b)")
_EVERY: Final = re.compile(r"\b(?:every|each|any|a|other|most|all)\s+$", re.IGNORECASE)
_BARE_DAY: Final = re.compile(_DAY, re.IGNORECASE)
_BARE_HAN_DAY: Final = re.compile(r"(?:周|星期|礼拜)[一二三四五六日天1-7]")
_AHEAD: Final = re.compile(
    r"\b(?:due|ends?|expires?|starts?|begins?|closes?|opens?|by|until|will|must|has to|have to|"
    r"deadline|scheduled|planned|upcoming)(?:\s+(?:is|on|by|at|for|the|be|in|from))*\s*$",
    re.IGNORECASE,
)
_PREPOSITION: Final = re.compile(
    r"(?:^|[^\w\s]|\b(?:on|by|at|before|until|till|after|from|since|for|to|due|is|was|of|and|"
    r"than))\s*$",
    re.IGNORECASE,
)
# What already stands with its date is not dated again: "2026-12-04 (Friday)", "2026-12 月底".
_ENGLISH: Final = re.compile(
    rf"(?<![\w/.-])(?<!\d{{4}}-\d\d-\d\d \(){ENGLISH_DATE}(?![\w/-])(?! of \d{{4}}-)",
    re.IGNORECASE,
)
_DATE_LENGTH: Final = len("2026-12-04（")
_HAN_DATED: Final = re.compile(r"\d{4}-\d\d-\d\d（\Z", re.ASCII)
_HAN_ENDED: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?:-\d\d|-Q\d)? ?\Z", re.ASCII)
_CHINESE: Final = re.compile(CHINESE_DATE)


def _english(said: str, today: date, *, ahead: bool) -> str | None:
    """Return the absolute form of an English date, or ``None`` where it is absolute already.

    Args:
        said: the date in words.
        today: the day from which it is counted.
        ahead: it is known to lie in the future.
    """
    lower = " ".join(said.lower().split())
    lower = lower.removeprefix("the ") if "end of" in lower else lower
    simple = _SIMPLE.get(lower)
    if simple is not None:
        return simple(today)
    if found := re.fullmatch(rf"(?:(this|next|last|coming) )?({_DAY})", lower):
        when = _weekday(today, _DAYS.index(found[2]), found[1] or "")
        return f"{when.isoformat()} ({found[2].capitalize()})"
    if found := re.fullmatch(r"end of (the|this|next) (week|month|quarter|year)", lower):
        return f"the end of {_period(today, found[2], int(found[1] == 'next'))}"
    if found := re.fullmatch(r"(this|next|last) (week|month|quarter|year)", lower):
        return _period(today, found[2], {"this": 0, "next": 1, "last": -1}[found[1]])
    if found := re.fullmatch(rf"(?:in )?({_COUNT}) (day|week|month)s?( ago)?(?: from \w+)?", lower):
        return _after(today, _number(found[1]) * (-1 if found[3] else 1), found[2])
    return _calendar(lower, today, ahead=ahead)


def _calendar(lower: str, today: date, *, ahead: bool) -> str | None:
    """Return the absolute form of "March 15" or "the 15th of March"."""
    if found := re.fullmatch(rf"({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?(?:,? (\d{{4}}))?", lower):
        month, number, year = found[1], found[2], found[3]
    elif found := re.fullmatch(
        rf"(?:the )?(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({_MONTH})(?:,? (\d{{4}}))?", lower
    ):
        month, number, year = found[2], found[1], found[3]
    else:
        return None
    index = next(i for i, name in enumerate(_MONTHS) if i and name.startswith(month[:3]))
    return _coming(today, int(year) if year else None, index, int(number), ahead=ahead)


def _chinese(said: str, today: date) -> str | None:
    """Return the absolute form of a Chinese date, or ``None`` where it stays."""
    shift = _HAN_SIMPLE.get(said)
    if shift is not None:
        return (today + timedelta(days=shift)).isoformat()
    if said in _HAN_ENDS:
        return f"{_period(today, _HAN_ENDS[said], 0)} {said}"
    if found := re.fullmatch(
        r"(上个?|下个?|本|这个?)?(?:周|星期|礼拜)([一二三四五六日天1-7])", said
    ):
        index = (int(found[2]) if found[2].isdigit() else _NUMBERS[found[2]]) - 1
        which = {"上": "last", "下": "next", "本": "week", "这": "week"}
        when = _weekday(today, index, which.get((found[1] or " ")[0], ""))
        return f"{when.isoformat()}（{said}）"
    if found := re.fullmatch(r"(上个?|下个?|本|这个?)(周|星期|月)(底|末)?", said):
        unit, suffix = ("month", "") if found[2] == "月" else ("week", "当周")
        period = _period(today, unit, {"上": -1, "下": 1}.get(found[1][0], 0))
        return period.removeprefix("the week of ") + suffix + (found[3] or "")
    return _han_count(said, today)


def _han_count(said: str, today: date) -> str | None:
    """Return the absolute form of a count of days or of a day of a month, in Chinese."""
    if found := re.fullmatch(rf"({_HAN_COUNT})\s*(天|周|个星期|个月)(之?后|前)", said):
        unit = {"天": "day", "个月": "month"}.get(found[2], "week")
        return _after(today, _number(found[1]) * (-1 if found[3] == "前" else 1), unit)
    if found := re.fullmatch(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]", said):
        year = int(found[1]) if found[1] else None
        return _coming(today, year, int(found[2]), int(found[3]))
    return None


def _number(said: str) -> int:
    """Return a count in digits or words."""
    return int(said) if said.isdigit() else _NUMBERS[said]


def _weekday(today: date, index: int, which: str) -> date:
    """Return the day meant: bare = the next to come, never today; "next" = of the next week."""
    monday = today - timedelta(days=today.weekday())
    week = {"next": 1, "last": -1, "week": 0}.get(which)
    if week is not None:
        return monday + timedelta(days=7 * week + index)
    return today + timedelta(days=(index - today.weekday() - 1) % 7 + 1)


def _period(today: date, unit: str, step: int) -> str:
    """Return the name of the week, month, quarter or year ``step`` away."""
    if unit == "week":
        monday = today + timedelta(days=7 * step - today.weekday())
        return f"the week of {monday.isoformat()}"
    if unit == "year":
        return str(today.year + step)
    if unit == "quarter":
        quarter = today.year * 4 + (today.month - 1) // 3 + step
        return f"{quarter // 4}-Q{quarter % 4 + 1}"
    month = today.year * 12 + today.month - 1 + step
    return f"{month // 12}-{month % 12 + 1:02}"


def _after(today: date, count: int, unit: str) -> str:
    """Return the day ``count`` units away; months name the month."""
    if unit == "month":
        return _period(today, "month", count)
    return (today + timedelta(days=count * (7 if unit == "week" else 1))).isoformat()


def _coming(
    today: date, year: int | None, month: int, number: int, *, ahead: bool = False
) -> str | None:
    """Return a day of a month: without a year the one to come, or less than half a year ago."""
    try:
        if year is not None:
            return date(year, month, number).isoformat()
        found = date(today.year, month, number)
        if found < today - timedelta(days=0 if ahead else 182):
            found = date(today.year + 1, month, number)
    except ValueError:  # No such day: the words stay.
        return None
    return found.isoformat()


def _shift(days: int, note: str = "") -> Callable[[date], str]:
    return lambda today: (today + timedelta(days=days)).isoformat() + note


_SIMPLE: Final[dict[str, Callable[[date], str]]] = {
    "today": _shift(0),
    "eod": _shift(0),
    "tonight": _shift(0, " (evening)"),
    "this morning": _shift(0, " (morning)"),
    "tomorrow": _shift(1),
    "the day after tomorrow": _shift(2),
    "yesterday": _shift(-1),
    "last night": _shift(-1, " (night)"),
    "eow": lambda today: f"the end of {_period(today, 'week', 0)}",
    "eom": lambda today: f"the end of {_period(today, 'month', 0)}",
}
_HAN_YEARS: Final = {"前年": -2, "去年": -1, "今年": 0, "明年": 1}
_HAN_YEAR: Final = re.compile(r"前年|去年|今年|明年")
_HAN_ENDS: Final = {"月底": "month", "年底": "year", "季度末": "quarter"}
_HAN_SIMPLE: Final = {
    "今天": 0, "今晚": 0, "明天": 1, "明晚": 1, "后天": 2, "大后天": 3, "昨天": -1, "昨晚": -1,
    "前天": -2,
}  # fmt: skip
