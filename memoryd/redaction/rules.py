"""Secrets that show what they are by their own form: the table of token rules.

Names are those of the well-known scanners (gitleaks), so that a placeholder says the same as their
reports. A pattern has no groups, its repetitions are bounded or end the pattern, and its left edge
is set by ``scan``. Text such as ``sk-`` alone proves nothing: every pattern asks for the length
that the issuer documents, or a little less.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenRule:
    """One kind of secret.

    Attributes:
        id: what the placeholder says, ``[REDACTED:<id>]``.
        pattern: regular expression of the whole secret, case-sensitive, without groups, starting
            with a character or a set. At least 16 of its characters in a row are letters, digits,
            ``_`` or ``-``.
    """

    id: str
    pattern: str


_END = r"(?![A-Za-z0-9])"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

_TABLE = (
    # Clouds and hosting
    ("aws-access-token", rf"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{{16}}{_END}"),
    ("alibaba-access-key-id", rf"LTAI[A-Za-z0-9]{{16,20}}{_END}"),
    ("cloudflare-origin-ca-key", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}"),
    ("digitalocean-pat", r"dop_v1_[a-f0-9]{64}"),
    ("digitalocean-access-token", r"doo_v1_[a-f0-9]{64}"),
    ("digitalocean-refresh-token", r"dor_v1_[a-f0-9]{64}"),
    ("flyio-access-token", r"fo1_[\w-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{60,}={0,3}"),
    ("gcp-api-key", rf"AIza[\w-]{{35}}{_END}"),
    ("google-oauth-client-secret", r"GOCSPX-[\w-]{28}"),
    ("google-oauth-access-token", r"ya29\.[\w-]{20,}(?:\.[\w-]+)?"),
    ("google-oauth-refresh-token", r"1//0[\w-]{40,}"),
    ("heroku-api-key-v2", r"HRKU-AA[\w-]{30,}"),
    ("netlify-access-token", r"nfp_[A-Za-z0-9]{36,}"),
    ("render-api-key", r"rnd_[A-Za-z0-9]{26,}"),
    ("scalingo-api-token", r"tk-us-[\w-]{48}"),
    ("vercel-api-token", r"vc[acikpr]_[A-Za-z0-9]{24,}|vercel_blob_rw_[A-Za-z0-9_]{20,}"),
    # Code hosts, registries, continuous integration
    ("atlassian-api-token", r"AT[AC]TT3[\w=-]{60,}"),
    ("bitbucket-app-password", rf"ATBB[A-Za-z0-9]{{24,32}}[A-F0-9]{{0,8}}{_END}"),
    ("artifactory-api-key", r"AKCp[A-Za-z0-9]{69}"),
    ("artifactory-reference-token", r"cmVmd[A-Za-z0-9]{59}"),
    ("buildkite-api-token", r"bkua_[a-f0-9]{40}"),
    ("cargo-registry-token", rf"cio[A-Za-z0-9]{{32}}{_END}"),
    ("circleci-api-token", r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{20,24}_[a-f0-9]{40}"),
    ("clojars-api-token", r"CLOJARS_[a-z0-9]{60}"),
    ("docker-access-token", r"dckr_(?:pat|oat)_[\w-]{24,}"),
    ("github-pat", r"ghp_[A-Za-z0-9]{30,}"),
    ("github-oauth", r"gho_[A-Za-z0-9]{30,}"),
    ("github-app-token", r"gh[us]_[A-Za-z0-9]{30,}"),
    ("github-refresh-token", r"ghr_[A-Za-z0-9]{30,}"),
    ("github-fine-grained-pat", r"github_pat_[A-Za-z0-9_]{36,}"),
    ("gitlab-pat", r"glpat-[\w-]{20,}(?:\.[\w.-]{2,})?"),
    ("gitlab-token", r"gl(?:agent|cbt|dt|ffct|ft|imt|oas|ptt|rt|rtr|soat)-[\w-]{20,}"),
    ("npm-access-token", r"npm_[A-Za-z0-9]{36}"),
    ("nuget-api-key", rf"oy2[a-z0-9]{{43}}{_END}"),
    ("octopus-deploy-api-key", rf"API-[A-Z0-9]{{26}}{_END}"),
    ("pypi-upload-token", r"pypi-[\w-]{50,}"),
    ("rubygems-api-token", r"rubygems_[a-f0-9]{48}"),
    ("sourcegraph-access-token", r"sgp_(?:[A-Za-z0-9]{16}_|local_)?[a-fA-F0-9]{40}"),
    # Models and data for them
    ("anthropic-api-key", r"sk-ant-[\w-]{24,}"),
    ("openrouter-api-key", r"sk-or-v1-[0-9a-f]{64}"),
    (
        "openai-api-key",
        (
            r"sk-(?:proj|svcacct|admin|None)-(?=[a-z_-]{0,40}[A-Z0-9])[\w-]{20,}"
            rf"|sk-[A-Za-z0-9]{{32,}}{_END}"
        ),
    ),
    ("groq-api-key", r"gsk_[A-Za-z0-9]{40,}"),
    ("huggingface-access-token", rf"hf_[A-Za-z0-9]{{30,40}}{_END}"),
    ("huggingface-organization-api-token", r"api_org_[A-Za-z0-9]{34}"),
    ("langsmith-api-key", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    ("perplexity-api-key", r"pplx-[A-Za-z0-9]{40,}"),
    ("replicate-api-token", rf"r8_[A-Za-z0-9]{{37}}{_END}"),
    ("tavily-api-key", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{28,}"),
    ("xai-api-key", r"xai-[A-Za-z0-9]{60,}"),
    # Databases and infrastructure
    ("1password-service-account-token", r"ops_eyJ[A-Za-z0-9+/]{60,}={0,3}"),
    (
        "1password-secret-key",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    ),
    ("age-secret-key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("databricks-api-token", rf"dapi[a-f0-9]{{32}}(?:-[0-9])?{_END}"),
    (
        "doppler-api-token",
        r"dp\.(?:audit|ct|pt|sa|scim|st)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    ("dynatrace-api-token", r"dt0[cs][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("harness-api-key", r"[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    ("infracost-api-token", rf"ico-[A-Za-z0-9]{{32}}{_END}"),
    ("openshift-user-token", r"sha256~[\w-]{43}"),
    ("planetscale-token", r"pscale_(?:oauth|pw|tkn)_[\w=.-]{32,}"),
    ("prefect-api-token", r"pn[bu]_[A-Za-z0-9]{36}"),
    ("pulumi-api-token", r"pul-[a-f0-9]{40}"),
    ("supabase-access-token", r"sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,}"),
    ("tailscale-key", r"tskey-[a-z]{2,12}-[A-Za-z0-9]{8,20}(?:CNTRL)?-[A-Za-z0-9]{20,}"),
    ("vault-service-token", r"hvs\.[\w-]{24,}"),
    ("vault-batch-token", r"hvb\.[\w-]{60,}"),
    # Messages and mail
    ("discord-api-token", r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}"),
    ("mailgun-private-api-token", rf"key-[a-f0-9]{{32}}{_END}"),
    ("resend-api-key", rf"re_[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{24}}{_END}"),
    ("sendgrid-api-token", r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    ("sendinblue-api-token", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    ("slack-app-token", r"xapp-[0-9]-[A-Za-z0-9-]{20,}"),
    ("slack-bot-token", r"xoxb-[A-Za-z0-9-]{16,}"),
    ("slack-config-access-token", r"xoxe(?:\.xox[bp])?-[0-9]-[A-Za-z0-9-]{20,}"),
    ("slack-user-token", r"xox[acoprs]-[A-Za-z0-9-]{16,}"),
    ("twilio-api-key", rf"SK[0-9a-f]{{32}}{_END}"),
    # Money and shops
    ("duffel-api-token", r"duffel_(?:live|test)_[\w=-]{43}"),
    ("easypost-api-token", r"EZ[AT]K[A-Za-z0-9]{54}"),
    ("flutterwave-secret-key", r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,32}-?X?"),
    ("shippo-api-token", r"shippo_(?:live|test)_[a-fA-F0-9]{40}"),
    ("shopify-access-token", r"shp(?:at|ca|pa)_[a-fA-F0-9]{32}"),
    ("shopify-shared-secret", r"shpss_[a-fA-F0-9]{32}"),
    ("facebook-access-token", r"EAA[A-Za-z0-9]{80,}"),
    ("square-access-token", r"sq0(?:atp-[\w-]{22,}|csp-[\w-]{40,})|EAAA[\w-]{60}"),
    ("stripe-access-token", r"[rs]k_(?:live|prod|test)_[A-Za-z0-9]{16,}"),
    ("stripe-webhook-secret", r"whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    # Tools of work
    ("adobe-client-secret", rf"p8e-[A-Za-z0-9]{{32}}{_END}"),
    ("airtable-pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("contentful-pat", r"CFPAT-[\w-]{43}"),
    ("dropbox-api-token", r"sl\.(?:u\.)?[\w-]{60,}"),
    ("figma-pat", r"fig[dou]r?_[\w-]{38,}"),
    ("frameio-api-token", r"fio-u-[\w=-]{64}"),
    ("grafana-cloud-api-token", r"glc_[A-Za-z0-9+/]{32,}={0,3}"),
    ("grafana-service-account-token", r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    ("grafana-api-key", r"eyJrIjoi[A-Za-z0-9]{60,}={0,3}"),
    ("hubspot-private-app-token", rf"pat-(?:na|eu)[0-9]-{_UUID}"),
    ("launchdarkly-sdk-key", rf"sdk-{_UUID}|mob-{_UUID}"),
    ("linear-api-key", r"lin_(?:api|oauth)_[A-Za-z0-9]{40}"),
    ("mapbox-secret-token", r"sk\.eyJ[\w-]{20,200}\.[\w-]{16,}"),
    ("new-relic-user-api-key", rf"NRAK-[A-Z0-9]{{27}}{_END}"),
    ("new-relic-insert-key", r"NRII-[\w-]{32}"),
    ("new-relic-browser-api-token", r"NRJS-[a-f0-9]{19}"),
    ("notion-api-token", rf"ntn_[A-Za-z0-9]{{40,50}}{_END}|secret_[A-Za-z0-9]{{43}}{_END}"),
    ("posthog-personal-api-key", r"phx_[A-Za-z0-9]{32,}"),
    ("postman-api-token", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    ("readme-api-token", r"rdme_[a-z0-9]{70}"),
    ("sentry-org-token", r"sntrys_eyJ[A-Za-z0-9+/]{20,}={0,2}(?:_[A-Za-z0-9+/]{43})?"),
    ("sentry-user-token", r"sntryu_[a-f0-9]{64}"),
    ("typeform-api-token", r"tfp_[\w.=-]{59}"),
    # Last, for its first letters are shared
    ("jwt", r"eyJ[\w-]{10,1024}\.[\w-]{10,}(?:\.[\w-]*){0,3}"),
)

TOKEN_RULES: tuple[TokenRule, ...] = tuple(TokenRule(name, pattern) for name, pattern in _TABLE)
"""In the order in which they are tried at one place."""
