import pytest
from memoryd.extraction.offline.reading import readings
from memoryd.extraction.operations import Create, MemoryType, Update
from memoryd.extraction.remember import Ambiguous, Match, Nothing, forget, from_statement

from support.extraction import TUESDAY, applied, memory


@pytest.mark.parametrize(
    ("text", "kind", "description"),
    [
        ("the ledger is append-only", MemoryType.PROJECT, "The ledger is append-only."),
        (
            "remember that the ledger is append-only",
            MemoryType.PROJECT,
            "The ledger is append-only.",
        ),
        ("I'm the tech lead", MemoryType.USER, "The user is the tech lead."),
        ("never force-push", MemoryType.FEEDBACK, "Never force-push."),
        ("use uv", MemoryType.FEEDBACK, "Use uv."),
        ("tickets are in Jira", MemoryType.REFERENCE, "Tickets are in Jira."),
        ("the launch is next Friday", MemoryType.PROJECT, "The launch is 2026-12-11 (Friday)."),
        ("milk", MemoryType.PROJECT, "Milk."),
        ("should we use uv?", MemoryType.PROJECT, "Should we use uv?"),
        ("发布说明一律用中文写", MemoryType.FEEDBACK, "发布说明一律用中文写。"),
    ],
)
def test_any_text_is_kept_when_asked_for(text: str, kind: MemoryType, description: str) -> None:
    (made,) = from_statement(text, memories=(), at=TUESDAY, uuid="c1")
    assert isinstance(made, Create)
    assert (made.type, made.description, made.explicit) == (kind, description, True)
    assert made.evidence[0].session == "cli"


def test_the_type_can_be_said() -> None:
    (made,) = from_statement(
        "the ledger is append-only",
        type=MemoryType.REFERENCE,
        memories=(),
        at=TUESDAY,
        uuid="c1",
    )
    assert isinstance(made, Create)
    assert made.type is MemoryType.REFERENCE


def test_the_same_text_again_is_nothing_and_a_correction_is_an_update() -> None:
    kept = applied((), from_statement("the QA port is 81", memories=(), at=TUESDAY, uuid="c1"))
    assert from_statement("the QA port is 81", memories=kept, at=TUESDAY + 99, uuid="c2") == []
    (made,) = from_statement("the QA port is 82", memories=kept, at=TUESDAY + 99, uuid="c3")
    assert isinstance(made, Update)
    assert made.name == "qa-port"


@pytest.mark.parametrize(
    "text", ["", "   ", "?", "[REDACTED:api-key]", "the key is [REDACTED:api-key]"]
)
def test_nothing_to_say_is_nothing_to_keep(text: str) -> None:
    assert from_statement(text, memories=(), at=TUESDAY, uuid="c1") == []


def test_forgetting_by_name_by_words_or_not_at_all() -> None:
    kept = (
        memory("ledger-port", "The ledger listens on port 7001."),
        memory("orders-port", "The orders service listens on port 7002."),
    )
    assert forget("ledger-port", kept) == Match("ledger-port")
    assert forget("ledger", kept) == Match("ledger-port")
    assert forget("port", kept) == Ambiguous(("ledger-port", "orders-port"))
    assert forget("lunch", kept) == Nothing()
    assert forget("", kept) == Nothing()


def test_questions_in_a_conversation_stay_questions() -> None:
    assert readings("should we use uv?") == []
