"""What the client was told of memoryd: hooks in its settings, the plugin, the MCP server."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryd import __version__
from memoryd.client import Client
from memoryd.doctor.finding import Finding, broken, fine, note
from memoryd.errors import MemorydError
from memoryd.install import hooktext
from memoryd.install.completions import file_name
from memoryd.install.hooks import hook_command, user_settings
from memoryd.install.jsontext import JsonTextError
from memoryd.install.plan import control
from memoryd.install.registration import NAME, Registered, registered, server, why_unusable
from memoryd.install.shells import folders, used
from memoryd.memory.location import MANAGED_SETTINGS, Layer, Scope, read_layers
from memoryd.paths import Paths
from memoryd.projects import resolve
from memoryd.protocol import MethodName

_STATUS_S = 20.0
_PLUGIN = "the plugin"
_INSTALL = "memoryctl install"
_EXTRA = "pip install 'memoryd[mcp]'"
_OWN = frozenset({Scope.USER, Scope.LOCAL})


@dataclass(frozen=True, slots=True)
class _Source:
    """A place that has memoryd's hooks.

    Attributes:
        name: for messages.
        layer: the settings; ``None`` for the plugin.
        hooks: event and command of each.
    """

    name: str
    layer: Layer | None
    hooks: tuple[tuple[str, str], ...]


def hooks(paths: Paths, environ: Mapping[str, str], cwd: str) -> Iterator[Finding]:
    """Look at the hooks for a project, and at what keeps the client from running them.

    Args:
        paths: of the instance.
        environ: of the process.
        cwd: in which project the client would be started.
    """
    root = resolve(cwd)
    place = Path(root.path) if root else None
    user = user_settings(paths.config)
    layers = [
        layer
        for layer in read_layers(paths.config, place, MANAGED_SETTINGS.get(sys.platform))
        # A project that is the home directory shares its settings with all projects.
        if layer.scope is not Scope.PROJECT or layer.path.resolve() != user.resolve()
    ]
    sources, odd = _sources(layers, paths)
    yield from odd
    yield from _switches(layers)
    if not sources:
        yield note("hooks", "the client does not tell memoryd what happens", _INSTALL)
        return
    found = [one for source in sources for one in _of(source, hook_command(environ))]
    commands = {tuple(sorted(source.hooks)) for source in sources}
    # The client runs one command once, though several of its settings name it.
    if len(sources) > 1 and (len(commands) > 1 or any(one.layer is None for one in sources)):
        names = " and ".join(source.name for source in sources)
        found.append(note("hooks", f"{names} have hooks: each event is told twice", _less(sources)))
    yield from found or _seen(paths, sources)


def mcp(paths: Paths, environ: Mapping[str, str], cwd: str) -> Iterator[Finding]:
    """Look whether the client knows the MCP server."""
    own = server(control(), environ)
    root = resolve(cwd)
    scopes = [None, *([root.path] if root else [])]
    try:
        found = {place: registered(paths, environ, place, own) for place in scopes}
    except MemorydError as error:
        yield note("mcp", str(error), error.hint)
        return
    layers = read_layers(paths.config, None, MANAGED_SETTINGS.get(sys.platform))
    plugin = _has_plugin(layers, paths)
    missing = why_unusable(own.command)
    if Registered.SAME in found.values() or plugin:
        if missing is not None:
            yield broken(
                "mcp", f"the client starts it, but {missing}", "pip install 'memoryd[mcp]'"
            )
        else:
            yield fine("mcp", "the client knows the MCP server")
        return
    for place, state in found.items():
        where = f" --scope project --project {shlex.quote(place)}" if place else ""
        if state is Registered.OLDER:
            text = "the client knows an MCP server of another installation"
            yield note("mcp", text, f"memoryctl install{where}")
            return
        if state is Registered.FOREIGN:
            text = f"the client has another MCP server of the name {NAME}"
            yield note("mcp", text, f"claude mcp get {NAME}")
            return
    text = "the client does not know the MCP server"
    mend = _INSTALL if missing is None else _EXTRA
    yield note("mcp", text, mend)


def completions(paths: Paths, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Look at the completion scripts of the person's shells."""
    own = Path(environ.get("SHELL") or "").name
    places = folders(paths, environ)
    there = []
    for shell in used(environ):
        path = places[shell] / file_name(shell, "memoryctl")
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            if shell == own:
                yield note(
                    "completions", f"{shell} does not complete memoryctl", "memoryctl install"
                )
            continue
        if f"\n# memoryctl {__version__}: " not in text:
            yield note("completions", f"{path} is of another version", _INSTALL)
        else:
            there.append(shell.value)
    if there:
        yield fine("completions", ", ".join(there))


def _sources(layers: Sequence[Layer], paths: Paths) -> tuple[list[_Source], list[Finding]]:
    sources, odd = [], []
    for layer in layers:
        if layer.content is None:
            continue  # Told with the client's switches.
        try:
            ours = hooktext.find(layer.content.decode())
        except UnicodeDecodeError:
            odd.append(note("hooks", f"{layer.path} is not UTF-8 text", "mend that file"))
            continue
        except JsonTextError as error:
            odd.append(note("hooks", f"{layer.path}: {error}", "mend that file"))
            continue
        if ours:
            told = tuple((one.event, one.command.value) for one in ours)
            sources.append(_Source(str(layer.path), layer, told))
    if _has_plugin(layers, paths):
        sources.append(_Source(_PLUGIN, None, ()))
    return sources, odd


def _of(source: _Source, command: str) -> Iterator[Finding]:
    """Look at the hooks of one place."""
    if source.layer is None:
        return
    mend = _install(source.layer)
    for told in dict.fromkeys(command for _, command in source.hooks):
        words = shlex.split(told)
        if "exec" in words:
            words = words[words.index("exec") + 1 :]
        if words[0] == "env":
            words = [word for word in words[1:] if "=" not in word]
        for path, needed in ((words[0], os.X_OK), (words[-1], os.R_OK)):
            if Path(path).is_absolute() and not os.access(path, needed):
                text = f"{source.name}: hooks run {path}, which is not there"
                yield broken("hooks", text, mend)
                break
        else:
            if told != command and source.layer.scope in _OWN:
                text = f"{source.name}: hooks are of another installation or environment: {told}"
                yield note("hooks", text, mend)
    missing = [event for event in hooktext.EVENTS if event not in dict(source.hooks)]
    if missing:
        yield note("hooks", f"{source.name}: none for {', '.join(missing)}", mend)


def _switches(layers: Sequence[Layer]) -> Iterator[Finding]:
    """Look for what switches hooks off."""
    for layer in layers:
        found = _parsed(layer)
        if found.get("disableAllHooks") is True:
            text = f"disableAllHooks in {layer.path}: the client runs no hooks"
            yield note("hooks", text, "take that line out")
        if layer.scope is Scope.MANAGED and found.get("allowManagedHooksOnly") is True:
            text = f"allowManagedHooksOnly in {layer.path}: the client runs only the managed hooks"
            yield note("hooks", text, "ask the administrator to manage memoryd's hooks")


def _seen(paths: Paths, sources: Sequence[_Source]) -> Iterator[Finding]:
    """Say whether hooks came; what the service saw last it tells itself."""
    try:
        with Client(paths.socket, _STATUS_S) as client:
            status = client.call(MethodName.STATUS, timeout=_STATUS_S)
    except MemorydError:
        status = {}
    names = ", ".join(source.name for source in sources)
    if status and not status.get("hooks"):
        text = f"{names}: there, but none came since the service started"
        yield note("hooks", text, "start a new session in the client; see: memoryctl help hooks")
    else:
        yield fine("hooks", names)


def _less(sources: Sequence[_Source]) -> str:
    """Return what takes away one of several places."""
    layers = [source.layer for source in sources if source.layer is not None]
    if len(layers) < len(sources):
        return "memoryctl uninstall --no-service, or: claude plugin uninstall memoryd"
    for layer in layers:
        if layer.scope is Scope.LOCAL:
            project = shlex.quote(str(layer.path.parent.parent))
            return f"memoryctl uninstall --no-service --scope project --project {project}"
    return "take the hooks out of one of them"


def _install(layer: Layer) -> str:
    match layer.scope:
        case Scope.USER:
            return _INSTALL
        case Scope.LOCAL:
            project = shlex.quote(str(layer.path.parent.parent))
            return f"memoryctl install --scope project --project {project}"
        case _:
            return f"take them out of {layer.path}; then: memoryctl install"


def _has_plugin(layers: Sequence[Layer], paths: Paths) -> bool:
    """Tell whether the client has memoryd's plugin, from a marketplace or among its skills."""
    for layer in layers:
        enabled = _parsed(layer).get("enabledPlugins")
        if isinstance(enabled, dict):
            for name, on in enabled.items():
                if str(name).partition("@")[0] == NAME and on is True:
                    return True
    return any(
        _named(path) == NAME for path in paths.config.glob("skills/*/.claude-plugin/plugin.json")
    )


def _named(path: Path) -> str:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return ""
    return str(found.get("name")) if isinstance(found, dict) else ""


def _parsed(layer: Layer) -> dict[str, Any]:
    """Return the settings of a layer; broken ones are told elsewhere and say nothing here."""
    try:
        found = json.loads((layer.content or b"{}").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
