"""What single texts of a session have to say for its summary: sentences, causes, errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoryd.text import one_line

SENTENCE: Final = 240
"""Characters of a sentence."""

ERROR: Final = 160
"""Characters of the first line of an error."""

_SENTENCES: Final = re.compile("(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_MARKUP: Final = re.compile(r"^[\s>#*+-]*(?:\d+[.)]\s+)?|\*\*|__")
_CAUSE: Final = re.compile(
    r"\b(?:root cause|turns out|turned out|the (?:real |actual |underlying )?"
    r"(?:problem|issue|bug|cause|culprit|reason)\b.{0,40}?\b(?:is|was|were)\b|discovered that|"
    r"lesson|it was caused by)|根本原因|原因是|问题在于|原来是",
    re.IGNORECASE,
)
_RULE: Final = re.compile(
    r"\b(?:always|never|from now on|remember (?:that|to)|make sure|don'?t ever|keep in mind)\b"
    r"|记住|以后|总是|必须|从现在起|永远不要",
    re.IGNORECASE,
)
_CORRECTION: Final = re.compile(
    r"(?:no\b(?!\s+(?:problem|worries|need))|nope\b|wrong\b|not (?:that|what|quite|like)\b|"
    r"that'?s (?:not|wrong|incorrect)\b|(?:please )?(?:don'?t|do not|stop)\b|instead\b|actually\b|"
    r"(?:undo|revert) (?:that|this|it)\b|you (?:forgot|missed|broke|should(?:n'?t| not)?|misunder)|"
    r"i (?:said|meant|asked for|didn'?t)\b|it (?:still |does ?n[o']?t|is ?n[o']?t)|"
    r"不对|不是|不要|别|错了|应该是|我说的是|改成)",
    re.IGNORECASE,
)
_EXIT: Final = re.compile(
    r"(?:error:\s*)?exit(?:ed with)? (?:code|status):?\s*(\d{1,3})", re.IGNORECASE
)
_FAILURE: Final = re.compile(
    r"error|fatal|fail|exception|not found|no such|denied|cannot|can't|refused|panic|traceback"
    r"|错误|失败",
    re.IGNORECASE,
)
_REJECTED: Final = "The user doesn't want to"
_TAGGED: Final = re.compile(r"</?tool_use_error>")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text as single lines, without marks of Markdown, code left out."""
    fenced = False
    for part in _SENTENCES.split(text):
        if part.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and (line := " ".join(_MARKUP.sub("", part).split())):
            yield line


def opening(text: str, limit: int) -> str:
    """Return what a text begins with, whole sentences as far as they fit, on one line."""
    taken: list[str] = []
    size = 0
    for sentence in sentences(text):
        if taken and size + len(sentence) > limit:
            break
        taken.append(sentence)
        size += len(sentence) + 1
    return one_line(" ".join(taken), limit)


def may_name_cause(text: str) -> bool:
    """Whether some sentence may say why something was as it was."""
    return _CAUSE.search(text) is not None


def causes(text: str) -> list[str]:
    """Return the sentences that say why something was as it was."""
    found = [one_line(line, SENTENCE) for line in sentences(text) if _CAUSE.search(line)]
    return found[:3]


def rules(text: str) -> list[str]:
    """Return what a person wants done always, or never."""
    found = [one_line(line, SENTENCE) for line in sentences(text) if _RULE.search(line)]
    return found[:3]


def correction(text: str) -> str:
    """Return the sentence with which a prompt corrects what was done, or an empty string."""
    first = next(sentences(text), "")
    return one_line(first, SENTENCE) if _CORRECTION.match(first) else ""


def was_rejected(result: str) -> bool:
    """Whether the result of a tool says that the person did not let it run."""
    return result.lstrip().startswith(_REJECTED)


def failure(result: str) -> tuple[str, str]:
    """Return exit status and first error line of a tool's output, each perhaps empty."""
    status = ""
    lines = []
    for line in _TAGGED.sub("", result).split("\n"):
        exit_code = _EXIT.match(line.strip())
        if exit_code is not None and not status:
            status = f"exit code {exit_code[1]}"
            line = line.strip()[exit_code.end() :]  # noqa: PLW2901 - what stands behind it
        if line.strip():
            lines.append(line)
    telling = next((line for line in lines if _FAILURE.search(line)), lines[0] if lines else "")
    return status, one_line(telling, ERROR)
