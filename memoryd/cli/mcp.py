"""``memoryctl mcp``: the tools for clients of the Model Context Protocol."""

from __future__ import annotations

import os
import sys

import click

from memoryd.cli.shared import Command
from memoryd.errors import MemorydError
from memoryd.surroundings import surroundings


@click.command(cls=Command, short_help="Serve the memory tools to an MCP client.")
@click.option(
    "--project",
    metavar="DIR",
    help="The project (default: CLAUDE_PROJECT_DIR, else that of the working directory).",
)
def mcp(project: str | None) -> int:
    """Serve recall, search, summary, remember and forget as MCP tools on standard input and output.

    MCP clients start this themselves (see: memoryctl help mcp). It ends with its client.

    Examples:
      claude mcp add memoryd --scope user -- memoryctl mcp
      memoryctl mcp --project ~/src/shop
    """
    try:
        from memoryd import mcp as server  # noqa: PLC0415 - loads the SDK, half a second
    except ModuleNotFoundError:
        raise MemorydError(
            "this needs the extra 'mcp', which is not installed",
            hint=f"install it with: {sys.executable} -m pip install 'memoryd[mcp]'",
        ) from None
    given = None if project is None else os.path.expanduser(project)  # noqa: PTH111 - as elsewhere
    server.serve(surroundings(os.environ, given))
    sys.stdout.flush()
    # A call may still wait for the service; nobody reads what it brings.
    os._exit(0)
