"""What the client gives to hooks, made by hand, and the hook run as the client runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import memoryd

HOOK = Path(memoryd.__file__).parent / "hook.py"
COMMAND = (sys.executable, "-I", "-S", str(HOOK))

SESSION = "0a0b0c0d-0000-4000-8000-00000000beef"
AGENT = {"agent_id": "a0123456789abcdef", "agent_type": "Explore"}

_TURN = {
    "prompt_id": "11111111-2222-4333-8444-555555555555",
    "permission_mode": "default",
    "effort": {"level": "high"},
}
_READ = {
    "tool_name": "Read",
    "tool_input": {"file_path": "/home/dev/orchard/README.md"},
    "tool_use_id": "toolu_0001",
}
_ENDED = {
    **_TURN,
    "stop_hook_active": False,
    "last_assistant_message": "The routes are in api.py.",
    "background_tasks": [],
    "session_crons": [],
}
_WARM = {"seconds_since_last_response": 61, "context_tokens": 812, "prompt_cache_likely_expired": 0}

EVENTS: Mapping[str, Mapping[str, Any]] = {
    "SessionStart-startup": {"source": "startup"},
    "SessionStart-resume": {"source": "resume", **_WARM},
    "SessionStart-clear": {"source": "clear", "model": "claude-opus-5-5"},
    "SessionStart-compact": {"source": "compact", "model": "claude-opus-5-5", **_TURN},
    "SessionStart-fork": {"source": "fork", **_WARM},
    "InstructionsLoaded": {"file_path": "/home/dev/CLAUDE.md", "memory_type": "User"},
    "UserPromptSubmit": {"prompt": "Where are the routes?", **_TURN},
    "PreToolUse": {**_READ, **_TURN},
    "PostToolUse": {**_READ, **_TURN, "tool_response": {"type": "text"}, "duration_ms": 4},
    "PostToolUseFailure": {**_READ, **_TURN, "error": "no such file", "is_interrupt": False},
    "PostToolBatch": {**_TURN, "tool_calls": [{**_READ, "tool_response": "# Orchard\n"}]},
    "SubagentStart": {**_TURN, **AGENT},
    "SubagentStop": {**_ENDED, **AGENT, "agent_transcript_path": "/nowhere/agent-a01.jsonl"},
    "Stop": _ENDED,
    "StopFailure": {**_TURN, "error": "rate_limit", "last_assistant_message": "Overloaded"},
    "PreCompact": {"trigger": "manual", "custom_instructions": "keep the names", **_TURN},
    "PostCompact": {"trigger": "auto", "compact_summary": "<summary>\n1. Routes.\n</summary>"},
    "SessionEnd": {"reason": "prompt_input_exit", **_TURN},
    "Notification": {"message": "Claude is waiting", "notification_type": "idle_prompt"},
    "OfTomorrow": {"something": {"new": [1, None]}},
}
"""By the name of the event, and behind a dash what tells two kinds of one event apart."""


def sample(
    kind: str, cwd: str, projects: str, /, *, session: str = SESSION, **more: Any
) -> dict[str, Any]:
    """Return the standard input of one kind of event.

    Args:
        kind: a key of `EVENTS`.
        cwd: where the client works.
        projects: the client's projects directory.
        session: id of the session.
        more: further fields, or others instead.
    """
    return {
        "session_id": session,
        "transcript_path": f"{projects}/-home-dev-orchard/{session}.jsonl",
        "cwd": cwd,
        "hook_event_name": kind.partition("-")[0],
        **EVENTS[kind],
        **more,
    }


def run_hook(
    stdin: Any, environment: Mapping[str, str], **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run the hook.

    Args:
        stdin: bytes as they are; anything else as JSON.
        environment: all of it.
        options: for ``subprocess.run``.
    """
    given = stdin if isinstance(stdin, bytes) else json.dumps(stdin).encode()
    return subprocess.run(
        COMMAND,
        input=given,
        env=dict(environment),
        capture_output=True,
        timeout=30,
        check=False,
        **options,
    )


def context_of(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return what the model is given; asserts that the hook kept to its contract."""
    assert (done.returncode, done.stderr) == (0, b"")
    if not done.stdout:
        return ""
    answer = json.loads(done.stdout)
    assert answer.keys() == {"hookSpecificOutput"}
    context = answer["hookSpecificOutput"]["additionalContext"]
    assert isinstance(context, str)
    return context
