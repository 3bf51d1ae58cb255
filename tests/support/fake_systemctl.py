"""A stand-in for ``systemctl``, where no user manager can run.

It records every call and remembers what is enabled and active; it starts nothing. What the real
program makes of the units is tested with ``systemd-analyze`` (``tests/system/test_units.py``).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PROGRAM = """#!{python}
import json, pathlib, sys
here = pathlib.Path({folder!r})
state = json.loads((here / "state.json").read_text())
arguments = [word for word in sys.argv[1:] if word != "--user"]
state["calls"].append(arguments)
verb, units = arguments[0], [word for word in arguments[1:] if not word.startswith("-")]
code = 0
if state["broken"] in ("*", verb):
    print("Failed to connect to bus: No medium found", file=sys.stderr)
    code = 1
elif verb == "enable":
    state["enabled"] = sorted({{*state["enabled"], *units}})
    if "--now" in arguments:
        state["active"] = sorted({{*state["active"], *units}})
elif verb == "disable":
    state["enabled"] = sorted({{*state["enabled"]}} - {{*units}})
    state["active"] = sorted({{*state["active"]}} - {{*units}})
elif verb == "is-enabled":
    code = 0 if units[0] in state["enabled"] else 1
elif verb == "is-active":
    code = 0 if units[0] in state["active"] else 3
(here / "state.json").write_text(json.dumps(state))
sys.exit(code)
"""


class FakeSystemctl:
    """The program in a folder of its own, to be put in front of PATH."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self._state = folder / "state.json"
        self._state.write_text(json.dumps({"calls": [], "enabled": [], "active": [], "broken": ""}))
        program = folder / "systemctl"
        program.write_text(PROGRAM.format(python=sys.executable, folder=str(folder)))
        program.chmod(0o755)

    def state(self) -> dict[str, Any]:
        """Return what it remembers."""
        found: dict[str, Any] = json.loads(self._state.read_text())
        return found

    def changes(self) -> list[str]:
        """Return the calls that change something, in order, and forget all calls."""
        state = self.state()
        questions = {"show-environment", "is-enabled", "is-active"}
        calls = [" ".join(call) for call in state["calls"] if call[0] not in questions]
        self._state.write_text(json.dumps({**state, "calls": []}))
        return calls

    def break_(self, verb: str) -> None:
        """Let a verb fail from now on, ``*`` for all, an empty string for none."""
        self._state.write_text(json.dumps({**self.state(), "broken": verb}))
