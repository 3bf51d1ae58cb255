"""What the value of an assignment says about itself: random, a placeholder, a reference, a word."""

from __future__ import annotations

import re

MARK = "[REDACTED:"

_LONG = 100  # beyond, four equal letters in a row are chance
_SHORTEST = 12
_VARIETY = 6
_LONG_ENOUGH = 18
_LETTERS_ONLY = 16
_SOME_DIGITS = 3
_LONG_CHUNK = 24
# Characters per piece of one class, at most: random base 62 has 1.8, hexadecimal 2.1, base 32 3.3,
# words 4 and more.
_PER_PIECE = 3.6
_PER_PIECE_FEW_DIGITS = 2.8
_PER_PIECE_LETTERS = 2.2
_PER_PIECE_JOINED = 2.4

_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_CHUNK = re.compile(r"[A-Za-z0-9]{10,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
# Only a name makes a secret of these: looks_random is asked after one.
_DIGEST = re.compile(r"(?:[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-fA-F]{64})\Z")
_REFERENCE = re.compile(
    r"""\$|<|\{\{|\{[A-Za-z_]|%[({A-Z]|[#@]\{|&[a-z_]+\Z|!(?:ENV|GetAtt|Join|Ref|Sub|env_var|reference|secret|vault)\b|(?:process|import\.meta|os)[.\[]"""
    r"""|(?:self|this|config|cfg|settings|env|secrets|vars|var|ctx|req|request|args|opts|options"""
    r"""|data|local|params|inputs|steps|github|user|props|state|event|body)\."""
)
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[]")
_MEMBER = re.compile(r"[A-Za-z_][A-Za-z_]*(?:\.[A-Za-z_][A-Za-z_]*)+\Z")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_FILLER = re.compile(r"(.)\1*(?:[-_. ]?\1)*\Z")
# A value made of these words alone is documentation: it opens nothing, and without it the
# sentence around it loses its sense.
_EXAMPLES = """access account admin an and any api app aws bar base basic bearer bool boolean bot
    change changeme client code config credential credentials current database db default demo dev
    disabled dummy empty enabled env example fake false field file foo for from github goes google
    here hidden hash id in input insert integer invalid is it key keys like local login master
    me missing mock more my name new nil no none not null number of old on openai optional
    or pass passwd password passwords path placeholder plain private prod production pwd real
    redacted replace replaceme required root sample secret secrets service session set some
    something str string strong super supersecret test testing text that the this to todo token
    tokens true type undefined unknown unset user username valid value var variable webhook with
    word wrong xxx yes you your yours"""
_EXAMPLE_WORDS = frozenset(_EXAMPLES.split())


def is_placeholder(value: str) -> bool:
    """Say whether ``value`` stands for a secret rather than being one.

    ``xxxx``, ``****``, ``changeme``, ``your-api-key``, ``<token>``, ``${VAR}``,
    ``os.environ["X"]``, ``get_token()``, ``settings.key``, ``[REDACTED:…]``.
    """
    bare = value.strip("\"'` ")
    if len(bare) <= 1 or MARK in bare or "..." in bare or "…" in bare or "***" in bare:
        return True
    if _REFERENCE.match(bare) or _CALL.match(bare) or _FILLER.match(bare):
        return True
    if (len(bare) < _LONG and "xxxx" in bare.lower()) or "${" in bare or "{{" in bare:
        return True
    words = _WORDS.findall(bare)
    numbers = [word for word in words if word.isdigit()]
    # "password123" is somebody's password; "key1" and "your-key" are nobody's.
    return (
        len(words) > len(numbers)
        and sum(map(len, numbers)) <= 1
        and all(word.lower() in _EXAMPLE_WORDS for word in words if not word.isdigit())
    )


def looks_random(value: str) -> bool:
    """Say whether ``value`` is a string that nobody would write by hand.

    Random letters and digits change their class (capital, small, digit) every second character;
    words, paths, versions and identifiers do so far less often.
    """
    if len(value) < _SHORTEST or len(set(value)) < _VARIETY or is_placeholder(value):
        return False
    if _UUID.match(value) or _DIGEST.match(value):
        return True
    if any(map(_mixed, _CHUNK.findall(value))):
        return True
    pieces = _PIECE.findall(value)
    size = sum(map(len, pieces))
    return (
        size >= _LONG_ENOUGH
        and size < _PER_PIECE_JOINED * len(pieces)
        and any(piece.isdigit() for piece in pieces)
        and any(piece.isupper() for piece in pieces)
        and any(piece.islower() for piece in pieces)
    )


def _mixed(chunk: str) -> bool:
    pieces = _PIECE.findall(chunk)
    digits = sum(map(len, filter(str.isdigit, pieces)))
    if digits == len(chunk):
        return False
    average = len(chunk) / len(pieces)
    if digits:
        sure = digits >= _SOME_DIGITS or len(chunk) >= _LONG_CHUNK
        return average < (_PER_PIECE if sure else _PER_PIECE_FEW_DIGITS)
    return len(chunk) >= _LETTERS_ONLY and average < _PER_PIECE_LETTERS


def is_mixed(value: str) -> bool:
    """Say whether ``value`` has letters and, beside them, digits or signs that join no words."""
    letters = any(map(str.isalpha, value))
    return letters and any(not (c.isalpha() or c in "_-./: ,") for c in value)


def is_code(value: str) -> bool:
    """Say whether ``value`` reads like an expression, a path or a dotted name."""
    if _MEMBER.match(value) or _CALL.match(value):
        return True
    if value.startswith(("http://", "https://", "file:")):
        return True
    parts = [part for part in value.split("/") if part.strip(".~")]
    return "/" in value and 2 * sum(map(_is_word, parts)) > len(parts)


def _is_word(part: str) -> bool:
    pieces = _PIECE.findall(part)
    return sum(map(len, pieces)) >= 3 * len(pieces)
