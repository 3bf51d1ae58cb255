"""What a cue in a sentence yields, and the tests that every cue shares."""

# ruff: noqa: RUF001 - Chinese punctuation is what is read here.

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memoryd.extraction.offline.hints import Hinted, folded
from memoryd.extraction.operations import MemoryType


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A fact worth keeping, in the words of the person.

    Attributes:
        type: which kind of memory it is.
        fact: one sentence, dates still as said.
        sentence: the sentence it was read from, whole.
        asked: the person asked in so many words to remember it.
        corrects: it says that something else was wrong or holds no more.
        rule: it orders a way of working; its subject is all that it names.
        amends: too vague to stand alone; kept only where it corrects a memory.
        subject: the words it is about, where the cue knows better than the sentence's form.
        reason: as given by the person, or empty.
    """

    type: MemoryType
    fact: str
    sentence: str
    asked: bool = False
    corrects: bool = False
    rule: bool = False
    amends: bool = False
    subject: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """A request to forget.

    Attributes:
        query: what to forget, in the words of the person.
        sentence: the sentence it was read from, whole.
    """

    query: str
    sentence: str


Reading = Claim | Forget

DEICTIC: Final = re.compile(
    r"\b(?:this|these|those|it|its|they|them|here|there|above|below|now|yet|currently|(?:for|"
    r"until) now|"
    r"for the moment|at the moment|today|tonight|the (?:same(?! (?:commit|pr|change|branch))|"
    r"other|last|previous|next|first|"
    r"second|third|current|latter|former|new|old)|"
    r"that (?:one|file|function|class|test|line|bug|branch|method|thing|part|way|approach|case|"
    r"change|script|page|button|field|option)|"
    r"(?:like|do|does|did|about|with|for|of|in|on|to) that$|one of)\b",
    re.IGNORECASE,
)
"""Words that point into the conversation: a sentence with them says little on its own."""

_HERE: Final = re.compile(
    r"\b(?:(?:in|for|on|of|within|across) )?this (?:project|repo|repository|code ?base|team|"
    r"workspace|monorepo|company)\b|"
    r"\bthese days\b|\bunless (?:i|we) (?:ask|say|tell you)\b[^,;]*",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"\b(?:function|method|class|variable|parameter|argument|loop|module|struct|interface|enum|"
    r"constructor|callback|"
    r"handler|endpoint|component|button|modal|regex|condition|branch above|stack trace|"
    r"import statement)s?\b|\w+\(\)|"
    r"[\w./-]+\.(?:py|js|jsx|ts|tsx|go|rs|java|rb|c|h|cpp|cs|php|swift|kt|sh|ya?ml|toml|json|"
    r"md|html|css|sql)\b",
    re.IGNORECASE,
)
_HYPOTHETICAL: Final = re.compile(
    r"^(?:if(?! you(?:'re| are)? (?:ever )?(?:need|want|have|add|change|touch|find|see|create|"
    r"write|"
    r"modify|edit|notice|unsure|not sure|in doubt|uncertain|stuck)\b)|suppose|supposing|imagine|"
    r"assuming|assume|what if|maybe|perhaps|possibly|say\b|"
    r"let's say|unless|"
    r"i (?:think|guess|suppose|wonder|believe|doubt|assume|thought|feel like|bet|hope|wish)|"
    r"it (?:seems|looks)|"
    r"we (?:could|might|may|should probably|can)|i (?:could|might|may)|should i\b|should we\b|"
    r"would\b|probably|hopefully)\b"
    r"|\b(?:not sure|i'm unsure|for example|e\.g\.|hypothetically|or something|or so i think)\b",
    re.IGNORECASE,
)
_REPORTED: Final = Hinted(
    re.compile(
        r"\b(?:it|he|she|they|docs?|documentation|readme|page|article|comment|error|log|output|"
        r"message|tutorial|linter|"
        r"compiler|tests?|file|template|prompt|example|reviewer|guide|book|post|answer|copilot|"
        r"chatgpt|issue|ticket|\w+\.md)\s+"
        r"(?:says?|said|reads?|states?|claims?|claimed|tells?|told|suggests?|suggested|recommends?|"
        r"wrote|mentions?)\b|"
        r"\baccording to\b|"
        r"(?:文档|页面|网页|评论|日志|他|她|报错|文章|教程|注释)(?:里|中|上)?(?:说|写|提到|建议|显示)",
        re.IGNORECASE,
    ),
    ("say", "said", "read", "state", "claim", "tell", "told", "suggest", "recommend", "wrote",
     "mention", "according to", "说", "写", "提到", "建议", "显示"),
)  # fmt: skip
_ASKS: Final = re.compile(
    r"^(?:do(?! not)|does|did|is|are|was|were|should|shall|can|could|would|will|have|has|had|"
    r"what|why|how|where|when(?! )|who|which|"
    r"whose|am|any(?:one|body|thing)?|isn't|aren't|don't we|didn't|haven't|"
    r"wasn't)\b(?!.*\b(?:remember that|forget that)\b)|"
    r"(?:吗|呢|么|没有)[。.]?$|(?:是不是|要不要|能不能|会不会|有没有|是否|怎么|为什么|为何|如何|"
    r"什么|哪个|哪里|哪些|多少|谁)",
    re.IGNORECASE,
)
_PRODUCT: Final = re.compile(
    r"\b(?:buttons?|spinners?|toasts?|modals?|threads?|loops?|screens?|clicks?|rows?|columns?|"
    r"loading|cursors?|pop-?ups?|dialogs?|menus?|forms?|icons?|animations?|tooltips?|navigation|"
    r"dropdowns?|sidebars?|inputs?|status codes?|requests?|the users?|visitors?)\b|"
    r"按钮|点击|页面|列表|弹窗|界面|加载|表单|字段|光标|菜单|滚动",
    re.IGNORECASE,
)
SECRET: Final = re.compile(r"\[(?:REDACTED|PRIVATE)[^\]\n]*\]", re.IGNORECASE)
_CLAUSE: Final = re.compile(r"\s*(?:;|；|，|。|,\s+(?:and|but)\b|,|\band\b|\bbut\b|而且|并且)\s*")
_MEANINGFUL: Final = 3  # words, or twice as many Chinese characters
_TOKENS: Final = re.compile(r"[A-Za-z0-9][\w.'-]*|[\u3400-\u9fff]{2}")

_REASON: Final = re.compile(
    r"^(?P<fact>.{6,}?),?\s+(?:because|as otherwise|otherwise|or else|(?P<that>so that)|"
    r"due to the fact that|since(?!\s+(?:\d|last|this|yesterday|mon|tue|wed|thu|fri|sat|sun)))"
    r",?\s+(?P<why>.{4,})$|^(?P<fact2>.{4,}?)[，,。]\s*(?:因为|由于|否则|不然|"
    r"原因是)[，,：:]?\s*(?P<why2>.{2,})$",
    re.IGNORECASE,
)
_COLON_REASON: Final = re.compile(
    r"^(?P<fact>\S+(?:\s+\S+){2,}?)(?::\s+|\s+[—–-]\s+|\s*——\s*)(?P<why>\S+(?:\s+\S+){2,})$"
)
_ORDER_AFTER: Final = Hinted(
    re.compile(
        r"(?:,|;)?\s+(?:(?:and|but|then|so)\s+)+(?:please\b|can you|could you|would you|will you|"
        r"where\b|what\b|how\b|why\b|when is\b|who\b|which\b|"
        r"let's\b|let us\b|now\b|then\b|tell me|show me|give me|start\b|continue\b|fix\b|"
        r"check\b|go ahead|proceed\b).*$"
        r"|,?\s+(?:[–—-]\s+)?just (?:do|fix|make|write|run|show|get) (?:it|that|them|me)\b.*$"
        r"|[，,]\s*(?:然后|现在|接着|请|帮我|另外|再|继续).*$",
        re.IGNORECASE,
    ),
    ("please", "can you", "could you", "would you", "will you", "wh", "how", "let", "now", "then",
     "me", "start", "continue", "fix", "check", "go ahead", "proceed", "just ", "现在", "接着",
     "请", "帮我", "另外", "再", "继续", "然后"),
)  # fmt: skip


def speaks_plainly(text: str) -> bool:
    """Say whether a sentence is a statement of the person: no question, hypothesis or report."""
    # Of an ASCII text only its beginning can ask.
    if _ASKS.match(text) if text.isascii() else _ASKS.search(text):
        return False
    if _HYPOTHETICAL.search(text):
        return False
    return not (_REPORTED.may_match(folded(text)) and _REPORTED.pattern.search(text))


def points_elsewhere(text: str) -> bool:
    """Say whether a statement needs the conversation, or one piece of code, to be understood."""
    without = _HERE.sub(" ", split_reason(text, rule=True)[0])
    return DEICTIC.search(without) is not None or bool(
        re.search(r"(?:[这那此]|(?<!应)该)(?!么|个?(?:项目|仓库|团队|样))", text)
    )


def about_code(text: str) -> bool:
    """Say whether a statement is about pieces of code, which the repository itself shows."""
    return _CODE.search(text) is not None


def about_product(text: str) -> bool:
    """Say whether an order tells how the program is to behave, not how to work on it."""
    told = re.sub(r"\bpull requests?\b", " ", text, flags=re.IGNORECASE)
    return about_code(told) or _PRODUCT.search(told) is not None


def split_reason(text: str, *, rule: bool) -> tuple[str, str]:
    """Return a statement and the reason given with it, or an empty one.

    Args:
        text: a sentence without its full stop.
        rule: it is an order, whose reason may stand behind a colon or a dash as well.
    """
    if found := _REASON.match(text):
        fact = found["fact"] or found["fact2"]
        why = found["why"] or found["why2"]
        if "otherwise" in found[0].lower() or "否则" in found[0] or "不然" in found[0]:
            why = f"otherwise {why}" if found["fact"] else f"否则{why}"
        return fact, f"so that {why}" if found["that"] else why
    if rule and (found := _COLON_REASON.match(text)):
        return found["fact"], found["why"]
    return text, ""


def rule(text: str, *, asked: bool = False, kind: MemoryType = MemoryType.FEEDBACK) -> Claim:
    """Return the claim of an order about a way of working, its reason split off."""
    fact, reason = split_reason(text, rule=True)
    return Claim(type=kind, fact=fact, sentence="", asked=asked, rule=True, reason=reason)


_FILLER: Final = Hinted(
    re.compile(r"(?<=\w),?\s+(?:btw|pls|plz|thx|thanks)[.!]*$", re.IGNORECASE),
    ("btw", "pls", "plz", "thx", "thanks"),
)


def without_orders(text: str) -> str:
    """Return a statement without the question or order of the moment joined to it."""
    seen = folded(text)
    if _ORDER_AFTER.may_match(seen):
        text = _ORDER_AFTER.pattern.sub("", text)
    if _FILLER.may_match(seen):
        text = _FILLER.pattern.sub("", text)
    return text.strip()


def without_secrets(text: str) -> str:
    """Return the clauses of a statement that hold no secret; empty if they say nothing."""
    if not SECRET.search(text):
        return text
    kept = [part for part in _CLAUSE.split(text) if part and not SECRET.search(part)]
    said = ", ".join(kept)
    enough = len(_TOKENS.findall(said)) >= _MEANINGFUL
    return said if enough and re.search(_SAYS, said) else ""


_SAYS: Final = re.compile(
    r"\b(?:is|are|was|has|have|use|uses|lives?|runs?|listens?|moved|must|should|never|always|"
    r"needs?|don't|prefer)\b|[是在用要]"
)


_COURTESY: Final = re.compile(
    r",?\s*\b(?:please|pls|plz|btw|thx|thanks|thank you|ok|okay)[.!]*$", re.IGNORECASE
)
_COURTESIES: Final = ("please", "pls", "plz", "btw", "thx", "thanks", "thank you", "ok", "okay")
_ADDED: Final = ("too", "as well", "though", "ok?")


def _may_thank(text: str) -> bool:
    return folded(text).rstrip(".!").endswith(_COURTESIES)


def sentence_of(text: str) -> str:
    """Return a statement with a capital letter and a full stop."""
    text = " ".join(text.split()).strip(" ,;:，；：、-—–")
    if _may_thank(text):
        text = _COURTESY.sub("", text)
    if folded(text[-3:]) == "now":
        text = re.sub(r"(?<=\w),?\s+(?:right )?now$", "", text, flags=re.IGNORECASE)
    if folded(text[-7:]).endswith(_ADDED):
        text = re.sub(r"(?<=\w),?\s+(?:too|as well|though|ok\?)$", "", text, flags=re.IGNORECASE)
    text = re.sub(
        r"^(?:(?:also|then|please|pls|plz|just|and|so|but|well|oh)[\s,]+)+(?=\w)|"
        r"^(?:(?:请你?|也|还要|麻烦你?|那就|那么|然后|另外|顺便)[，,\s]*)+(?=\w)",
        "",
        text,
        flags=re.IGNORECASE,
    )
    text = re.sub(r"\b([dD])ont\b", r"\1on't", text)
    text = re.sub(r"^let(?:'s| us)\s+", "", text, flags=re.IGNORECASE)
    if not text:
        return ""
    if re.match(r"[a-z]+(?:'[a-z]+)?(?:[\s,]|$)", text) and not _NAMES.match(text):
        text = text[0].upper() + text[1:]
    if text[-1] in ".!?。！？…" or re.search(r"https?://\S+$", text):
        return text
    return text + ("。" if re.search(r"[\u3400-\u9fff]", text) else ".")


_NAMES: Final = re.compile(
    r"(?:npm|pnpm|yarn|pip|uv|git|jq|curl|make|pytest|ruff|mypy|iOS|macOS)\b"
)
