"""From a query to the few memories that are given: caps first, then ranker and gate."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from memoryd.recall.gate import decide, signal
from memoryd.recall.ranker import Ranked, Ranker

NEWEST: Final = 200
"""Memories that are candidates for their age alone."""
BEST_BEYOND: Final = 20
"""Older memories that are candidates because the ranker finds them in the whole collection."""
SESSION_BYTES: Final = 60 * 1024
"""After so much was given in a session, nothing more is selected in it."""
_LOOKED_AT: Final = 20  # best of the ranking that the gate sees


@dataclass(frozen=True, slots=True)
class Manifest:
    """A memory as the selector knows it before reading it.

    Attributes:
        key: the same as in the ranker.
        name: slug.
        type: one of the four, or ``None`` when the file does not say.
        description: one line.
        mtime: seconds since 1970 UTC.
    """

    key: str
    name: str
    type: str | None
    description: str
    mtime: float


@dataclass(frozen=True, slots=True)
class Selected:
    """A memory to give.

    Attributes:
        key: of the memory.
        score: the gate's signal, 0 to about 5; comparable between queries.
        passage: span of the best passage in the body, in characters.
    """

    key: str
    score: float
    passage: tuple[int, int]


def select(
    query: str,
    manifest: Sequence[Manifest],
    ranker: Ranker,
    *,
    already_given: AbstractSet[str] = frozenset(),
    limit: int | None = None,
    given_bytes: int = 0,
) -> list[Selected]:
    """Return the memories to give for ``query``, best first.

    Candidates are the newest 200 and, of the older ones, the 20 that the ranker puts first. That is
    one walk down the ranking of all.

    Args:
        query: a prompt, or what somebody looks for.
        manifest: the memories that may be given.
        ranker: knows at least these, with their bodies, and few others.
        already_given: keys that the session has had, or that its model read or wrote itself.
        limit: so many at most, without caps and gate; ``None`` for a few clearly useful ones.
        given_bytes: what the session was given so far.
    """
    if limit is None and given_bytes >= SESSION_BYTES:
        return []
    wanted = _LOOKED_AT if limit is None else limit
    if wanted <= 0:
        return []
    # Deep enough that neither what was given nor what is no part of this manifest hides a hit.
    depth = wanted + len(already_given) + max(len(ranker) - len(manifest), 0)
    ranked, stats = ranker.ask(query, depth)
    found = {hit.key for hit in ranked}
    mtimes = {entry.key: entry.mtime for entry in manifest if entry.key in found}
    newest_from = float("-inf")
    if limit is None and len(mtimes) > BEST_BEYOND and len(manifest) > NEWEST:
        newest_from = sorted(entry.mtime for entry in manifest)[-NEWEST]
    hits: list[Ranked] = []
    older = 0
    for hit in ranked:
        if hit.key not in mtimes:
            continue
        if mtimes[hit.key] < newest_from:
            older += 1
            if older > BEST_BEYOND:
                continue
        if hit.key not in already_given:
            hits.append(hit)
    chosen = decide(hits, stats) if limit is None else hits[:limit]
    return [Selected(hit.key, signal(hit, stats), hit.passage) for hit in chosen]
