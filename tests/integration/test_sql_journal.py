from dataclasses import replace

import pytest
from memoryd.db.engine import Database
from memoryd.errors import NotFound
from memoryd.extraction.operations import Tombstone
from memoryd.memory.journal import Action, Draft, EntryState, Known
from memoryd.stores.journal import SqlJournal

from support.memories import ROOT, said


def draft(name: str = "a", **changes: object) -> Draft:
    made = Draft(
        group="g",
        at=1.5,
        directory="/m",
        project_root=ROOT,
        name=name,
        action=Action.UPDATE,
        actor="extract",
        reason="because",
        before=b"old\x00\xff",
        before_mtime_ns=1_796_000_000_123_456_789,
        after=b"new!",
        after_mtime_ns=1_796_000_001_123_456_789,
        evidence=said(),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_an_entry_reads_back(database: Database) -> None:
    journal = SqlJournal(database)
    (number,) = journal.begin([draft()])
    entry = journal.get(number)
    assert entry.state is EntryState.INTENT
    assert {f: getattr(entry, f) for f in Draft.__slots__} == {
        f: getattr(draft(), f) for f in Draft.__slots__
    }
    with pytest.raises(NotFound):
        journal.get(number + 1)


def test_intents_are_settled_once(database: Database) -> None:
    journal = SqlJournal(database)
    one, two, three = journal.begin([draft("a"), draft("b"), draft("c", directory="/n")])
    assert [e.id for e in journal.intents()] == [one, two, three]
    assert [e.id for e in journal.intents("/m")] == [one, two]
    journal.commit([one])
    journal.abort(two, "gone")
    journal.abort(one, "too late")
    journal.commit([two])
    assert [e.id for e in journal.intents()] == [three]
    assert journal.get(one).state is EntryState.DONE
    assert journal.get(two).state is EntryState.ABORTED
    assert journal.get(two).reason == "because [not made: gone]"


def test_the_last_finished_entry_is_what_is_known(database: Database) -> None:
    journal = SqlJournal(database)
    journal.record([draft("a"), draft("b", directory="/n")])
    (second,) = journal.record([draft("a", after=b"longer", after_mtime_ns=7, actor="person")])
    journal.begin([draft("a", after=b"never")])
    journal.reject(draft("c"))
    (gone,) = journal.record([draft("d", after=None, after_mtime_ns=None)])
    assert journal.known("/m") == {"a": Known(second, 7, 6), "d": Known(gone, None, None)}
    assert journal.latest("/m", ["a", "c", "z"]) == {"a": journal.get(second)}
    assert journal.origins("/m")["a"] == (ROOT, "person")


def test_entries_are_newest_first_and_filtered(database: Database) -> None:
    journal = SqlJournal(database)
    ids = journal.record([draft("a"), draft("b"), draft("a", project_root="/other")])
    assert [e.id for e in journal.entries()] == list(reversed(ids))
    assert [e.id for e in journal.entries(name="a", limit=1)] == [ids[2]]
    assert [e.id for e in journal.entries(project_root=ROOT)] == [ids[1], ids[0]]
    assert [e.id for e in journal.history("/m", "a")] == [ids[0], ids[2]]


def test_evidence_counts_only_when_something_came_of_it(database: Database) -> None:
    journal = SqlJournal(database)
    journal.begin([draft(evidence=said("intended"))])
    journal.reject(draft(evidence=said("refused")))
    journal.record([draft(evidence=(*said("one"), *said('od"d%_')))])
    for uuid, directory, expected in (
        ("one", "/m", True),
        ('od"d%_', "/m", True),
        ("on", "/m", False),
        ("intended", "/m", False),
        ("refused", "/m", False),
        ("one", "/n", False),
    ):
        assert journal.has_evidence(directory, said(uuid)[0]) is expected, uuid
    assert not journal.has_evidence("/m", replace(said("one")[0], sentence="Other words."))


def test_a_group_is_kept_whole_or_not_at_all(database: Database) -> None:
    journal = SqlJournal(database)
    with pytest.raises(Exception, match="ck_journal_action"):
        journal.begin([draft("a"), draft("b", action="burn")])
    assert not journal.entries()


def test_tombstones_are_kept_once(database: Database) -> None:
    journal = SqlJournal(database)
    grave = Tombstone(evidence="u", fingerprint="use uv", at=2.0)
    (entry,) = journal.record([draft(after=None)])
    journal.bury(ROOT, [grave, replace(grave, evidence=None)], entry=entry)
    journal.bury(ROOT, [grave])
    assert journal.tombstones(ROOT) == (grave, replace(grave, evidence=None))
    assert not journal.tombstones("/other")


def test_the_latest_entries_are_never_those_before_a_change(database: Database) -> None:
    journal = SqlJournal(database)
    names = [f"n{number}" for number in range(200)]  # more than are kept
    assert journal.latest("/m", names) == {}
    (first,) = journal.record([draft("n7")])
    assert journal.latest("/m", names) == journal.latest("/m", ["n7"]) == {"n7": journal.get(first)}
    (second,) = journal.begin([draft("n7")])
    assert journal.latest("/m", ["n7"]) == {"n7": journal.get(first)}
    journal.commit([second])
    assert journal.latest("/m", ["n7"]) == {"n7": journal.get(second)}
    assert journal.latest("/other", ["n7"]) == {}
