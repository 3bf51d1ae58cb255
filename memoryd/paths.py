"""Where everything lives: one frozen value, computed from the environment at the edge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memoryd.locations import SOCKET_NAME, home_directory, runtime_directory, state_directory


@dataclass(frozen=True, slots=True)
class Paths:
    """The directories and files of one instance.

    Attributes:
        config: the client's directory, ``CLAUDE_CONFIG_DIR`` or ``~/.claude``.
        state: memoryd's own durable files, ``MEMORYD_STATE_DIR`` or ``$XDG_STATE_HOME/memoryd``.
        runtime: socket and the like, ``MEMORYD_RUNTIME_DIR``, ``$XDG_RUNTIME_DIR/memoryd`` or
            ``<state>/run``.
        settings: the person's settings file, ``MEMORYD_CONFIG`` or
            ``$XDG_CONFIG_HOME/memoryd/config.toml``.
        home: the person's home directory (for ``~`` in settings and messages).
    """

    config: Path
    state: Path
    runtime: Path
    settings: Path
    home: Path

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Paths:
        """Read the paths from ``environ``; nothing is created or resolved here."""
        home = Path(home_directory(environ))

        def under(variable: str, default: str) -> Path:
            return Path(environ.get(variable) or home / default)

        return cls(
            config=under("CLAUDE_CONFIG_DIR", ".claude"),
            state=Path(state_directory(environ)),
            runtime=Path(runtime_directory(environ)),
            settings=Path(
                environ.get("MEMORYD_CONFIG")
                or under("XDG_CONFIG_HOME", ".config") / "memoryd" / "config.toml"
            ),
            home=home,
        )

    @property
    def projects(self) -> Path:
        """The client's transcripts and memories, one directory per project."""
        return self.config / "projects"

    @property
    def socket(self) -> Path:
        """The service's Unix socket."""
        return self.runtime / SOCKET_NAME

    @property
    def lock(self) -> Path:
        """Held with ``flock`` for the life of the service."""
        return self.state / "lock"

    @property
    def database(self) -> Path:
        """Cursors, turns, jobs and journal."""
        return self.state / "memoryd.db"

    @property
    def text_index(self) -> Path:
        """The full-text index; may be deleted, it is rebuilt."""
        return self.state / "text.db"

    @property
    def summaries(self) -> Path:
        """The copies of the summaries of sessions; they outlive the transcripts."""
        return self.state / "summaries"

    @property
    def trust(self) -> Path:
        """The directories that a person trusts to name files outside themselves."""
        return self.state / "memoryd.trust.json"

    @property
    def log(self) -> Path:
        """Where a service in the background writes its log lines."""
        return self.state / "memoryd.log"
