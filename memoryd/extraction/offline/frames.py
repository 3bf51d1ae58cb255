"""Whose words they are: parts of a prompt that a person typed or pasted without standing for them.

A page to summarise, a mail to answer, a chat to read, a part to play, a supposition, a joke. Such a
frame has an end that cannot be told surely, so it is taken to reach far.
"""

# ruff: noqa: RUF001 - Chinese punctuation is what is read here.

from __future__ import annotations

import re
from typing import Final

from memoryd.extraction.offline.hints import Hinted, folded

_I: Final = re.IGNORECASE | re.MULTILINE

_JOKE: Final = Hinted(
    re.compile(
        r"(?:^|[ \t])/s[ \t]*$|🙄|🤡|\bwhat could (?:possibly )?go wrong\b|\b(?:just kidding|jk|"
        r"only joking|"
        r"not serious)\b|狗头|\[doge\]|^[ \t]*呵呵|(?<!不)(?<!别)开(?:个)?玩笑(?!了)",
        _I,
    ),
    ("/s", "🙄", "🤡", "go wrong", "kidding", "jk", "joking", "serious", "狗头", "[doge]", "呵呵",
     "玩笑"),
)  # fmt: skip
_TEXT: Final = (
    r"(?:web ?)?(?:pages?|texts?|articles?|e-?mails?|mails?|messages?|paragraphs?|prompts?|"
    r"documents?|docs?|readme|posts?|threads?|chats?|conversations?|notes|letters?|comments?|"
    r"reviews?|tickets?|answers?|repl(?:y|ies)|responses?|descriptions?|transcripts?|logs?|"
    r"outputs?|errors?|traces?|snippets?|sections?|passages?|quotes?|lines|instructions?|rules|"
    r"guidelines?|spec|poem|story|sentences?|content|changelog|announcement)"
)
_VERB: Final = (
    r"(?:summari[sz]e|review|read|look at|check|explain|format|(?:reply|respond) to|answer|put|add|"
    r"paste|insert|write|shorten|improve|polish|analy[sz]e|convert|turn|address|implement|apply|"
    r"what (?:should|do|can|would) (?:i|we|you) (?:answer|reply|say|think)(?: to| of| about)?|"
    r"fix the (?:grammar|wording|spelling)(?: of| in)?|make)"
)
_HANDED: Final = re.compile(
    rf"^[ \t]*(?:(?:please|can you|could you|now|then|help me|hey|ok|and)[\s,]+)*(?:"
    r"(?:translate|proofread|paraphrase|rephrase|rewrite|transcribe|spell-?check)\b|"
    rf"{_VERB} (?:(?:for me )?(?:this|these|the following|what follows)(?: [\w-]+)? ?{_TEXT}\b|"
    r"(?:this|these|the following|the below|what (?:he|she|they|\w+) (?:said|wrote|say|write))\b"
    r"(?! (?:in mind|up|project|repo|team|function|class|test|bug|file|method|endpoint|"
    r"component)))|"
    rf"(?:here|below|this) (?:is|are|'s) (?:the|a|an|what|my|our|some)\b.*\b{_TEXT}\b)"
    r"|(?:翻译|总结|润色|改写|回复|看看?|分析|解释|整理|概括|校对|回)[^\n。]{0,12}"
    r"(?:这[段封篇条句]|下面|以下|邮件|网页|文章|消息|聊天|日志|报错)|把(?:下面|以下|"
    r"这[段些句篇封])",
    _I,
)
_HEADER: Final = re.compile(
    r"^[ \t]*(?:(?-i:From|To|Subject|Date|Cc|Sent|Reporter|Assignee|Author|Reviewed-by|发件人|"
    r"收件人|主题)"
    r"[:：]\s*\S|\S+(?: \S+)?\s+(?:\w+ )?(?:commented|wrote|replied|posted|said|asked)\b.{0,40}"
    r"(?:ago|:|：|\d)\s*$|@\S+ (?:commented|wrote|replied|said)\b|"
    r"\S+(?: \S+)?\s+\[?\d{1,2}:\d\d(?::\d\d)?(?:\s?[AP]M)?\]?\s*$|"
    r"On .{6,60} wrote:\s*$)",
    _I,
)
_SALUTATION: Final = re.compile(
    r"^[ \t]*(?:hi|hello|hey|dear|good (?:morning|afternoon)|moin|"
    r"hallo)(?: [\w.&'-]+){1,4}[,!:]?\s*$|"
    r"^[ \t]*(?:大家好|各位好?|您好|你好|尊敬的.{1,12})[，,！!：:。]?\s*$",
    re.IGNORECASE,
)
_SIGNED: Final = Hinted(
    re.compile(
        r"^[ \t]*(?:(?:best|kind|warm|many)(?: regards| wishes)?|regards|cheers|"
        r"sincerely(?: yours)?|"
        r"yours(?: \w+)?|thanks|thank you|thx|br|vg)[,!.]?[ \t]*\n{1,3}[ \t]*(?-i:[A-Z])[\w.'-]+"
        r"(?: (?-i:[A-Z])[\w.'-]+){0,2}[ \t]*$|^[ \t]*(?:best|kind) regards\b|"
        r"^[ \t]*(?:此致|敬礼|祝好|顺颂商祺)[ \t]*$",
        _I,
    ),
    ("\n", "regards", "此致", "敬礼", "祝好", "顺颂商祺"),
)
_PART: Final = Hinted(
    re.compile(
        r"\brole-?play|\bpretend\b|\b(?:act|behave) (?:as|like) (?:if|a|an|the|my)\b|"
        r"(?:^|[.!?]\s+)you are (?:now )?(?:a|an|the|my)\s|\bplay the (?:role|part)\b|"
        r"\bin the (?:role|voice|style) of\b|扮演|假装|(?:^|[。！，])\s*你(?:现在)?是(?:一个|一名|"
        r"一位)",
        _I,
    ),
    ("role", "pretend", "act as", "act like", "behave as", "behave like", "you are", "play the",
     "voice of", "style of", "扮演", "假装", "是一"),
)  # fmt: skip
_SUPPOSED: Final = Hinted(
    re.compile(
        r"(?:^|[.!?]\s+)(?:(?:let's |let us |now |just )*(?:suppose|supposing|imagine|assume|"
        r"say that)|"
        r"hypothetically|what if|for the sake of argument|in an alternate|thought experiment)\b|"
        r"(?:^|[。！？]\s*)(?:我们)?(?:假设|假如|设想|想象)",
        _I,
    ),
    ("suppos", "imagine", "assume", "say that", "hypothetically", "what if", "sake of",
     "in an alternate", "thought experiment", "假设", "假如", "设想", "想象"),
)  # fmt: skip
_POINTS_UP: Final = Hinted(
    re.compile(
        rf"\b{_TEXT} (?:i (?:pasted|sent) )?above\b|\bthe above\b(?! mentioned)|"
        rf"\babove {_TEXT}\b|"
        r"^[ \t]*(?:what (?:does|do|did|is) (?:this|that|it|they|he|she)(?: all)? (?:mean|say|"
        r"want|about)|"
        r"is (?:this|that|it|any of (?:this|it|that)) (?:right|true|correct|legit|ok|still (?:true|"
        r"valid))|"
        rf"(?:can|should) (?:i|we) trust|(?:can you |could you |please )*(?:summari[sz]e|translate|"
        r"proofread|rephrase|rewrite|shorten|explain|answer|reply to) (?:this|that|it|"
        rf"these)(?: {_TEXT})?"
        r"(?: (?:for me|please|in|to|into) ?.*)?[?.!]*$|thoughts\?|tl;?dr)|"
        r"上面(?:是|的|这)|以上(?:是|的|内容|文字|这)|^[ \t]*(?:这|那)?(?:段话?|句话?|些话?|"
        r"个)?(?:到底)?(?:是)?什么意思",
        _I,
    ),
    ("above", "what do", "what di", "what is", "is this ", "is that ", "is it ", "is any of ",
     "i trust", "we trust", "summari", "translate", "proofread", "rephrase", "rewrite", "shorten",
     "explain", "answer", "reply to", "thoughts?", "tldr", "tl;dr", "上面", "以上", "什么意思"),
)  # fmt: skip
_SPEAKER: Final = re.compile(r"^[ \t]*(?P<who>[\u3400-\u9fffA-Za-z_]{1,12})[：:]\s*\S")
_OWN_LABEL: Final = re.compile(
    r"(?:另外|注意|记住|补充|更正|纠正|说明|背景|目标|要求|规则|提醒|还有|约定|决定|偏好|"
    r"remember|note|important|reminder|rule|background|context|goal|fyi|btw|also|ps|correction|"
    r"update|actually|decision|memory|always|never)$",
    re.IGNORECASE,
)
_QUOTE_OVER_LINES: Final = re.compile(
    r"(?:(?<=\s)|(?<=[:：(])|^)\"(?=[^\"]*\n)[^\"]{0,2000}\"(?!\w)|“(?=[^”]*\n)[^”]{0,2000}”"
)
_LAZY_QUOTE: Final = re.compile(r"^[ \t]*>.*(?:[,，:：、]|.{70})\s*$")


def own_words(text: str) -> str:
    """Return a prompt, code taken out already, with empty lines for what stands in a frame."""
    seen = folded(text)
    if _JOKE.may_match(seen) and _JOKE.pattern.search(text):
        return ""
    lines = text.split("\n")
    if len(lines) > 1:
        lines = _QUOTE_OVER_LINES.sub("\n\n", text).split("\n")
    first = 0
    if _POINTS_UP.may_match(seen):
        up = _POINTS_UP.pattern
        first = max((n for n, line in enumerate(lines) if up.search(line)), default=0)
    last, cut = _end(lines, first, text, seen)
    supposes = _SUPPOSED.may_match(seen)
    kept = [""] * first
    framed = False  # to the end of the paragraph
    for line in [*lines[first:last], *cut]:
        if framed and line.strip():
            kept.append("")
            continue
        supposed = _SUPPOSED.pattern.search(line) if supposes else None
        kept.append(line[: supposed.start()] if supposed else line)
        framed = supposed is not None or _LAZY_QUOTE.match(line) is not None
    return "\n".join(kept)


def _end(lines: list[str], first: int, text: str, seen: str) -> tuple[int, list[str]]:
    """Return the line at which a frame without an end begins, and what of it is the person's.

    Args:
        lines: of the prompt, quotations over several lines taken out.
        first: where its own words may begin.
        text: the prompt.
        seen: the same, folded.
    """
    signed = _SIGNED.may_match(seen) and _SIGNED.pattern.search(text) is not None
    speakers = _speakers(lines)
    plays = _PART.may_match(seen)
    last = max((number for number, line in enumerate(lines) if line.strip()), default=0)
    for number in range(first, len(lines)):
        line = lines[number]
        if number in speakers or _opens(line, signed=signed, later=number > 0):
            return number, []
        if number < last and _HANDED.search(line):
            return number, [line]
        if plays and (part := _PART.pattern.search(line)):
            return number, [line[: part.start()]]
    return len(lines), []


def _opens(line: str, *, signed: bool, later: bool) -> bool:
    """Say whether somebody else's message begins with a line."""
    if _HEADER.match(line):
        return True
    return (signed or later) and _SALUTATION.match(line) is not None


def _speakers(lines: list[str]) -> frozenset[int]:
    """Return the lines of a chat that begin with who speaks, if somebody speaks twice in it."""
    if len(lines) < 2:  # noqa: PLR2004 - as below
        return frozenset()
    found: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if (said := _SPEAKER.match(line)) and not _OWN_LABEL.match(said["who"]):
            found.setdefault(said["who"], []).append(number)
    if all(len(places) < 2 for places in found.values()):  # noqa: PLR2004 - nobody twice
        return frozenset()
    return frozenset(place for places in found.values() for place in places)
