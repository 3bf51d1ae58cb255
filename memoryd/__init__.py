"""Long-term memory for terminal agents, kept by a background service."""

__version__ = "0.1.0"
