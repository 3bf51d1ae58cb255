"""From what was said and done to the lines of a summary, item by item, by rule."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, assert_never

from memoryd.context.draft import PINNED, Draft, line_of
from memoryd.context.sections import Section
from memoryd.context.words import (
    causes,
    correction,
    failure,
    may_name_cause,
    opening,
    rules,
    was_rejected,
)
from memoryd.redaction import clean
from memoryd.text import one_line
from memoryd.transcript.conversation import AssistantSaid, HumanText, Item, ToolCall
from memoryd.transcript.toolcalls import is_memory_file

_FIRST: Final = 1_000
_REQUEST: Final = 600
_ANSWER: Final = 900
_ASKED: Final = 240
_RESULT: Final = 320
_SHORT: Final = 80
_OUTCOME: Final = 160
_COMMAND: Final = 200
_PATH: Final = 200
_LOOKED_AT: Final = 64 * 1024
_MOST_FUNCTIONS: Final = 12

_VERBS: Final = {
    "Read": "read",
    "NotebookRead": "read",
    "Edit": "edited",
    "MultiEdit": "edited",
    "NotebookEdit": "edited",
    "Write": "written",
}
_ORDER: Final = ("read", "edited", "written")
_FUNCTIONS: Final = "functions: "
_LOOKING: Final = frozenset(
    [
        "awk",
        "cat",
        "cd",
        "cut",
        "date",
        "echo",
        "file",
        "find",
        "grep",
        "head",
        "jq",
        "less",
        "ls",
        "nl",
        "pwd",
        "rg",
        "sleep",
        "sort",
        "stat",
        "tail",
        "tree",
        "true",
        "uniq",
        "wc",
        "which",
    ]
)
"""Programs that only show something."""

_STEPS: Final = re.compile(r"&&|\|\||[;|]")
_SUMMARY_FILE: Final = "/session-memory/summary.md"
_OWN_TOOLS: Final = "mcp__memoryd"
_OWN_COMMAND: Final = re.compile(r"(?:\S*/)?memory(?:ctl|d)\b")


@dataclass(slots=True)
class Fold:
    """Puts one item after the other into a draft.

    Attributes:
        draft: what comes of it.
        turn: key of the turn that is going on, from the last time or an empty string.
        prompts: prompts that were met.
    """

    draft: Draft
    turn: str = ""
    prompts: int = 0
    _said: AssistantSaid | None = field(default=None, init=False)
    _step: str = field(default="", init=False)
    _at: float = field(default=0.0, init=False)
    _cwd: str = field(default="", init=False)

    def add(self, item: Item) -> None:
        """Take the next item of the session."""
        self._at = item.at or self._at
        self._cwd = item.cwd or self._cwd
        match item:
            case HumanText():
                self._prompt(item)
            case AssistantSaid():
                self._say(item)
            case ToolCall():
                self._call(item)
            case _:
                assert_never(item)

    def finish(self, title: str = "") -> None:
        """Write down where it stands.

        Args:
            title: of the session, redacted; empty where it has none.
        """
        self._answer()
        draft = self.draft
        draft.title(one_line(title, 2 * _SHORT))
        if self._at:
            draft.put(Section.CURRENT_STATE, "As of", f"{_time(self._at)} UTC")
        if self._cwd:
            draft.put(Section.CURRENT_STATE, "Working directory", one_line(self._cwd, _PATH))
        draft.drop(Section.CURRENT_STATE, "Last step")
        if self._step:
            draft.put(Section.CURRENT_STATE, "Last step", self._step)

    def _prompt(self, item: HumanText) -> None:
        text = clean(item.text[:_LOOKED_AT]).strip()
        if not text:
            return
        self._answer()
        draft = self.draft
        first = self.prompts == 0 and draft.value(Section.TASK, PINNED) is None
        self.prompts += 1
        self._step = ""
        self.turn = f"{_time(self._at)} asked “{one_line(text, _SHORT)}”"
        # What somebody noted about a state that is over is kept as a note.
        for note in draft.take_others(Section.CURRENT_STATE):
            if not note.startswith(_STATE_LINES):
                draft.add_other(Section.WORKLOG, note)
        draft.drop(Section.CURRENT_STATE, "Last answer", "Last step")
        draft.put(Section.CURRENT_STATE, "Last request", one_line(text, _REQUEST))
        draft.put(Section.WORKLOG, self.turn)
        if first:
            draft.put(Section.TASK, PINNED, one_line(text, _FIRST))
            if not draft.has_title:
                draft.title(opening(text, _SHORT))
        else:
            draft.put(Section.TASK, f"{_time(self._at)} asked: {one_line(text, _ASKED)}")
            if wrong := correction(text):
                draft.put(Section.ERRORS, f"The person corrected: “{wrong}”")
        for rule in rules(text):
            draft.put(Section.LEARNINGS, f"The person: “{rule}”")

    def _say(self, item: AssistantSaid) -> None:
        self._said = item
        self._step = ""
        if may_name_cause(item.text):
            for cause in causes(clean(item.text)):
                self.draft.put(Section.LEARNINGS, f"The assistant: “{cause}”")

    def _answer(self) -> None:
        """Write down what the assistant said last."""
        said, self._said = self._said, None
        if said is None:
            return
        text = clean(said.text)
        draft = self.draft
        draft.put(Section.CURRENT_STATE, "Last answer", opening(text, _ANSWER))
        if self.turn:
            draft.put(Section.WORKLOG, self.turn, opening(text, _OUTCOME), last=False)
            draft.put(Section.RESULTS, self.turn, opening(text, _RESULT))

    def _call(self, item: ToolCall) -> None:
        if item.name.startswith(_OWN_TOOLS) or _OWN_COMMAND.match(item.gist):
            return
        files = [path for path in item.files if not _is_memory(path)]
        if item.files and not files:
            return
        result = item.result or ""
        if item.is_error and was_rejected(result):
            step = _step(item, self._cwd)
            self.draft.put(Section.ERRORS, f"The person did not allow: {step}")
            return
        for path in files:
            self._touch(item, path)
        if item.name == "Bash" and item.gist:
            self._ran(item)
        self._step = _step(item, self._cwd)
        self._outcome(item, result)

    def _touch(self, item: ToolCall, path: str) -> None:
        verb = _VERBS.get(item.name)
        if verb is None or item.is_error or item.result is None:
            return
        key = f"`{_short(path, self._cwd)}`"
        known, _, names = (self.draft.value(Section.FILES, key) or "").partition(_FUNCTIONS)
        verbs = [one for one in _ORDER if one == verb or one in known]
        functions = [name for name in names.split(", ") if name]
        functions += [name for name in item.functions if name not in functions]
        value = ", ".join(verbs)
        if functions:
            value += f"; {_FUNCTIONS}{', '.join(functions[-_MOST_FUNCTIONS:])}"
        self.draft.put(Section.FILES, key, value)

    def _ran(self, item: ToolCall) -> None:
        if not _only_looks(item.gist):
            outcome = "failed" if item.is_error else "ok"
            if item.result is None:
                outcome = "no result yet"
            command = one_line(clean(item.gist), _COMMAND)
            self.draft.put(Section.COMMANDS, f"`{command}`", outcome)

    def _outcome(self, item: ToolCall, result: str) -> None:
        key = f"Tool output of {_step(item, self._cwd)}"
        if item.is_error:
            status, line = failure(clean(result))
            told = ": ".join(part for part in (status, f"“{line}”" if line else "") if part)
            self.draft.put(Section.ERRORS, key, told or "failed")
        elif item.result is not None:
            before = self.draft.value(Section.ERRORS, key)
            if before is not None and not before.endswith(_LATER):
                self.draft.put(Section.ERRORS, key, before + _LATER, last=False)


_LATER: Final = "; worked later"
_STATE_LINES: Final = tuple(
    line_of(key, " ").rstrip()
    for key in ("Last request", "Last answer", "As of", "Working directory", "Last step")
)
"""How memoryd's own lines about the state begin, known or not."""


def _step(item: ToolCall, cwd: str) -> str:
    about = _short(item.files[0], cwd) if item.files else one_line(clean(item.gist), _COMMAND)
    return f"{one_line(item.name, _SHORT)} `{about}`" if about else one_line(item.name, _SHORT)


def _only_looks(command: str) -> bool:
    steps = [step.split() for step in _STEPS.split(command)]
    return all(not words or words[0] in _LOOKING or words[:2] == ["sed", "-n"] for words in steps)


def _short(path: str, cwd: str) -> str:
    """Return a path below the working directory as one relative to it."""
    shown = path.removeprefix(f"{cwd.rstrip('/')}/") if cwd else path
    return one_line(clean(shown), _PATH)


def _is_memory(path: str) -> bool:
    return is_memory_file(path) or path.endswith(_SUMMARY_FILE)


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M") if at else "Undated:"
