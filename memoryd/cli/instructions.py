"""``memoryctl context`` and ``trust``. They read files only: no service is needed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, assert_never

import click

from memoryd.cli.output import counted, line, print_json
from memoryd.cli.places import absolute
from memoryd.cli.shared import Command, confirm, json_option, yes_option
from memoryd.cli.tables import print_table
from memoryd.daemon.private import private_directory
from memoryd.errors import MemorydError
from memoryd.instructions.composing import compose
from memoryd.instructions.parts import (
    Cause,
    ImportState,
    Instructions,
    Part,
    Refusal,
    When,
)
from memoryd.instructions.switches import surroundings
from memoryd.instructions.trust import Trusted, read_trusted, root_of, write_trusted
from memoryd.paths import Paths
from memoryd.text import for_terminal

_LINE = 600


@click.command(cls=Command, short_help="Show which instructions load, in which order, and why.")
@click.option(
    "--cwd", "--project", "cwd", metavar="DIR", help="The working directory (default: this one)."
)
@click.option(
    "--file", "files", metavar="F", multiple=True, help="A file in play; may be repeated."
)
@click.option("--text", "as_text", is_flag=True, help="Print the composed text.")
@json_option
def context(cwd: str | None, files: tuple[str, ...], *, as_text: bool, as_json: bool) -> int:
    """Show which instructions (CLAUDE.md, rules, imports) load, in which order, and why.

    Works without the service. A file in play is one that is read, written or edited.

    Examples:
      memoryctl context
      memoryctl context --cwd ~/src/shop --file ~/src/shop/api/orders.py
      memoryctl context --text | head -50
      memoryctl context --json | jq -r '.parts[] | [.tokens, .path] | @tsv'
    """
    if as_text and as_json:
        raise click.UsageError("--text and --json are two different answers")
    directory = _directory(cwd, "'--cwd'")
    paths = Paths.from_environment(os.environ)
    found = compose(
        directory,
        surroundings(os.environ, paths, directory),
        files=[absolute(file) for file in files],
    )
    if as_json:
        print_json(_facts(found))
    elif as_text:
        if found.text:
            print(for_terminal(found.text))
        _complain(found)
    else:
        _show(found)
    return 0


@click.command(cls=Command, short_help="Let a project's instructions name files outside it.")
@click.argument("directory", metavar="[DIR]", required=False)
@click.option("--list", "listing", is_flag=True, help="List the trusted directories.")
@click.option("--revoke", is_flag=True, help="Trust DIR no longer.")
@yes_option
@json_option
def trust(directory: str | None, *, listing: bool, revoke: bool, yes: bool, as_json: bool) -> int:
    """Let the instructions of DIR (default: this directory) name files outside it.

    Imports and symbolic links that leave the git root of DIR are not followed before. Shows what
    would be followed, and asks. Trust only what you would let read your files.

    Examples:
      memoryctl trust ~/src/shop
      memoryctl trust --list
      memoryctl trust ~/src/shop --revoke
    """
    if listing and (directory is not None or revoke):
        raise click.UsageError("--list takes neither DIR nor --revoke")
    paths = Paths.from_environment(os.environ)
    known = read_trusted(paths.trust)
    if listing:
        if as_json:
            print_json([{"path": one.path, "since": one.since} for one in known])
        else:
            rows = [(one.path, one.since) for one in known]
            print_table(("DIRECTORY", "SINCE"), rows, "no directory is trusted")
        return 0
    if revoke:
        return _revoke(paths, known, directory, as_json=as_json)
    return _trust(paths, known, _directory(directory, "DIR"), yes=yes, as_json=as_json)


def _trust(
    paths: Paths, known: tuple[Trusted, ...], directory: str, *, yes: bool, as_json: bool
) -> int:
    root = root_of(os.path.realpath(directory), os.path.realpath(paths.home)).path
    follows = _followed(paths, directory, root)
    changed = all(one.path != root for one in known)
    if changed:
        if not as_json:
            _preview(root, follows)
        confirm(f"Trust {line(root, _LINE)}?", yes=yes)
        since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        _write(paths, (*known, Trusted(root, since)))
    if as_json:
        print_json({"root": root, "changed": changed, "follows": list(map(_refusal, follows))})
    else:
        print(f"{line(root, _LINE)} is trusted{'' if changed else ' already'}")
    return 0


def _revoke(
    paths: Paths, known: tuple[Trusted, ...], directory: str | None, *, as_json: bool
) -> int:
    # A directory that is gone can be taken off the list too.
    path = os.path.realpath(absolute(directory or "."))
    listed = {one.path for one in known}
    root = path if path in listed else root_of(path, os.path.realpath(paths.home)).path
    changed = root in listed
    if changed:
        _write(paths, tuple(one for one in known if one.path != root))
    if as_json:
        print_json({"root": root, "changed": changed, "follows": []})
    else:
        print(f"{line(root, _LINE)} is trusted no longer" if changed else _untrusted(root))
    return 0


def _untrusted(root: str) -> str:
    return f"{line(root, _LINE)} was not trusted; memoryctl trust --list shows what is"


def _followed(paths: Paths, directory: str, root: str) -> list[Refusal]:
    """Return everything that trust in ``root`` adds to what loads in ``directory``."""
    given = surroundings(os.environ, paths, directory)
    without = replace(given, trusted=given.trusted - {root})
    before = compose(directory, without, every_rule=True)
    after = compose(directory, replace(given, trusted=given.trusted | {root}), every_rule=True)
    follows = {one.path: one for one in before.refused if one.root == root}
    known = {part.path for part in before.parts}
    for part in after.parts:
        if part.path not in known and part.path not in follows:
            target = os.path.realpath(part.path)
            follows[part.path] = Refusal(part.path, target, part.reason.chain, root)
    return list(follows.values())


def _write(paths: Paths, trusted: Iterable[Trusted]) -> None:
    try:
        private_directory(paths.state)
        write_trusted(paths.trust, trusted)
    except OSError as error:
        raise MemorydError(f"{paths.trust} cannot be written: {error.strerror}") from error


def _preview(root: str, follows: list[Refusal]) -> None:
    if not follows:
        print(f"nothing that loads in {line(root, _LINE)} leaves it now")
        return
    print("would be followed:")
    for one in follows:
        print(f"  {line(_led(one), _LINE)}")


def _led(one: Refusal) -> str:
    way = f" (a link to {one.target})" if one.target != one.path else ""
    by = f", imported by {one.chain[-1]}" if one.chain else ""
    return f"{one.path}{way}{by}"


def _show(found: Instructions) -> None:
    rows = [
        (str(number), part.kind.value, f"{part.tokens:,}", part.path, _why(part))
        for number, part in enumerate(found.parts, start=1)
    ]
    print_table(("", "KIND", "TOKENS", "PATH", "WHY"), rows, "no instructions load here")
    if rows:
        print(f"\n{counted(len(rows), 'part')}, about {found.tokens:,} tokens")
    _complain(found)


def _complain(found: Instructions) -> None:
    """Say on standard error what did not load, and what is odd about what did."""
    for one in found.refused:
        _say(f"not followed: {_led(one)}; to follow it: memoryctl trust {one.root}")
    for notice in found.notices:
        _say(notice)
    for part in found.parts:
        for notice in part.notices:
            _say(f"{part.path} {notice}")
        for one_import in part.imports:
            # A word such as @alice is no path that somebody would miss.
            if one_import.state is ImportState.MISSING and "." in one_import.written.strip("."):
                _say(f"{part.path} names @{one_import.written}, which is not there")


def _say(text: str) -> None:
    click.echo(line(text, _LINE), err=True)


def _why(part: Part) -> str:
    reason = part.reason
    match reason.cause:
        case Cause.FILE:
            why = "by its name"
        case Cause.RULE:
            why = f"rule for {', '.join(reason.patterns)}" if reason.patterns else "rule"
        case Cause.AGENTS:
            why = "no CLAUDE.md here"
        case Cause.IMPORT:
            why = f"imported by {' > '.join(reason.chain)}"
        case _:
            assert_never(reason.cause)
    match reason.when:
        case When.START:
            return why
        case When.IN_PLAY:
            return f"{why}, with {reason.file}"
        case _:
            assert_never(reason.when)


def _facts(found: Instructions) -> dict[str, Any]:
    return {
        "cwd": found.cwd,
        "root": found.root,
        "trusted": found.trusted,
        "tokens": found.tokens,
        "parts": [
            {
                "path": part.path,
                "kind": part.kind.value,
                "cause": part.reason.cause.value,
                "when": part.reason.when.value,
                "patterns": list(part.reason.patterns),
                "file": part.reason.file,
                "chain": list(part.reason.chain),
                "tokens": part.tokens,
                "text": part.text,
                "imports": [
                    {"written": one.written, "path": one.path, "state": one.state.value}
                    for one in part.imports
                ],
                "notices": list(part.notices),
            }
            for part in found.parts
        ],
        "refused": list(map(_refusal, found.refused)),
        "notices": list(found.notices),
    }


def _refusal(one: Refusal) -> dict[str, Any]:
    return {
        "path": one.path,
        "target": one.target,
        "chain": list(one.chain),
        "trust": one.root,
    }


def _directory(given: str | None, hint: str) -> str:
    path = absolute(given or ".")
    if not Path(path).is_dir():
        raise click.BadParameter(f"there is no directory {given!r}", param_hint=hint)
    return path
