"""Files that installing writes whole, put where they belong and taken away again."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from memoryd.daemon.private import private_directory
from memoryd.errors import MemorydError
from memoryd.install.made import Made
from memoryd.install.step import Step
from memoryd.install.written import Standing, Written, standing

_FILE = 0o644
_DIRECTORY = 0o755
_EDITED = ".edited"


def look(folder: Path, file: Written) -> Standing:
    """Say what stands at the place of a file.

    Raises:
        MemorydError: it cannot be read.
    """
    path = folder / file.name
    try:
        found = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        found = None
    except OSError as error:
        raise MemorydError(f"{path} cannot be read: {error.strerror}") from error
    return standing(file, found)


def put(folder: Path, file: Written, made: Made, hint: str, *, aside: bool = False) -> Step | None:
    """Return the step that writes a file, ``None`` if it is there.

    Args:
        folder: where it belongs.
        file: to be written.
        made: notes the folders.
        hint: what to do where another's file is in the way.
        aside: an edited file is kept with the backups, as its folder is read whole.

    Raises:
        MemorydError: a file of that name was made by somebody else.
    """
    path = folder / file.name
    state = look(folder, file)
    match state:
        case Standing.SAME:
            return None
        case Standing.FOREIGN:
            raise MemorydError(f"{path} was not written by memoryctl install", hint=hint)
        case Standing.EDITED:
            said = f"write {path}; yours, which was edited, is kept as {_kept(path, made, aside)}"
        case Standing.OLDER:
            said = f"write {path} anew"
        case Standing.ABSENT:
            said = f"write {path}"
        case _:
            assert_never(state)

    def do() -> None:
        edited = look(folder, file) is Standing.EDITED
        made.make_folder(folder, _DIRECTORY)
        try:
            if edited:
                _move(path, made, aside)
            temporary = path.with_name(f".{path.name}.new")
            temporary.write_text(file.text, encoding="utf-8")
            temporary.chmod(_FILE)
            temporary.replace(path)
        except OSError as error:
            raise MemorydError(f"{path} cannot be written: {error.strerror}") from error

    return Step(said, do)


def take_away(folder: Path, file: Written, made: Made, *, aside: bool = False) -> Step:
    """Return the step that removes a file; an edited one is moved instead."""
    path = folder / file.name
    if look(folder, file) is Standing.EDITED:
        text = f"move {path}, which was edited, to {_kept(path, made, aside)}"
        return Step(text, lambda: _move(path, made, aside))
    return Step(f"remove {path}", lambda: path.unlink(missing_ok=True))


def _kept(path: Path, made: Made, aside: bool) -> str:
    name = path.name + _EDITED
    return str(made.backups / name) if aside else name


def _move(path: Path, made: Made, aside: bool) -> None:
    if not aside:
        path.replace(path.with_name(path.name + _EDITED))
        return
    private_directory(made.backups.parent)
    kept = private_directory(made.backups) / (path.name + _EDITED)
    kept.write_bytes(path.read_bytes())
    path.unlink()
