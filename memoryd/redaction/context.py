"""Secrets known by what stands before them: key blocks, URLs, headers, command lines.

Each rule has a literal to look for and a pattern that is matched only where the literal stands, so
that the work is proportional to the text. Every repetition is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memoryd.redaction.values import is_placeholder, looks_random

Span = tuple[int, int, str]
"""Start, end and rule of one secret."""


@dataclass(frozen=True, slots=True)
class ContextRule:
    """One kind of secret with a literal before or in it.

    Attributes:
        id: what the placeholder says.
        literal: lower-case bytes that must be there.
        pattern: its group ``secret`` is what is replaced.
        back: where the pattern starts, in characters before the literal.
        random: the secret must also look random.
    """

    id: str
    literal: bytes
    pattern: re.Pattern[str]
    back: int = 0
    random: bool = False


def _rule(
    name: str, literal: str, pattern: str, back: int = 0, *, random: bool = False
) -> ContextRule:
    compiled = re.compile(pattern, re.ASCII | re.IGNORECASE)
    return ContextRule(name, literal.encode(), compiled, back, random)


# Behind a word of a command line, up to the option that carries the secret; lines may be continued.
_ARGUMENTS = r"(?:[^\r\n]|(?<=\\)\r?\n){0,300}?\s"
_VALUE = r"""\\?["']?(?P<secret>[^\s"'`\\-][^\s"'`\\]{3,128})"""
_USER = r"""\\?["']?[\w.@%+-]{1,64}:(?P<secret>[^\s"'`\\]{3,256})"""
_EDGE = r"""(?=$|[\s"'`,;)\]}<>\\|&])"""
_KEY = r"(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
# What may stand between the lines of a key: newlines, raw or escaped; indentation, quotes, line
# numbers, diff marks, string concatenation.
_GAP = r"""(?:\s|\\{1,2}[nrt]|[0-9]{1,6}[\t:→|]|["'+>|#*,-]){0,40}+"""
_KEY_LINE = r"[A-Za-z0-9+/=]{16,4096}+"

_ANYWHERE = (
    _rule(
        "private-key",
        "-----begin ",
        rf"(?P<secret>-----BEGIN {_KEY}(?=(?:(?!-----)[\s\S]){{0,400}}?[A-Za-z0-9+/]{{16}})"
        rf"(?:(?:(?!-----)[\s\S]){{0,20000}}+-----END {_KEY}"
        # Cut off: headers and lines of the key as far as they go.
        rf"|(?:{_GAP}(?:[A-Za-z-]{{1,20}}: [^\r\n\\]{{0,80}}|{_KEY_LINE})){{1,400}}+))",
    ),
    _rule(
        "url-password", "://", r"""://[^\s/?#@:"'`<>\\]{0,80}:(?P<secret>[^\s/?#"'`<>\\]{1,256})@"""
    ),
    _rule(
        "url-token",
        "://",
        r"://(?P<secret>[A-Za-z0-9_~-]{20,256})(?::(?:x-oauth-basic)?)?@",
        random=True,
    ),
    _rule(
        "slack-webhook-url",
        "://",
        r"://hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/]{30,120})",
    ),
    _rule(
        "discord-webhook-url",
        "://",
        r"://(?:\w{1,10}\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{15,22}/"
        r"(?P<secret>[\w-]{40,100})",
    ),
    _rule(
        "microsoft-teams-webhook",
        "://",
        r"://[\w.-]{1,80}\.webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{60,400})",
    ),
    _rule(
        "zapier-webhook-url",
        "://",
        r"://hooks\.zapier\.com/hooks/catch/(?P<secret>[0-9]{4,12}/[A-Za-z0-9]{5,20})",
    ),
    _rule(
        "bearer-token",
        "bearer",
        r"""bearer\\?["']?[\s:=]{1,4}\\?["']?(?P<secret>[A-Za-z0-9._~+/-]{12,4096}={0,3})""",
        random=True,
    ),
    _rule(
        "authorization-header",
        "authorization",
        r"""authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["'`]?basic\s{1,4}"""
        r"""(?P<secret>[A-Za-z0-9+/]{8,4096}={0,2})""",
    ),
    _rule(
        "authorization-header",
        "authorization",
        r"""authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["'`]?"""
        r"""(?:(?:basic|bearer|digest|token|bot|apikey|key|negotiate|aws)\s{1,4})?"""
        r"""(?P<secret>[A-Za-z0-9._~+/-]{8,4096}={0,3})""",
        random=True,
    ),
    _rule(
        "basic-auth",
        "basic ",
        r"basic\s{1,2}(?P<secret>[A-Za-z0-9+/]{12,1024}={0,2})" + _EDGE,
        random=True,
    ),
    _rule(
        "curl-auth-user",
        "curl",
        rf"curl{_ARGUMENTS}(?:-[a-zA-Z]{{0,6}}u|--user|--proxy-user|-U)(?:\s{{0,2}}|=){_USER}",
    ),
    _rule("httpie-auth-user", "http ", rf"http {_ARGUMENTS}(?:-a|--auth)(?:\s{{1,2}}|=){_USER}"),
    _rule("mysql-password", "mysql", rf"mysql{_ARGUMENTS}-p{_VALUE}"),
    _rule("sshpass-password", "sshpass ", rf"sshpass\s{{1,4}}-p\s{{0,2}}{_VALUE}"),
    _rule("redis-password", "redis-cli", rf"redis-cli{_ARGUMENTS}-a\s{{1,2}}{_VALUE}"),
    _rule("docker-password", "login ", rf"(?<=docker )login{_ARGUMENTS}-p\s{{1,2}}{_VALUE}"),
    _rule(
        "netrc-password",
        "login ",
        r"login\s{1,8}[^\s\"\\]{1,64}(?:\s|\\n){1,8}password\s{1,8}(?P<secret>[^\s\"\\]{3,256})",
    ),
    _rule(
        "pgpass-password",
        ":5432:",
        r""":5432:[\w*-]{1,64}:[\w*-]{1,64}:(?P<secret>[^\s"'\\]{3,256})""",
    ),
    _rule(
        "azure-ad-client-secret",
        "q~",
        r"(?P<secret>[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})",
        back=4,
    ),
)
# These hold a long run of token characters: they are looked for only if such runs have the literal.
_IN_TOKENS = (
    _rule(
        "hashicorp-tf-api-token",
        ".atlasv1.",
        r"(?P<secret>[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,4096})",
        back=14,
    ),
    _rule(
        "mailchimp-api-key", "-us", r"(?P<secret>[a-f0-9]{32}-us[0-9]{1,2})(?![A-Za-z0-9])", back=32
    ),
    _rule(
        "maxmind-license-key", "_mmk", r"(?P<secret>[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)", back=36
    ),
    _rule(
        "telegram-bot-api-token",
        ":aa",
        r"(?<=[0-9]{7}):(?P<secret>AA[\w-]{32,34})(?![A-Za-z0-9])",
    ),
    _rule(
        "azure-storage-account-key", "accountkey=", r"accountkey=(?P<secret>[\w+/]{40,120}={0,2})"
    ),
    _rule(
        "azure-shared-access-key",
        "sharedaccesskey=",
        r"sharedaccesskey=(?P<secret>[\w+/]{40,120}={0,2})",
    ),
    _rule("azure-sas-signature", "sig=", r"(?<=[?&;])sig=(?P<secret>[A-Za-z0-9%+/]{40,120}={0,2})"),
    _rule(
        "aws-signature",
        "x-amz-",
        r"x-amz-(?:signature|security-token|credential)=(?P<secret>[A-Za-z0-9%+/=-]{20,4096})",
    ),
)
_BY_LITERAL = tuple(
    (literal, tuple(rule for rule in _ANYWHERE if rule.literal == literal))
    for literal in dict.fromkeys(rule.literal for rule in _ANYWHERE)
)

_LINE_END = re.compile(r"\n|\\n")
_KEY_BODY = re.compile(r"[\s0-9:→|>+*\"'-]{0,40}[A-Za-z0-9+/]{16,4096}={0,3}[\s\"',\\r]{0,8}\Z")
_COOKIE = re.compile(
    r"""cookie\\?["']?\s{0,4}[:=]\s{0,4}\\?["'`]?(?P<pairs>[^\r\n"'`]{1,8192})""",
    re.ASCII | re.IGNORECASE,
)
_COOKIE_PAIR = re.compile(r"""[\w.$-]{1,128}=(?P<secret>[^\s;,"'\\]{8,4096})""", re.ASCII)


def context_spans(text: str, lowered: bytes, tokens: bytes) -> Iterator[Span]:
    """Yield the secrets that stand behind a literal.

    Args:
        text: the text itself.
        lowered: ``text`` as one lower-case byte a character (others than Latin 1 do not matter).
        tokens: the words of ``lowered`` that hold a long run of token characters.
    """
    for literal, rules in _BY_LITERAL:
        if literal in lowered:
            for rule in rules:
                yield from _behind(rule, text, lowered)
    for rule in _IN_TOKENS:
        if rule.literal in tokens:
            yield from _behind(rule, text, lowered)
    if b"cookie" in lowered:
        yield from _cookies(text, lowered)
    if b"-----end " in lowered:
        yield from _key_tails(text, lowered)


def _behind(rule: ContextRule, text: str, lowered: bytes) -> Iterator[Span]:
    end = 0
    hit = lowered.find(rule.literal)
    while hit >= 0:
        match = rule.pattern.match(text, hit - rule.back) if hit - rule.back >= end else None
        if match is not None and _counts(rule, match["secret"]):
            end = match.end("secret")
            yield match.start("secret"), end, rule.id
        hit = lowered.find(rule.literal, hit + 1)


def _counts(rule: ContextRule, secret: str) -> bool:
    if rule.random:
        return looks_random(secret)
    return not is_placeholder(secret)


def _cookies(text: str, lowered: bytes) -> Iterator[Span]:
    hit = lowered.find(b"cookie")
    while hit >= 0:
        end = hit + 6
        header = _COOKIE.match(text, hit)
        if header is not None:
            end = header.end()
            for pair in _COOKIE_PAIR.finditer(text, *header.span("pairs")):
                if looks_random(pair["secret"]):
                    yield (*pair.span("secret"), "session-cookie")
        hit = lowered.find(b"cookie", end)


def _key_tails(text: str, lowered: bytes) -> Iterator[Span]:
    """Yield the last lines of keys, for output that was cut off at its head."""
    floor = 0
    hit = lowered.find(b"-----end ")
    while hit >= 0:
        if lowered.find(b"private key", hit, hit + 60) >= 0:
            start = _key_start(text, max(floor, hit - 8192), hit)
            if start < hit:
                yield start, hit, "private-key"
        floor = hit + 9
        hit = lowered.find(b"-----end ", floor)


def _key_start(text: str, floor: int, end: int) -> int:
    """Return where the lines of base64 before ``end`` begin, or ``end`` where there are none."""
    edges = [floor, *(edge.end() for edge in _LINE_END.finditer(text, floor, end))]
    start = line_end = end
    for edge in reversed(edges):
        if edge == end:
            continue
        if not _KEY_BODY.match(text, edge, line_end):
            break
        start = line_end = edge
    return start
