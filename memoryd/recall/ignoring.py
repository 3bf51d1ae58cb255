"""Whether a person says that memory is to be ignored, or that it may be used again. Pure.

Only whole requests count: what is to be ignored must be the memory itself, not its leaks, its
errors or its size, and the words must ask for it, not talk about it. In doubt it is no request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from typing import Final, assert_never

_MOST: Final = 20_000  # characters of a prompt that are looked at, from its end
_PART: Final = 300  # characters of a sentence that are looked at, from both its ends


class Wish(StrEnum):
    """What a person wants done with memory."""

    IGNORE = "ignore"
    """Give nothing of it, use nothing of it."""
    USE = "use"
    """The opposite: it is taken back."""


def wish(prompt: str) -> Wish | None:
    """Return what a typed prompt says about memory; ``None`` when it says nothing.

    The last request of a prompt counts.
    """
    found: Wish | None = None
    if _ABOUT.search(prompt):
        for sentence in _sentences(prompt[-_MOST:]):
            found = _wish(sentence) or found
    return found


def _wish(sentence: str) -> Wish | None:
    # Taking back is written with the words of ignoring: it is tried first.
    for wanted in (Wish.USE, Wish.IGNORE):
        whole, inside = _english(wanted)
        if any(inside.match(sentence, start) for start in _starts(sentence)):
            return wanted
        if whole.match(sentence, _skipped(sentence, 0)):
            return wanted
        if _HAN.search(sentence) and _chinese(wanted).search(sentence):
            return wanted
    return None


def _starts(sentence: str) -> Iterator[int]:
    """Yield where a request may begin, behind the words that lead to it."""
    yield _skipped(sentence, 0)
    for joint in _JOINT.finditer(sentence):
        yield _skipped(sentence, joint.end())


def _skipped(sentence: str, start: int) -> int:
    leading = _leading().match(sentence, start)
    return leading.end() if leading else start


# Compiled when the first prompt speaks of memory: they are large.


@cache
def _english(wanted: Wish) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what a sentence as a whole says, and what a part of one may say."""
    match wanted:
        case Wish.IGNORE:
            return re.compile(_IGNORE), re.compile(_IGNORE_INSIDE)
        case Wish.USE:
            return re.compile(_USE), re.compile(_USE_INSIDE)
        case _:
            assert_never(wanted)


@cache
def _leading() -> re.Pattern[str]:
    return re.compile(_LEADING)


@cache
def _chinese(wanted: Wish) -> re.Pattern[str]:
    return re.compile(_CHINESE_IGNORE if wanted is Wish.IGNORE else _CHINESE_USE)


_ABOUT = re.compile(r"memor(?:y|ies)|记忆|記憶", re.IGNORECASE)
_HAN = re.compile("[\u4e00-\u9fff]")

# What is quoted is talked about: code, quotations, things between quotation marks.
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|^[ \t]*>[^\n]*$|`[^`\n]*`|\"[^\"\n]*\""
    r"|\u201c[^\u201d\n]*\u201d|「[^」\n]*」|(?<!\w)'[^'\n]*'(?!\w)"
    r"|(?<!\w)\u2018[^\u2019\n]*\u2019(?!\w)",
    re.DOTALL | re.MULTILINE,
)
_FILE = re.compile(r"memory\.md\b", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?。\uff01\uff1f])|[\n;\uff1b]")
_BULLET = re.compile(r"^\s*(?:[-*\u2022]|\d+[.)])\s+")


def _sentences(prompt: str) -> Iterator[str]:
    """Yield the sentences about memory in lower case, of long ones the beginning and the end."""
    text = _QUOTED.sub(" (quoted) ", prompt.replace("\u2019", "'"))
    for piece in _END.split(_FILE.sub("memory files", text)):
        if not _ABOUT.search(piece):
            continue
        sentence = " ".join(_BULLET.sub("", piece).lower().split())
        if len(sentence) <= 2 * _PART:
            yield sentence
        else:
            yield sentence[:_PART]
            yield "\u2026" + sentence[-_PART:]


def _any(*patterns: str) -> str:
    return f"(?:{'|'.join(patterns)})"


# English. "Your memory" and "saved memories" can only mean this one; plain "memory" may be the
# machine's, so that less may stand around it.

_SPAN = _any("session", "conversation", "chat", "task", "question", "turn", "one", "time",
             "answer", "reply", "request", "prompt", "thread", "job", "project",
             "repo", "repository")  # fmt: skip
_WHEN = _any(
    "for now", "for the moment", "for a while", "from (?:now|here) on", "today", "right now",
    "now", "here", "please", "pls", "thanks", "thank you", "ok", "okay", "completely", "entirely",
    "altogether", "fully", "totally", "at all", "again", "just this once",
    rf"this {_any('time', 'once', 'session')}", r"until (?:i|further)\b.*", r"unless i\b.*",
    rf"(?:for|in|during|on|within) (?:this|the rest of (?:this|the)|the whole|the|my next)"
    rf"(?: {_SPAN})?",
)  # fmt: skip
_LEAD = _any(
    "please", "pls", "kindly", "ok", "okay", "hey", "hi", "claude", "well", "so", "now", "and",
    "but", "also", "then", "just", "actually", "first", "no(?=,)", "yes",
    "sorry", "instead", "let's", "always",
    "you (?:can|could|should|must|may|might|need to)", "(?:can|could|would|will) you",
    "i(?: would|'d) like you to", "i (?:want|need) you to", "i(?:'d| would) prefer (?:that )?you",
    "go ahead and", "make sure (?:to|you)", "be sure to", "remember to", "try to", _WHEN,
)  # fmt: skip
_LEADING = rf"(?:{_LEAD}[, ]+)*+"
_JOINT = re.compile(r"(?:,|:| -+| \u2014| but\b| and\b| so\b| then\b) ?")
_AFTER = rf"(?:[, ]+{_WHEN}){{0,4}}"
_DONE = r"\s*[.!]*\s*$"
_GOES_ON = rf"(?:{_DONE}|,| (?:and|but|then|when|while|as|since|because|if)\b| -+ | \u2014)"

_ALL = "(?:(?:all|any)(?: of)? )?"
_KIND = _any("saved", "stored", "persistent", "long-?term", "auto-?", "automatic", "project",
             "earlier", "previous", "existing", "past", "old", "recalled", "injected")  # fmt: skip
_THINGS = "(?: (?:files?|notes?|index|entries))?"
_THE = "(?:(?:the|my|our|these|those) )?"
_OWN = _any(
    rf"{_ALL}(?:(?:everything|whatever is|what's) (?:in|from) )?(?:your|its|claude's|memoryd's)"
    rf" (?:{_KIND} ?){{0,3}}(?:memory|memories){_THINGS}",
    rf"{_ALL}{_THE}(?:{_KIND} ?){{1,3}}(?:memory|memories){_THINGS}",
    rf"{_ALL}{_THE}(?:memories|memory (?:files?|notes?|index|entries))",
)
_PLAIN = rf"{_ALL}(?:(?:the|my|our) )?memory"
_EITHER = _any(_OWN, _PLAIN)

_LEAVE = _any(
    "ignore", "disregard", "avoid using", "refrain from using", "pay no attention to",
    "(?:leave|set|put) aside",
    "(?:do not|don't|dont|never|no longer) (?:use|consult|rely on|look at|look into|check|read"
    "|consider|trust|touch|recall|include|inject|apply)",
    "stop (?:using|consulting|relying on|looking at|checking|reading|recalling|injecting)",
)  # fmt: skip
_ON_WITH = (
    r"(?:answer|tell|start|continue|proceed|go|begin|work|think|try|explain|do|give|write|look"
    r"|read|rely|focus|just answer|judge)\b"
)
_NONE = _any(
    r"(?:as if|as though|like|pretend(?: that)?) (?:you (?:had|have)|there (?:were|was|is))"
    r" no (?:memory|memories)",
    rf"(?:as if|as though|pretend) {_EITHER} (?:were|was|is|are) empty",
)
_WITHOUT = (
    r"without (?:(?:using|consulting|looking at|relying on|reading|checking) )?"
    rf"(?:{_OWN}|(?<=using )(?:any )?memory)"
)
_IGNORE_INSIDE = (
    _any(
        rf"{_LEAVE} {_OWN}",
        rf"(?:turn|switch) (?:off {_OWN}|{_OWN} off)",
        rf"(?:turn|switch) (?:off memory|memory off) for this {_SPAN}",
        "disable your (?:memory|memories)",
    )
    + _AFTER
    + _GOES_ON
)
_IGNORE = _any(
    rf"{_LEAVE} {_PLAIN}{_AFTER}(?:{_DONE}|,? (?:and |then |and then ){_ON_WITH})",
    rf"ignore {_EITHER}{_AFTER}\s*\?*$",
    rf"(?:(?:act|behave|answer|work|proceed|go on|continue)[, ]+)?{_NONE}{_AFTER}{_DONE}",
    r"(?:answer|reply|respond|work|proceed|continue|try|do|solve|explain|tell me)\b"
    rf"[^?.,]{{0,60}}? {_WITHOUT}{_AFTER}{_DONE}",
)
_AGAIN = _any("again", "once more", "any ?more", "any longer", "now", "normally",
              "as (?:usual|before|normal|always)")  # fmt: skip
_USING = _any("use", "consult", "check", "rely on", "look at", "consider", "trust", "read",
              "keep using", "(?:start|resume|go back to|return to) using")  # fmt: skip
_USE_INSIDE = _any(
    rf"(?:{_USING} {_EITHER}[, ]+{_AGAIN}|(?:stop (?:ignoring|disregarding)|no longer ignore)"
    rf" {_EITHER}){_AFTER}{_GOES_ON}",
    _any(
        rf"(?:you )?(?:(?:no longer|don't) (?:have to|need to)|needn't) ignore {_EITHER}",
        rf"(?:turn|switch) (?:(?:{_OWN}|memory) (?:back )?on|(?:back on|on again|on)"
        rf" (?:{_OWN}|memory))",
        rf"re-?enable (?:{_OWN}|memory)",
    )
    + rf"(?:[, ]+{_AGAIN})?{_AFTER}{_DONE}",
)
_USE = (
    _any(
        rf"{_USING} your (?:{_KIND} ?){{0,3}}(?:memory|memories)",
        rf"(?:do not|don't|dont|no need to|needn't) (?:ignore|disregard) {_EITHER}",
        "(?:(?:your|the) )?(?:memory|memories) (?:is|are|can be)"
        " (?:allowed|fine|ok|okay|on|back|back on|used|welcome)",
    )
    + rf"(?:[, ]+{_AGAIN})?{_AFTER}{_DONE}"
)

# Chinese. The machine's memory is another word there.

_ITS = _any("你的", "你", "所有", "全部", "一切", "任何", "之前", "以前", "已有", "保存", "长期",
            "项目", "这些", "那些", "自动", "旧", "的", "里")  # fmt: skip
_MEMORY = rf"{_ITS}{{0,6}}(?:记忆|記憶|memory)(?:文件|库|内容|功能)?"
_BEFORE = _any(
    "请", "請", "麻烦",
    "以后", "以後", "总是", "永远", "现在", "先", "这次", "本次", "接下来",
    "从现在(?:起|开始)", "暂时", "你",
    "帮我", "那么?", "好的?", "不过", "但是?", "并且?", "回答(?:时|的时候)",
    "(?:在这次|本次)会话中?", "这个任务", "可以", "要", "我?希望你", r"[,\uff0c:\uff1a ]",
)  # fmt: skip
_FROM = rf"(?:^|[,\uff0c:\uff1a]\s*){_BEFORE}{{0,8}}"
_TO = r"(?:了|吧|啊|谢谢|[。\uff01!.\s]){0,6}(?:$|[,\uff0c]|来回答|再?回答|直接)"
_NOT = _any("不要", "別", "别", "勿", "不用", "不必", "禁止", "停止", "不") + "再?"
_TURN_ON = _any("使用", "用", "启用", "参考", "打开", "开启")
_CHINESE_IGNORE = _any(
    rf"{_FROM}(?:忽略|无视|無視|抛开|关闭|关掉){_MEMORY}{_TO}",
    rf"{_FROM}{_NOT}去?(?:使用|用|参考|參考|看|管|理会|依赖|考虑|查看|读取|引用){_MEMORY}{_TO}",
    rf"{_FROM}[把将]{_MEMORY}(?:关掉|关闭|忽略掉?|放一边){_TO}",
    rf"{_FROM}(?:假装|就当)你?没有(?:任何)?(?:记忆|記憶){_TO}",
)
_CHINESE_USE = _any(
    rf"{_FROM}(?:重新|恢复|再次|继续|又){_TURN_ON}?{_MEMORY}{_TO}",
    rf"{_FROM}{_TURN_ON}回?{_MEMORY}{_TO}",
    rf"{_FROM}{_NOT}(?:忽略|无视){_MEMORY}{_TO}",
    rf"{_FROM}[把将]{_MEMORY}(?:打开|开启|启用){_TO}",
    rf"{_FROM}{_MEMORY}又?可以使?用了{_TO}",
)
