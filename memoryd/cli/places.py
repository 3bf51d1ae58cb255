"""Which project a command means."""

from __future__ import annotations

import os

# What only annotations need is not imported: ``typing`` alone would cost a cold client 4 ms.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
        return {"project": os.path.normpath(os.path.join(_here(), os.path.expanduser(project)))}  # noqa: PTH111, PTH118 - pathlib costs a cold client 8 ms
    if all_projects:
        return {"all_projects": True}
    if everywhere:
        return {}
    return {"cwd": _here()}


def is_directory(project: str) -> bool:
    """Tell whether ``--project`` names a directory that is there."""
    return os.path.isdir(os.path.expanduser(project).encode("utf-8", "surrogateescape"))  # noqa: PTH111, PTH112 - as above


def utf8(argument: str) -> str:
    """Return an argument with its bytes read as UTF-8 where the locale could not read them."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def _here() -> str:
    # As the service names it, whatever the locale of this process.
    return os.getcwdb().decode("utf-8", "surrogateescape")  # noqa: PTH109 - as above
