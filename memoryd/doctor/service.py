"""The service itself: whether it answers, what it says, and how it is started."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import assert_never

from memoryd import __version__
from memoryd.client import Client
from memoryd.daemon.instance import lock_holder
from memoryd.doctor.finding import Finding, broken, fine, note
from memoryd.errors import MemorydError
from memoryd.install.manager import Manager
from memoryd.install.service import program, start_line, unit_folder
from memoryd.install.units import SOCKET, UNITS, units
from memoryd.install.written import Standing, standing
from memoryd.paths import Paths
from memoryd.protocol import MethodName

_HELLO_S = 2.0
_STATUS_S = 20.0


def service(paths: Paths) -> Iterator[Finding]:
    """Ask the service, or find out why it does not answer."""
    try:
        with Client(paths.socket, _HELLO_S) as client:
            hello = client.hello()
            status = client.call(MethodName.STATUS, timeout=_STATUS_S)
    except MemorydError as error:
        yield from _silent(paths, error)
        return
    if os.path.abspath(hello["state"]) != os.path.abspath(paths.state):  # noqa: PTH100 - resolve() would follow links
        text = f"another instance answers on {paths.socket} (state {hello['state']})"
        yield broken("service", text, "set MEMORYD_RUNTIME_DIR to a directory of its own")
    elif hello["version"] != __version__:
        text = f"it runs version {hello['version']}, this is {__version__}"
        yield broken("service", text, "memoryd restart")
    else:
        yield fine("service", f"version {hello['version']}, pid {hello['pid']}")
    if hooks := status.get("hooks"):
        event, last = max(hooks.items(), key=lambda item: str(item[1]["last"]))
        yield fine("hooks", f"the client's last one was {event} at {last['last']}")
    for pause in status["paused"]:
        what = pause["project"] or "everything"
        where = f" --project {shlex.quote(pause['project'])}" if pause["project"] else ""
        text = f"{what} is paused since {pause['since']}"
        yield note("paused", text, f"memoryctl resume{where}")
    for warning in status["warnings"]:
        # Of jobs the database tells more.
        if "put off: " not in warning and " dead: " not in warning:
            yield note("service", warning, "memoryctl status")


def installed(paths: Paths, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Look at the units of the user manager."""
    folder = unit_folder(paths, environ)
    found = {}
    for unit in units(program(), paths, environ):
        try:
            found[unit.name] = standing(unit, (folder / unit.name).read_bytes())
        except FileNotFoundError:
            found[unit.name] = Standing.ABSENT
        except OSError as error:
            yield broken("units", f"{folder / unit.name}: {error.strerror}", "memoryctl install")
            return
    if all(state is Standing.ABSENT for state in found.values()):
        yield _without_units(paths, Manager(environ))
        return
    for name, state in found.items():
        yield from _unit(folder / name, state)
    yield _managed(Manager(environ))


def _without_units(paths: Paths, manager: Manager) -> Finding:
    text = "memoryd does not start by itself"
    if manager.why_absent() is None:
        return note("units", text, "memoryctl install")
    profile = paths.home / ".profile"
    try:
        started = start_line() in profile.read_text(errors="replace")
    except OSError:
        started = False
    if started:
        return fine("units", f"{profile} starts it")
    return note("units", text, f"add this line to {profile}: {start_line()}")


def _unit(path: Path, state: Standing) -> Iterator[Finding]:
    match state:
        case Standing.SAME:
            pass
        case Standing.ABSENT:
            yield broken("units", f"{path} is missing", "memoryctl install")
        case Standing.OLDER | Standing.EDITED:
            text = f"{path} differs from what this version installs ({state})"
            yield note("units", text, "memoryctl install")
        case Standing.FOREIGN:
            yield note("units", f"{path} was not written by memoryctl install")
        case _:
            assert_never(state)


def _managed(manager: Manager) -> Finding:
    absent = manager.why_absent()
    if absent is not None:
        text = f"units are installed, but the user manager cannot be asked: {absent}"
        return note("units", text, "log in again, or: memoryd start")
    asleep = [name for name in UNITS if not manager.is_enabled(name)]
    if asleep:
        return broken("units", f"not enabled: {', '.join(asleep)}", "memoryctl install")
    if not manager.is_active(SOCKET):
        return broken("units", f"{SOCKET} does not run", f"systemctl --user start {SOCKET}")
    return fine("units", "installed and enabled")


def _silent(paths: Paths, error: MemorydError) -> Iterator[Finding]:
    try:
        holder = lock_holder(paths.lock)
    except OSError as reason:
        yield broken("service", f"{paths.lock}: {reason.strerror}", "memoryd restart")
        return
    if holder is not None:
        text = f"it runs{holder} but does not answer: {error}"
        yield broken("service", text, f"memoryd restart; its log is {paths.log}")
    elif paths.socket.exists():
        text = f"it does not run; {paths.socket} was left behind, which the next start removes"
        yield broken("service", text, "memoryd start")
    else:
        yield broken("service", "it does not run", "memoryd start")
