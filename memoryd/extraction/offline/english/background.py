"""Why things are as they are: goals, demands, constraints, causes of incidents, what was wrong."""

from __future__ import annotations

import re
from typing import Final

from memoryd.extraction import subjects
from memoryd.extraction.dates import ENGLISH_DATE
from memoryd.extraction.offline import claims
from memoryd.extraction.offline.claims import Claim
from memoryd.extraction.offline.english.phrases import CODE_THING
from memoryd.extraction.operations import MemoryType

_I: Final = re.IGNORECASE

_WHO: Final = (
    r"(?:(?:the |our )?(?:(?:biggest|main|largest|key|first|only) )?(?:clients?|customers?|boss|"
    r"management|board|compliance(?: team)?|legal(?: team| department)?|security team|auditors?|"
    r"privacy team|data protection officer|dpo|regulators?|product owner|marketing|sales)|legal|"
    r"gdpr|hipaa|pci(?:[ -]dss)?|sox)"
)
_DEMANDED: Final = re.compile(
    rf"^{_WHO} (?:(?:told|informed) us(?: that)?|requires?(?: us to| that)?|insists?(?: on| that)?|"
    r"demands?(?: that)?|forbids?|says?(?: that)?|said(?: that)?|does not allow|doesn'?t allow|"
    r"wants us to|asked us to)(?P<what> .+)$",
    _I,
)
_BINDS: Final = re.compile(
    r"\b(?:must|cannot|can't|may not|have to|has to|not allowed|never|at least|at most|"
    r"no (?:more|longer|later) than|only|forbid\w*|requires?|insists?|demands?|allow)\b",
    _I,
)
_WANTS_BY: Final = re.compile(
    rf"^{_WHO} (?:wants?|needs?|expects?|is waiting for|was promised) (?P<what>.{{3,60}}?) "
    rf"(?:by|before|on|until) (?:the )?(?:{ENGLISH_DATE})\b.*$",
    _I,
)
_CONSTRAINT: Final = re.compile(
    r"^(?:we have|there(?:'s| is)|it(?:'s| is)) (?:a|an|one) (?:hard|strict|legal|contractual|"
    r"regulatory|firm|fixed) (?:requirement|constraint|rule|limit|obligation|deadline)\b"
    r"(?: (?:that|to|of|for)|:) (?P<what>.+)$",
    _I,
)
_CAUSE: Final = re.compile(
    rf"^(?P<what>(?:the |our |last \w+'s |{ENGLISH_DATE}(?:'s)? |(?:january|february|march|april|"
    r"may|june|july|august|september|october|november|december)(?:'s)? |[\w-]+ ){0,4}"
    r"(?:outage|incident|downtime|data loss|breach)s?(?: (?:on|in|of|from|last) [\w '-]{2,30}?)?) "
    r"(?:(?:was|were) (?:caused by|due to|because of|because|triggered by)|"
    r"happened because(?: of)?|"
    r"came from|came about because) (?P<why>.+)$",
    _I,
)
_OURS: Final = re.compile(r"\b(?:i|i'm|me|my|you|your|sorry)\b", _I)
_GOAL: Final = re.compile(
    r"^(?:the|our|my team'?s) (?:main |overall |only |top )*(?:goal|aim|objective|target|"
    r"priority|okr)"
    r"(?: (?:of|for|in) (?:(?:this|the|our|next) (?:quarter|project|product|year|half|team|company|"
    r"release|rewrite|migration)|q[1-4]|20\d\d))(?: (?:is|will be) (?:to |that |still )?|: ?)"
    r"(?P<what>.+)$",
    _I,
)
_STILL_RUNS: Final = re.compile(
    r"^(?:our|the) (?:biggest|main|largest|key|oldest|most important) (?:customers?|clients?) "
    r"(?:still )?(?:runs?|uses?|is on|are on|needs?|has|have|insists? on) (?P<what>.+)$",
    _I,
)
_NAME: Final = (
    r"(?-i:[A-Z][\w.+#-]*|[\w.]*\d[\w.:-]*|[a-z]+-[\w-]+)(?: (?-i:[A-Z\d][\w.+#-]*)){0,2}"
)
_NAMED_NOT: Final = re.compile(
    rf"^(?P<what>(?:the |our )?[\w -]{{3,40}}?) (?:is|are|runs on|is called|lives in) "
    rf"(?P<new>{_NAME}),? (?:and )?not (?P<old>{_NAME})(?: any ?more)?$",
    _I,
)
_WE_DO_NOT: Final = re.compile(
    r"^we (?:don'?t|do not|never) (?P<verb>deploy|release|branch|ship|build|publish|test|merge|"
    r"push|commit|host|run|store|keep|bill|charge|report|track|review|use|sell|"
    r"support) (?P<old>.+?)[,;]? (?:but |instead )?we (?:always |"
    r"only )?(?P=verb) (?P<new>.+)$",
    _I,
)


def demand(text: str, correcting: bool) -> Claim | None:
    """Read "legal told us we cannot …", "the client wants X by Friday"."""
    found = _WANTS_BY.match(text)
    if found is None:
        found = _DEMANDED.match(text) or _CONSTRAINT.match(text) or _STILL_RUNS.match(text)
        if found is None or (found.re is _DEMANDED and not _BINDS.search(text)):
            return None
    if claims.about_product(found["what"]) or _deictic(found["what"]):
        return None
    return _project(text, correcting, subjects.order(text))


def cause(text: str, correcting: bool) -> Claim | None:
    """Read "the March outage was caused by …"."""
    found = _CAUSE.match(text)
    if not found or claims.points_elsewhere(found["why"]) or _OURS.search(found["why"]):
        return None
    return Claim(
        type=MemoryType.PROJECT, fact=text, sentence="", corrects=correcting,
        subject=subjects.order(text),
    )  # fmt: skip


def goal(text: str, correcting: bool) -> Claim | None:
    """Read "the goal of this quarter is to …"; the goal of a task is none."""
    found = _GOAL.match(text)
    if not found or claims.points_elsewhere(found["what"]) or claims.about_code(found["what"]):
        return None
    return _project(text, correcting, subjects.order(text))


def other_name(text: str, correcting: bool) -> Claim | None:
    """Read a correction that names what it is and what it is not."""
    if not correcting:
        return None
    if found := _WE_DO_NOT.match(text):
        if claims.points_elsewhere(text) or claims.about_product(text):
            return None
        return _project(text, correcting)
    found = _NAMED_NOT.match(text)
    if (
        not found
        or claims.points_elsewhere(text)
        or claims.about_product(text)
        or CODE_THING.search(found["what"])
        or len(found["what"].split()) < 2  # noqa: PLR2004 - "the port" of what?
        or re.match(r"(?:i|you|he|she|we|they|that|it|result|output|answer)\b", found["what"], _I)
    ):
        return None
    return _project(text, correcting)


def _deictic(text: str) -> bool:
    """Say whether a demand points elsewhere; "it" behind a comma or "so" is what was named."""
    return claims.points_elsewhere(re.split(r",|\bso\b", text, maxsplit=1)[0])


def _project(text: str, correcting: bool, subject: tuple[str, ...] = ()) -> Claim:
    fact, reason = claims.split_reason(text, rule=False)
    return Claim(
        type=MemoryType.PROJECT, fact=fact, sentence="", corrects=correcting, reason=reason,
        subject=subject,
    )  # fmt: skip
