"""Made-up secrets of valid shape, built at run time so that no scanner trips on this repository."""

import base64
import random
from collections.abc import Callable, Iterator
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

ALNUM = ascii_letters + digits
LOWER = ascii_lowercase + digits
UPPER = ascii_uppercase + digits
HEX = digits + "abcdef"
SLUG = ALNUM + "-_"
BASE64 = ALNUM + "+/"


class _Maker:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, alphabet: str, count: int) -> str:
        """Random characters with at least one digit and one letter among the first twelve."""
        while True:
            text = "".join(self._random.choices(alphabet, k=count))
            head = text[:12]
            if any(map(str.isdigit, head)) and any(map(str.isalpha, head)) and text[-1].isalnum():
                return text

    def letters(self, count: int) -> str:
        return "".join(self._random.choices(ascii_letters, k=count))

    def number(self, count: int) -> str:
        return str(self._random.randrange(10 ** (count - 1), 10**count))

    def pick(self, *options: str) -> str:
        return self._random.choice(options)

    def uuid(self) -> str:
        return "-".join(
            self.of(HEX, 12)[:n] if n < 12 else self.of(HEX, 12) for n in (8, 4, 4, 4, 12)
        )

    def b64(self, count: int) -> str:
        return base64.b64encode(self._random.randbytes(count)).decode()

    def b64url(self, text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def jwt(self) -> str:
        header = self.b64url('{"alg":"HS256","typ":"JWT"}')
        payload = self.b64url(f'{{"sub":"{self.of(LOWER, 16)}","exp":1}}')
        return f"{header}.{payload}.{self.of(SLUG, 43)}"

    def pem(self, kind: str, size: int = 600) -> str:
        body = self.b64(size)
        lines = "\n".join(body[i : i + 64] for i in range(0, len(body), 64))
        mark = "-" * 5
        return f"{mark}BEGIN {kind}{mark}\n{lines}\n{mark}END {kind}{mark}"

    def password(self) -> str:
        word = self.pick("Walnut", "Harbour", "Quartz", "Meadow", "Falcon")
        return f"{word}{self.number(3)}{self.pick('!', '#', '%', '+')}{self.letters(3)}"


# What stands alone and is recognised by its own form.
_TOKENS: dict[str, Callable[[_Maker], str]] = {
    "aws-access-token": lambda m: "AK" + "IA" + m.of(ascii_uppercase + "234567", 16),
    "alibaba-access-key-id": lambda m: "LT" + "AI" + m.of(ALNUM, 20),
    "digitalocean-pat": lambda m: "dop_" + "v1_" + m.of(HEX, 64),
    "digitalocean-access-token": lambda m: "doo_" + "v1_" + m.of(HEX, 64),
    "digitalocean-refresh-token": lambda m: "dor_" + "v1_" + m.of(HEX, 64),
    "flyio-access-token": lambda m: "fo" + "1_" + m.of(SLUG, 43),
    "gcp-api-key": lambda m: "AI" + "za" + m.of(SLUG, 35),
    "google-oauth-client-secret": lambda m: "GOC" + "SPX-" + m.of(SLUG, 28),
    "google-oauth-access-token": lambda m: "ya" + "29." + m.of(SLUG, 60),
    "heroku-api-key-v2": lambda m: "HRKU" + "-AA" + m.of(SLUG, 58),
    "netlify-access-token": lambda m: "nf" + "p_" + m.of(ALNUM, 36),
    "render-api-key": lambda m: "rn" + "d_" + m.of(ALNUM, 32),
    "atlassian-api-token": lambda m: "ATA" + "TT3" + m.of(SLUG, 186),
    "bitbucket-app-password": lambda m: "AT" + "BB" + m.of(ALNUM, 32),
    "artifactory-api-key": lambda m: "AK" + "Cp" + m.of(ALNUM, 69),
    "buildkite-api-token": lambda m: "bk" + "ua_" + m.of(HEX, 40),
    "cargo-registry-token": lambda m: "ci" + "o" + m.of(ALNUM, 32),
    "circleci-api-token": lambda m: "CCI" + "PAT_" + m.of(ALNUM, 22) + "_" + m.of(HEX, 40),
    "clojars-api-token": lambda m: "CLO" + "JARS_" + m.of(LOWER, 60),
    "docker-access-token": lambda m: "dckr" + "_pat_" + m.of(SLUG, 27),
    "github-pat": lambda m: "gh" + "p_" + m.of(ALNUM, 36),
    "github-oauth": lambda m: "gh" + "o_" + m.of(ALNUM, 36),
    "github-app-token": lambda m: "gh" + "s_" + m.of(ALNUM, 36),
    "github-refresh-token": lambda m: "gh" + "r_" + m.of(ALNUM, 36),
    "github-fine-grained-pat": lambda m: (
        "github" + "_pat_" + m.of(ALNUM, 22) + "_" + m.of(ALNUM, 59)
    ),
    "gitlab-pat": lambda m: "gl" + "pat-" + m.of(SLUG, 20),
    "gitlab-token": lambda m: "gl" + "dt-" + m.of(SLUG, 20),
    "npm-access-token": lambda m: "np" + "m_" + m.of(ALNUM, 36),
    "nuget-api-key": lambda m: "oy" + "2" + m.of(LOWER, 43),
    "pypi-upload-token": lambda m: "py" + "pi-AgEIcHlwaS5vcmc" + m.of(SLUG, 70),
    "rubygems-api-token": lambda m: "ruby" + "gems_" + m.of(HEX, 48),
    "anthropic-api-key": lambda m: "sk-" + "ant-api03-" + m.of(SLUG, 93) + "AA",
    "openrouter-api-key": lambda m: "sk-" + "or-v1-" + m.of(HEX, 64),
    "openai-api-key": lambda m: "sk-" + m.of(ALNUM, 20) + "T3Blbk" + "FJ" + m.of(ALNUM, 20),
    "groq-api-key": lambda m: "gs" + "k_" + m.of(ALNUM, 52),
    "huggingface-access-token": lambda m: "h" + "f_" + m.of(ALNUM, 34),
    "langsmith-api-key": lambda m: "lsv" + "2_pt_" + m.of(HEX, 32) + "_" + m.of(HEX, 10),
    "perplexity-api-key": lambda m: "pp" + "lx-" + m.of(ALNUM, 48),
    "replicate-api-token": lambda m: "r" + "8_" + m.of(ALNUM, 37),
    "xai-api-key": lambda m: "xa" + "i-" + m.of(ALNUM, 80),
    "age-secret-key": lambda m: "AGE-SECRET" + "-KEY-1" + m.of(UPPER, 58),
    "databricks-api-token": lambda m: "da" + "pi" + m.of(HEX, 32),
    "doppler-api-token": lambda m: "dp." + "pt." + m.of(ALNUM, 43),
    "dynatrace-api-token": lambda m: "dt0" + "c01." + m.of(UPPER, 24) + "." + m.of(UPPER, 64),
    "hashicorp-tf-api-token": lambda m: m.of(ALNUM, 14) + ".atlas" + "v1." + m.of(SLUG, 67),
    "planetscale-token": lambda m: "pscale" + "_tkn_" + m.of(SLUG, 43),
    "prefect-api-token": lambda m: "pn" + "u_" + m.of(ALNUM, 36),
    "pulumi-api-token": lambda m: "pu" + "l-" + m.of(HEX, 40),
    "supabase-access-token": lambda m: "sb" + "p_" + m.of(HEX, 40),
    "tailscale-key": lambda m: "ts" + "key-auth-" + m.of(ALNUM, 12) + "CNTRL-" + m.of(ALNUM, 32),
    "vault-service-token": lambda m: "hv" + "s." + m.of(SLUG, 92),
    "discord-api-token": lambda m: (
        "M" + m.of(ALNUM, 23) + "." + m.of(ALNUM, 12)[:6] + "." + m.of(SLUG, 38)
    ),
    "mailchimp-api-key": lambda m: m.of(HEX, 32) + "-us" + m.number(2),
    "mailgun-private-api-token": lambda m: "ke" + "y-" + m.of(HEX, 32),
    "sendgrid-api-token": lambda m: "S" + "G." + m.of(SLUG, 22) + "." + m.of(SLUG, 43),
    "sendinblue-api-token": lambda m: "xkey" + "sib-" + m.of(HEX, 64) + "-" + m.of(ALNUM, 16),
    "slack-app-token": lambda m: (
        "xa" + "pp-1-A" + m.of(UPPER, 12) + "-" + m.number(13) + "-" + m.of(HEX, 64)
    ),
    "slack-bot-token": lambda m: (
        "xo" + "xb-" + m.number(12) + "-" + m.number(13) + "-" + m.of(ALNUM, 24)
    ),
    "slack-user-token": lambda m: (
        "xo" + "xp-" + m.number(12) + "-" + m.number(12) + "-" + m.of(HEX, 32)
    ),
    "twilio-api-key": lambda m: "S" + "K" + m.of(HEX, 32),
    "duffel-api-token": lambda m: "duffel" + "_test_" + m.of(SLUG, 43),
    "easypost-api-token": lambda m: "EZ" + "AK" + m.of(ALNUM, 54),
    "shippo-api-token": lambda m: "shippo" + "_live_" + m.of(HEX, 40),
    "shopify-access-token": lambda m: "shp" + "at_" + m.of(HEX, 32),
    "shopify-shared-secret": lambda m: "shp" + "ss_" + m.of(HEX, 32),
    "square-access-token": lambda m: "sq0" + "atp-" + m.of(SLUG, 22),
    "stripe-access-token": lambda m: "sk" + "_live_" + m.of(ALNUM, 24),
    "stripe-webhook-secret": lambda m: "wh" + "sec_" + m.of(ALNUM, 32),
    "adobe-client-secret": lambda m: "p8" + "e-" + m.of(ALNUM, 32),
    "airtable-pat": lambda m: "pa" + "t" + m.of(ALNUM, 14) + "." + m.of(HEX, 64),
    "dropbox-api-token": lambda m: "s" + "l." + m.of(SLUG, 135),
    "facebook-access-token": lambda m: "EA" + "A" + m.of(ALNUM, 120),
    "figma-pat": lambda m: "fi" + "gd_" + m.of(SLUG, 40),
    "grafana-cloud-api-token": lambda m: "gl" + "c_" + m.of(ALNUM, 60),
    "grafana-service-account-token": lambda m: (
        "gl" + "sa_" + m.of(ALNUM, 32) + "_" + m.of(HEX, 12)[:8]
    ),
    "hubspot-private-app-token": lambda m: "pat-" + "na1-" + m.uuid(),
    "linear-api-key": lambda m: "lin" + "_api_" + m.of(ALNUM, 40),
    "maxmind-license-key": lambda m: m.of(ALNUM, 12)[:6] + "_" + m.of(ALNUM, 29) + "_m" + "mk",
    "new-relic-user-api-key": lambda m: "NR" + "AK-" + m.of(UPPER, 27),
    "notion-api-token": lambda m: "nt" + "n_" + m.of(ALNUM, 46),
    "postman-api-token": lambda m: "PM" + "AK-" + m.of(HEX, 24) + "-" + m.of(HEX, 34),
    "readme-api-token": lambda m: "rd" + "me_" + m.of(LOWER, 70),
    "sentry-org-token": lambda m: "sntr" + "ys_eyJ" + m.of(ALNUM, 60) + "_" + m.of(ALNUM, 43),
    "sentry-user-token": lambda m: "sntr" + "yu_" + m.of(HEX, 64),
    "typeform-api-token": lambda m: "tf" + "p_" + m.of(SLUG, 59),
    "jwt": lambda m: m.jwt(),
    "private-key": lambda m: m.pem(m.pick("RSA ", "EC ", "OPENSSH ", "") + "PRIVATE" + " KEY"),
}

# What only its surroundings give away: text before, secret, text after.
_IN_CONTEXT: dict[str, Callable[[_Maker], tuple[str, str, str]]] = {
    "url-password": lambda m: (
        "postgres://app:",
        m.password().replace("#", "").replace("%", ""),
        "@db:5432/x",
    ),
    "url-token": lambda m: ("git clone https://", m.of(ALNUM, 40), "@git.example.com/a/b.git"),
    "bearer-token": lambda m: ("send `Bearer ", m.of(ALNUM, 40), "` with it"),
    "authorization-header": lambda m: ("Authorization: Basic ", m.b64(24), "\n"),
    "curl-auth-user": lambda m: ("curl -s -u admin:", m.password(), " https://example.com/api"),
    "mysql-password": lambda m: ("mysql -u root -p", m.password(), " shop"),
    "sshpass-password": lambda m: ("sshpass -p '", m.password(), "' ssh root@host"),
    "netrc-password": lambda m: ("machine example.com login bob password ", m.password(), "\n"),
    "pgpass-password": lambda m: ("db.example.com:5432:shop:app:", m.password(), "\n"),
    "telegram-bot-api-token": lambda m: (m.number(10) + ":", "A" + "A" + m.of(SLUG, 33), ""),
    "slack-webhook-url": lambda m: (
        "https://hooks.slack.com/services/",
        f"T{m.of(UPPER, 12)}/B{m.of(UPPER, 12)}/{m.of(ALNUM, 24)}",
        "",
    ),
    "discord-webhook-url": lambda m: (
        f"https://discord.com/api/webhooks/{m.number(18)}/",
        m.of(SLUG, 68),
        "",
    ),
    "azure-storage-account-key": lambda m: (
        "AccountName=shop;AccountKey=",
        m.b64(64),
        ";EndpointSuffix=core.windows.net",
    ),
    "azure-ad-client-secret": lambda m: ("", f"{m.of(ALNUM, 12)[:3]}8Q~{m.of(SLUG, 34)}", ""),
    "aws-secret-access-key": lambda m: ("aws_secret_access_key = ", m.of(BASE64, 40), "\n"),
    "session-cookie": lambda m: ("Cookie: theme=dark; sid=", m.of(ALNUM, 32), "; lang=en"),
    "generic-password": lambda m: ("DB_PASSWORD=", m.password(), "\n"),
    "generic-api-key": lambda m: ('api_key: "', m.of(HEX, 32), '"'),
    "heroku-api-key": lambda m: ("HEROKU_API_KEY=", m.uuid(), "\n"),
    "datadog-api-key": lambda m: ("export DATADOG_API_KEY=", m.of(HEX, 32), "\n"),
    "cloudflare-api-key": lambda m: ("CLOUDFLARE_API_TOKEN=", m.of(SLUG, 40), "\n"),
    "okta-api-key": lambda m: ("OKTA_API_TOKEN=", "00" + m.of(ALNUM, 40), "\n"),
    "confluent-api-key": lambda m: ('"confluent_api_secret": "', m.of(BASE64, 64), '"'),
}


def make_secrets(seed: int) -> list[tuple[str, str]]:
    """(rule, secret) pairs that are recognised wherever they stand; the same for the same seed."""
    maker = _Maker(seed)
    return [(rule, make(maker)) for rule, make in _TOKENS.items()]


def make_passages(seed: int) -> list[tuple[str, str, str]]:
    """(rule, secret, passage that holds it) of those that need their surroundings."""
    maker = _Maker(seed)
    made = ((rule, make(maker)) for rule, make in _IN_CONTEXT.items())
    return [(rule, secret, before + secret + after) for rule, (before, secret, after) in made]


def contexts(secret: str) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of ways in which a secret gets into a conversation."""
    escaped = secret.replace("\n", "\\n")
    yield "prompt", f"please use {secret} for the deployment, and hurry."
    yield "sentence end", f"The value is {secret}."
    yield "answer", f"I put `{secret}` into the file."
    yield "tool output", f"     1\tA=1\n     2\tVALUE={secret}\n     3\tB=2\n"
    yield "dotenv", f"# comment\nAPP_VALUE={secret}\nDEBUG=1\n"
    yield "export", f"export APP_VALUE='{secret}'\n"
    yield "json", f'{{"a": 1, "value": "{escaped}", "b": [2]}}'
    yield "json in json", f'{{"content": "{{\\"value\\": \\"{escaped}\\"}}"}}'
    yield "escaped lines", f"A=1\\nVALUE=x\\n{escaped}\\nB=2"
    yield "yaml", f"app:\n  value: {secret}\n  other: 1\n"
    yield "url", f"https://example.com/?a=1&v={secret}&b=2"
    yield "colours", f"\x1b[32m{secret}\x1b[0m done"
