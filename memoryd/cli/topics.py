"""``memoryctl help``: the documentation that is installed with the program."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from memoryd.errors import NotFound

FOLDER = Path(__file__).resolve().parent.parent / "help"


def topics() -> dict[str, str]:
    """Return the topics with the title of each."""
    return {
        page.stem: page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        for page in sorted(FOLDER.glob("*.md"))
    }


def page(topic: str) -> str:
    """Return the Markdown of a topic.

    Raises:
        NotFound: names the topics there are.
    """
    known = topics()
    if topic not in known:
        raise NotFound(f"no help about {topic!r}", hint=f"topics: {', '.join(known)}")
    return (FOLDER / f"{topic}.md").read_text(encoding="utf-8")


def show(markdown: str) -> None:
    """Print Markdown: laid out on a terminal, as it is elsewhere."""
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        print(markdown.rstrip())
        return
    from rich.console import Console  # noqa: PLC0415 - 40 ms that only terminals pay
    from rich.markdown import Markdown  # noqa: PLC0415 - as above

    Console().print(Markdown(markdown))
