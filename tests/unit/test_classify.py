"""Paths below the projects directory say what a file is."""

import pytest
from memoryd.ingest.classify import SessionFile, SubagentFile, Transcript, classify


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("-p/abc.jsonl", SessionFile("abc")),
        ("-p/memory.jsonl", SessionFile("memory")),
        ("-p/agent-1.jsonl", SubagentFile(None)),
        ("-p/abc/subagents/agent-1.jsonl", SubagentFile("abc")),
        ("-p/abc/subagents/deep/er/agent-1.jsonl", SubagentFile("abc")),
        ("abc.jsonl", None),
        ("-p/abc.json", None),
        ("-p/.jsonl", None),
        ("-p/abc.jsonl.tmp", None),
        ("-p/abc/def.jsonl", None),
        ("-p/abc/tool-results/x.jsonl", None),
        ("-p/abc/subagents/other.jsonl", None),
        ("-p/memory/x.jsonl", None),
        ("-p/memory/subagents/agent-1.jsonl", None),
        ("-p/../abc.jsonl", None),
        ("", None),
    ],
)
def test_a_path_is_one_thing(path: str, what: Transcript | None) -> None:
    assert classify(path) == what
