"""Secrets go, what looks like them stays."""

import sys
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.redaction import clean, redact, strip_private
from memoryd.redaction.rules import TOKEN_RULES

from support.secrets import contexts, make_passages, make_secrets

SECRETS = make_secrets(1)
PASSAGES = make_passages(1)


def visible(secret: str) -> list[str]:
    """The parts of a secret that must not be seen; a key block shows no line of its body."""
    return secret.split("\n")[1:-1] if "\n" in secret else [secret]


def test_enough_kinds_are_made() -> None:
    assert len({rule for rule, _ in SECRETS}) >= 80
    assert make_secrets(1) == SECRETS
    assert make_secrets(2) != SECRETS


@pytest.mark.parametrize(("rule", "secret"), SECRETS, ids=[rule for rule, _ in SECRETS])
def test_a_secret_goes_wherever_it_stands(rule: str, secret: str) -> None:
    for name, text in contexts(secret):
        cleaned = redact(text)
        assert not any(part in cleaned for part in visible(secret)), name
        assert f"[REDACTED:{rule}]" in cleaned, name
        assert redact(cleaned) == cleaned, name


@pytest.mark.parametrize("seed", range(2, 12))
def test_other_secrets_of_the_same_kinds_go(seed: int) -> None:
    for _, secret in make_secrets(seed):
        for name, text in contexts(secret):
            cleaned = redact(text)
            assert not any(part in cleaned for part in visible(secret)), (name, secret)
    for _, secret, passage in make_passages(seed):
        assert secret not in redact(passage), passage


@pytest.mark.parametrize(("rule", "secret", "passage"), PASSAGES, ids=[p[0] for p in PASSAGES])
def test_a_secret_known_by_its_surroundings_goes(rule: str, secret: str, passage: str) -> None:
    for text in (passage, f"before\n{passage}\nafter"):
        assert redact(text) == text.replace(secret, f"[REDACTED:{rule}]")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("DB_PASSWORD=hunter2", "hunter2"),
        ("password: hunter2", "hunter2"),
        ("my password is Tr0ub4dor&3", "Tr0ub4dor&3"),
        ("password='hunter'", "hunter"),
        ('{"password": "hunter22"}', "hunter22"),
        (r"{\"password\": \"hunter22\"}", "hunter22"),
        ('password: str = "hunter22"', "hunter22"),
        ("Server=x;User Id=sa;Password=Str0ng!Pass;Timeout=3", "Str0ng!Pass"),
        ("redis://:p4ss@localhost:6379", "p4ss"),
        ("mongodb+srv://u:p%40ss@c.example.net", "p%40ss"),
        ("DATABASE_URL=postgres://u:pa@ss@h/db", "pa@ss"),
        ("--api-key abc123def456ghi789", "abc123def456ghi789"),
        ("--password Hunter22", "Hunter22"),
        ("SECRET_TOKEN=abc123def456", "abc123def456"),
        ("x-api-key: 9a8b7c6d5e4f3a2b1c0d", "9a8b7c6d5e4f3a2b1c0d"),
        ('"auths":{"x":{"auth":"dXNlcjpwYXNzd29yZDEyMw=="}}', "dXNlcjpwYXNzd29yZDEyMw=="),
        ("export MYSQL_PWD=letmein", "letmein"),
        ('PASSWORD="correct horse"', "correct horse"),
        ("<password>hunter22</password>", "hunter22"),
        ("https://example.com/?password=correcthorse&x=1", "correcthorse"),
        ("密码是Hunter22x", "Hunter22x"),
        ("docker login -u me -p Hunter22 registry.example.com", "Hunter22"),
        ("redis-cli -h host -a Hunter22 ping", "Hunter22"),
        ("ENV API_TOKEN 9a8b7c6d5e4f3a2b1c0d9a8b", "9a8b7c6d5e4f3a2b1c0d9a8b"),
    ],
)
def test_an_assigned_secret_goes_and_nothing_else(text: str, secret: str) -> None:
    before, _, after = text.partition(secret)
    cleaned = redact(text)
    assert cleaned.startswith(f"{before}[REDACTED:")
    assert cleaned.endswith(f"]{after}")


LOOK_ALIKES = r"""
password: str
def login(password: str, token: str | None = None) -> None:
token = get_token()
api_key=os.environ["X"]
api_key = os.getenv("OPENAI_API_KEY")
apiKey: process.env.OPENAI_API_KEY,
PASSWORD=${DB_PASSWORD}
password: "{{ vault_password }}"
API_KEY=<your-key>
api_key: "your-api-key-here"
API_KEY=YOUR_API_KEY_HERE
const secretKey = "[REDACTED]"
SECRET_KEY=xxxxxxxxxxxxxxxx
password=changeme
token: string;
const token = await this.authService.getToken(userId);
if (password === confirmPassword) {
secret = settings.SECRET_KEY
type="password" name="password" autocomplete="current-password"
"max_tokens": 20000, "token_count": 12345678
commit 3f786850e387550fdab836ed7e6dc881de23001b
"sessionId": "253fd5ef-38bf-4f4a-804a-98df5088a868"
d41d8cd98f00b204e9800998ecf8427e  file.txt
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
task-management and risk-assessment-of-the-new-very-long-feature-name
cache key: node-modules-3f786850e387550fdab836ed7e6dc881de23001b
PWD=/home/user/project
import { getAccessToken } from "@/lib/auth/access-token";
the token is invalid and the password is required.
/usr/local/lib/python3.11/site-packages/authlib/oauth2/rfc6749/token.py:12: error
.css-1dbjc4n.r-1niwhzg{color:red}
version = "2.0.0-beta.4+build.20240229"
author: "Jane Doe"
primary_key=True
TOKEN_FILE=/run/secrets/token_2024
secret_name: my-app-secret-v2
docker run -u 1000:1000 image
git@github.com:owner/repo.git
ssh://git@github.com:22/owner/repo.git
http://localhost:8080/path?email=a@b.c
feedback-no-mocks-in-integration-tests
model: claude-3-opus-20240229
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Basic understanding of things
sk-your-key, sk-..., sk-test
passed: 12 passing=34a5
toolu_01A09q90qw90lq917835lq9 and msg_01XFDUDYJgAACzvnptvVoYEL
cookie: theme=dark; lang=en
private_key_path: ./keys/id_rsa2
password = input("Password: ")
--password-file /etc/pw1
""".strip().splitlines()


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_a_look_alike_stays(text: str) -> None:
    assert redact(text) == text


def test_a_key_that_was_cut_off_goes_as_far_as_it_goes() -> None:
    block = dict(SECRETS)["private-key"]
    lines = block.split("\n")
    head = redact("\n".join(["$ cat id", *lines[:-3], "", "done here"]))
    tail = redact("\n".join(["cut", *lines[4:], "done"]))
    numbered = redact("\n".join(f"{i:6}\t{line}" for i, line in enumerate(lines, 1)))
    for text in (head, tail, numbered):
        assert "[REDACTED:private-key]" in text
        assert not any(line in text for line in lines[1:-1])
    assert head.startswith("$ cat id\n")
    assert head.endswith("done here")
    assert tail.startswith("cut\n")


def test_every_rule_starts_with_a_character_or_a_set() -> None:
    # Otherwise the engine tries it at every word.
    assert not [rule.id for rule in TOKEN_RULES if rule.pattern.startswith(("(", "."))]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>b</private> c", "a  c"),
        ("a<PRIVATE>b</Private>c", "a c"),
        ("a <private>b <private>c</private> d</private> e", "a  e"),
        ("a <private>b", "a "),
        ("a</private>b", "a</private>b"),
        ("<private>a</private>", ""),
        ("<pri<private>a</private>vate>b", "<pri vate>b"),
        ("set <private-key> and <private key>", "set <private-key> and <private key>"),
        (r"<private>a<\/private> b", " b"),
        ("nothing", "nothing"),
    ],
)
def test_private_passages_go(text: str, left: str) -> None:
    assert strip_private(text) == left


def test_clean_does_both() -> None:
    assert clean("<private>x</private> PASSWORD=hunter2") == " PASSWORD=[REDACTED:generic-password]"


pieces = st.sampled_from(
    [
        *(secret for _, secret in SECRETS),
        *(passage for _, _, passage in PASSAGES),
        *LOOK_ALIKES,
        *("password=", 'token: "', "'", "\\n", "\\", "[REDACTED:", "[REDACTED:x]", "]"),
        *("&", ";", "://", "@", "-----BEGIN ", "-u ", "curl "),
        "<private>",
        "</private>",
        "-----END PRIVATE KEY-----",
        "\n",
        " ",
        "\ud800",
        "İ",
        "密码",
    ]
)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.one_of(pieces, st.text(max_size=8)), max_size=12))
def test_any_text_is_cleaned_once_and_for_all(parts: list[str]) -> None:
    cleaned = clean("".join(parts))
    assert clean(cleaned) == cleaned


@settings(deadline=None)
@given(st.text())
def test_text_without_secrets_does_not_change_length_for_nothing(text: str) -> None:
    cleaned = redact(text)
    assert cleaned == text or "[REDACTED:" in cleaned


HOSTILE = [
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nAAAABBBBCCCCDDDDEEEE",
    "password=",
    "passwordpassword",
    "token='",
    'api_key="\\',
    "eyJ-",
    "eyJabcdefghijklmnop.",
    "://a:",
    "://user:pass",
    "cookie: a=",
    "curl -u",
    "curl ",
    "authorization: bearer ",
    "sk-ant-",
    "AKIAAAAAAAAAAAAAAAAA",
    "AGE-SECRET-KEY-1",
    "[REDACTED:",
    "<private>",
    "</private>",
    "a" * 40 + ".",
    "login x password ",
    "http -a ",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_work_grows_with_the_text(unit: str) -> None:
    """Calls of Python functions are counted, as a stand-in for passes over the text."""

    def calls(size: int) -> int:
        count = 0

        def tracer(_frame: FrameType, event: str, _arg: object) -> None:
            nonlocal count
            count += event in {"call", "c_call"}

        text = unit * (size // len(unit))
        sys.setprofile(tracer)
        try:
            clean(text)
        finally:
            sys.setprofile(None)
        return count

    small, large = calls(4_000), calls(32_000)
    assert large <= 12 * small + 500


@pytest.mark.corpus
def test_real_conversations_keep_nearly_all_their_text(corpus: Path) -> None:
    lines = changed = 0
    for file in sorted((corpus / "transcripts").glob("*.jsonl")):
        for line in file.read_text(errors="replace").splitlines():
            lines += 1
            changed += redact(line) != line
    assert lines > 1000
    assert changed <= lines // 500
