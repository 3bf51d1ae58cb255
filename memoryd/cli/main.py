"""The command ``memoryctl``: quick ways first, then click; errors become exit codes here."""

from __future__ import annotations

import os
import sys

from memoryd.cli import quick
from memoryd.cli.output import print_error
from memoryd.cli.places import utf8
from memoryd.errors import MemorydError, ServiceNotRunning

# What only annotations need is not imported: ``typing`` alone would cost a cold client 4 ms.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

DONE = 0
FAILED = 1
USAGE = 2
NOT_RUNNING = 3
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = [utf8(argument) for argument in (sys.argv[1:] if argv is None else argv)]
    _print_anything()
    try:
        parsed = quick.parse(arguments)
        if parsed is not None:
            code = quick.run(*parsed)
        else:
            from memoryd.cli.commands import run  # noqa: PLC0415 - loads click

            code = run(arguments)
        sys.stdout.flush()
    except ServiceNotRunning as error:
        print_error("memoryctl", str(error), error.hint)
        return NOT_RUNNING
    except MemorydError as error:
        print_error("memoryctl", str(error), error.hint)
        return FAILED
    except BrokenPipeError:
        # The reader (``head``) has seen enough. Nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _print_anything() -> None:
    """Let names print that the terminal's encoding, or any, cannot express."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
