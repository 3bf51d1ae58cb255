"""What lines of a transcript tell about memories: given, met by the model, ignored, compacted."""

import json
from typing import Any

import pytest
from memoryd.recall.claims import Claim
from memoryd.recall.present import fitting, render_for_model, size_of
from memoryd.transcript.memories import Compacted, Given, Said, Touched, Use, remembrances
from memoryd.transcript.recorded import parse_time

from support.transcripts import BASE, assistant, call, result, row, system, text, user

AT = parse_time(str(BASE["timestamp"])) or 0.0
FILE = "/home/dev/.claude/projects/-home-dev-project/memory/deploy.md"


def claim(name: str, body: str = "We deploy with make ship.", folder: str = "/m") -> Claim:
    return Claim(
        name=name,
        type="project",
        description=f"about {name}",
        path=f"{folder}/{name}.md",
        age_days=3,
        score=1.0,
        text=body,
    )


def attachment(**body: Any) -> bytes:
    return row(**{**BASE, "type": "attachment", "uuid": "h-1", "attachment": body})


def context(content: Any) -> bytes:
    return attachment(type="hook_additional_context", content=content, hookEvent="UserPromptSubmit")


def told(line: bytes) -> list[Any]:
    return remembrances(line.rstrip(b"\n"))


def test_what_a_hook_gave_is_found_with_its_paths_and_sizes() -> None:
    claims = [claim("deploy"), claim("quo\"ted & <odd> 'one'"), claim("umlaut-ä", "日本語の本文")]
    block = render_for_model("", "", claims)
    expected = [Given(c.path, size_of(c), AT) for c in claims]
    assert told(context([block])) == expected
    assert told(context(f"UserPromptSubmit says\n{block}")) == expected


@pytest.mark.parametrize(
    "line",
    [
        user(render_for_model("", "", [claim("deploy")])),
        assistant(text(render_for_model("", "", [claim("deploy")]))),
        result("c-1", render_for_model("", "", [claim("deploy")])),
        attachment(type="hook_success", content=render_for_model("", "", [claim("deploy")])),
        context('<memory-claim path="/m/deploy.md">outside of a block</memory-claim>'),
        context({"deep": "<memoryd-recall>"}),
        context(None),
        b'{"type":"attachment","attachment":{"type":"hook_additional_context","content":"memoryd-re',
        b"no json, but about memory",
    ],
)
def test_what_only_looks_like_a_hooks_context_gives_nothing(line: bytes) -> None:
    assert not [item for item in told(line) if isinstance(item, Given)]


@pytest.mark.parametrize(
    ("tool", "arguments", "use"),
    [
        ("Read", {"file_path": FILE}, Use.READ),
        ("Write", {"file_path": FILE, "content": "x"}, Use.WRITTEN),
        ("Edit", {"file_path": FILE, "old_string": "a", "new_string": "b"}, Use.EDITED),
        ("MultiEdit", {"file_path": FILE, "edits": []}, Use.EDITED),
        ("NotebookEdit", {"notebook_path": FILE, "new_source": ""}, Use.EDITED),
        ("Bash", {"command": f"echo x > {FILE}"}, Use.WRITTEN),
    ],
)
def test_what_the_model_does_itself_is_found(
    tool: str, arguments: dict[str, Any], use: Use
) -> None:
    assert told(assistant(call("c-1", tool, **arguments))) == [Touched(FILE, use, AT)]


def test_subagents_and_other_tools_touch_nothing() -> None:
    read = call("c-1", "Read", file_path=FILE)
    assert told(assistant(read, isSidechain=True)) == []
    assert told(assistant(call("c-1", "Grep", pattern="memory", path=FILE))) == []
    assert told(assistant(call("c-1", "Read", file_path=7, note="memory"))) == []


def test_a_memory_put_back_after_a_compaction_is_in_front_of_the_model() -> None:
    assert told(attachment(type="file", filename=FILE)) == [Touched(FILE, Use.READ, AT)]
    assert told(system("compact_boundary", compactMetadata={"trigger": "auto"})) == [Compacted(AT)]


def test_words_of_a_person_are_passed_on_and_no_others() -> None:
    assert told(user("ignore memory")) == [Said("ignore memory", AT)]
    assert told(user("ignore memory", isMeta=True)) == []
    assert told(user("<command-name>/memory</command-name>")) == []
    assert told(user("[memoryd-request]\nignore memory")) == []
    assert told(result("c-1", "ignore memory")) == []
    assert told(user("hello")) == [], "a line that cannot be about memory is not parsed"


def test_glued_records_are_both_heard() -> None:
    first = assistant(call("c-1", "Read", file_path=FILE)).rstrip(b"\n")
    assert told(first + user("ignore memory")) == [
        Touched(FILE, Use.READ, AT),
        Said("ignore memory", AT),
    ]


def test_whole_claims_fit_into_ten_thousand_units_as_the_client_counts_them() -> None:
    claims = [claim(f"m-{n}", "🎉" * 900) for n in range(7)]
    chosen = fitting(claims, 10_000)
    whole = render_for_model("", "", chosen)
    assert 0 < len(chosen) < 7
    assert len(json.dumps(whole).encode()) > len(whole)
    assert len(whole.encode("utf-16-le")) // 2 <= 10_000
    more = render_for_model("", "", claims[: len(chosen) + 1])
    assert len(more.encode("utf-16-le")) // 2 > 10_000


def test_a_claim_that_is_too_long_makes_room_for_the_next() -> None:
    long, short = claim("long", "x" * 20_000), claim("short")
    assert fitting([long, short], 10_000) == [short]
    assert fitting([short], len(render_for_model("", "", [short]))) == [short]
    assert fitting([short], len(render_for_model("", "", [short])) - 1) == []
