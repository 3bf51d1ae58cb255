"""What a person asks to remember or to forget in so many words."""

# ruff: noqa: RUF001 - dashes that people type.

from __future__ import annotations

import re
from typing import Final

from memoryd.extraction.offline import claims
from memoryd.extraction.offline.english.phrases import FOR_NOW, IMPERATIVE

_I: Final = re.IGNORECASE

_POLITE: Final = (
    r"(?:(?:can|could|would|will) (?:you|u) (?:please |pls |plz |also )?|i(?:'d|"
    r" would) like you to |i (?:want|"
    r"need) you to |"
    r"you (?:should|must|need to|have to) (?:always )?|let'?s |do )?(?:please |pls |plz |also |"
    r"always |just )*"
)
_LATER: Final = (
    r"(?:,? ?for (?:me|next time|later|the future|future (?:sessions|reference|conversations)|"
    r"future|good|ever))?"
)
_REMEMBER: Final = r"(?:remember|rem{1,2}e?m{0,2}e?ber|remembr)"
ASK: Final = re.compile(
    rf"^{_POLITE}(?:"
    rf"{_REMEMBER}{_LATER}(?: this| the following| these| that)?{_LATER}\s*[:—–-]\s+|"
    rf"{_REMEMBER}{_LATER},?\s+that,?\s+|{_REMEMBER}{_LATER},?\s+|"
    r"(?:make|take) (?:a )?(?:mental )?note(?: that|:| of this:| of the following:)\s*|"
    r"(?:save|store|add|put|write|record|keep) (?:(?:this|that|the following|it) )?(?:in|to|"
    r"into) (?:your |the |long-term )*memory(?: please| pls)?\s*(?:[:,—–-]\s*|that\s+)+|"
    r"(?:save|store|note|keep|write down|jot down) (?:this|the following)(?: down)?\s*[:—–-]\s+"
    r"(?!i (?:want|need|will|would|have to)\b|i'll\b)|"
    r"(?:(?:a |one )?(?:quick |small )?(?:thing|one|note|fact) )?for your (?:long-term )?"
    r"memory\s*[:,]\s*|"
    r"(?:you should |please )?(?:know|be aware) for (?:next time|later|the future|future sessions)"
    r"(?: that|:)\s*|"
    r"(?:commit|save|add) to memory\s*(?:[:,]\s*|that\s+)+|memori[sz]e(?: this| that|"
    r" the following)?\s*[:,]?\s+|"
    r"for (?:the record|future reference|next time|future sessions)[,:]\s*|"
    r"(?:keep|bear) in mind for (?:next time|the future|later|future sessions)[,:]?\s*(?:that\s+)?|"
    r"(?:do not|don'?t|never) (?:ever )?forget(?: that\s+|,? for (?:next time|later|the future|"
    r"future sessions)(?: that|[:,])\s*))(?P<fact>.+)$",
    _I,
)
_NOT_FACT: Final = re.compile(
    r"^(?:when|how|what|why|where|who|which|whether|if|the (?:time|last|day|good)|last time|"
    r"(?:this|these|it|they)\b(?! (?:project|repo|repository|codebase|team)\b)|"
    r"the (?:users?|user's|visitor|selected|scroll|selection|state|previous|current)\b|"
    r"that time|back when|me\b|those|"
    r"this\.?$|that\.?$|it\.?$|them|anything|everything|nothing|correctly|right|rightly|"
    r"our (?:last|previous|earlier)|my (?:last|previous|earlier)|"
    r"the (?:plan|task|goal|tests?|context|conversation|bug|error|instructions)\.?$)\b",
    _I,
)
_STANDING: Final = re.compile(
    r"\b(?:always|never|every|each|whenever|any time|from now on|going forward|"
    r"in (?:the )?future|unless|not)\b|\binstead of\b|\brather than\b",
    _I,
)
_HANDLES: Final = re.compile(r"\b(?:handles?|blocks?|catch|finally|nulls?|off-by-one)\b", _I)
_SAYS_SOMETHING: Final = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|use[sd]?|using|lives?|runs?|listens?|needs?|"
    r"requires?|prefers?|likes?|hates?|wants?|must|should|"
    r"cannot|can|can't|will|won't|does|do|don't|doesn't|always|never|no longer|only|rather|"
    r"owns?|works?|goes|go|happens?|deploys?|ships?|"
    r"moved?|migrated|switched|starts?|ends?|closes?|opens?|expires?|means?|stands for|"
    r"belongs?|points?|takes?|returns?|allows?|supports?|"
    r"depends?|breaks?|fails?|handles?|manages?|reviews?|approves?|tracks?|stays?|costs?|"
    r"counts?|treats?|keeps?|sits?|resides?|maintains?|"
    r"not|it's|that's|we're|i'm|there's|[a-z]+'s (?:a|an|the|in|on|at|called|named))\b|[:=]|"
    r"https?://|\d{2,}",
    _I,
)
POSTFIX: Final = re.compile(
    rf"^(?P<fact>.+?)\s*(?:[,;—–-]|\.)?\s*(?:,|;|—|–|-|\.|\band\b)\s*(?:please |and |so |"
    rf"do )*(?:remember|memori[sz]e|don'?t (?:ever )?forget) (?:this|that|"
    rf"it){_LATER}(?:,? please)?[.!]*$",
    _I,
)
ALONE: Final = re.compile(
    rf"^{_POLITE}(?:{_REMEMBER}|memori[sz]e) (?:this|that|it)(?: one)?{_LATER}(?:,? please)?"
    r"(?:(?:,| -| –| —|,? because|,? since) (?:it|this|that)(?:'s| (?:is|was|has|bit|cost|took|"
    r"will|keeps|matters)) [^,;]*)?[.!]*$|"
    r"^(?:please )?(?:save|store|add|put) (?:this|that|it) (?:in|to|into) (?:your |"
    r"the )?memory[.!]*$",
    _I,
)
_KNOWN: Final = (
    r"(?:what|everything|anything|whatever|all|the (?:thing|stuff|note|bit|part|rule|"
    r"fact)s?)(?: that)?"
    r"(?: (?:i|we|you)(?:'ve| have)? (?:said|say|told you|told|know|remember(?:ed)?|noted|learned|"
    r"learnt|stored|saved|kept))?(?: (?:earlier|before|yesterday|last time))? (?:about|on|"
    r"regarding)"
)
_KNOWN_SURELY: Final = (
    r"(?:what|everything|anything|whatever|all|the (?:thing|note|rule|fact)s?)(?: that)?"
    r" (?:i|we|you)(?:'ve| have)? (?:said|told you|know|remember(?:ed)?|noted|learned|stored|saved)"
    r"(?: (?:earlier|before|yesterday|last time))? (?:about|on|regarding)"
)
FORGET: Final = re.compile(
    rf"^{_POLITE}(?:forget(?: about)?(?: (?:the )?(?:fact )?that| {_KNOWN})?\s+(?P<a>.+?)|"
    rf"(?:remove|delete|erase|drop|clear|scratch|disregard|never ?mind) {_KNOWN_SURELY} (?P<e>.+?)|"
    r"(?:remove|delete|erase|drop|clear) (?:the |your |any |that )?(?:memory|memories|note|"
    r"entry)(?: entry)? (?:about|of|on|for|that|regarding)\s+(?P<b>.+?)|"
    r"(?:remove|delete|erase|drop) (?P<c>.+?) from (?:your |the )?(?:long-term )?memory|"
    r"(?:stop remembering|don'?t remember|do not remember)(?: that|"
    r" about)?\s+(?P<d>.+?)(?: any ?more)?)(?:,? please)?[.!]*$",
    _I,
)
NOT_FORGOTTEN: Final = re.compile(
    r"^(?:it|that|this|them|all of (?:that|this|it)|those|these|everything|all|me|you|to\b.*|"
    r"what|how|the (?:above|"
    r"last|previous|earlier|rest|first|second|other).*|"
    r"(?:my|your|our) (?:last|previous|earlier).*|previous .*|all (?:previous|prior|earlier|"
    r"the above).*|prior .*)$",
    _I,
)


def _stated(found: re.Match[str], fact: str) -> bool:
    """Say whether "remember that" or a colon stands before a whole clause."""
    led = found[0][: found.start("fact") - found.start()].rstrip()
    return led.endswith(("that", ":")) and len(fact.split()) >= 4  # noqa: PLR2004 - a clause


def _is_standing(order: str, *, alone: bool) -> bool:
    """Say whether "remember to …" is meant for more than the task in hand."""
    if FOR_NOW.search(order) or claims.points_elsewhere(order):
        return False
    if _STANDING.search(order):
        return True
    return alone and not (claims.about_code(order) or _HANDLES.search(order))


def asks_to_remember(text: str, *, alone: bool) -> str | None:
    """Return what a clause asks to remember, or ``None``."""
    found = ASK.match(text)
    if not found:
        return None
    fact = claims.without_orders(found["fact"]).rstrip(".! ")
    if re.match(r"to\b", fact, _I):
        order = fact[2:].strip()
        return order if _is_standing(order, alone=alone) else None
    if _NOT_FACT.match(fact) or not (
        _SAYS_SOMETHING.search(fact) or IMPERATIVE.match(fact) or _stated(found, fact)
    ):
        return None
    return fact
