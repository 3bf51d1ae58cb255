"""Completion scripts for bash, zsh and fish that know all words and start nothing. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memoryd.install.written import Written, marked


class Shell(StrEnum):
    """A shell that is served."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


class Value(StrEnum):
    """What an option takes, where it is no choice of words."""

    NONE = "none"
    """Nothing: it is a flag."""
    DIRECTORY = "directory"
    """The path of a directory."""
    ANY = "any"
    """Something that cannot be completed."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command.

    Attributes:
        names: with their dashes.
        help: one line.
        takes: what follows it; words are a choice.
    """

    names: tuple[str, ...]
    help: str
    takes: Value | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """A command with all that may follow it.

    Attributes:
        name: of the command.
        help: one line.
        options: that it has.
        commands: below it.
        arguments: words that may follow, if they are known.
    """

    name: str
    help: str
    options: tuple[Option, ...]
    commands: tuple[Words, ...] = ()
    arguments: tuple[str, ...] = ()


def scripts(top: Words, version: str) -> dict[Shell, Written]:
    """Return the script of each shell.

    Args:
        top: the program.
        version: of the program, noted in the script.
    """
    made = {Shell.BASH: _bash, Shell.ZSH: _zsh, Shell.FISH: _fish}
    return {
        shell: marked(
            file_name(shell, top.name), make(top, f"# {top.name} {version}: all words are in here.")
        )
        for shell, make in made.items()
    }


def file_name(shell: Shell, program: str) -> str:
    """Return what the shell calls the script of a program."""
    return {Shell.BASH: program, Shell.ZSH: f"_{program}", Shell.FISH: f"{program}.fish"}[shell]


def _walk(words: Words, path: str = "") -> Iterator[tuple[str, Words]]:
    path = f"{path} {words.name}".strip()
    yield path, words
    for command in words.commands:
        yield from _walk(command, path)


def _cases(paths: Sequence[str]) -> str:
    return " | ".join(shlex.quote(path) for path in paths)


def _following(top: Words) -> Iterator[tuple[str, Option]]:
    """Return every ``<path> <option>`` that something follows."""
    for path, words in _walk(top):
        for option in words.options:
            if option.takes is not Value.NONE:
                for name in option.names:
                    yield f"{path} {name}", option


def _plain(top: Words, *, directory: str, words: str, tail: str) -> list[str]:
    """Return the branches of ``case "$at $before"`` that bash and zsh share."""
    directories = [key for key, option in _following(top) if option.takes is Value.DIRECTORY]
    free = [key for key, option in _following(top) if option.takes is Value.ANY]
    lines = []
    if directories:
        lines.append(f"        {_cases(directories)}) {directory}; return ;;")
    if free:
        lines.append(f"        {_cases(free)}) return ;;")
    for key, option in _following(top):
        if isinstance(option.takes, tuple):
            choice = words.replace("WORDS", " ".join(map(shlex.quote, option.takes)))
            lines.append(f"        {shlex.quote(key)}) {choice}; {tail} ;;")
    return lines


def _deeper(top: Words) -> str:
    return _cases([path for path, _ in _walk(top)][1:])


def _bash(top: Words, note: str) -> str:
    lines = [
        note,
        f"_{top.name}() {{",
        "    local IFS=$'\\n' at=" + top.name + " before=${COMP_WORDS[COMP_CWORD-1]} i words=",
        "    local now=${COMP_WORDS[COMP_CWORD]}",
        "    for ((i = 1; i < COMP_CWORD; i++)); do",
        '        case "$at ${COMP_WORDS[i]}" in',
        f'            {_deeper(top)}) at="$at ${{COMP_WORDS[i]}}" ;;',
        "        esac",
        "    done",
        "    COMPREPLY=()",
        '    case "$at $before" in',
        *_plain(
            top,
            directory='compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -d -- "$now"))',
            words="words='WORDS'",
            tail="",
        ),
        "        *)",
        '            case "$at" in',
    ]
    for path, words in _walk(top):
        names = [command.name for command in words.commands] + list(words.arguments)
        names += [name for option in words.options for name in option.names]
        lines.append(f"                {shlex.quote(path)}) words='{' '.join(names)}' ;;")
    lines += [
        "            esac ;;",
        "    esac",
        '    COMPREPLY=($(compgen -W "${words// /$\'\\n\'}" -- "$now"))',
        "}",
        f"complete -F _{top.name} {top.name}",
        "",
    ]
    return "\n".join(lines).replace(";  ;;", " ;;")


def _zsh(top: Words, note: str) -> str:
    lines = [
        f"#compdef {top.name}",
        note,
        f"local at={top.name} before=${{words[CURRENT-1]}} word",
        "local -a found",
        "for word in ${words[2,CURRENT-1]}; do",
        '    case "$at $word" in',
        f'        {_deeper(top)}) at="$at $word" ;;',
        "    esac",
        "done",
        'case "$at $before" in',
        *_plain(top, directory="_files -/", words="compadd -- WORDS", tail="return"),
        "esac",
        'case "$at" in',
    ]
    for path, words in _walk(top):
        below = [_described(command.name, command.help) for command in words.commands]
        below += [shlex.quote(argument) for argument in words.arguments]
        options = [
            _described(name, option.help) for option in words.options for name in option.names
        ]
        lines.append(f"    {shlex.quote(path)})")
        if below:
            lines += [f"        found=({' '.join(below)})", "        _describe command found"]
        lines += [f"        found=({' '.join(options)})", "        _describe -o option found ;;"]
    return "\n".join([*lines, "esac", ""])


def _described(name: str, help_: str) -> str:
    return shlex.quote(f"{name}:{help_}".replace("\\", ""))


def _fish(top: Words, note: str) -> str:
    at = f"__{top.name}_at"
    lines = [
        note,
        f"function {at}",
        f"    set -l at {top.name}",
        "    set -l words (commandline -opc)",
        "    for word in $words[2..-1]",
        '        switch "$at $word"',
        f"            case {' '.join(shlex.quote(path) for path, _ in list(_walk(top))[1:])}",
        '                set at "$at $word"',
        "        end",
        "    end",
        '    test "$at" = "$argv"',
        "end",
        f"complete -c {top.name} -f",
    ]
    for path, words in _walk(top):
        when = f"complete -c {top.name} -n '{at} {path}'"
        lines += [
            f"{when} -a {_fished(command.name)} -d {_fished(command.help)}"
            for command in words.commands
        ]
        if words.arguments:
            lines.append(f"{when} -a {_fished(' '.join(words.arguments))}")
        for option in words.options:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in option.names
            )
            lines.append(f"{when} {names}{_taken(option.takes)} -d {_fished(option.help)}")
    return "\n".join([*lines, ""])


def _taken(takes: Value | tuple[str, ...]) -> str:
    if isinstance(takes, tuple):
        return f" -x -a {_fished(' '.join(takes))}"
    return {
        Value.NONE: "",
        Value.DIRECTORY: " -x -a '(__fish_complete_directories)'",
        Value.ANY: " -x",
    }[takes]


def _fished(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
