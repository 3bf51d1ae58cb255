"""Secrets typed, answered and shown by tools end in no file that memoryd makes, and no answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.secrets import make_secrets
from support.service import Service

pytestmark = pytest.mark.system

SESSION = "0b8f6c7e-1111-4222-8333-444455556666"


def records(secrets: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield a session that plants each secret in a prompt, an answer and a tool's output."""
    for number, (_rule, secret) in enumerate(secrets):
        base = {
            "sessionId": SESSION,
            "cwd": "/nowhere/vault",
            "version": "2.1.332",
            "isSidechain": False,
            "userType": "external",
            "timestamp": f"2026-11-30T10:{number % 60:02}:00.000Z",
        }
        call = f"toolu_{number:04}"
        yield {
            **base, "type": "user", "uuid": f"human-{number}", "promptSource": "typed",
            "message": {
                "role": "user",
                "content": f"Remember that deployment {number} signs in with\n{secret}\n"
                "and from now on always use it for the nightly import.",
            },
        }  # fmt: skip
        for kind, block in (
            ("text", {"type": "text", "text": f"I wrote this down: `{secret}` for you."}),
            (
                "call",
                {"type": "tool_use", "id": call, "name": "Bash",
                 "input": {"command": f"deploy --with '{secret}'"}},
            ),
        ):  # fmt: skip
            yield {
                **base, "type": "assistant", "uuid": f"{kind}-{number}",
                "message": {
                    "id": f"msg-{number}", "role": "assistant", "content": [block],
                    "stop_reason": "tool_use", "usage": {"input_tokens": 9, "output_tokens": 9},
                },
            }  # fmt: skip
        yield {
            **base, "type": "user", "uuid": f"result-{number}",
            "toolUseResult": {"stdout": secret},
            "message": {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": call, "content": secret}],
            },
        }  # fmt: skip
        yield {**base, "type": "system", "subtype": "turn_duration", "uuid": f"end-{number}"}


def everything_made(service: Service) -> Iterator[tuple[str, bytes]]:
    """Yield every file of memoryd's: state, runtime directory, memories."""
    for folder in (service.state, service.runtime, *service.projects.glob("*/memory")):
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                yield str(file), file.read_bytes()


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[tuple[Service, list[tuple[str, str]]]]:
    secrets = make_secrets(11)
    service = Service(tmp_path / "home", MEMORYD_LOG_LEVEL="debug")
    (service.projects / "-nowhere-vault").mkdir(parents=True)
    service.start()
    text = "".join(json.dumps(record) + "\n" for record in records(secrets))
    (service.projects / "-nowhere-vault" / f"{SESSION}.jsonl").write_text(text)
    service.wait()
    yield service, secrets
    service.stop()


def parts(secret: str) -> list[str]:
    """Return what must not be found: the secret, or each long line of one with several."""
    return [line for line in secret.splitlines() if len(line) >= 16 and "-----" not in line] or [
        secret
    ]


def test_no_file_and_no_answer_holds_a_secret(
    planted: tuple[Service, list[tuple[str, str]]],
) -> None:
    service, secrets = planted
    assert len(secrets) >= 60
    status = service.json("status")
    assert status["turns"] == len(secrets)

    answers = "\n".join(
        [
            service.ctl("list", "--all-projects", "--json"),
            service.ctl("log", "--all-projects", "--limit", "500", "--json"),
            service.ctl("search", "deployment signs in", "--limit", "500", "--json"),
            service.ctl("search", "wrote this down", "--limit", "500", "--json"),
            service.ctl("recall", "nightly import deployment", "--all-projects", "--json"),
            service.ctl("jobs", "list", "--json"),
            service.ctl("sessions", "--json"),
        ]
    )
    made = dict(everything_made(service))
    assert any(name.endswith(("text.db", "text.db-wal")) for name in made)
    leaks = [
        (rule, name)
        for rule, secret in secrets
        for part in parts(secret)
        for name, content in [*made.items(), ("answers", answers.encode())]
        if part.encode() in content
    ]
    assert leaks == []
    assert service.json("search", "wrote this down")["hits"]
