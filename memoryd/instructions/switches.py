"""What the client's settings, the environment and the list of trusted directories say."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memoryd.instructions.candidates import MANAGED
from memoryd.instructions.composing import Surroundings
from memoryd.instructions.trust import TrustUnreadable, read_trusted
from memoryd.memory.location import MANAGED_SETTINGS, read_layers, setting_objects
from memoryd.paths import Paths

_DISABLE = "CLAUDE_CODE_DISABLE_CLAUDE_MDS"
_ON = frozenset({"1", "true", "yes", "on"})


def surroundings(environ: Mapping[str, str], paths: Paths, cwd: str) -> Surroundings:
    """Read everything outside the project that decides what loads.

    Settings of the project are those of the working directory. A list of trusted directories that
    cannot be read trusts nothing, and a notice says so.
    """
    managed = MANAGED.get(sys.platform)
    here = os.path.realpath(cwd)
    layers = read_layers(paths.config, Path(here), MANAGED_SETTINGS.get(sys.platform))
    notices: list[str] = []
    excludes: list[str] = []
    off = _switched_off(environ, "the environment")
    for layer, found in setting_objects(layers, notices):
        listed = found.get("claudeMdExcludes")
        if isinstance(listed, list):
            excludes.extend(one for one in listed if isinstance(one, str))
        off = off or _switched_off(found.get("env"), f"env in {layer.path}")
    try:
        trusted = frozenset(one.path for one in read_trusted(paths.trust))
    except TrustUnreadable as error:
        trusted = frozenset()
        notices.append(f"nothing is trusted: {error}; {error.hint}")
    return Surroundings(
        str(paths.config),
        str(paths.home),
        None if managed is None else str(managed),
        trusted,
        tuple(excludes),
        off,
        tuple(notices),
    )


def _switched_off(variables: Any, origin: str) -> str:
    if not isinstance(variables, Mapping):
        return ""
    value = str(variables.get(_DISABLE, "")).strip().lower()
    return f"nothing loads: {_DISABLE}={value} ({origin})" if value in _ON else ""
