"""Memories stay ready for recall while they are asked for, and no longer."""

from pathlib import Path

from memoryd.daemon.shelf import KEPT_S
from memoryd.db.engine import Database

from support.recall import ROOT, desk


def test_a_shelf_that_nobody_asks_for_is_given_up_and_made_again(
    tmp_path: Path, database: Database
) -> None:
    with desk(tmp_path / ".claude", database) as one:
        one.keep("port", "the staging database listens on port 6543")
        kept = one.shelves.of(ROOT)
        with kept.lock:
            one.shelves.refresh(kept)
        one.clock.advance(KEPT_S - 1)
        assert one.shelves.give_up_unused() == 0
        assert one.shelves.of(ROOT) is kept

        one.clock.advance(KEPT_S + 1)
        assert one.shelves.give_up_unused() == 1
        assert one.shelves.give_up_unused() == 0
        made = one.shelves.of(ROOT)
        with made.lock:
            one.shelves.refresh(made)
        assert made is not kept
        assert list(made.topics) == ["port"]
        assert "port" in made.ranker
