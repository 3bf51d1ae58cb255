"""Where the client that started this process works: project, session, and the service's socket."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memoryd.errors import MemorydError
from memoryd.locations import home_directory, socket_path

_RECORD_BYTES: Final = 64 << 10
_SESSION: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")  # As the service takes them.


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where the client works.

    Attributes:
        project: absolute directory whose project is meant.
        environ: of this process, as the client made it.
    """

    project: str
    environ: Mapping[str, str]

    def socket(self) -> str:
        """Return the service's socket, also where a client hands on few variables."""
        usual = socket_path(self.environ)
        if self.environ.get("XDG_RUNTIME_DIR") or self.environ.get("MEMORYD_RUNTIME_DIR"):
            return usual
        logged_in = socket_path({**self.environ, "XDG_RUNTIME_DIR": f"/run/user/{os.getuid()}"})
        return logged_in if not os.path.exists(usual) and os.path.exists(logged_in) else usual  # noqa: PTH110 - paths are strings here

    def session(self) -> str | None:
        """Return the id of the session that the client shows now, ``None`` if it names none.

        Its environment names the one it began with. A session that was cleared since has another,
        which stands in the client's record of its process.
        """
        begun = self.environ.get("CLAUDE_CODE_SESSION_ID")
        if not begun:
            return None
        config = self.environ.get("CLAUDE_CONFIG_DIR") or f"{home_directory(self.environ)}/.claude"
        process = self.environ.get("CLAUDE_PID") or str(os.getppid())
        try:
            with open(f"{config}/sessions/{int(process)}.json", "rb") as file:  # noqa: PTH123 - as above
                record = json.loads(file.read(_RECORD_BYTES))
            begun = str(record.get("sessionId") or begun)
        except (OSError, ValueError, AttributeError):
            pass  # An older client keeps no such record, and a new one may be writing it now.
        return begun if _SESSION.fullmatch(begun) else None

    def named_session(self) -> dict[str, str]:
        """Return the parameter that names the session, if there is one to name."""
        session = self.session()
        return {} if session is None else {"session": session}


def surroundings(environ: Mapping[str, str], project: str | None = None) -> Surroundings:
    """Return where the client works.

    Args:
        environ: the environment.
        project: named on the command line; else ``CLAUDE_PROJECT_DIR``, else the working directory.

    Raises:
        MemorydError: the working directory is gone.
    """
    told = project or environ.get("CLAUDE_PROJECT_DIR") or ""
    if os.path.isabs(told):  # noqa: PTH117 - as above
        return Surroundings(told, environ)
    try:
        here = os.getcwdb().decode("utf-8", "surrogateescape")  # noqa: PTH109 - as above
    except FileNotFoundError:
        raise MemorydError(
            "the working directory is gone", hint="name one with --project"
        ) from None
    return Surroundings(os.path.normpath(os.path.join(here, told)), environ)  # noqa: PTH118 - as above
