"""Completion scripts in the places where the person's shells look for them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from memoryd.install.completions import Shell
from memoryd.install.made import Made
from memoryd.install.placing import look, put, take_away
from memoryd.install.step import Steps
from memoryd.install.written import Standing, Written
from memoryd.paths import Paths

_BASH_COMPLETION = (
    "/usr/share/bash-completion/bash_completion",
    "/usr/local/share/bash-completion/bash_completion",
    "/opt/homebrew/share/bash-completion/bash_completion",
    "/etc/bash_completion",
)
_HINT = "move it away"


def folders(paths: Paths, environ: Mapping[str, str]) -> dict[Shell, Path]:
    """Return where each shell looks for a person's own completions."""
    data = Path(environ.get("XDG_DATA_HOME") or paths.home / ".local/share")
    config = Path(environ.get("XDG_CONFIG_HOME") or paths.home / ".config")
    return {
        Shell.BASH: data / "bash-completion" / "completions",
        Shell.ZSH: data / "zsh" / "site-functions",
        Shell.FISH: config / "fish" / "completions",
    }


def used(environ: Mapping[str, str]) -> list[Shell]:
    """Return the shells that are installed, or are the person's."""
    own = Path(environ.get("SHELL") or "").name
    return [
        shell for shell in Shell if own == shell or shutil.which(shell, path=environ.get("PATH"))
    ]


class Shells:
    """Plans the completion scripts.

    Args:
        paths: of the instance.
        environ: of the person's shell.
        scripts: by shell.
        made: the note of what was made.
    """

    def __init__(
        self,
        paths: Paths,
        environ: Mapping[str, str],
        scripts: Mapping[Shell, Written],
        made: Made,
    ) -> None:
        self._paths = paths
        self._environ = environ
        self._scripts = scripts
        self._made = made
        self._folders = folders(paths, environ)

    def install(self) -> Steps:
        """Return the steps that write the scripts; another's file of that name stays."""
        done = Steps()
        for shell in used(self._environ):
            folder, script = self._folders[shell], self._scripts[shell]
            if look(folder, script) is Standing.FOREIGN:
                done.notes.append(_stays(folder / script.name))
                continue
            step = put(folder, script, self._made, _HINT, aside=True)
            if step is not None:
                done.steps.append(step)
            done.notes += self._told(shell, folder)
        return done

    def uninstall(self) -> Steps:
        """Return the steps that remove the scripts."""
        done = Steps()
        for shell, script in self._scripts.items():
            folder = self._folders[shell]
            match look(folder, script):
                case Standing.ABSENT:
                    pass
                case Standing.FOREIGN:
                    done.notes.append(_stays(folder / script.name))
                case _:
                    done.steps.append(take_away(folder, script, self._made, aside=True))
        return done

    def _told(self, shell: Shell, folder: Path) -> list[str]:
        """Return what the person's own shell needs besides; no start file is edited."""
        if Path(self._environ.get("SHELL") or "").name != shell:
            return []
        if shell is Shell.ZSH and not self._names(folder):
            said = "For completions in zsh, put this into ~/.zshrc before compinit:"
            return [f"{said}\n    fpath=({folder} $fpath)"]
        if shell is Shell.BASH and not any(map(os.path.exists, _BASH_COMPLETION)):
            said = "For completions in bash, install bash-completion, or put this into ~/.bashrc:"
            return [f"{said}\n    source {folder}/{self._scripts[shell].name}"]
        return []

    def _names(self, folder: Path) -> bool:
        """Tell whether the start file of zsh names the folder, by its last parts."""
        start = Path(self._environ.get("ZDOTDIR") or self._paths.home) / ".zshrc"
        try:
            return "/".join(folder.parts[-2:]) in start.read_text(errors="replace")
        except OSError:
            return False


def _stays(path: Path) -> str:
    return f"{path} was not written by memoryctl install and stays"
