"""What a person said in their own words: sentences of a prompt without what was pasted into it.

Code, logs, diffs, quotations, documents and long pastes are left out; where it is not plain who
speaks, nobody does. A missed sentence costs little, a pasted one taken for the person's own costs
a wrong memory.
"""

# ruff: noqa: RUF001 - Chinese punctuation is what is read here.

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memoryd.extraction.offline.frames import own_words
from memoryd.extraction.offline.hints import folded

_MOST: Final = 20_000  # characters of a prompt that are looked at
_LONG: Final = 2_500  # characters of prose beyond which a text is taken for a document
_WRAPPED: Final = 60  # a line this long without a full stop goes on in the next
_PASTED_LINES: Final = 3  # of these, what follows the first is taken for pasted as well

_FENCE: Final = re.compile(
    r"^\s{0,3}(```|~~~).*?(?:^\s{0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL
)
_INLINE_FENCE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TAGGED: Final = re.compile(r"<([A-Za-z][\w.:-]*)(?:\s[^<>]*)?>.*?(?:</\1>|\Z)", re.DOTALL)
_HEADING: Final = re.compile(
    r"^\s{0,3}#{1,6}\s+\S|^\s*={4,}\s*$|^-{4,}\s*(?:BEGIN|Original|Forwarded)"
)
_ITEM: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)、]|[a-z]\))\s+(?=\S)|^\s*\d{1,2}、")
_PASTED: Final = re.compile(
    r"""^\s*(?:
      >|\$\s|❯|➜|%\s|\#\s?!|>>>|\.\.\.\s|@@|diff\s--git|index\s[0-9a-f]{7}|\+\+\+\s|---\s\S|[+-](?![\s\d])\S|[+-]\s{2,}
      |\[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d|\[?\d\d:\d\d(?::\d\d)?[\].,\s]|\[\d\d?/|\[[+!*x\s]\]\s
      |(?-i:\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL|FAIL(?:ED)?|PASS(?:ED)?)\]?)(?:[\s:|\]]|$)
      |Traceback\s|File\s"|at\s[\w.$<>]+\s?\(|(?-i:[A-Za-z.]*(?:Error|Exception|Warning)):|npm\s(?:ERR|WARN)
      |fatal:|error(?:\[\w+\])?:|warning:|panic:
      |(?-i:(?:def|class|import|from\s\S+\simport|return|const|let(?!')|var|func|function|fn|pub|public|
        private|static|if\s*\(|for\s*\(|while\s*\(|SELECT|INSERT|UPDATE|CREATE|@\w+)\b.*[(){};=*])
      |//|/\*|\*/|<!--|<[/!A-Za-z]|\{|\}|\|.*\||=>|\w+\s*=\s*\S|[│├└┌╭╰]
      |[\w./-]+:\d+(?::\d+)?:|[\w-]+(?:\.[\w-]+)+:\s
      |(?:user|human|assistant|ai|system|bot|claude|(?-i:[A-Z][a-z]+(?:\s[A-Z][a-z]+)?))\s?(?:\(\w+\))?:\s
      |(?:From|To|Subject|Date|Cc|Re|Sent):\s
      |\S+\s+\[?\d{1,2}:\d\d(?:\s?[AP]M)?\]?
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_SPEAKER: Final = re.compile(  # Leads that look like a speaker's name but are the person's own.
    r"^\s*(?:no|again|background|convention|policy|goal|reason|actually|yes|okay|ok|so|well|"
    r"please|remember|note|reminder|important|also|"
    r"decision|fyi|btw|correction|update|rule|preference|hint|context|"
    r"deadline|dashboard|tracker|wiki|runbook|ps|p\.s\.|queued while busy|memorize|memory|"
    r"forget|from now on|always|never|todo\b(?!.*\btodo)|for the record)\b",
    re.IGNORECASE,
)
_LEADS_PASTE: Final = re.compile(
    r"\b(?:output|logs?|errors?|trace(?:back)?|stack|says?|said|wrote|writes|below|following|"
    r"here(?:'s| is| are)|this is|pasted?|diff|plan|review|comments?|message|e-?mail|ticket|"
    r"issue|description|"
    r"prompt|readme|docs?|text|reads?|quote|article|page|snippet|code|response|answer|"
    r"transcript|conversation|thread|"
    r"spec(?:ification)?|feedback|guidelines?|instructions?|translate|summari[sz]e|rewrite|"
    r"proofread|explain)\b|"
    r"(?:输出|日志|报错|错误|如下|以下|下面|内容|原文|翻译|总结|评论|邮件|消息|说明|计划|方案|"
    r"代码|写道|说|回复)",
    re.IGNORECASE,
)
_TASKS: Final = re.compile(
    r"\b(?:do|fix|need|want|should|must|tasks?|steps?|todos?|implement|please|work|next)\b|"
    r"(?:要做|任务|步骤|需要|请)",
    re.IGNORECASE,
)
_DICTATES: Final = re.compile(
    r"(?:please |can you |could you |now |then )*(?:write|add|generate|create|draft|make|put|"
    r"insert|"
    r"print|reply|send|post|translate|summari[sz]e|explain|rephrase|rewrite|output|return|append|"
    r"change|set|type|echo|title)\b(?!.*\b(?:memory|note)\b)[^:.]{0,60}:\s+\S|"
    r"(?:请|帮我)*(?:写|翻译|生成|总结|回复|改写|添加)[^：:。]{0,20}[：:]\s*\S",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|«[^»\n]*»|《[^》\n]*》|`[^`\n]+`|"
    r"(?<![\w'’])'[^'\n]{2,}?'(?![\w'])|(?<![\w’])‘[^’\n]{2,}?’(?!\w)"
)
_QUOTES: Final = "\"'`“‘「『«《"  # of which each quotation has one
_END: Final = re.compile(r"[.!?…]+[\"”')\]]*(?=\s|$)|[。！？；]+[”」』）]*|;(?=\s)")
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|mr|mrs|dr|st|fig|ver)|^\d{1,2})\.$", re.IGNORECASE
)
_STOPPED: Final = (
    "e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "no.", "mr.", "mrs.", "dr.", "st.", "fig.",
    "ver.",
)  # fmt: skip
_ASKING: Final = re.compile(r"[?？]")
_LEADS_LIST: Final = re.compile(
    r"(?:\b(?:remember|memory|memorize|note|from now on|for future reference)\b|"
    r"记住|记下|以后|今后|"
    r"从现在)[^.。]*[:：]\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a person.

    Attributes:
        text: as written, with its full stop.
        masked: the same length, quotations and inline code blanked, so that no cue is found there.
        asks: it ends in a question mark.
        item: it stands in a list.
        under: the line with a colon under which a list item stands, or empty.
    """

    text: str
    masked: str
    asks: bool
    item: bool = False
    under: str = ""


def mask(text: str) -> str:
    """Return ``text`` with the inside of quotations and inline code blanked."""
    if not any(map(text.__contains__, _QUOTES)):
        return text
    return _QUOTED.sub(lambda found: "\x00" * len(found[0]), text)


def sentences(text: str) -> list[Sentence]:
    """Return what a person says in a prompt, in order; nothing for commands and documents."""
    text = text.replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    if len(text) > _MOST or text.lstrip().startswith(("/", "!")):
        return []
    if "```" in text or "~~~" in text:
        text = _INLINE_FENCE.sub("\n\n", _FENCE.sub("\n\n", text))
    if "<" in text:
        text = _TAGGED.sub("\n\n", text)
    lines = list(_own(own_words(text).split("\n")))
    if sum(len(line.text) for line in lines) > _LONG:
        return []
    found: list[Sentence] = []
    for line in _joined(lines):
        for piece in _split(line.text):
            if _DICTATES.match(piece):  # What follows is a text to be written, not a statement.
                return found
            asks = bool(_ASKING.search(piece[-4:]))
            found.append(Sentence(piece, mask(piece), asks, line.item, line.under))
    return found


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    item: bool = False
    under: str = ""


def _own(lines: list[str]) -> Iterator[_Line]:
    """Yield the lines a person wrote; an empty one between paragraphs."""
    first = _first_paste(lines)
    skipping = False  # to the end of the paragraph
    under = ""
    for number, raw in enumerate(lines):
        line = raw.rstrip()
        if not line:
            skipping = False
            under = ""
            yield _Line("")
            continue
        if number >= first or _HEADING.match(line):
            return
        if skipping:
            continue
        if _pasted(line):
            skipping = not line.lstrip().startswith(">")  # People answer right below a quotation.
            continue
        item = _ITEM.match(line)
        content = line[item.end() :].strip() if item else line.strip()
        if not item and content.endswith((":", "：")):
            if _LEADS_LIST.search(content):
                under = content
                continue
            if not _leads_tasks(lines, number) and (
                _LEADS_PASTE.search(content) or not "".join(lines[number + 1 : number + 2]).strip()
            ):
                return
            skipping = True
            continue
        yield _Line(content, item is not None, under)


def _leads_tasks(lines: list[str], number: int) -> bool:
    """Say whether a line with a colon introduces a list of things to do, which ends with it."""
    following = next((line for line in lines[number + 1 :] if line.strip()), "")
    return _ITEM.match(following) is not None and _TASKS.search(lines[number]) is not None


def _first_paste(lines: list[str]) -> int:
    """Return the number of the first pasted line of a text with several, else one past the end."""
    if len(lines) < _PASTED_LINES:
        return len(lines)
    pasted = [number for number, line in enumerate(lines) if line.strip() and _pasted(line)]
    return pasted[0] if len(pasted) >= _PASTED_LINES else len(lines)


def _pasted(line: str) -> bool:
    """Say whether a line looks like output, code, a quotation or somebody else's words."""
    if line.startswith(("    ", "\t")) and not _ITEM.match(line):
        return True
    return _PASTED.match(line) is not None and not _SPEAKER.match(line)


def _joined(lines: list[_Line]) -> Iterator[_Line]:
    """Yield lines with those joined that an editor broke in mid-sentence."""
    held = _Line("")
    for line in [*lines, _Line("")]:
        goes_on = (
            len(held.text) >= _WRAPPED
            and line.text
            and not line.item
            and not _END.search(held.text[-2:])
            and not held.text.endswith((":", "：", "，", "、"))
        )
        if goes_on:
            held = _Line(f"{held.text} {line.text}", held.item, held.under)
            continue
        if held.text:
            yield held
        held = line


def _is_abbreviation(text: str) -> bool:
    """Say whether the full stop behind a text ends no sentence."""
    if not folded(text[-7:]).endswith(_STOPPED) and not text[-2:-1].isdigit():
        return False
    return _ABBREVIATED.search(text) is not None


def _split(line: str) -> Iterator[str]:
    """Yield the sentences of a line; marks inside quotations end none."""
    start = 0
    covered = mask(line)
    for end in _END.finditer(covered):
        if _is_abbreviation(covered[start : end.end()]):
            continue
        piece = line[start : end.end()].strip()
        if piece:
            yield piece
        start = end.end()
    if rest := line[start:].strip():
        yield rest
