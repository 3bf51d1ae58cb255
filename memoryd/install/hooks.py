"""memoryd's hooks in the client's settings: what they run, put in and taken out as steps."""

from __future__ import annotations

import difflib
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import memoryd
from memoryd.errors import MemorydError
from memoryd.install import hooktext, settingsfile
from memoryd.install.hooktext import Marks
from memoryd.install.jsontext import JsonTextError
from memoryd.install.made import Made
from memoryd.install.settingsfile import SettingsFile
from memoryd.install.step import Step, Steps
from memoryd.redaction import redact

SECTION = "settings"
CARRIED = ("MEMORYD_STATE_DIR", "MEMORYD_RUNTIME_DIR")
"""Variables without which a program would look for another instance's socket."""

_USER = "settings.json"
_OWN = 0o700
_SHARED = 0o755


def hook_file() -> Path:
    """Return the program that the client starts."""
    return Path(memoryd.__file__).absolute().parent / "hook.py"


def hook_command(environ: Mapping[str, str]) -> str:
    """Return what the client's shell runs, for the instance of this environment.

    The shell form, since clients that do not know ``args`` would start a bare Python that reads
    the event as its program. Python exits with 2 where it cannot read a program, as while a package
    is upgraded or after it was removed, and to the client 2 means to refuse the prompt: hence
    the question before.
    """
    python = os.path.abspath(sys.executable)  # noqa: PTH100 - a link into an environment must stay one
    carried = [
        f"{name}={os.path.abspath(environ[name])}"  # noqa: PTH100 - as above
        for name in CARRIED
        if environ.get(name)
    ]
    prefix = ["env", *carried] if carried else []
    hook = shlex.quote(str(hook_file()))
    return f"[ ! -r {hook} ] || exec {shlex.join([*prefix, python])} -I -S {hook}"


def user_settings(config: Path) -> Path:
    """Return the settings for all projects.

    Args:
        config: the client's directory.
    """
    return config / _USER


def project_settings(root: str) -> Path:
    """Return the settings of one project that are the person's own.

    The command names a Python of this machine, so that it is not for the file a team shares.
    """
    return Path(root) / ".claude" / "settings.local.json"


@dataclass(frozen=True, slots=True)
class _Note:
    """What is noted of a settings file.

    Attributes:
        marks: for taking out.
        before: digest of the file before, ``None`` if there was none.
        backups: names of the copies.
    """

    marks: Marks
    before: str | None
    backups: tuple[str, ...]


class Hooks:
    """Plans edits of settings files.

    Args:
        made: the note of what was made.
        command: that the hooks run.
    """

    def __init__(self, made: Made, command: str) -> None:
        self._made = made
        self._command = command

    def noted(self) -> list[Path]:
        """Return the settings files that were edited."""
        return [Path(name) for name in self._made.entries(SECTION)]

    def install(self, path: Path) -> Steps:
        """Return the step that puts the hooks in.

        Raises:
            MemorydError: the file cannot be edited.
        """
        file = settingsfile.read(path)
        note = self._note_of(path)
        try:
            ours = hooktext.find(file.text)
            text, marks = hooktext.put_in(file.text, self._command, note.marks if note else None)
        except JsonTextError as error:
            raise _refused(path, error) from error
        if text == file.text:
            return Steps()
        file.check_writable()
        if not ours or note is None:
            note = _Note(marks, file.digest, note.backups if note else ())

        def do() -> None:
            kept = settingsfile.back_up(file, self._made.backups)
            backups = {*note.backups, *([kept] if kept else [])}
            value = {"marks": marks.to_json(), "before": note.before, "backups": sorted(backups)}
            self._made.note(SECTION, str(path), value)
            # The client's own folder holds keys; that of a project is one of its folders.
            self._made.make_folder(path.parent, _OWN if path.name == _USER else _SHARED)
            settingsfile.replace(file, text)

        said = f"edit {path}" if file.content is not None else f"write {path}"
        return Steps([Step(f"{said}: hooks for memoryd", do, _diff(file, text))])

    def uninstall(self, path: Path) -> Steps:
        """Return the step that takes the hooks out.

        Raises:
            MemorydError: as for ``install``.
        """
        file = settingsfile.read(path)
        note = self._note_of(path)
        try:
            text: str | None = hooktext.take_out(file.text, note.marks if note else None)
            goes = note is not None and note.before is None and hooktext.is_nothing(text or "")
        except JsonTextError as error:
            raise _refused(path, error) from error
        if file.content is None or (text == file.text and not goes):
            return Steps([self._forgotten(path)]) if note else Steps()
        file.check_writable()
        if goes:
            text = None

        def do() -> None:
            kept = settingsfile.back_up(file, self._made.backups)
            settingsfile.replace(file, text)
            self._drop_backups(note, settingsfile.read(path), kept)
            self._made.forget(SECTION, str(path))

        said = f"edit {path}" if text is not None else f"remove {path}"
        return Steps([Step(f"{said}: hooks for memoryd go", do, _diff(file, text))])

    def _forgotten(self, path: Path) -> Step:
        text = f"forget {path}: it has no hooks for memoryd any more"
        return Step(text, lambda: self._made.forget(SECTION, str(path)))

    def _note_of(self, path: Path) -> _Note | None:
        found: Any = self._made.entries(SECTION).get(str(path))
        try:
            return _Note(Marks.from_json(found["marks"]), found["before"], tuple(found["backups"]))
        except (TypeError, ValueError, KeyError):
            return None

    def _drop_backups(self, note: _Note | None, now: SettingsFile, last: str | None) -> None:
        """Copies may hold keys: they go when the file is again what it was before."""
        if note is None or now.digest != note.before:
            return
        for name in {*note.backups, *([last] if last else [])}:
            (self._made.backups / Path(name).name).unlink(missing_ok=True)
        if not any(self._made.backups.iterdir()):
            self._made.backups.rmdir()


def _refused(path: Path, error: JsonTextError) -> MemorydError:
    return MemorydError(
        f"{path} cannot be edited, nothing was changed: {error}",
        hint="mend it and run this again",
    )


def _diff(file: SettingsFile, text: str | None) -> tuple[str, ...]:
    """Return a unified diff; settings may hold keys, which are not shown."""
    old, new = (
        redact(side.removeprefix("\ufeff")).splitlines() for side in (file.text, text or "")
    )
    names = (
        str(file.path) if file.content is not None else os.devnull,
        str(file.path) if text is not None else os.devnull,
    )
    return tuple(difflib.unified_diff(old, new, *names, lineterm="", n=2))
