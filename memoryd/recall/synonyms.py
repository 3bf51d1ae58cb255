"""Words that mean the same to people who build software; small on purpose.

Only pairs that hold in nearly every project are here: a wrong synonym costs more than a missing
one. Each counts half (see ``ranker``).
"""

from __future__ import annotations

from typing import Final

from memoryd.recall.analysis import terms

_GROUPS: Final = """
    database db
    repository repo
    kubernetes k8s
    postgresql postgres psql pg
    deploy rollout release ship
    configuration config settings
    authentication auth login
    authorization authz permissions
    environment env
    dependency package
    documentation docs
    directory folder
    javascript js
    typescript ts
    python py
    production prod
    development dev
    infrastructure infra
    pull-request pr
    merge-request mr
    ticket issue
    continuous-integration ci
    format formatter
    lint linter
    oncall on-call pager
    outage incident
    delete remove
    favourite favorite prefer
    colleague teammate
"""


def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, set[str]] = {}
    for line in _GROUPS.strip().splitlines():
        group = [terms(word)[0] for word in line.split()]
        for term in group:
            table.setdefault(term, set()).update(other for other in group if other != term)
    return {term: tuple(sorted(others)) for term, others in table.items()}


_TABLE: Final = _table()


def synonyms(term: str) -> tuple[str, ...]:
    """Return the terms that may stand for ``term``."""
    return _TABLE.get(term, ())
