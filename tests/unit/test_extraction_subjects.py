"""One subject, one memory: repeated, added to, corrected, forgotten."""

import pytest
from memoryd.extraction.checks import check
from memoryd.extraction.fingerprint import fingerprint
from memoryd.extraction.offline import examine, propose
from memoryd.extraction.operations import (
    Create,
    Delete,
    ExistingMemory,
    ExtractionInput,
    MemoryType,
    Operation,
    Tombstone,
    Update,
)

from support.extraction import TUESDAY, applied, memory, turn

DAY = 86400.0


def told(
    *texts: str,
    memories: tuple[ExistingMemory, ...] = (),
    start: float = TUESDAY,
    step: float = DAY,
) -> tuple[ExistingMemory, ...]:
    """Return what is kept after each text was said in a session of its own."""
    for number, text in enumerate(texts):
        at = start + number * step
        given = ExtractionInput(
            turns=(turn(text, uuid=f"u{number}", session=f"s{number}", at=at),), memories=memories
        )
        verdict = check(given, propose(given))
        assert verdict.rejected == []
        memories = applied(memories, verdict.accepted, at=at + 60)
        again = ExtractionInput(turns=given.turns, memories=memories)
        assert propose(again) == [], f"{text!r} is proposed again"
    return memories


def batch(*texts: str, memories: tuple[ExistingMemory, ...] = ()) -> list[Operation]:
    """Return what several prompts yield that are looked at together."""
    turns = tuple(turn(text, uuid=f"u{n}", at=TUESDAY + 60 * n) for n, text in enumerate(texts))
    return propose(ExtractionInput(turns=turns, memories=memories))


def test_the_same_fact_in_twenty_sessions_is_one_memory() -> None:
    ways = (
        "We use uv, not pip.",
        "use uv instead of pip",
        "remember: use uv, not pip",
        "从现在开始用 uv，不要用 pip",
        "From now on use uv instead of pip.",
    )
    kept = told(*(ways * 4))
    assert [one.name for one in kept] == ["python-package-manager"]
    assert kept[0].body.count("uv") == 1


def test_the_same_fact_twice_in_a_batch_is_one_operation() -> None:
    assert len(batch("We use uv, not pip.", "Remember: we use uv, not pip.")) == 1


@pytest.mark.parametrize(
    ("first", "second", "name", "now", "until"),
    [
        (
            "Remember that the ledger database listens on port 7001.",
            "No, we moved the ledger database to port 7002.",
            "ledger-database-port",
            "We moved the ledger database to port 7002.",
            "The ledger database listens on port 7001.",
        ),
        (
            "Remember that the ledger database listens on port 7001.",
            "Remember that the ledger database listens on port 7003.",
            "ledger-database-port",
            "The ledger database listens on port 7003.",
            "The ledger database listens on port 7001.",
        ),
        (
            "We use uv, not pip.",
            "Use poetry instead of uv.",
            "python-package-manager",
            "Use poetry instead of uv.",
            "We use uv, not pip.",
        ),
        (
            "remember we use npm",
            "we moved to bun",
            "js-package-manager",
            "We moved to bun.",
            "We use npm.",
        ),
        ("I like tabs", "I hate tabs", "user-indentation", "The user hates tabs.", "likes tabs."),
        (
            "Always reindex before importing",
            "Never reindex before importing",
            "reindex-importing",
            "Never reindex before importing.",
            "Always reindex before importing.",
        ),
        (
            "The beta is due on Friday.",
            "The beta was moved to December 20.",
            "beta",
            "The beta was moved to 2026-12-20.",
            "The beta is due on 2026-12-04 (Friday).",
        ),
        (
            "our wiki is at https://wiki.orchard.example/a",
            "actually our wiki is at https://wiki.orchard.example/b",
            "wiki",
            "Our wiki is at https://wiki.orchard.example/b",
            "Our wiki is at https://wiki.orchard.example/a",
        ),
        ("I'm a designer.", "No, I'm the tech lead now.", "user-role", "tech lead.", "designer."),
        ("记住：测试库端口是 5433", "不对，测试库端口是 5544", "tests-port", "5544", "5433"),
        ("以后用 npm", "改用 pnpm", "js-package-manager", "改用 pnpm。", "npm"),
    ],
)
def test_a_newer_statement_replaces_the_older_which_is_kept_as_past(
    first: str, second: str, name: str, now: str, until: str
) -> None:
    kept = told(first, second)
    assert [one.name for one in kept] == [name]
    assert now in kept[0].description
    body, _, past = kept[0].body.partition("Until 2026-12-02: ")
    assert now in body
    assert until in past


def test_the_old_reason_goes_with_the_old_statement() -> None:
    (kept,) = told(
        "Use uv instead of pip, because CI installs from uv.lock.", "Use poetry instead of uv."
    )
    assert "CI installs" not in kept.body
    assert "**Why:** stated by the person on 2026-12-02." in kept.body


def test_two_contradictions_in_a_batch_are_one_operation() -> None:
    (made,) = batch("We use uv, not pip.", "No, use poetry, not uv.")
    assert isinstance(made, Create)
    assert made.description == "Use poetry, not uv."
    assert "Until 2026-12-01: We use uv, not pip." in made.body
    assert {one.uuid for one in made.evidence} == {"u0", "u1"}


def test_an_old_statement_read_late_does_not_replace_a_newer_one() -> None:
    kept = told("Remember that the ledger database listens on port 7002.")
    late = turn(
        "Remember that the ledger database listens on port 7001.", at=TUESDAY - 5 * DAY, uuid="old"
    )
    assert propose(ExtractionInput(turns=(late,), memories=kept)) == []


def test_what_was_replaced_can_come_back() -> None:
    kept = told(
        "Remember that the ledger database listens on port 7001.",
        "No, the ledger database listens on port 7002 now.",
        "No, the ledger database listens on port 7001 now.",
    )
    assert kept[0].description == "The ledger database listens on port 7001."
    assert kept[0].body.count("Until") == 1


def test_former_statements_are_bounded() -> None:
    kept = told(
        *(f"Remember that the ledger database listens on port {7000 + n}." for n in range(30))
    )
    assert len(kept) == 1
    assert kept[0].body.count("Until ") == 5


def test_a_neighbour_is_left_alone() -> None:
    kept = told(
        "Remember that the ledger database listens on port 7001.",
        "Remember that the ledger cache listens on port 7100.",
        "Remember that the orders database listens on port 7200.",
    )
    assert len(kept) == 3
    assert not any("Until" in one.body for one in kept)


def test_a_memory_by_a_person_is_updated_in_place() -> None:
    theirs = memory(
        "db",
        "# Databases\n\n- The ledger database listens on port 7001.\n- Backups run at night.\n",
        description="Databases of the project",
    )
    (made,) = batch("No, the ledger database listens on port 7002 now.", memories=(theirs,))
    assert isinstance(made, Update)
    assert made.name == "db"
    assert made.description == "Databases of the project"
    assert "- The ledger database listens on port 7002.\n- Backups run at night." in made.body
    assert "Until 2026-12-01: The ledger database listens on port 7001." in made.body


def test_a_memory_by_the_client_that_says_it_already_is_enough() -> None:
    theirs = memory(
        "project_package_manager",
        "The project uses pnpm and not npm for everything.\n\n**Why:** workspaces.",
        description="Package manager of the project",
        type=None,
    )
    assert batch("We use pnpm, not npm.", memories=(theirs,)) == []


@pytest.mark.parametrize(
    ("query", "gone"),
    [
        ("forget the ledger database port", "ledger-database-port"),
        ("Please forget about Linear", "issue-tracker"),
        ("forget that the ledger database listens on port 7001", "ledger-database-port"),
        ("Remove the memory about the wiki", "wiki"),
        ("forget issue-tracker", "issue-tracker"),
        ("忘记 wiki 的地址", "wiki"),
    ],
)
def test_forgetting_removes_the_one_that_is_meant(query: str, gone: str) -> None:
    kept = told(
        "Remember that the ledger database listens on port 7001.",
        "no, we moved to Linear",
        "our wiki is at https://wiki.orchard.example",
    )
    (made,) = batch(query, memories=kept)
    assert isinstance(made, Delete)
    assert (made.name, made.explicit) == (gone, True)


def test_forgetting_never_guesses() -> None:
    kept = told(
        "Remember that the ledger database listens on port 7001.",
        "Remember that the orders database listens on port 7002.",
    )
    request = ExtractionInput(turns=(turn("forget the database port"),), memories=kept)
    findings = examine(request)
    assert findings.operations == []
    assert findings.ambiguous[0].names == ("ledger-database-port", "orders-database-port")
    assert batch("forget the lunch menu", memories=kept) == []
    (refused,) = check(request, propose(request)).rejected
    assert refused.reason == (
        "several memories may be meant: ledger-database-port, orders-database-port"
    )


@pytest.mark.parametrize(
    ("before", "correction", "now"),
    [
        ("Use pnpm, not npm.", "we use npm now, not pnpm", "We use npm, not pnpm."),
        ("Use pnpm, not npm.", "don't use pnpm any more", "Don't use pnpm any more."),
        ("Use pnpm, not npm.", "不用 pnpm 了，改回 npm", "不用 pnpm 了，改回 npm。"),
        (
            "I'm a data scientist.",
            "I'm not a data scientist anymore, I'm a product manager now",
            "The user is a product manager.",
        ),
        (
            "Remember that the ledger database listens on port 7001.",
            "the ledger database port changed to 7003",
            "The ledger database port changed to 7003.",
        ),
        (
            "The release is due on Friday.",
            "release slipped to December 11",
            "Release slipped to 2026-12-11.",
        ),
        ("记住：测试库端口是 5433", "不对，测试库端口应该是 5434", "测试库端口应该是 5434。"),
    ],
)
def test_a_correction_replaces(before: str, correction: str, now: str) -> None:
    kept = told(before)
    (made,) = batch(correction, memories=kept)
    assert isinstance(made, Update)
    assert made.description == now
    assert f"Until 2026-12-01: {kept[0].description}" in made.body


@pytest.mark.parametrize(
    "text",
    ["that's wrong, it's 7003", "不对，应该是 7003", "forget all of that", "forget everything"],
)
def test_what_names_nothing_changes_nothing(text: str) -> None:
    kept = told("Remember that the ledger database listens on port 7001.")
    assert batch(text, memories=kept) == []


def test_unlike_facts_of_one_form_do_not_replace_each_other() -> None:
    kept = told("We dropped support for Node 16.", "we dropped support for Python 3.8")
    assert len(kept) == 2


def test_remembered_and_forgotten_in_one_batch_is_nothing() -> None:
    assert batch("Remember that the QA host is qa1.", "Forget the QA host.") == []


def test_what_was_forgotten_is_not_learned_again_from_the_same_record() -> None:
    text = "Remember that the QA host is qa1."
    grave = Tombstone(evidence="u1", fingerprint="", at=TUESDAY)
    given = ExtractionInput(turns=(turn(text, uuid="u1"),), memories=(), tombstones=(grave,))
    assert propose(given) == []


@pytest.mark.parametrize(("said_at", "learned"), [(TUESDAY - DAY, 0), (TUESDAY + DAY, 1)])
def test_what_was_forgotten_is_learned_only_from_a_newer_statement(
    said_at: float, learned: int
) -> None:
    (kept,) = told("Remember that the QA host is qa1.", start=TUESDAY - 9 * DAY)
    grave = Tombstone(
        evidence=None, fingerprint=fingerprint(f"{kept.description}\n{kept.body}"), at=TUESDAY
    )
    again = turn("remember that the QA host is qa1", uuid="u9", at=said_at)
    made = propose(ExtractionInput(turns=(again,), memories=(), tombstones=(grave,)))
    assert len(made) == learned


def test_memories_of_the_person_and_of_the_project_do_not_mix() -> None:
    kept = told("I'm the release manager.", "Remember that the release manager is Ada.")
    assert {one.type for one in kept} == {MemoryType.USER, MemoryType.PROJECT}


def test_a_description_does_not_keep_what_the_body_no_longer_says() -> None:
    theirs = memory(
        "ledger",
        "The ledger database listens on port 7001.\nIt is written in C.\n"
        "- The ledger database listens on port 7001 in every region.",
        description="Ledger database on port 7001",
    )
    (made,) = batch("No, the ledger database listens on port 7002 now.", memories=(theirs,))
    assert isinstance(made, Update)
    assert made.description == "The ledger database listens on port 7002."
    now, _, until = made.body.partition("Until")
    assert "7001" not in now
    assert "It is written in C." in now
    assert "7001" in until
