"""systemd's manager of the person's own services, through its command ``systemctl``."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from memoryd.errors import MemorydError

_QUESTION_S = 10.0
_CHANGE_S = 120.0


class Manager:
    """Talks to the user manager.

    Args:
        environ: of the process.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = dict(environ)

    def why_absent(self) -> str | None:
        """Return why there is no manager to talk to, ``None`` if there is."""
        try:
            done = self._run("show-environment", seconds=_QUESTION_S)
        except FileNotFoundError:
            return "there is no systemctl"
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"systemctl does not work ({type(error).__name__})"
        if done.returncode == 0:
            return None
        return f"systemctl --user fails: {_last(done.stderr) or f'exit {done.returncode}'}"

    def is_enabled(self, unit: str) -> bool:
        """Tell whether a unit is started by itself."""
        return self._run("is-enabled", unit, seconds=_QUESTION_S).returncode == 0

    def is_active(self, unit: str) -> bool:
        """Tell whether a unit runs."""
        return self._run("is-active", unit, seconds=_QUESTION_S).returncode == 0

    def change(self, *arguments: str) -> None:
        """Have something done.

        Raises:
            MemorydError: it was refused; the message has the manager's own words.
        """
        command = f"systemctl --user {' '.join(arguments)}"
        try:
            done = self._run(*arguments, seconds=_CHANGE_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MemorydError(f"{command} failed ({type(error).__name__})") from error
        if done.returncode != 0:
            raise MemorydError(
                f"{command} failed: {_last(done.stderr) or f'exit {done.returncode}'}",
                hint="journalctl --user -u memoryd tells more",
            )

    def _run(self, *arguments: str, seconds: float) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["systemctl", "--user", *arguments],  # noqa: S607 - found on PATH as by the person
            env=self._environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
        )


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""
