"""The note of what installing made, so that uninstalling takes back all of it and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from memoryd.daemon.private import PRIVATE_FILE, private_directory
from memoryd.errors import MemorydError

_FOLDERS = "folders"


class Made:
    """``memoryd.installed.json`` in the state directory.

    A section has entries by name; what is noted is noted before it is done. A note that cannot be
    read takes nothing back.

    Args:
        state: the state directory.
    """

    def __init__(self, state: Path) -> None:
        self.path = state / "memoryd.installed.json"
        self.backups = state / "backups"

    def entries(self, section: str) -> dict[str, Any]:
        """Return what a section has."""
        found = self._read().get(section)
        return found if isinstance(found, dict) else {}

    def note(self, section: str, name: str, value: object) -> None:
        """Keep an entry."""
        self._write({**self._read(), section: {**self.entries(section), name: value}})

    def forget(self, section: str, name: str) -> None:
        """Drop an entry."""
        left = {key: value for key, value in self.entries(section).items() if key != name}
        all_ = self._read()
        if section in all_:
            del all_[section]
            self._write({**all_, section: left} if left else all_)

    def make_folder(self, folder: Path, mode: int) -> None:
        """Make a folder with those above it, and note the ones that were missing.

        Raises:
            MemorydError: it cannot be made.
        """
        missing = [str(place) for place in (folder, *folder.parents) if not place.exists()]
        if not missing:
            return
        noted = self._folders()
        more = [place for place in missing if place not in noted]
        self._write({**self._read(), _FOLDERS: [*noted, *more]})
        try:
            for place in reversed(missing):
                Path(place).mkdir(mode=mode)
        except OSError as error:
            raise MemorydError(f"{folder} cannot be made: {error.strerror}") from error

    def tidy(self) -> None:
        """Remove the folders that were made and are empty, and the note when it says no more."""
        for folder in sorted(self._folders(), key=len, reverse=True):
            try:
                Path(folder).rmdir()
            except OSError:
                continue  # Something else is in it by now, or it is gone.
        found = self._read()
        folders = [folder for folder in self._folders() if Path(folder).is_dir()]
        rest = {key: value for key, value in found.items() if key != _FOLDERS}
        if rest:
            self._write({**rest, _FOLDERS: folders} if folders else rest)
        else:
            self.path.unlink(missing_ok=True)

    def exists(self) -> bool:
        """Tell whether there is a note."""
        return self.path.exists()

    def _folders(self) -> list[str]:
        found = self._read().get(_FOLDERS)
        return [place for place in found if isinstance(place, str)] if found else []

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, value: dict[str, Any]) -> None:
        private_directory(self.path.parent)
        new = self.path.with_name(self.path.name + ".new")
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(value, file)
            new.replace(self.path)
        except OSError as error:
            raise MemorydError(f"{self.path} cannot be written: {error.strerror}") from error
