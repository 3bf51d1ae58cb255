"""The session a fork was copied from is found by what the client says of its size."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from memoryd.daemon.parentage import CANDIDATES, last_context_tokens, parent_of


def reply(tokens: tuple[int, int, int, int], **more: Any) -> bytes:
    names = (
        "input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
    )  # fmt: skip
    message = {
        "id": "m", "role": "assistant", "model": "x", "content": [{"type": "text", "text": "a"}],
        "usage": dict(zip(names, tokens, strict=True)),
    }  # fmt: skip
    record = {"type": "assistant", "uuid": "u", "sessionId": "s", "message": message, **more}
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def test_all_tokens_of_the_last_reply_of_the_model_count() -> None:
    assert last_context_tokens(reply((1, 1, 1, 1)) + reply((1000, 77, 333, 55))) == 1465
    # The client's own words count none, a subagent's reply belongs to another conversation.
    more = reply((0, 0, 0, 0)) + reply((9, 9, 9, 9), isSidechain=True) + b'{"type":"assistant"'
    assert last_context_tokens(reply((10, 5, 0, 0)) + more) == 15
    assert last_context_tokens(b'{"type":"user"}\n') is None


def test_the_transcript_beside_it_that_fits_is_the_one(tmp_path: Path) -> None:
    for number in range(CANDIDATES + 1):
        path = tmp_path / f"session-{number}.jsonl"
        path.write_bytes(reply((1000 + number, 0, 0, 0)) + b'{"type":"mode"}\n')
        os.utime(path, (number, number))
    fork = tmp_path / "fork.jsonl"
    assert parent_of(str(fork), 1009) == str(tmp_path / "session-9.jsonl")
    assert parent_of(str(fork), 1000) is None, "older than those that are looked at"
    assert parent_of(str(fork), 7) is None
    fork.write_bytes(reply((1009, 0, 0, 0)))
    assert parent_of(str(fork), 1009) == str(tmp_path / "session-9.jsonl")
    assert parent_of(str(tmp_path / "none" / "fork.jsonl"), 1009) is None


def test_only_the_end_of_a_long_transcript_is_read(tmp_path: Path) -> None:
    long = b'{"type":"attachment","text":"' + b"x" * 1_000_000 + b'"}\n'
    (tmp_path / "long.jsonl").write_bytes(long + reply((1, 2, 3, 4)) + b'{"type":"mode"}\n')
    assert parent_of(str(tmp_path / "fork.jsonl"), 10) == str(tmp_path / "long.jsonl")
