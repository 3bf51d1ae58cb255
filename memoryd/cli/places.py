"""Which project a command means."""

from __future__ import annotations

import os

from memoryd.errors import MemorydError

# What only annotations need is not imported: ``typing`` alone would cost a cold client 4 ms.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

IGNORED = "this session was told to ignore memory"
"""What a model reads instead of an answer."""


def project_params(
    project: str | None, *, all_projects: bool = False, everywhere: bool = False
) -> dict[str, Any]:
    """Return the parameters that name the project.

    Args:
        project: as given with ``--project``.
        all_projects: as given with ``--all-projects``; the narrower ``--project`` wins.
        everywhere: what no ``--project`` means: all projects instead of the one of the working
            directory.
    """
    if project is not None:
        return {"project": absolute(project)}
    if all_projects:
        return {"all_projects": True}
    if everywhere:
        return {}
    return {"cwd": here()}


def absolute(path: str) -> str:
    """Return what a path on the command line means.

    Raises:
        MemorydError: it is relative to a working directory that was deleted.
    """
    path = os.path.expanduser(path)  # noqa: PTH111 - pathlib costs a cold client 8 ms
    if not os.path.isabs(path):  # noqa: PTH117 - as above
        path = os.path.join(here(), path)  # noqa: PTH118 - as above
    return os.path.normpath(path)


def asking() -> str | None:
    """Return the session whose model asks: the client runs this command; else ``None``.

    What that session was told about memory holds for what its model asks through a shell, too.
    """
    if not os.environ.get("CLAUDECODE"):
        return None
    from memoryd.surroundings import Surroundings  # noqa: PLC0415 - a person's commands need it not

    return Surroundings("", os.environ).session()


def is_directory(project: str) -> bool:
    """Tell whether ``--project`` names a directory that is there."""
    return os.path.isdir(os.path.expanduser(project).encode("utf-8", "surrogateescape"))  # noqa: PTH111, PTH112 - as above


def utf8(argument: str) -> str:
    """Return an argument with its bytes read as UTF-8 where the locale could not read them."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def here() -> str:
    """Return the working directory as the service names it, whatever the locale of this process.

    Raises:
        MemorydError: it was deleted.
    """
    try:
        return os.getcwdb().decode("utf-8", "surrogateescape")  # noqa: PTH109 - as above
    except FileNotFoundError:
        raise MemorydError(
            "the working directory does not exist any more", hint="cd to another one"
        ) from None
