"""Shell sessions as they are written in documents, run against a real service.

A line ``$ COMMAND`` is run by bash; what follows, until the next one, is what it prints, with
``[exit N]`` at the end when N is not 0. ``…`` stands for anything within a line, and alone on a
line for any number of lines. What stands before the first command is a note.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from support.service import COMMANDS, Service


def _steps(text: str) -> Iterator[tuple[str, list[str]]]:
    for block in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = block.partition("\n")
        yield command, expected.rstrip().splitlines()


def _pattern(expected: list[str]) -> str:
    return "".join(
        r"(?:.*\n)*?" if line == "…" else r"[^\n]*".join(map(re.escape, line.split("…"))) + r"\n"
        for line in expected
    )


def follow(service: Service, text: str, place: Path) -> None:
    """Run each command in the directory ``place`` and compare what it prints."""
    environment = {**service.environment, "PATH": f"{COMMANDS}:{service.environment['PATH']}"}
    steps = list(_steps(text))
    assert steps, "no command found"
    for command, expected in steps:
        done = subprocess.run(
            ["bash", "-c", command],
            env=environment,
            cwd=place,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        shown = [*done.stdout.rstrip().splitlines()]
        shown += [f"[exit {done.returncode}]"] if done.returncode else []
        found = re.fullmatch(_pattern(expected), "".join(f"{line}\n" for line in shown))
        assert found, "\n".join([f"$ {command}", *shown, "--- expected:", *expected])
