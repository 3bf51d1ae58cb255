"""memoryd's hooks put into the text of any settings file, and taken out again."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.install.hooktext import EVENTS, Marks, find, is_nothing, is_ours, put_in, take_out
from memoryd.install.jsontext import JsonTextError, parse

COMMAND = "/opt/v/bin/python -I -S /opt/v/lib/memoryd/hook.py"
OTHER = "'/home/a b/bin/python' -I -S '/home/a b/memoryd/hook.py'"
GROUP = {"hooks": [{"type": "command", "command": COMMAND, "timeout": 5}]}

texts = st.text(st.characters(codec="utf-8"), max_size=8)
numbers = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts
)
values = st.recursive(
    numbers,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)
foreign_groups = st.one_of(
    values,
    st.builds(
        lambda command, more: {**more, "hooks": [{"type": "command", "command": command}]},
        texts,
        st.dictionaries(texts, numbers, max_size=2),
    ),
)
hooks = st.dictionaries(
    st.one_of(st.sampled_from(EVENTS), texts), st.lists(foreign_groups, max_size=3), max_size=4
)
documents = st.builds(
    lambda members, hooks, at: dict(
        [*members.items()][:at]
        + ([("hooks", hooks)] if hooks is not None else [])
        + [*members.items()][at:]
    ),
    st.dictionaries(texts.filter(lambda key: key != "hooks"), values, max_size=4),
    st.one_of(st.none(), hooks),
    st.integers(0, 4),
)
spaces = st.text(st.sampled_from(" \t\r\n"), max_size=4)


def laid_out(value: Any, draw: Any) -> str:
    """Write JSON with white space of any kind wherever it is allowed."""
    one, two = draw(spaces), draw(spaces)
    if isinstance(value, dict):
        members = [
            f"{draw(spaces)}{json.dumps(key, ensure_ascii=draw(st.booleans()))}"
            f"{draw(spaces)}:{draw(spaces)}{laid_out(item, draw)}{draw(spaces)}"
            for key, item in value.items()
        ]
        return "{" + (",".join(members) or one) + "}"
    if isinstance(value, list):
        items = [f"{draw(spaces)}{laid_out(item, draw)}{draw(spaces)}" for item in value]
        return "[" + (",".join(items) or two) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@st.composite
def settings_files(draw: Any) -> tuple[dict[str, Any], str]:
    document = draw(documents)
    if draw(st.booleans()):
        indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
        text = json.dumps(document, indent=indent)
        if draw(st.booleans()):
            text = text.replace("\n", "\r\n")
    else:
        text = draw(spaces) + laid_out(document, draw) + draw(spaces)
    return document, draw(st.sampled_from(["", "\ufeff"])) + text


def expected(document: dict[str, Any], command: str = COMMAND) -> dict[str, Any]:
    after = copy.deepcopy(document)
    hooks = after.setdefault("hooks", {})
    group = copy.deepcopy(GROUP)
    group["hooks"][0]["command"] = command
    for event in EVENTS:
        hooks.setdefault(event, []).append(group)
    return after


@given(settings_files())
@settings(deadline=None, max_examples=150)
def test_put_in_and_taken_out_any_settings_are_the_same_bytes(
    given_: tuple[dict[str, Any], str],
) -> None:
    document, text = given_
    after, marks = put_in(text, COMMAND, None)
    assert json.loads(after.removeprefix("\ufeff")) == expected(document)
    assert put_in(after, COMMAND, marks) == (after, marks)
    kept = Marks.from_json(json.loads(json.dumps(marks.to_json())))
    assert take_out(after, kept) == text
    assert take_out(text, kept) == text
    moved, later = put_in(after, OTHER, kept)
    assert json.loads(moved.removeprefix("\ufeff")) == expected(document, OTHER)
    assert take_out(moved, later) == text


@given(settings_files(), values, texts)
@settings(deadline=None, max_examples=100)
def test_what_a_person_changed_meanwhile_stays(
    given_: tuple[dict[str, Any], str], added: Any, key: str
) -> None:
    document, text = given_
    after, marks = put_in(text, COMMAND, None)
    edited = json.loads(after.removeprefix("\ufeff"))
    theirs = {"matcher": "mine", "hooks": [{"type": "command", "command": "mine"}]}
    edited["hooks"]["Stop"].append(theirs)
    if key != "hooks":
        edited[key] = added
    wanted = copy.deepcopy(document)
    wanted.setdefault("hooks", {}).setdefault("Stop", []).append(theirs)
    if key != "hooks":
        wanted[key] = added
    for style in (None, 2):
        left = json.loads(take_out(json.dumps(edited, indent=style), marks))
        assert left == wanted


@given(settings_files())
@settings(deadline=None, max_examples=100)
def test_without_a_note_nothing_of_ours_and_all_of_theirs_is_left(
    given_: tuple[dict[str, Any], str],
) -> None:
    document, text = given_
    left = json.loads(take_out(put_in(text, COMMAND, None)[0], None).removeprefix("\ufeff"))
    # Containers that hold nothing say nothing: without a note nobody knows who made them.
    wanted = copy.deepcopy(document)
    events = wanted.get("hooks", {})
    for event in EVENTS:
        if events.get(event) == []:
            del events[event]
    if events == {}:
        wanted.pop("hooks", None)
    assert left == wanted


@given(st.text(st.characters(codec="utf-8"), max_size=30))
@settings(deadline=None)
def test_a_text_is_accepted_exactly_if_it_is_json(text: str) -> None:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("twice")
        return dict(pairs)

    def strict(_: str) -> None:
        raise ValueError("no JSON")

    try:
        json.loads(text, object_pairs_hook=unique, parse_constant=strict)
    except ValueError:
        with pytest.raises(JsonTextError):
            parse(text)
    else:
        parse(text)


def test_the_layout_of_the_file_is_kept() -> None:
    text = '{\n\t"model": "opus",\n\t"hooks": {\n\t\t"Stop": []\n\t}\n}'
    after, marks = put_in(text, COMMAND, None)
    stop = (
        '\t\t"Stop": [\n\t\t\t{\n\t\t\t\t"hooks": [\n\t\t\t\t\t{\n\t\t\t\t\t\t"type": "command",\n'
    )
    assert after.startswith('{\n\t"model": "opus",\n\t"hooks": {\n' + stop)
    assert after.endswith("\n\t}\n}")
    assert take_out(after, marks) == text
    assert put_in('{"a":1}', COMMAND, None)[0].startswith(
        '{"a":1,"hooks":{"SessionStart":[{"hooks":[{"type":"command",'
    )


@pytest.mark.parametrize("text", ["", "\n", " \r\n\r\n", "\ufeff", "{}", "{}\n", "{ \n }\n"])
def test_files_that_say_nothing(text: str) -> None:
    assert is_nothing(text)
    after, marks = put_in(text, COMMAND, None)
    assert json.loads(after.removeprefix("\ufeff")) == expected({})
    assert take_out(after, marks) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1,}', "line 1, column 9: a key"),
        ('{\n  // mine\n  "a": 1}', "line 2, column 3"),
        ('{"a": 1, "a": 2}', "'a' is there twice"),
        ('{"a": 1} x', "something follows"),
        ("[]", "not a JSON object"),
        ('{"hooks": []}', "hooks are not a JSON object"),
        ('{"hooks": null}', "hooks are not a JSON object"),
        ('{"hooks": {"Stop": {}}}', "'Stop' are not a JSON array"),
        ('{"a": "\n"}', "not well formed"),
        ('{"a": NaN}', "a value is expected"),
        ('{"a": ' + "[" * 500 + "]" * 500 + "}", "nested too deep"),
    ],
)
def test_what_cannot_be_edited_is_refused(text: str, why: str) -> None:
    for edit in (lambda: put_in(text, COMMAND, None), lambda: take_out(text, None)):
        with pytest.raises(JsonTextError, match=why):
            edit()


def test_hooks_of_an_older_installation_are_replaced_in_place_and_doubles_go() -> None:
    ours = {"type": "command", "command": OTHER, "timeout": 9}
    theirs = {"type": "command", "command": "mine"}
    text = json.dumps(
        {
            "hooks": {
                "Stop": [{"hooks": [theirs, ours]}, {"hooks": [ours]}],
                "Notification": [{"hooks": [ours]}],
            }
        }
    )
    after = json.loads(put_in(text, COMMAND, None)[0])
    assert after["hooks"]["Stop"] == [{"hooks": [theirs, {**ours, "command": COMMAND}]}]
    assert set(after["hooks"]) == {*EVENTS}
    assert len(find(json.dumps(after))) == len(EVENTS)
    left = json.loads(take_out(json.dumps(after), None))
    assert left == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


def test_which_commands_are_ours() -> None:
    assert is_ours(COMMAND)
    assert is_ours(OTHER)
    assert is_ours(f"env MEMORYD_STATE_DIR='/a b' {COMMAND}")
    for command in ("", "'", "memoryd", "/x/hook.py", "/x/notmemoryd/hook.py", f"{COMMAND} --x"):
        assert not is_ours(command)
