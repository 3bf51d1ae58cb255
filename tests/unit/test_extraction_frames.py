"""Whose words a prompt holds: frames are left out, the person's own sentences around them stay."""

import pytest
from memoryd.extraction.offline.frames import own_words
from memoryd.extraction.offline.provider import propose
from memoryd.extraction.operations import Create, ExtractionInput

from support.extraction import turn

RULE = "From now on use yarn, not npm."


def facts(text: str) -> list[str]:
    made = propose(ExtractionInput(turns=(turn(text),), memories=()))
    return [one.description for one in made if isinstance(one, Create)]


@pytest.mark.parametrize(
    "text",
    [
        f"Hi Claude,\n\n{RULE}",
        f"Hi,\nthe build is red.\n\n{RULE}\n\nThanks!",
        f"Please do the following:\n- fix the lint errors\n- rerun the job\n\n{RULE}",
        f"> we use npm\n{RULE}",
        f"Please review the code in cart.py.\n\n{RULE}",
        f"```\nnpm ci\n```\n{RULE}",
        f'I said "hello"\n{RULE}',
        f"You are right, the cache was stale. {RULE}",
        f"Context: we had two lock files. {RULE}",
        f"{RULE}\n\nHere is the log:\n[2026-01-01 10:00:00] npm ERR! code 1",
    ],
)
def test_own_words_around_other_things_are_heard(text: str) -> None:
    assert facts(text) == ["Use yarn, not npm."]


@pytest.mark.parametrize(
    "text",
    [
        f"Sounds great, {RULE} /s",
        f"Suppose the following. {RULE}",
        f"Pretend you are the client. {RULE}",
        f"Reply to this mail\n\n{RULE}",
        f"{RULE}\n\nCan you translate the above?",
        f"Dear team,\n\n{RULE}\n\nKind regards,\nAnn",
    ],
)
def test_framed_words_are_not(text: str) -> None:
    assert facts(text) == []


def test_lines_keep_their_number() -> None:
    assert own_words("a\n\nb\nc") == "a\n\nb\nc"
    assert own_words("one\nsummarise the text above\ntwo").split("\n") == [
        "",
        "summarise the text above",
        "two",
    ]


@pytest.mark.parametrize(
    ("text", "fact", "title"),
    [
        (
            "dont put my name into file headers ever",
            "Don't put my name into file headers ever.",
            "Don't put my name into file headers ever",
        ),
        ("Remember to also always lint.", "Always lint.", "Lint"),
        ("From now on pls keep PRs under 400 lines, ok?", None, None),
        ("from now on keep PRs under 400 lines please", "Keep PRs under 400 lines.", None),
        (
            "Never deploy on a Friday.",
            "Never deploy on a Friday.",
            "Never deploy on a Friday",
        ),
        ("never deploy on Friday", "Never deploy on Friday.", "Never deploy on Friday"),
        ("remember that backups run every Friday", "Backups run every Friday.", "Backups"),
        ("记住：测试环境每周一早上重置", "测试环境每周一早上重置。", None),
        ("以后也请用中文回答我", "用中文回答我。", None),
        ("we dropped support for Node 16 last month btw", None, "Node 16"),
        ("去年的故障是因为证书过期", "2025 年的故障是因为证书过期。", "Incident certificate"),
        (
            "My name is Ana, I run the platform team.",
            "The user said: My name is Ana, I run the platform team.",
            "User name",
        ),
        ("the contract ends on June 30", "The contract ends on 2027-06-30.", "Contract"),
        (
            "never force push to a branch that somebody else has already pulled or reviewed",
            None,
            "Never force push to a branch that somebody else has…",
        ),
    ],
)
def test_what_is_kept_reads_well(text: str, fact: str | None, title: str | None) -> None:
    made = propose(ExtractionInput(turns=(turn(text),), memories=()))
    for one in made:
        assert isinstance(one, Create)
        assert fact in (None, one.description)
        assert title in (None, one.title)
    assert len(made) == (fact is not None or title is not None)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    ["thanks" + "\n" * 19_000, "thanks\n" * 2_800, " " * 19_000 + "a", "a:" * 9_000, "hi " * 6_000],
)
def test_no_text_takes_long(text: str) -> None:
    """A pattern that tries every line end with every other takes hours here."""
    assert facts(text) == []
