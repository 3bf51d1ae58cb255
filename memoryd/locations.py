"""Where state and socket are, from the environment alone; cheap enough for every client."""

from __future__ import annotations

import os.path

# What only annotations need is not imported: ``typing`` alone would cost a cold client 4 ms.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SOCKET_NAME = "memoryd.sock"


def home_directory(environ: Mapping[str, str]) -> str:
    """Return the person's home directory."""
    home = environ.get("HOME")
    if home:
        return home
    import pwd  # noqa: PLC0415 - hardly ever needed

    return pwd.getpwuid(os.getuid()).pw_dir


def state_directory(environ: Mapping[str, str]) -> str:
    """Return ``MEMORYD_STATE_DIR``, else ``memoryd`` in ``$XDG_STATE_HOME``."""
    return environ.get("MEMORYD_STATE_DIR") or os.path.join(  # noqa: PTH118 - pathlib costs clients 8 ms
        environ.get("XDG_STATE_HOME") or os.path.join(home_directory(environ), ".local/state"),  # noqa: PTH118 - as above
        "memoryd",
    )


def runtime_directory(environ: Mapping[str, str]) -> str:
    """Return ``MEMORYD_RUNTIME_DIR``, ``$XDG_RUNTIME_DIR/memoryd`` or ``run`` in the state."""
    if given := environ.get("MEMORYD_RUNTIME_DIR"):
        return given
    if shared := environ.get("XDG_RUNTIME_DIR"):
        return os.path.join(shared, "memoryd")  # noqa: PTH118 - as above
    return os.path.join(state_directory(environ), "run")  # noqa: PTH118 - as above


def socket_path(environ: Mapping[str, str]) -> str:
    """Return the path of the service's socket."""
    return os.path.join(runtime_directory(environ), SOCKET_NAME)  # noqa: PTH118 - as above
