"""Calls are named by what they do, and writes of memories are recognised."""

from typing import Any

import pytest
from memoryd.transcript.toolcalls import GIST_LIMIT, MemoryWrite, gist, memory_write, named_files

FOLDER = "/home/dev/.claude/projects/-home-dev-project/memory"
FILE = f"{FOLDER}/a.md"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"command": "ls -l\n  /tmp", "description": "list"}, "ls -l /tmp"),
        ({"file_path": "/a/b.py", "content": "x"}, "/a/b.py"),
        ({"pattern": "def ", "path": "/a"}, "def"),
        ({"prompt": "look", "description": "Look around"}, "Look around"),
        ({"x": 1, "y": ["z"]}, '{"x": 1, "y": ["z"]}'),
        ({}, ""),
        ({"command": 5}, '{"command": 5}'),
    ],
)
def test_the_gist(arguments: dict[str, Any], line: str) -> None:
    assert gist(arguments) == line


def test_the_gist_is_short() -> None:
    assert len(gist({"command": "word " * 10_000})) <= GIST_LIMIT
    assert len(gist({"x": ["word"] * 10_000})) <= GIST_LIMIT


def test_named_files() -> None:
    assert named_files({"file_path": "/a", "notebook_path": "/b", "path": "/c"}) == ("/a", "/b")
    assert named_files({"file_path": ["/a"]}) == ()


@pytest.mark.parametrize(
    ("name", "arguments", "path", "content"),
    [
        ("Write", {"file_path": FILE, "content": "x"}, FILE, "x"),
        (
            "Edit",
            {"file_path": FILE, "old_string": "o", "new_string": "n"},
            FILE,
            "n",
        ),
        (
            "MultiEdit",
            {
                "file_path": FILE,
                "edits": [{"new_string": "1"}, "?", {"new_string": "2"}],
            },
            FILE,
            "1\n2",
        ),
        ("Write", {"file_path": f"{FOLDER}/logs/a.md", "content": "x"}, f"{FOLDER}/logs/a.md", "x"),
    ],
)
def test_writes_by_tools(name: str, arguments: dict[str, Any], path: str, content: str) -> None:
    assert memory_write(name, arguments) == MemoryWrite(path, content)


@pytest.mark.parametrize(
    "command",
    [
        f"echo x > {FOLDER}/a.md",
        f"echo x >> '{FOLDER}/a.md'",
        f'cat > "{FOLDER}/a.md" <<EOF\nx\nEOF',
        f"echo x | tee -a {FOLDER}/a.md",
        f"cp /tmp/x.md {FOLDER}/a.md",
        f"true && mv /tmp/x.md {FOLDER}/a.md; true",
        f"sed -i s/a/b/ {FOLDER}/a.md",
        f"cd {FOLDER} && echo x > a.md",
    ],
)
def test_writes_by_the_shell(command: str) -> None:
    assert memory_write("Bash", {"command": command}) == MemoryWrite(FILE, command)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Read", {"file_path": FILE}),
        ("Write", {"file_path": "/home/dev/project/memory/a.md", "content": "x"}),
        ("Write", {"file_path": f"{FOLDER}/a.txt", "content": "x"}),
        ("Write", {}),
        ("Bash", {"command": f"cat {FOLDER}/a.md"}),
        ("Bash", {"command": f"cat {FOLDER}/a.md > /tmp/x"}),
        ("Bash", {"command": f"cp {FOLDER}/a.md /tmp/x.md"}),
        ("Bash", {"command": f"cd {FOLDER} && cat a.md"}),
        ("Bash", {"command": 7}),
        ("Bash", {"command": "; cp" * 50_000 + "/memory"}),
    ],
)
def test_what_writes_no_memory(name: str, arguments: dict[str, Any]) -> None:
    assert memory_write(name, arguments) is None
