"""The command ``memoryd``: start, stop, restart, status, reload."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from memoryd import __version__
from memoryd.cli import status as statuses
from memoryd.cli.main import FAILED, INTERRUPTED, NOT_RUNNING
from memoryd.cli.output import print_error
from memoryd.cli.shared import HELP, Group, json_option
from memoryd.errors import MemorydError, ServiceNotRunning
from memoryd.paths import Paths


@click.group(cls=Group, context_settings=HELP)
@click.version_option(__version__, prog_name="memoryd")
def memoryd() -> None:
    """Run the service that keeps the memories.

    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 the service does not run.
    """


@memoryd.command()
@click.option("--foreground", is_flag=True, help="Stay; log to standard error.")
def start(*, foreground: bool) -> int:
    """Start the service; returns when it answers.

    Under a service manager (NOTIFY_SOCKET is set) it stays in the foreground.

    Examples:
      memoryd start
      memoryd start --foreground
    """
    if foreground or os.environ.get("NOTIFY_SOCKET"):
        from memoryd.daemon.background import PROGRAM  # noqa: PLC0415 - only what this needs

        Paths.from_environment(os.environ)  # says now what is wrong with them
        os.execv(PROGRAM[0], PROGRAM)  # noqa: S606 - the same process, without the command line
    return _start()


@memoryd.command()
def stop() -> int:
    """Stop the service; returns when it has ended.

    Examples:
      memoryd stop
    """
    from memoryd.daemon import background  # noqa: PLC0415 - only what this command needs

    holder = background.stop(Paths.from_environment(os.environ))
    click.echo("memoryd was not running" if holder is None else f"memoryd stopped{holder}")
    return 0


@memoryd.command()
def restart() -> int:
    """Stop the service if it runs, and start it.

    Examples:
      memoryd restart
    """
    from memoryd.daemon import background  # noqa: PLC0415 - as above

    background.stop(Paths.from_environment(os.environ))
    return _start()


@memoryd.command()
@json_option
def status(*, as_json: bool) -> int:
    """Show what the service does (the same as: memoryctl status).

    Examples:
      memoryd status
    """
    return statuses.status(as_json=as_json)


@memoryd.command(short_help="Let the service read its settings again.")
def reload() -> int:
    """Let the service read its settings again; its log says what came of it.

    Examples:
      memoryd reload
    """
    from memoryd.daemon import background  # noqa: PLC0415 - as above

    holder = background.reload(Paths.from_environment(os.environ))
    click.echo(f"memoryd reads its settings again{holder}")
    return 0


def _start() -> int:
    from memoryd.daemon import background  # noqa: PLC0415 - as above

    paths = Paths.from_environment(os.environ)
    running, now = background.start(background.PROGRAM, paths, os.environ)
    click.echo(f"{running}" if now else f"already running: {running}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        code = memoryd.main(
            None if argv is None else list(argv), prog_name="memoryd", standalone_mode=False
        )
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    except ServiceNotRunning as error:
        print_error("memoryd", str(error), error.hint)
        return NOT_RUNNING
    except MemorydError as error:
        print_error("memoryd", str(error), error.hint)
        return FAILED
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main())
