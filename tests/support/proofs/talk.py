"""Made-up sessions in which people ask for memories, and what must have become of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

_SYLLABLES = ("ba", "do", "fe", "gi", "ku", "la", "mo", "ne", "pi", "ra", "su", "to", "vu", "zo")


@dataclass(slots=True)
class Talk:
    """Sessions of several projects, growing line by line.

    Attributes:
        rng: decides everything.
        folders: working directory of each project.
        turns: uuid of every prompt so far.
        replies: uuid of every answer so far.
        kept: for each fact that must be remembered, its token and the project's directory.
        forgotten: tokens of facts that were taken back.
    """

    rng: Random
    folders: list[str]
    turns: list[str] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    _names: set[str] = field(default_factory=set)
    _mine: dict[str, list[str]] = field(default_factory=dict)

    def turn(self, session: str, folder: str) -> bytes:
        """Return the lines of one more turn: mostly a request, at times small talk."""
        dice = self.rng.random()
        mine = self._mine.setdefault(session, [])
        if dice < 0.6:
            token = self._name()
            port = self.rng.randrange(1024, 65536)
            text = f"Remember that the {token} service listens on port {port}."
            self.kept[token] = folder
            mine.append(token)
        elif dice < 0.7 and mine:
            token = mine.pop(self.rng.randrange(len(mine)))
            text = f"Forget that the {token} service listens on a port."
            del self.kept[token]
            self.forgotten.add(token)
        else:
            text = f"And how does the {self._name()} module start?"
        return self._lines(session, folder, text)

    def _lines(self, session: str, folder: str, text: str) -> bytes:
        number = len(self.turns)
        human, answer = f"h-{number}", f"a-{number}"
        self.turns.append(human)
        self.replies.append(answer)
        base = {
            "sessionId": session, "cwd": folder, "version": "2.1.332", "isSidechain": False,
            "timestamp": "2026-11-30T10:00:00.000Z",
        }  # fmt: skip
        records: list[dict[str, Any]] = [
            {
                **base, "type": "user", "uuid": human, "promptSource": "typed",
                "message": {"role": "user", "content": text},
            },
            {
                **base, "type": "assistant", "uuid": answer,
                "message": {
                    "id": f"m-{number}", "role": "assistant", "model": "some-model",
                    "content": [{"type": "text", "text": "It is done — “fine”."}],
                    "stop_reason": "end_turn",
                    "usage": {"input_tokens": 10, "output_tokens": 5},
                },
            },
        ]  # fmt: skip
        return b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in records)

    def _name(self) -> str:
        while True:
            name = "".join(self.rng.choice(_SYLLABLES) for _ in range(4)) + self.rng.choice("lnrx")
            if name not in self._names:
                self._names.add(name)
                return name
