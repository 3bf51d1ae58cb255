"""Parts of patterns that several cues share."""

# ruff: noqa: RUF001 - dashes that people type.

from __future__ import annotations

import re
from typing import Final

_I: Final = re.IGNORECASE

FOR_NOW: Final = re.compile(
    r"\b(?:for now|right now|for the moment|until later|today|in this (?:pr|file|test|function|"
    r"commit|change|case))\b",
    _I,
)
NP: Final = (
    r"(?P<{0}>(?!(?:a|an|the|this|that|these|those|my|your|his|their|it|"
    r"any)\b)[\w@./+#-]+(?: (?!(?:and|but|because|since|so|for|in|on|at|to|with|when|from|here|"
    r"now|as|by|is|are)\b)[\w@./+#-]+){{0,3}})"
)
SCOPE_TAIL: Final = (
    r"(?P<tail>,?(?: (?:for|in|on|when|everywhere|with|as|at|to|by|and|because|since|so)\b.*|"
    r"[,;:—–-].*|$))"
)
CODE_THING: Final = re.compile(
    r"\b(?:function|method|class|variable|test|file|module|component|import|loop|call|param\w*|"
    r"line|query|type|field|button|state|logic|check|code|cursor|focus)s?\b",
    _I,
)
DUE_THING: Final = (
    r"(?:release|deadline|launch|demo|freeze|code freeze|feature freeze|milestone|migration|"
    r"cut-?over|audit|go-?live|beta|alpha|rollout|presentation|"
    r"delivery|submission|retrospective|kick-?off|deprecation|sunset|maintenance window|"
    r"hackathon|conference|pilot|version|sprint|review|report|proposal|contract|merge freeze|"
    r"v?\d+\.\d[\w.]*)"
)
PLACE: Final = (
    r"(?:dashboards?|trackers?|issue trackers?|bug trackers?|boards?|kanban|wikis?|runbooks?|"
    r"playbooks?|on-?call (?:guide|schedule|rota)|design (?:docs?|system|files?)|docs|"
    r"documentation|handbook|status page|"
    r"metrics|logs|tickets|issues|bugs|tasks|roadmap|figma|mock-?ups|style ?guide|"
    r"admin (?:panel|console)|sandbox|staging(?: (?:environment|server|site|url|app))?|"
    r"production (?:site|url|console)|alerts|calendar|channel|spreadsheet|sheet|registry|"
    r"artifacts|postmortems|incidents?|specs?|requirements|api reference|knowledge base|designs?|"
    r"error track(?:ing|er)|"
    r"backlog|repo|repository|monitoring|traces|feature requests|bug reports|project board|"
    r"release notes|changelog|architecture (?:docs?|diagrams?)|secrets|credentials|contracts?|"
    r"recordings|minutes)"
)
SITE: Final = re.compile(
    r"https?://\S+|\b(?:jira|linear|asana|trello|github (?:issues|projects)|confluence|notion|"
    r"grafana|datadog|kibana|sentry|slack|google (?:docs?|sheets?|drive)|figma|miro|pagerduty|"
    r"sharepoint|gitlab|youtrack|airtable|discord|teams|1password|vault|bitwarden)\b|"
    r"#[a-z][\w-]+",
    _I,
)
OPTION: Final = re.compile(
    r"\b(?:option|approach|variant|alternative|proposal|plan|solution|number|step) (?:[a-e1-9]|"
    r"one|two|three)\b|\b(?:option|plan) [a-e\d]\b",
    _I,
)
IMPERATIVE: Final = re.compile(
    r"^(?:please |pls |plz |just )*(?:always|never|don'?t|do not|use|run|write|keep|make|put|add|"
    r"ask|"
    r"check|avoid|prefer|commit|push|open|create|name|call|test|document|update|format|lint|"
    r"include|show|give|answer|reply|respond|explain|start|stop|begin|end|read|review|squash|"
    r"rebase|merge|tag|log|return|follow|stick|leave|treat|limit|skip|"
    r"sign|quote|cite|link|wrap|validate|verify|ensure|tell|list|mention|be|do|address|"
    r"translate|speak|install|deploy|build|ping|notify|assign|label|bump|pin|generate|only|no|"
    r"regenerate|restart|refer|talk|summari[sz]e|restrict|cover|mock|confirm|propose|suggest|"
    r"work|target|branch|get|let|save|store|set|split|remove|delete|say|spell|try|wait|print|"
    r"sort|mark|post|file|send|track)\b",
    _I,
)
