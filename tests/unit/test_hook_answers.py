"""What a hook prints."""

import json

import pytest
from memoryd.hooks.answers import MAX_CONTEXT, context, greeting
from memoryd.hooks.events import EventName
from memoryd.transcript.injected import without_injections

TAKES = (
    EventName.SESSION_START,
    EventName.USER_PROMPT_SUBMIT,
    EventName.POST_TOOL_USE,
    EventName.POST_TOOL_BATCH,
)


@pytest.mark.parametrize("name", EventName)
def test_context_is_given_only_where_it_does_no_harm(name: EventName) -> None:
    if name not in TAKES:
        # It would force another turn, or instruct the one who summarises.
        with pytest.raises(ValueError, match=name):
            context(name, "text")
        return
    given = json.loads(context(name, 'a "memory"\n记忆'))
    assert given == {
        "hookSpecificOutput": {"hookEventName": name, "additionalContext": 'a "memory"\n记忆'}
    }


def test_no_text_is_silence() -> None:
    assert context(EventName.STOP, "") == ""
    assert context(EventName.SESSION_START, "") == ""


def test_what_the_client_would_cut_is_refused() -> None:
    assert context(EventName.SESSION_START, "x" * MAX_CONTEXT)
    for text in ("x" * (MAX_CONTEXT + 1), "\U0001f600" * (MAX_CONTEXT // 2 + 1)):
        with pytest.raises(ValueError, match="10000"):
            context(EventName.SESSION_START, text)


def test_a_greeting_counts_and_is_never_taken_for_somebodys_words() -> None:
    assert greeting(0) == ""
    assert "1 memory of" in greeting(1)
    assert "1,234 memories of" in greeting(1234)
    assert len(greeting(12).splitlines()) == 3
    assert without_injections(greeting(12)) == ""
