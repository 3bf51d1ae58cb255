"""Setting everything up and taking it back: service, hooks, MCP server, completions."""
