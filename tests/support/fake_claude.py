"""A stand-in for the client's command ``claude mcp``, with its file as the client keeps it.

It records every call with the switches it was given. What the real client does is tested with it
(``tests/client``).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PROGRAM = """#!{python}
import json, os, pathlib, sys
here = pathlib.Path({folder!r})
home = os.environ.get("CLAUDE_CONFIG_DIR") or os.environ["HOME"]
file = pathlib.Path(home) / ".claude.json"
arguments = sys.argv[1:]
quiet = [name for name in ("DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER") if os.environ.get(name)]
with (here / "claude.calls").open("a") as calls:
    calls.write(json.dumps([os.getcwd(), *arguments, *quiet]) + "\\n")
if (here / "claude.broken").exists():
    sys.exit("it does not like that")
found = json.loads(file.read_text()) if file.exists() else {{}}
verb, (_, scope, name) = arguments[1], arguments[2:5]
if scope == "user":
    servers = found.setdefault("mcpServers", {{}})
else:
    servers = found.setdefault("projects", {{}}).setdefault(os.getcwd(), {{}})
    servers = servers.setdefault("mcpServers", {{}})
if verb == "add":
    if name in servers:
        sys.exit(f"MCP server {{name}} already exists")
    mark = arguments.index("--")
    variables = dict(word.split("=", 1) for word in arguments[5:mark] if word != "-e")
    command, *rest = arguments[mark + 1 :]
    servers[name] = {{"type": "stdio", "command": command, "args": rest, "env": variables}}
else:
    del servers[name]
file.write_text(json.dumps(found))
"""


class FakeClaude:
    """The program in a folder that is in front of PATH.

    Args:
        folder: that exists.
        home: the scratch home directory.
    """

    def __init__(self, folder: Path, home: Path) -> None:
        self._folder = folder
        self._home = home
        self.program = folder / "claude"
        self.program.write_text(PROGRAM.format(python=sys.executable, folder=str(folder)))
        self.program.chmod(0o755)

    def calls(self) -> list[list[str]]:
        """Return the calls, each with its directory first, and forget them."""
        file = self._folder / "claude.calls"
        found = (
            [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        )
        file.unlink(missing_ok=True)
        return found

    def servers(self, root: str | None = None) -> dict[str, Any]:
        """Return what it knows for all projects, or for one."""
        file = self._home / ".claude.json"
        found = json.loads(file.read_text()) if file.exists() else {}
        if root is not None:
            found = found.get("projects", {}).get(root, {})
        servers: dict[str, Any] = found.get("mcpServers", {})
        return servers

    def break_(self) -> None:
        """Let every call fail from now on."""
        (self._folder / "claude.broken").touch()
