"""Secrets known by the name they are given: ``PASSWORD=…``, ``"api_key": "…"``, ``--token …``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from memoryd.redaction.context import Span
from memoryd.redaction.values import is_code, is_mixed, is_placeholder, looks_random


class _Strength(Enum):
    PASSWORD = 1  # people choose them: any word will do
    SECRET = 2  # often chosen, often generated
    KEY = 3  # always generated


_KEYWORDS: tuple[tuple[bytes, _Strength], ...] = (
    (b"pass", _Strength.PASSWORD),
    (b"pwd", _Strength.PASSWORD),
    (b"secret", _Strength.SECRET),
    (b"credential", _Strength.SECRET),
    (b"token", _Strength.KEY),
    (b"key", _Strength.KEY),
    (b"auth", _Strength.KEY),
)
# A key is a secret only as one of these; the key of a cache, a table or a keyboard is not.
_KEY_OF = (
    b"api", b"access", b"account", b"admin", b"app", b"auth", b"client", b"consumer", b"deploy",
    b"encryption", b"license", b"master", b"private", b"root", b"secret", b"service",
    b"shared", b"signing", b"storage", b"subscription", b"webhook", b"write",
)  # fmt: skip
_AFTER_PASS = re.compile(r"(?i:(?:w(?:or)?d|phrase|code)?s?)(?![a-z])")
_CHINESE = (
    ("密码", _Strength.PASSWORD),
    ("口令", _Strength.PASSWORD),
    ("密钥", _Strength.KEY),
    ("令牌", _Strength.KEY),
)
# ``token_count``, ``SECRET_NAME``, ``key_file`` speak about a secret.
_ABOUT_NAMES = """
    algorithm arn attempts budget class count counts created date dir duration endpoint error
    exp expires expiry field file format generator header hint id ids index input invalid issuer
    length lifetime limit limits list manager max min name names number path policy prefix provider
    ref regex reset rotation rule rules schema scope size sid status store strength timeout ttl
    type types uri url usage validator version"""
_ABOUT = frozenset(_ABOUT_NAMES.split())
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")

_HEAD = re.compile(
    r"""(?P<suffix>[A-Za-z0-9_-]{0,40})\\{0,3}["'`\]]{0,2}"""
    r"""(?P<separator>\s{0,8}(?::=|={1,3}>?|:(?!:)|\uff1a)[ \t]{0,8}"""
    r"""(?:[A-Za-z][\w.\[\]|]{0,30}\s{0,4}=(?!=)\s{0,4})?"""
    r"""|\s{1,3}(?:is|was|to|as|are)\s{1,3}:?\s{0,2}"""
    r"""|\s{0,2}[是为]\s{0,2}[:\uff1a]?\s{0,2}|[ ]{1,2}|>)"""
    r"""(?:[bfru]{0,2}(?P<quote>\\{0,3}["'`]))?""",
    re.ASCII,
)
_BARE = re.compile(r"""(?:[^\s"'`<>\\&,;|(){}\[\]]|[&,;](?=[^\s"'\\])(?![\w.\[\] -]{1,40}=))+""")
_AWS_SECRET = re.compile(r"[A-Za-z0-9/+]{40}\Z")
_JUDGED = 160  # characters of a value that decide about it
# The shortest value: of a password that stands in quotes or in a shell assignment, of one in the
# open, of another secret that somebody chose, of one after a name and a blank.
_PLAIN = 4
_BARE_LENGTH = 6
_CHOSEN = 8
_IN_PROSE = 16
_SHELL = re.compile(r"""[^\s"'`\\]+""")
_QUOTED = {quote: re.compile(rf"(?:[^{quote}\\\r\n]|\\[^\r\n])+") for quote in ('"', "'", "`")}
_QUOTED_ESCAPED = re.compile(r"""[^"'`\\\r\n]+""")

_VENDOR_NAMES = """
    adafruit airtable algolia alibaba anthropic asana atlassian auth0 azure
    bitbucket bittrex clickhouse clerk cloudflare cloudinary codecov coinbase confluent contentful
    datadog deepseek digitalocean discord docker dropbox droneci elastic etsy fastly figma
    finicity firebase flickr freshbooks gemini gitea github gitlab gitter google heroku hubspot
    intercom jenkins jira jfrog kraken kucoin linkedin looker lob mailchimp mailgun mapbox
    mattermost messagebird mistral mongodb netlify ngrok npm nytimes okta openai opsgenie
    pagerduty paypal plaid postmark pusher rapidapi sendbird sentry shopify slack snowflake
    snyk sonar spotify square squarespace stripe supabase telegram terraform travis trello twilio
    twitch twitter vault vercel yandex zendesk"""
_VENDORS = tuple((word, f"{word}-api-key") for word in _VENDOR_NAMES.split())


def assignment_spans(text: str, lowered: bytes) -> Iterator[Span]:
    """Yield the secrets that are assigned to a telling name.

    Args:
        text: the text itself.
        lowered: ``text`` as one lower-case byte a character.
    """
    for keyword, strength in _KEYWORDS:
        hit = lowered.find(keyword)
        while hit >= 0:
            after = hit + len(keyword)
            head = _HEAD.match(text, after)
            if head is not None and _names_a_secret(lowered, keyword, hit, head["suffix"]):
                span = _assigned(text, lowered, hit, head, strength)
                if span is not None:
                    yield span
                    after = span[1]
            hit = lowered.find(keyword, after)
    if not text.isascii():
        for word, strength in _CHINESE:
            hit = text.find(word)
            while hit >= 0:
                head = _HEAD.match(text, hit + len(word))
                span = _assigned(text, lowered, hit, head, strength) if head else None
                if span is not None:
                    yield span
                hit = text.find(word, hit + len(word))


def _assigned(
    text: str, lowered: bytes, hit: int, head: re.Match[str], strength: _Strength
) -> Span | None:
    separator, quote, start = head["separator"], head["quote"], head.end()
    shell = separator == "=" and text[hit : head.start()].isupper()
    pattern = _value_pattern(quote, shell=shell)
    match = pattern.match(text, start, start + _JUDGED)
    if match is None:
        return None
    value = match[0] if shell or quote else match[0].rstrip(".,;:")
    end = start + len(value)
    if is_placeholder(value):
        return None
    if separator == ">" and not text.startswith("</", end):
        return None
    if not quote and not shell and text[end : end + 1] in {"(", "["}:
        return None
    plain = shell or bool(quote) or text[end : end + 1] == "&" or separator == ">"
    if separator.isspace() and not _is_option(lowered, hit):
        # "token 9a8b…": only what is beyond doubt.
        secret = len(value) >= _IN_PROSE and looks_random(value) and not is_code(value)
    else:
        secret = _is_secret(value, strength, plain=plain, spaces=shell) or (
            # The pair of a cloud's access key is long and may still look like words and paths.
            "access" in head["suffix"].lower() and _AWS_SECRET.match(value) is not None
        )
    if not secret:
        return None
    if len(value) == _JUDGED and (whole := pattern.match(text, start)):
        end = whole.end()
    return start, end, _rule(lowered, hit, head.end("suffix"), strength)


def _names_a_secret(lowered: bytes, keyword: bytes, hit: int, suffix: str) -> bool:
    if keyword == b"key":
        # Not of a cache, a table or a keyboard.
        before = lowered[max(0, hit - 14) : hit].rstrip(b"_- .")
        if not before.endswith(_KEY_OF):
            return False
    if keyword == b"auth":
        return not suffix and not lowered[hit - 1 : hit].isalnum()
    if keyword == b"pass":
        kind = _AFTER_PASS.match(suffix)
        if kind is None or (not kind[0] and lowered[max(0, hit - 2) : hit] in {b"om", b"by"}):
            return False
        suffix = suffix[kind.end() :]
    parts = _NAME_PART.findall(suffix)
    return not parts or parts[-1].lower() not in _ABOUT


def _is_option(lowered: bytes, hit: int) -> bool:
    name = lowered[max(0, hit - 40) : hit].replace(b"\n", b" ").rpartition(b" ")[2]
    return name.startswith(b"--")


def _value_pattern(quote: str | None, *, shell: bool) -> re.Pattern[str]:
    if quote is None:
        return _SHELL if shell else _BARE
    return _QUOTED_ESCAPED if "\\" in quote else _QUOTED[quote]


def _is_secret(value: str, strength: _Strength, *, plain: bool, spaces: bool) -> bool:
    if not spaces and any(map(str.isspace, value)):
        return False  # a sentence about the secret, or the label of a field
    if looks_random(value):
        return not is_code(value)
    if is_code(value):
        return False
    match strength:
        case _Strength.PASSWORD:
            return len(value) >= (_PLAIN if plain else _BARE_LENGTH) and (plain or is_mixed(value))
        case _Strength.SECRET:
            return plain and len(value) >= _CHOSEN and is_mixed(value)
        case _Strength.KEY:
            return False


def _rule(lowered: bytes, hit: int, end: int, strength: _Strength) -> str:
    name = lowered[max(0, hit - 40) : end]
    name = name[max(map(name.rfind, (b" ", b"\n", b'"', b"'", b"$"))) + 1 :]
    if b"aws" in name and b"secret" in name:
        return "aws-secret-access-key"
    label = name.decode("ascii", "replace")
    for word, rule in _VENDORS:
        if word in label:
            return rule
    return "generic-password" if strength is _Strength.PASSWORD else "generic-api-key"
