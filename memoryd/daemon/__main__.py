"""The service's process: ``python -P -m memoryd.daemon``.

A program apart from the command line, so that the service holds nothing of that.
"""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130


def main() -> int:
    """Run the service until it is asked to stop; return the exit code.

    ``--ready-fd N`` says where to tell that it is ready, when it was started into the background.
    """
    match sys.argv[1:]:
        case []:
            ready_fd = None
        case ["--ready-fd", number] if number.isdecimal():
            ready_fd = int(number)
        case _:
            sys.exit("memoryd: start it with: memoryd start")
    try:
        from memoryd.daemon.lean import lean_imports  # noqa: PLC0415 - an interruption counts

        try:
            with lean_imports():
                from memoryd.daemon.run import run  # noqa: PLC0415 - everything
        except ImportError:  # a library of another version: then as they are
            from memoryd.daemon.run import run  # noqa: PLC0415 - as above
    except KeyboardInterrupt:
        return INTERRUPTED
    return run(os.environ, ready_fd=ready_fd)


if __name__ == "__main__":
    sys.exit(main())
