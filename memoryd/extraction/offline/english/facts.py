"""Facts of a person and a project: roles, preferences, deadlines, places, decisions."""

# ruff: noqa: RUF001 - dashes that people type.

from __future__ import annotations

import re
from typing import Final

from memoryd.extraction import kinds, subjects
from memoryd.extraction.dates import ENGLISH_DATE
from memoryd.extraction.offline import claims
from memoryd.extraction.offline.claims import Claim
from memoryd.extraction.offline.english.phrases import DUE_THING, OPTION, PLACE, SITE
from memoryd.extraction.operations import MemoryType

_I: Final = re.IGNORECASE

_ROLE: Final = (
    r"engineer|developer|dev|programmer|scientist|designer|manager|lead|analyst|student|"
    r"researcher|founder|co-?founder|cto|ceo|vp|architect|"
    r"admin|administrator|sysadmin|sre|consultant|intern|teacher|professor|writer|tester|qa|"
    r"owner|maintainer|beginner|newcomer|contractor|"
    r"freelancer|physicist|biologist|mathematician|statistician|economist|doctor|nurse|lawyer|"
    r"journalist|director|head of [\w ]+|hobbyist|novice|"
    r"coder|dba|devops|on-?call|reviewer|pm|product manager|support engineer|specialist|expert|"
    r"artist|accountant|marketer|linguist|chemist"
)
_I_AM: Final = re.compile(
    rf"^(?:i'm|i am|im) (?P<now>now |currently |mainly |mostly "
    rf")?(?P<role>(?:(?-i:[A-Z][a-z]+), )?(?:a|an|the|your|one "
    rf"of the)? ?(?:[\w/+#.'-]+ ){{0,4}}(?:{_ROLE})\b(?P<rest>.*))$",
    _I,
)
_I_AM_NEW: Final = re.compile(
    r"^(?:i'm|i am|im) (?P<what>(?:(?:totally|completely|pretty|quite|relatively|very|"
    r"fairly) )?(?:new to|unfamiliar with|not (?:very |that )?familiar with|fluent in|"
    r"experienced (?:in|with)|colou?r-?blind|dyslexic|left-handed|based in|located in|"
    r"in the \w+ time ?zone|(?:working |developing )?on (?:a )?(?:windows|mac|macos|linux|ubuntu|"
    r"debian|arch|fedora|nixos|wsl2?|m\d mac))\b.*)$",
    _I,
)
_MY: Final = re.compile(
    r"^my (?P<what>(?:role|job|job title|title|background|name|time ?zone|team|native language|"
    r"first language|main language|pronouns|day job|expertise|position))"
    r"(?P<rest> (?:is|are) (?!in\b|at\b|on the\b|not\b|too\b|wrong\b|missing\b).+)$",
    _I,
)
_I_DO: Final = re.compile(
    r"^i(?P<verb>(?:'ve| have)? (?:work (?:as|at|on|in|for|from|mostly|mainly|"
    r"part-?time|remotely|nights|\d)|lead|manage|own|"
    r"maintain|teach|study|been (?:writing|using|working|programming|coding)|never (?:used|"
    r"written|touched|worked)|(?:don'?t|do not) speak|speak|live in) .+)$",
    _I,
)
_I_DO_NOT: Final = re.compile(
    r"\b(?:why|how|what|if|whether|where|that|which|when|the (?:tests?|build|command|script|"
    r"server|app|code)|it|this|about|right now|yet|much about|enough)\b",
    _I,
)
_WAS: Final = re.compile(
    r"^(?:i'm|i am|im) (?:not|no longer) .{3,50}?(?: any ?more)?(?:\s*[,;.–—-]+|,? but)\s*"
    r"(?P<now>(?:i'm|i am|im) .+)$",
    _I,
)
_OWN_VOICE: Final = re.compile(r"\b(?:i|i'm|i've|my|me|we|our|us)\b", _I)
_PREFER: Final = re.compile(
    r"^i(?: (?:really|strongly|generally|usually|always|personally|much|still|"
    r"just))*(?P<verb> (?:prefer|like|love|hate|dislike|can'?t stand|(?:don'?t|do not) like|"
    r"(?:don'?t|do not) want)|'d (?:always )?(?:prefer|rather)| would (?:always )?(?:prefer|"
    r"rather)) (?P<what>.+)$",
    _I,
)
_A_CHOICE: Final = re.compile(
    r"^(?:the|this|that|it|these|those|option|approach|solution|variant|version|plan|number|#|"
    r"[a-d]\b|\d|how|what|where|when|your|one|both|either|neither|a|an|to (?:see|know|hear|do|"
    r"add|have|get|change|fix|try|go|start|keep)|if|we\b|you\b(?! (?:to )?(?:always|never)))",
    _I,
)
_DUE: Final = re.compile(
    rf"^(?P<what>(?:the |our |my )?(?:[\w./-]+ ){{0,4}}{DUE_THING}(?: (?:of|for|with) (?:the |"
    rf"our )?[\w./ -]{{2,40}}?| [\w.-]+)?) "
    rf"(?:is|are|was moved|has been moved|moved|is now|launches|ships|lands|starts|begins|ends|"
    rf"will be|is going to be|must be|has to be|needs to be|goes|go|happens|closes|opens|"
    rf"takes place)"
    rf"(?: (?:now|due|planned|scheduled|set|out|live|done|ready|finished|shipped|delivered|"
    rf"moved|postponed|expected))*(?: (?:on|by|for|at|before|to|until|"
    rf"from))?(?: the)? ({ENGLISH_DATE})(?P<rest>.*)$",
    _I,
)
_WE_SHIP: Final = re.compile(
    rf"^(?P<what>we(?:'re)? (?:ship|release|launch|go live|freeze|deliver|demo|cut|publish|"
    rf"are freezing|are launching|are releasing|are shipping|(?:are )?(?:sunsetting|"
    r"retiring|shutting down|decommissioning|switching off)|(?:sunset|retire|shut down|"
    r"decommission)|will (?:ship|release|launch|"
    rf"go live|freeze)|must ship|need to ship|have to ship|'re freezing|"
    r"'re launching)(?P<obj>(?: (?:the|our))?(?: (?!on\b|by\b|next\b|"
    rf"this\b)[\w./-]+){{0,5}})) (?:(?:on|by|in|"
    rf"at|before|from|after) )?(?:the )?({ENGLISH_DATE})(?P<rest>.*)$",
    _I,
)
_DEADLINE_FOR: Final = re.compile(
    rf"^(?P<what>(?:the |our )?deadline(?: (?:for|of) .{{2,50}}?)?) (?:is|was moved to|"
    rf"moved to|has been moved to|:)(?: now| on| the| set for)* ({ENGLISH_DATE})(?P<rest>.*)$",
    _I,
)
_TAIL_OK: Final = re.compile(
    r"^\s*(?:$|[,;.(—–-]|at \d|because|since|so\b|and\b|by\b|for\b|in\b|evening|morning|noon|"
    r"afternoon|end of day|eod|sharp|\d)",
    _I,
)
_WHERE: Final = re.compile(
    rf"^(?P<what>(?:the |our |all (?:the |our )?|any )?(?:[\w./'-]+ ){{0,4}}{PLACE}(?: (?:for|"
    rf"of) (?:the |our )?[\w ./-]{{2,40}}?)?)(?: (?:is|are|lives?|can be found|sits?|resides?|"
    rf"go|goes|gets?)(?: (?:tracked|kept|found|hosted|documented|stored|now|located|filed|reported|"
    rf"available|managed|written up|always|all))*"
    rf"(?: (?:at|in|on|under|into|to|via|here:?))?:?|:) (?P<where>.+)$",
    _I,
)
_NEXT_MATTER: Final = re.compile(r",\s|\s(?:but|and then|so)\s|\s[—–-]\s")
_OUT_OF_ORDER: Final = re.compile(
    r"\b(?:broken|down|failing|wrong|missing|slow|empty|not|full of|showing|returning|returns)\b",
    _I,
)
_PASSING: Final = re.compile(
    r"/(?:pull|pulls|merge_requests|commit|commits|blob|tree|issues|actions/runs|jobs|"
    r"compare)/[\w.-]+|[?&](?:token|key|sig)=",
    _I,
)
_DECIDED: Final = re.compile(
    r"^(?P<all>(?:we|the (?:whole )?(?:team|company|board|client|customer))(?:'ve| have|"
    r" has)?(?: (?:just|now|finally|already|all|jointly|since))* (?:decided|agreed|settled|"
    r"chose|chosen|committed|resolved|opted)(?: (?:yesterday|today|last \w+|on \w+day|recently))?"
    r"(?: (?:to|on|that|against|for|not to)|"
    r" [\w./+#-]+(?: [\w./+#-]+){0,2} over) ?(?P<what>.+))$|"
    r"^(?:the )?decision(?: (?:is|was))?[:\s]+(?P<decision>(?:to |that |we )?.+)$|"
    r"^(?P<rejected>we (?:explicitly|deliberately|intentionally|definitely|"
    r"on purpose) (?:don'?t|do not|never|keep|chose|avoid|use) .+)$",
    _I,
)


def identity(text: str, correcting: bool) -> Claim | None:
    """Read "I'm the tech lead", "my time zone is …", "I'm new to Rust"."""
    fact = ""
    text = re.sub(r",?\s+(?:now|here)$", "", text, flags=_I)
    if (was := _WAS.match(text)) and (is_now := identity(was["now"], True)):
        return is_now
    subject: tuple[str, ...] = ("user", "role")
    if (found := _I_AM.match(text)) and not claims.points_elsewhere(found["role"]):
        rest = found["rest"]
        if re.match(r"\s*(?:to|who can|that|,? (?:so|but)\b.*\?)", rest) or re.search(
            r"\b(?:bit|fan|heart|kind of|sort of|getting|trying|looking|having|stuck|confused)\b",
            found["role"],
            _I,
        ):
            return None
        fact = f"The user is {found['now'] or ''}{found['role'].strip()}"
    elif (found := _I_AM_NEW.match(text)) and not claims.points_elsewhere(found["what"]):
        if claims.about_code(found["what"]):
            return None
        fact = f"The user is {found['what']}"
        subject = ()
    elif (found := _MY.match(text)) and not claims.points_elsewhere(found["rest"]):
        fact = f"The user's {found['what']}{found['rest']}"
        role = re.search(r"role|job|title|position", found["what"], _I)
        subject = subject if role else ("user", found["what"].lower())
    elif (
        (found := _I_DO.match(text))
        and not _I_DO_NOT.search(found["verb"])
        and not claims.points_elsewhere(text)
    ):
        fact = f"The user said: {claims.sentence_of(text)}"
        subject = ()
    if not fact:
        return None
    if _OWN_VOICE.search(fact) and not fact.startswith("The user said"):
        fact = f"The user said: {claims.sentence_of(text)}"
    return Claim(type=MemoryType.USER, fact=fact, sentence="", corrects=correcting, subject=subject)


def preference(text: str, correcting: bool) -> Claim | None:
    """Read "I prefer X", "I hate Y"; a choice between options at hand is no preference."""
    found = _PREFER.match(text)
    if not found:
        return None
    what, verb = found["what"], found["verb"].strip().lower()
    conditional = verb.startswith(("'d", "would"))
    if conditional and not re.search(
        r"\b(?:always|in general|generally|every|over|than)\b", text, _I
    ):
        return None
    if verb in {"don't want", "do not want", "dont want"} and not re.match(
        r"(?:you to (?:ever|always)|any \w+ in (?:commit|comments|code|tests))", what, _I
    ):
        return None
    if (
        _A_CHOICE.match(what)
        or OPTION.search(what)
        or claims.points_elsewhere(what)
        or claims.about_code(what)
    ):
        return None
    if (
        conditional
        and "always" not in text.lower()
        and re.match(r"(?:not|implement|do|have|see|start|wait|skip|leave|go|fix|use)\b", what, _I)
    ):
        return None
    what, reason = claims.split_reason(what, rule=False)
    third = {
        "like": "likes",
        "love": "loves",
        "hate": "hates",
        "dislike": "dislikes",
        "prefer": "prefers",
    }.get(verb)
    if third is None:
        third = (
            "does not like"
            if "like" in verb
            else "cannot stand"
            if "stand" in verb
            else "does not want"
            if "want" in verb
            else "would rather"
            if "rather" in verb
            else "prefers"
        )
    known = next(iter(kinds.kinds_in(what)), "") if len(kinds.kinds_in(what)) == 1 else ""
    return Claim(
        type=MemoryType.USER,
        fact=f"The user {third} {what}",
        sentence="",
        corrects=correcting,
        subject=(known,) if known else subjects.order(what),
        reason=reason,
    )


def due(text: str, correcting: bool) -> Claim | None:
    """Read "the release is due on Friday"; a date that was is no deadline."""
    found = _DUE.match(text) or _WE_SHIP.match(text) or _DEADLINE_FOR.match(text)
    if not found or not _TAIL_OK.match(found["rest"]):
        return None
    if re.search(
        r"\b(?:pr|branch|build|test|endpoint|function|review comment)\b|\b(?:yesterday|"
        r"last (?:week|month|night)|ago)\b",
        found[0],
        _I,
    ):
        return None
    if re.search(r"\b(?:last|previous)\b", found["what"], _I):
        return None
    if re.search(r"\b(?:this|these|those|it)\b(?! (?:week|month|quarter|year))", found["what"], _I):
        return None
    rest = re.match(r"[,;—–-]\s*(?!because|since|so\b|at\b|not\b)", found["rest"].strip(), _I)
    if rest:  # What follows the date is for the moment.
        text = text[: found.start("rest")]
    fact, reason = claims.split_reason(text, rule=False)
    return Claim(
        type=MemoryType.PROJECT,
        fact=fact,
        sentence="",
        corrects=correcting or "moved" in text.lower(),
        reason=reason,
        subject=_due_subject(found),
    )


def _due_subject(found: re.Match[str]) -> tuple[str, ...]:
    """Return the words of what is due; "deadline" is said of all of it."""
    what = re.sub(
        r"^(?:the|our|my|we(?:'re| are)?)\b|\b(?:for|of|the|our)\b", " ", found["what"].lower()
    )
    return tuple(what.split())[:4]


def reference(text: str, correcting: bool) -> Claim | None:
    """Read "the dashboard is at URL", "bugs are tracked in Linear"."""
    found = _WHERE.match(text)
    if not found or _PASSING.search(found["where"]):
        return None
    if not SITE.search(found["where"]) or claims.about_code(re.sub(r"https?://\S+", "", text)):
        return None
    if re.match(r"(?:these|those|this|that|it|some|a|an|there|many)\b", found["what"], _I):
        return None
    if _OUT_OF_ORDER.search(_NEXT_MATTER.split(found["where"])[0]) and not correcting:
        return None
    # What follows the place is another matter, often an order of the moment.
    for joint in _NEXT_MATTER.finditer(found["where"]):
        if SITE.search(found["where"][: joint.start()]):
            text = text[: found.start("where") + joint.start()]
            break
    return Claim(type=MemoryType.REFERENCE, fact=text, sentence="", corrects=correcting)


def decided(text: str, correcting: bool) -> Claim | None:
    """Read "we decided to …", "the team agreed on …"."""
    found = _DECIDED.match(text)
    if not found:
        return None
    what = found["what"] or found["decision"] or found["rejected"]
    if claims.points_elsewhere(what) or claims.about_code(what) or OPTION.search(what):
        return None
    if re.search(r"\bfirst$|^to (?:start|begin|do|go|try|continue)\b", what, _I):
        return None
    body, reason = claims.split_reason(text, rule=False)
    return Claim(
        type=MemoryType.PROJECT, fact=body, sentence="", corrects=correcting, reason=reason
    )
