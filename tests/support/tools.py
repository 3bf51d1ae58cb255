"""The official MCP client, at the other end of a real ``memoryctl mcp``."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from support.service import COMMANDS, Service


class Tools:
    """A connected client.

    Attributes:
        session: the SDK's own.
    """

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def call(self, name: str, **arguments: Any) -> CallToolResult:
        """Return what a tool gave, error or not."""
        return await self.session.call_tool(name, arguments)

    async def text(self, name: str, **arguments: Any) -> str:
        """Return the text of a call that must succeed."""
        done = await self.call(name, **arguments)
        assert not done.is_error, said(done)
        return said(done)

    async def error(self, name: str, **arguments: Any) -> str:
        """Return the text of a call that must fail."""
        done = await self.call(name, **arguments)
        assert done.is_error, said(done)
        return said(done)


def said(done: CallToolResult) -> str:
    """Return the text that a model is shown."""
    (content,) = done.content
    assert isinstance(content, TextContent)
    return content.text


@asynccontextmanager
async def connected(service: Service, place: Path, **environment: str) -> AsyncIterator[Tools]:
    """Start the server in the directory ``place`` and connect to it."""
    parameters = StdioServerParameters(
        command=str(COMMANDS / "memoryctl"),
        args=["mcp"],
        env={**service.environment, **environment},
        cwd=place,
    )
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield Tools(session)


def talk(
    service: Service, place: Path, talk: Callable[[Tools], Awaitable[None]], **environment: str
) -> None:
    """Run a conversation with the tools from its beginning to its end."""

    async def run() -> None:
        with anyio.fail_after(90):
            async with connected(service, place, **environment) as tools:
                await talk(tools)

    anyio.run(run)


def size_of(tools: Any) -> int:
    """Return the bytes of an answer to ``tools/list`` on the wire."""
    message = tools.model_dump(by_alias=True, exclude_none=True, mode="json")
    return len(json.dumps(message, separators=(",", ":")).encode())
