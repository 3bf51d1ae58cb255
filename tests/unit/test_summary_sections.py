"""The form and the size of a summary, and who owns which line of it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.context.draft import PINNED, Draft, mark_of
from memoryd.context.excerpt import excerpt
from memoryd.context.limits import OWN_TOKENS, SECTION_TOKENS, TOTAL_TOKENS, fitted
from memoryd.context.record import Record, decode, encode
from memoryd.context.sections import HEADINGS, Section, Summary, parse, render
from memoryd.transcript.tokens import estimate_tokens

LINES = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(["", "# Title", "#  task ##", "# Files & functions", "# Other", "- a — b"]),
    ),
    max_size=8,
)
SUMMARIES = st.dictionaries(st.sampled_from(Section), LINES).map(Summary.of)
LONG = st.builds(
    lambda word, times, lines: [f"{word * times} {n}" for n in range(lines)],
    st.sampled_from(["word ", "9", "ab{}();", "\u8bb0\u5fc6", "\U0001f600"]),
    st.integers(1, 4_000),
    st.integers(0, 40),
)


@settings(deadline=None)
@given(SUMMARIES)
def test_what_is_written_is_read_again(summary: Summary) -> None:
    assert parse(render(summary)) == summary


def test_headings_may_come_as_others_write_them() -> None:
    found = parse(
        "Before.\n# Session Title\nGate\n\n# Worklog #\n- one\n# Files and Functions\n`a.py`\n"
        "# Codebase\nBarn.\n# worklog\n- two\n# Errors & Corrections\nNone yet\n"
    )
    assert {s: found.text(s) for s in Section if found.lines[s]} == {
        Section.TITLE: "Before.\n\nGate",
        Section.FILES: "`a.py`\n# Codebase\nBarn.",
        Section.ERRORS: "None yet",
        Section.WORKLOG: "- one\n\n- two",
    }


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from(Section), LONG), st.sampled_from(["all", "none", "odd"]))
def test_no_summary_is_longer_than_its_limits(lines: dict[Section, list[str]], whose: str) -> None:
    def is_own(_: Section, line: str) -> bool:
        return whose == "all" or (whose == "odd" and line[-1:] in "13579")

    kept = fitted({s: lines.get(s, []) for s in Section}, is_own, pinned=lambda _: False)
    summary = Summary.of(kept)
    assert estimate_tokens(render(summary)) <= TOTAL_TOKENS
    assert all(estimate_tokens(summary.text(section)) <= SECTION_TOKENS for section in Section)


def test_own_lines_alone_never_reach_the_limit_of_all() -> None:
    assert sum(OWN_TOKENS.values()) + 100 <= TOTAL_TOKENS
    assert max(OWN_TOKENS.values()) <= SECTION_TOKENS


def test_the_oldest_of_its_own_lines_go_first_and_the_first_request_stays() -> None:
    draft = Draft.of(parse(""), ())
    draft.put(Section.TASK, PINNED, "Build the gate")
    for number in range(3_000):
        draft.put(Section.TASK, f"request {number}", "please go on with the work on the gate")
    draft.add_other(Section.TASK, "Mind the hinges.")
    summary, own = draft.finish()
    lines = summary.lines[Section.TASK]
    assert lines[0] == f"- {PINNED} — Build the gate"
    assert lines[-1] == "Mind the hinges."
    assert lines[-2].startswith("- request 2999 ")
    assert "- request 5 " not in summary.text(Section.TASK)
    assert len(own) == len(lines) - 1


def test_what_others_wrote_stays_and_own_lines_are_replaced() -> None:
    draft = Draft.of(parse(""), ())
    draft.put(Section.FILES, "`a.py`", "read")
    draft.put(Section.FILES, "`b.py`", "read")
    first, own = draft.finish()
    edited = render(first).replace("- `a.py` — read", "- `a.py` — the heart of it all")
    edited = edited.replace("# Learnings\n", "# Learnings\n\nNever on Fridays.\n- ask Ann\n")

    again = Draft.of(parse(edited), own)
    again.put(Section.FILES, "`a.py`", "edited")
    again.put(Section.FILES, "`b.py`", "edited")
    summary, marks = again.finish()
    assert summary.lines[Section.FILES] == (
        "- `a.py` — the heart of it all",
        "- `a.py` — edited",
        "- `b.py` — edited",
    )
    assert summary.lines[Section.LEARNINGS] == ("Never on Fridays.", "- ask Ann")
    assert marks == {
        mark_of(Section.FILES, "- `a.py` — edited"),
        mark_of(Section.FILES, "- `b.py` — edited"),
    }


def test_lines_written_before_a_crash_are_known_again() -> None:
    draft = Draft.of(parse("# Results\n\n- now — done\n"), ())
    draft.put(Section.RESULTS, "now", "done")
    summary, own = draft.finish()
    assert summary.lines[Section.RESULTS] == ("- now — done",)
    assert own == {mark_of(Section.RESULTS, "- now — done")}


def test_a_title_of_somebody_else_is_kept() -> None:
    draft = Draft.of(parse("# Title\nMine\n"), ())
    draft.title("By rule")
    assert draft.finish()[0].lines[Section.TITLE] == ("Mine",)
    fresh = Draft.of(parse(""), ())
    fresh.title("First")
    fresh.title("Second")
    assert fresh.finish()[0].lines[Section.TITLE] == ("Second",)


def test_secrets_that_somebody_wrote_into_it_are_taken_out() -> None:
    told = "# Learnings\n\npassword = hunter2hunter2 <private>my age</private>\n"
    text = render(Draft.of(parse(told), ()).finish()[0])
    assert "hunter2" not in text
    assert "age" not in text
    assert "password" in text


@settings(deadline=None)
@given(SUMMARIES, st.text(max_size=20), st.integers(0, 2**40), st.booleans())
def test_the_copy_is_read_as_it_was_written(
    summary: Summary, turn: str, through: int, closed: bool
) -> None:
    text = render(summary).encode("utf-8", "replace").decode()
    record = Record(
        session="s-1",
        project="/home/dev/shop -->",
        text=text,
        updated=12.5,
        through=through,
        anchor="00ff",
        turn=turn.encode("utf-8", "replace").decode(),
        closed=closed,
        own=frozenset({"a", "b"}),
    )
    assert decode(encode(record)) == record


def test_what_is_no_copy_is_none() -> None:
    for data in (b"", b"# Title\n", b'\n<!-- memoryd {"session": 3} -->\n', b"\n<!-- memoryd {"):
        assert decode(data) is None


@settings(deadline=None)
@given(SUMMARIES, st.integers(0, 400))
def test_an_excerpt_holds_whole_lines_within_its_room(summary: Summary, most: int) -> None:
    shown = excerpt(summary, most)
    assert len(shown) <= most
    known = {line for lines in summary.lines.values() for line in lines}
    headings = {f"# {name}" for name in HEADINGS.values()}
    assert all(line in known | headings | {""} for line in shown.split("\n"))


def test_an_excerpt_keeps_the_first_request_and_the_newest_lines() -> None:
    summary = Summary.of(
        {
            Section.TASK: [f"- {PINNED} — Build the gate", *(f"- then {n}" for n in range(900))],
            Section.WORKLOG: [f"- day {n}" for n in range(900)],
        }
    )
    shown = excerpt(summary, 1_000)
    assert "Build the gate" in shown
    assert "- then 899" in shown
    assert "- day 899" in shown
    assert "- then 0\n" not in shown
