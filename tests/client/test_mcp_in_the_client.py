"""The memory tools in the real client: what its model is told, and what it is shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from support.messages_api import MessagesApi, calls, says
from support.real_client import RealClient
from support.service import COMMANDS, Service

pytestmark = [pytest.mark.client, pytest.mark.system]

PORT = "The staging database listens on port 6543"


def register(service: Service) -> None:
    """Register the tools as ``claude mcp add --scope user`` does."""
    path = service.home / ".claude.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    server = {"type": "stdio", "command": str(COMMANDS / "memoryctl"), "args": ["mcp"]}
    path.write_text(json.dumps({**known, "mcpServers": {"memoryd": server}}))


def shown(body: Mapping[str, Any]) -> str:
    """Return the result of the last tool call, as the model reads it."""
    block = body["messages"][-1]["content"][0]
    assert block["type"] == "tool_result"
    content = block["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def test_the_model_is_told_when_to_ask_and_reads_marked_claims(
    client: RealClient, service: Service, api: MessagesApi
) -> None:
    register(service)
    place = client.project("shop")
    service.ctl("remember", PORT, cwd=place)
    api.queue(
        calls("ToolSearch", query="select:mcp__memoryd__recall"),
        calls("mcp__memoryd__recall", query="which port does the staging database use"),
        says("6543"),
    )

    turn = client.turn("Look it up, please.", cwd=place)

    assert turn.code == 0, turn.stderr
    assert any("recall: before answering" in text for text in turn.requests[0].texts("system"))
    answer = shown(turn.requests[-1].body)
    assert answer.count("<memoryd-recall>") == answer.count("</memoryd-recall>") == 1
    before, _, rest = answer.partition("<memoryd-recall>")
    after = rest.partition("</memoryd-recall>")[2]
    assert PORT in rest
    assert PORT not in before + after


def test_what_the_model_notes_is_marked(
    client: RealClient, service: Service, api: MessagesApi
) -> None:
    register(service)
    place = client.project("shop")
    api.queue(
        calls("ToolSearch", query="select:mcp__memoryd__remember"),
        calls("mcp__memoryd__remember", text=PORT),
        says("Noted."),
    )

    first = client.turn("Look around, please.", cwd=place)
    service.wait()

    assert first.code == 0, first.stderr
    assert "created staging-database-port" in shown(first.requests[-1].body)
    assert service.json("list", cwd=place)[0]["marks"] == ["assistant"]


def test_what_the_model_notes_through_its_shell_is_marked_too(
    client: RealClient, service: Service, api: MessagesApi
) -> None:
    place = client.project("shop")
    tool = COMMANDS / "memoryctl"
    api.queue(
        calls("Bash", command=f"{tool} remember {PORT}; {tool} remember I prefer tabs"),
        says("Noted."),
    )

    turn = client.turn("Look around, please.", cwd=place)

    assert turn.code == 0, turn.stderr
    assert "only when the person types it" in shown(turn.requests[-1].body)
    (kept,) = service.json("list", cwd=place)
    assert (kept["name"], kept["marks"]) == ("staging-database-port", ["assistant"])
