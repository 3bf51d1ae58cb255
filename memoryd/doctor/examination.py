"""All checks, in the order in which a person would mend what they find."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from memoryd.doctor import client, databases, machine, memories, service
from memoryd.doctor.finding import Finding, broken
from memoryd.paths import Paths


def examine(environ: Mapping[str, str], cwd: str) -> list[Finding]:
    """Look at everything; a check that fails itself is a finding too.

    Args:
        environ: of the process.
        cwd: of the process: the client's settings of that project are looked at.
    """
    paths = Paths.from_environment(environ)
    settings, found = memories.settings(paths, environ)
    url = settings.database_url if settings else ""
    always = settings.memory.always if settings else False
    checks: list[tuple[str, Callable[[], Iterable[Finding]]]] = [
        ("service", lambda: service.service(paths)),
        ("directories", lambda: machine.directories(paths)),
        ("disk", lambda: machine.disk(paths)),
        ("database", lambda: databases.database(paths, url, time.time())),
        ("text index", lambda: databases.text_index(paths)),
        ("limits", lambda: machine.limits(paths)),
        ("transcripts", lambda: machine.transcripts(paths)),
        ("memories", lambda: memories.memories(paths, environ)),
        ("client", lambda: memories.switches(paths, environ, always)),
        ("units", lambda: service.installed(paths, environ)),
        ("hooks", lambda: client.hooks(paths, environ, cwd)),
        ("mcp", lambda: client.mcp(paths, environ, cwd)),
        ("completions", lambda: client.completions(paths, environ)),
    ]
    for name, check in checks:
        try:
            found += check()
        except Exception as error:  # noqa: BLE001 - the other checks must still be made
            text = f"this check failed itself ({type(error).__name__})"
            found.append(broken(name, text, "tell the authors of memoryd"))
    return found
