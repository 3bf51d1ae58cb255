"""What no longer holds: "we moved to X", "we no longer use Y", "Z is on port N now"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from memoryd.extraction import kinds, subjects
from memoryd.extraction.dates import ENGLISH_DATE
from memoryd.extraction.offline import claims
from memoryd.extraction.offline.claims import Claim
from memoryd.extraction.offline.english.phrases import CODE_THING, DUE_THING, NP, SCOPE_TAIL, SITE
from memoryd.extraction.operations import MemoryType

_I: Final = re.IGNORECASE

_WE_USE: Final = re.compile(
    rf"^(?:we|it|the (?:team|project)|this (?:project|repo|repository)) (?:actually |only |"
    rf"all |now )*(?:use|uses|is|run on|runs on) {NP.format('new')}(?: now| here)?{SCOPE_TAIL}$",
    _I,
)
_NO_LONGER: Final = re.compile(
    rf"^we (?:(?:do not|don'?t|no longer) (?:use|support|deploy to|run)|(?:have |"
    rf"'ve )?(?:stopped using|dropped|retired|got rid of|deprecated)) "
    rf"{NP.format('old')}(?P<more> any ?more| any longer)?{SCOPE_TAIL}$",
    _I,
)
_SUPPORT: Final = re.compile(r"^(?:the )?support (?:for|of) ", _I)
_MOVED: Final = re.compile(
    r"^(?P<who>we|the (?:whole )?(?:team|company)|our team|everyone)(?:'ve| have|"
    r" has)?(?: (?:just|recently|already|since|now|finally|actually))*"
    r" (?:moved|migrated|switched|transitioned|changed|went|relocated|"
    r"renamed)(?P<what> (?!to\b|from\b|over\b|back\b).{1,60}?)?(?: over|"
    r" back)?(?: from (?P<old>.{1,40}?))? to (?P<new>.+)$",
    _I,
)
_THING_MOVED: Final = re.compile(
    r"^(?P<what>(?:the |our )?[\w .-]{2,40}?) (?:was |were |has been |have been |has |have |"
    r"'s been |just |is being |got |is )*(?:moved|migrated|switched|renamed|changed|slipped|slid|"
    r"postponed|"
    r"pushed back|pushed|brought forward|delayed|rescheduled)"
    r"(?: over| back)?(?: from .{1,40}?)? (?:to|until) (?P<new>.+)$",
    _I,
)
_NOW_IS: Final = re.compile(
    r"^(?P<what>(?:the |our )?[\w ./-]{2,50}?) (?:is|are|(?P<should>should be)|lives?|runs?|"
    r"listens?)(?P<now> now)? (?P<new>(?!not\b).{2,60}?)(?P<not>,? "
    r"(?:and )?not (?P<old>[^,]{1,40}))?(?P<now2>,? (?:now|these days|as of .{3,20}))?$",
    _I,
)
_ATTRIBUTE: Final = re.compile(
    r"\b(?:(?:default|main|release|production|staging) branch|host(?:name)?|region|owner|"
    r"channel|bucket|namespace|cluster|domain|registry|licen[sc]e|time ?zone)$",
    _I,
)


def we_use(text: str, correcting: bool) -> Claim | None:
    """Read "we use X" where it corrects; said on its own the repository shows it."""
    found = _WE_USE.match(text) if correcting else None
    known = kinds.shared(found["new"], "") if found else None
    if found is None or known is None or claims.points_elsewhere(found["tail"]):
        return None
    return replace(claims.rule(text), corrects=True, subject=(known,))


def no_longer(text: str, correcting: bool) -> Claim | None:
    """Read "we no longer use X"."""
    found = _NO_LONGER.match(text)
    if not found or claims.points_elsewhere(text) or CODE_THING.search(found["old"]):
        return None
    if not (
        correcting
        or found["more"]
        or re.search(r"no longer|stopped|dropped|retired|rid of|deprecated", text, _I)
    ):
        return None
    fact, reason = claims.split_reason(text, rule=False)
    known = kinds.member_kind(found["old"])
    return Claim(
        type=MemoryType.PROJECT,
        fact=fact,
        sentence="",
        corrects=True,
        reason=reason,
        subject=(known.name,)
        if known
        else subjects.order(_SUPPORT.sub("", text[found.start("old") :])),
    )


def moved(text: str, correcting: bool) -> Claim | None:
    """Read "we moved (X) (from Y) to Z"."""
    found = _MOVED.match(text)
    if not found:
        return None
    what, new = found["what"] or "", found["new"]
    known = kinds.shared(new, found["old"] or "") or kinds.shared(new, what)
    if known is None and not correcting and not found["old"] and not kinds.values_in(new):
        return None
    if re.search(r"\b(?:this|these|those|it|them|here|that|next step|step)\b", f"{what} {new}", _I):
        return None
    if CODE_THING.search(f"{what} {new}") and known is None:
        return None
    if claims.about_code(text) or re.match(
        r"(?:a|an|using|the \w+ (?:pattern|approach))\b", new, _I
    ):
        return None
    fact, reason = claims.split_reason(text, rule=False)
    return Claim(
        type=MemoryType.PROJECT,
        fact=fact,
        sentence="",
        corrects=True,
        reason=reason,
        subject=(known,) if known else (),
    )


def thing_moved(text: str, correcting: bool) -> Claim | None:
    """Read "the release was moved to Monday"."""
    found = _THING_MOVED.match(text)
    if not found or claims.points_elsewhere(text) or claims.about_code(text):
        return None
    if CODE_THING.search(found["what"]) or re.match(
        r"(?:i|you|he|she|we|they)\b", found["what"], _I
    ):
        return None
    dated = re.match(rf"(?:the )?{ENGLISH_DATE}\b", found["new"], _I)
    if dated and not re.search(DUE_THING, found["what"], _I):
        return None
    known = kinds.shared(found["new"], "")
    if not (
        dated
        or known
        or kinds.values_in(found["new"])
        or (correcting and SITE.search(found["new"]))
    ):
        return None
    fact, reason = claims.split_reason(text, rule=False)
    return Claim(
        type=MemoryType.PROJECT, fact=fact, sentence="", corrects=True, reason=reason,
    )  # fmt: skip


def now_is(text: str, correcting: bool) -> Claim | None:
    """Read "the port is 81 now, not 80"; without a correction or "now" it is no cue."""
    found = _NOW_IS.match(text)
    if not found or claims.points_elsewhere(re.sub(r"\bnow\b", "", text, flags=_I)):
        return None
    marked = correcting or found["not"] or found["now"] or found["now2"]
    if found["should"] and not correcting:
        return None
    if not marked or claims.about_code(text) or CODE_THING.search(found["what"]):
        return None
    old = found["old"] or ""
    named = correcting and _ATTRIBUTE.search(found["what"]) and len(found["new"].split()) <= 3  # noqa: PLR2004 - a name
    valued = named or (
        kinds.values_in(found["new"])
        and not re.search(
            r"\b(?:times|bytes|rows|lines|errors|tests|seconds|ms|%|passing|failing)\b", text, _I
        )
    )
    known = kinds.shared(found["new"], old) if old else None
    if not (valued or known or (correcting and SITE.search(found["new"]))):
        return None
    if re.match(
        r"(?:i|you|he|she|we|they|that|what|which|there|result|output|answer|value|expected|"
        r"count)\b",
        found["what"],
        _I,
    ):
        return None
    fact, reason = claims.split_reason(text, rule=False)
    return Claim(
        type=MemoryType.PROJECT, fact=fact, sentence="", corrects=True,
        amends=not known and len(subjects.topic(found["what"])) == 1, reason=reason,
    )  # fmt: skip
