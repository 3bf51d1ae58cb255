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
        return {"project": os.path.abspath(os.path.expanduser(project))}  # noqa: PTH100, PTH111 - pathlib costs a cold client 8 ms
    if all_projects:
        return {"all_projects": True}
    if everywhere:
        return {}
    return {"cwd": os.getcwd()}  # noqa: PTH109 - as above
