"""Ways of working: "from now on", "always", "never", "use X, not Y"."""

# ruff: noqa: RUF001 - dashes that people type.

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from memoryd.extraction import kinds
from memoryd.extraction.offline import claims
from memoryd.extraction.offline.claims import Claim
from memoryd.extraction.offline.english.phrases import (
    CODE_THING,
    FOR_NOW,
    IMPERATIVE,
    NP,
    SCOPE_TAIL,
)
from memoryd.extraction.operations import MemoryType

_I: Final = re.IGNORECASE

_FROM_NOW: Final = re.compile(
    r"^(?:from (?:now|here)(?: on(?:wards?)?(?: out)?)?|going (?:forward|fwd)|in general|generally|"
    r"moving forward|"
    r"henceforth|in (?:the )?future|in future sessions|from this point on(?:wards?)?|"
    r"as a (?:general )?rule|next time|in every session|by convention|"
    r"at all times)[,:]?\s+(?P<fact>.+)$",
    _I,
)
_GENERAL: Final = re.compile(r"(?:in general|generally)\b", _I)
_WANTS_YOU: Final = re.compile(
    r"^(?:i (?:want|expect|need|would like|'d like)|i'd like|i would prefer) you to (?!be\b)", _I
)
_FROM_NOW_LAST: Final = re.compile(
    r"^(?P<fact>.+?),?\s+(?:from (?:now|here) on(?:wards?)?|going (?:forward|fwd)|moving forward|"
    r"in (?:the )?future|from this point on|every time|at all times|always)(?:,? please)?$",
    _I,
)
_WHEN_RULE: Final = re.compile(
    r"^(?:whenever|when|every time|each time|any time|anytime|before|after|for (?:every|each|"
    r"any|all)|if)\b[^,]{3,80},\s*(?:please |you (?:should|must) )?(?P<order>.+)$",
    _I,
)
_HABIT: Final = re.compile(
    r"^(?:whenever|every time|each time|any ?time) (?:you|we)\b|"
    r"^(?:when|if) you(?:'re| are)? (?:ever )?(?:unsure|not sure|in doubt|uncertain|stuck)\b|"
    r"\b(?:always|never)\b|"
    r"^(?:before|after|for|on) (?:every|each|any) (?:new )?(?:commit|pr|pull request|release|"
    r"feature|change|bug ?fix|fix|migration|deploy(?:ment)?|merge|push|refactoring)\b",
    _I,
)
_ALWAYS: Final = re.compile(
    r"^(?:please |pls |plz |(?:please )?(?:make|be) sure (?:that )?(?:you |to )?|"
    r"you (?:should|must) |we (?:should |must )?|one (?:should|"
    r"must) )?(?P<rule>(?:always|never)(?: ever| again)?\s+(?P<verb>[a-z]+(?:-[a-z]+)*)\b.*)$",
    _I,
)
# What a person does at work; what a program does ("always return …") is no rule of working.
_WORK: Final = frozenset(
    (
        "add", "amend", "answer", "append", "approve", "ask", "assume", "avoid", "backport",
        "branch", "build", "bump", "bypass", "change", "check", "cite", "commit", "confirm",
        "copy", "create", "cut", "delete", "deploy", "disable", "document", "downgrade", "draft",
        "edit", "ensure", "explain", "follow", "force", "force-merge", "force-push", "forget",
        "format", "generate", "give", "guess", "ignore", "include", "install", "invent", "keep",
        "leave", "link", "lint", "make", "mention", "merge", "mix", "mock", "modify", "name",
        "open", "pin", "pipe", "prefer", "publish", "pull", "push", "put", "quote", "read",
        "rebase", "rebuild", "regenerate", "reindex", "release", "remove", "rename", "reply",
        "respond", "review", "rewrite", "run", "ship", "sign", "skip", "speak", "squash",
        "squash-merge", "start", "state", "stick", "suggest", "summarize", "summarise", "tag",
        "tell", "test", "touch", "translate", "update", "upgrade", "use", "verify", "wait", "work",
        "wrap", "write",
    )
)  # fmt: skip
_DONT: Final = re.compile(
    r"^(?:please |pls |plz |you (?:should|must) |we )?(?P<rule>(?:don'?t|do not|must not|mustn'?t|"
    r"you (?:don'?t|do not) (?:need|have) to|"
    r"shouldn'?t|should not)(?P<ever> ever| again)?\s+(?P<verb>[a-z]+)\b.*)$",
    _I,
)
_STOP: Final = re.compile(
    r"^(?:please )?(?P<rule>(?:stop|avoid|quit) (?:adding|using|writing|summari[sz]ing|asking|"
    r"apologi[sz]ing|mocking|explaining|repeating|saying|suggesting|guessing|creating|putting|"
    r"ending|starting)\b.*)$",
    _I,
)
_TALK: Final = re.compile(
    r"(?:stop|avoid|quit) (?:summari[sz]ing|asking|apologi[sz]ing|explaining|repeating|guessing)\b",
    _I,
)
_NEVER_WANT: Final = re.compile(
    r"^i (?:never (?:ever )?want to|(?:don'?t|do not) (?:ever )?want to) (?P<verb>see|read|find) "
    r"(?P<what>.+? (?:again|ever|any ?more)(?:\b.*)?|.*\b(?:commits?|commit messages|comments|"
    r"tests|prs?|code|docs|answers)\b.*)$",
    _I,
)
_NO_MORE: Final = re.compile(
    r"^no more (?:[\w-]+ )?(?:comments?|emojis?|summar(?:y|ies)|apologies|mocks?|todos?|"
    r"abbreviations|disclaimers|force pushes|default exports)\b.*$",
    _I,
)
_CONVENTION: Final = re.compile(
    r"^(?:our|the (?:team|project|house)(?:'s)?|the|my) (?:[\w-]+ )?(?:convention|policy|"
    r"house rule|"
    r"coding style|style guide|standard|naming scheme)(?: here)? (?:is|says)(?: that| to|:)? "
    r"(?P<what>.+)$",
    _I,
)
_SCOPE: Final = re.compile(
    r"\b(?:again|ever|any ?more|every time|without (?:asking|my|our|permission|approval|"
    r"a review|review|checking)|unless (?:i|we|asked|told|explicitly|you are asked)|"
    r"in (?:this|our|the|any) (?:project|repo|repository|code ?base|team)|"
    r"(?:at the end of|after|before|with) (?:every|each|your)|"
    r"in (?:your |our |any |the )?(?:commit messages?|commits|comments|tests|unit tests|"
    r"integration tests|prs|pull requests|pr descriptions|responses|answers|replies|summaries|"
    r"docs|"
    r"documentation|code|production|prod|changelogs?|release notes|test names|variable names|"
    r"log messages|error messages|e-?mails)(?=$|[,.;\s](?!for now))|"
    r"(?:to|from) (?:my |your |our |the |any )?(?:commits|commit messages|prs|pull requests|"
    r"answers|responses)(?=$|[,.;\s])|"
    r"to (?:main|master|production|prod|the main branch|the release branch)|on (?:main|master|"
    r"fridays|weekends|production|prod)|directly)\b",
    _I,
)
_IN_ONE_PLACE: Final = re.compile(
    r"\b(?:in|for|on|with) the (?!(?:project|repo|repository|team|back ?end|front ?end)\b)", _I
)
_USE: Final = (
    r"(?:(?:(?:this|the|our) (?:repo|repository|project|team|code ?base|monorepo) )(?:uses|is on)|"
    r"we (?:only |now |actually |all |always |are |do )*(?:use|using|run|run on|"
    r"deploy (?:to|on|with)|build with|test with)|we'?re (?:now )?(?:on|using)|(?:please |"
    r"always |let'?s |just |you (?:should|must) )*(?:use|prefer|stick (?:to|with))|let'?s use)"
)
_CONTRAST: Final = re.compile(
    rf"^(?P<verb>{_USE}) {NP.format('new')}(?: here| now| these days)?,? (?:and not|but not|not|"
    r"instead of|rather than|over|"
    rf"never) {NP.format('old')}{SCOPE_TAIL}$",
    _I,
)
_CONTRAST_TURNED: Final = re.compile(
    rf"^(?:(?:please )?(?:don'?t|do not|never|stop) us(?:e|ing)|we (?:don'?t|do not|"
    rf"no longer) use|we(?:'ve| have)? stopped using|instead of|not) {NP.format('old')}"
    rf"(?:,? (?:any ?more|any longer))?(?:\s*[,;.—–-]+|,? but| and)\s*(?:please |just |"
    rf"we (?:now )?|but |instead )*(?:use|using|switched to|moved to|it's|"
    rf"we'?re on) {NP.format('new')}(?: instead| now)?{SCOPE_TAIL}$",
    _I,
)
_EVERYWHERE: Final = re.compile(
    r"\b(?:everywhere|(?:in|for|across) (?:all|every|any|anything|everything|new) ?)\b", _I
)
_FRAGMENT: Final = re.compile(
    rf"^(?:it'?s )?{NP.format('new')},? (?:and )?not {NP.format('old')}$", _I
)


def from_now_on(text: str, _correcting: bool) -> Claim | None:
    """Read "from now on …", "…, going forward"."""
    found = _FROM_NOW.match(text) or _FROM_NOW_LAST.match(text)
    if not found:
        return None
    fact = found["fact"]
    if wish := _WANTS_YOU.match(fact):
        fact = fact[wish.end() :]
        fact = fact[:1].upper() + fact[1:]
    elif _GENERAL.match(text) and not IMPERATIVE.match(fact):
        return None
    if re.match(
        r"(?:we|i|it|they) (?:could|might|may|can|will|would|should consider|want to|plan)\b",
        fact,
        _I,
    ):
        return None
    if not (
        IMPERATIVE.match(fact)
        or _CONTRAST.match(fact)
        or re.match(
            r"(?:we|you|all|every|each|nobody|i (?:want|prefer|expect|need)|when|before|after|if|"
            r"no|only|"
            r"commits?|tests?|new|the)\b",
            fact,
            _I,
        )
    ):
        return None
    if claims.points_elsewhere(re.sub(r"^(?:when|before|after|if)[^,]*,", "", fact)):
        return None
    return claims.rule(fact, asked=True)


def when(text: str, _correcting: bool) -> Claim | None:
    """Read "whenever X, do Y"."""
    found = _WHEN_RULE.match(text)
    if not found or not IMPERATIVE.match(found["order"]) or not _HABIT.search(text):
        return None
    if claims.points_elsewhere(text) or claims.about_product(text):
        return None
    return claims.rule(text)


def always(text: str, _correcting: bool) -> Claim | None:
    """Read "always …", "never …"."""
    found = _ALWAYS.match(text)
    if not found or found["verb"].lower() not in _WORK or claims.about_product(found["rule"]):
        return None
    if claims.points_elsewhere(found["rule"]):
        return None
    start = text if re.match(r"we\b", text, _I) else found["rule"]
    return claims.rule(start)


def dont(text: str, _correcting: bool) -> Claim | None:
    """Read "don't …" and "stop …ing" where they are meant to stand, not for the task in hand."""
    found = _DONT.match(text) or _STOP.match(text)
    if not found or claims.points_elsewhere(found["rule"]) or FOR_NOW.search(text):
        return None
    rule = found["rule"]
    if re.match(
        r"(?:don'?t|do not) (?:forget|remember|worry|bother|mind|know|think|need|see|have|"
        r"understand|want|like|care|recall|stop)\b",
        rule,
        _I,
    ):
        return None
    if not (_SCOPE.search(rule) or _TALK.match(rule)) or claims.about_product(rule):
        return None
    return claims.rule(rule)


def wanted(text: str, _correcting: bool) -> Claim | None:
    """Read "I never want to see X again", "I want you to always …", "no more X"."""
    if found := _NEVER_WANT.match(text):
        if claims.points_elsewhere(found["what"]) or claims.about_product(found["what"]):
            return None
        return claims.rule(f"The user never wants to {found['verb']} {found['what']}")
    if (found := _NO_MORE.match(text)) and not claims.points_elsewhere(text):
        return claims.rule(text)
    found = _CONVENTION.match(text)
    if found and not claims.points_elsewhere(found["what"]):
        return claims.rule(text)
    return None


def contrast(text: str, _correcting: bool) -> Claim | None:
    """Read "use X, not Y", "don't use Y, use X"."""
    text = re.sub(
        r",?\s+(?:now|these days)$|(?<=\w) (?:here|now|these days)(?=,? (?:and )?not\b)",
        "",
        text,
        flags=_I,
    )
    found = _CONTRAST.match(text)
    turned = None if found else _CONTRAST_TURNED.match(text)
    either = found or turned
    if not either or claims.points_elsewhere(text):
        return None
    new, old, tail = either["new"], either["old"], either["tail"]
    known = kinds.shared(new, old)
    if _IN_ONE_PLACE.search(tail):
        return None
    if (
        known is None
        and not _EVERYWHERE.search(tail)
        and (claims.about_product(text) or CODE_THING.search(f"{new} {old}"))
    ):
        return None
    ours = re.match(r"let'?s\b|let us\b", text, _I) is not None
    claim = claims.rule(text, kind=MemoryType.PROJECT if ours else MemoryType.FEEDBACK)
    subject = (known,) if known else ()
    return replace(claim, corrects=True, subject=subject)


def fragment(text: str, _correcting: bool) -> Claim | None:
    """Read "X, not Y" of two things of one known kind."""
    found = _FRAGMENT.match(text)
    if not found:
        return None
    known = kinds.shared(found["new"], found["old"])
    if known is None:
        return None
    fact = f"Use {found['new']}, not {found['old']}"
    return replace(claims.rule(fact), corrects=True, subject=(known,))
