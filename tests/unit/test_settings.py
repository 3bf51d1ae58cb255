from __future__ import annotations

from pathlib import Path

import pytest
from memoryd.errors import ConfigError
from memoryd.settings import DEFAULT, KEYS, Settings, Source, load, read

HOME = Path("/home/me")


def loaded(
    user: str = "", *, system: str | None = None, environ: dict[str, str] | None = None
) -> Settings:
    return load(
        None if system is None else Source("/etc/memoryd/config.toml", system),
        Source("/home/me/.config/memoryd/config.toml", user),
        environ or {},
        home=HOME,
    )


def refusal(user: str = "", **sources: object) -> str:
    with pytest.raises(ConfigError) as caught:
        loaded(user, **sources)  # type: ignore[arg-type] # as given by the tests below
    return str(caught.value)


def test_defaults_and_their_origin() -> None:
    settings = load(None, None, {}, home=HOME)
    assert settings.values() == {name: key.default for name, key in KEYS.items()}
    assert set(settings.origins.values()) == {DEFAULT}
    assert settings.provider == "offline"


def test_later_sources_win_and_are_named() -> None:
    settings = loaded(
        "drain_s = 5\n[recall]\nmax_memories = 3\n",
        system="drain_s = 1\n[extract]\ndebounce_s = 2\n[recall]\nmax_memories = 2\n",
        environ={"MEMORYD_RECALL_MAX_MEMORIES": "4"},
    )
    assert (settings.drain_s, settings.origins["drain_s"]) == (
        5.0,
        "/home/me/.config/memoryd/config.toml",
    )
    assert (settings.extract.debounce_s, settings.origins["extract.debounce_s"]) == (
        2.0,
        "/etc/memoryd/config.toml",
    )
    assert (settings.recall.max_memories, settings.origins["recall.max_memories"]) == (
        4,
        "$MEMORYD_RECALL_MAX_MEMORIES",
    )


@pytest.mark.parametrize("locked", ['["recall.max_memories"]', '["recall"]'])
def test_locked_keys_beat_every_later_source(locked: str) -> None:
    settings = loaded(
        '[recall]\nmax_memories = 3\n[projects."/p"]\nrecall.max_memories = 9\n',
        system=f"locked = {locked}\n[recall]\nmax_memories = 2\n",
        environ={"MEMORYD_RECALL_MAX_MEMORIES": "4"},
    )
    assert settings.recall.max_memories == 2
    assert settings.for_project(Path("/p")).recall.max_memories == 2
    assert settings.locked == {"recall.max_memories"}


def test_a_locked_key_that_nobody_sets_stays_at_its_default() -> None:
    settings = loaded("drain_s = 5", system='locked = ["drain_s"]')
    assert settings.drain_s == KEYS["drain_s"].default


def test_project_tables_hold_for_the_project_and_below() -> None:
    settings = loaded(
        '[projects."/src/shop"]\nrecall.max_memories = 1\n'
        '[projects."~/notes"]\nrecall.max_memories = 0\n'
        '[projects."/src/shop/vendor"]\nrecall.max_memories = 7\n'
    )
    assert settings.recall.max_memories == 5
    assert settings.for_project(Path("/src/shop/app")).recall.max_memories == 1
    assert settings.for_project(Path("/src/shop/vendor/x")).recall.max_memories == 7
    assert settings.for_project(Path("/src/shopping")).recall.max_memories == 5
    notes = settings.for_project(HOME / "notes")
    assert notes.recall.max_memories == 0
    assert notes.origins["recall.max_memories"] == "/home/me/.config/memoryd/config.toml"


def test_the_environment_beats_project_tables() -> None:
    settings = loaded(
        '[projects."/p"]\nrecall.max_memories = 1\n', environ={"MEMORYD_RECALL_MAX_MEMORIES": "4"}
    )
    assert settings.for_project(Path("/p")).recall.max_memories == 4


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("provder = 'offline'", ["'provder'", "did you mean 'provider'?"]),
        ("[extract]\ndebounce = 3", ["'extract.debounce'", "'extract.debounce_s'"]),
        ("max_memories = 3", ["'max_memories'", "'recall.max_memories'"]),
        ("[memry]\nalways = true", ["'memry'", "did you mean"]),
        ("[zzz]\nqqq = 1", ["unknown key 'zzz'"]),
        ("provider = 'anthropic'", ["provider = 'anthropic'", "available: offline"]),
        ("provider = 3", ["provider = 3"]),
        ("drain_s = 'soon'", ["drain_s", "number of seconds from 0 to 300"]),
        ("drain_s = true", ["drain_s"]),
        ("drain_s = -1", ["drain_s"]),
        ("drain_s = nan", ["drain_s"]),
        ("[recall]\nmax_memories = 2.5", ["recall.max_memories"]),
        ("[log]\nlevel = 'loud'", ["debug, info, warning, error"]),
        ("extract = 3", ["unknown key 'extract'"]),
        ("[memory]\nalways = 'perhaps'", ["true or false"]),
        ("database_url = 'mysql://x'", ["sqlite"]),
        ("[extract]\ndebounce_s = 90", ["deadline_s (60) is less than"]),
        ("locked = ['provider']", ["only the system's file may lock"]),
        ('[projects."/p"]\nprovider = "offline"', ["'provider' cannot be set for one project"]),
        ('[projects."p"]\nrecall.max_memories = 1', ["'p' is no absolute path"]),
        ('[projects]\n"/p" = 3', ["no table"]),
        ("projects = 3", ['[projects."/path"]']),
        ("a = = b", ["line 1"]),
        ("exclude = 3", ["list of directories"]),
        ("exclude = [3]", ["list of directories"]),
        ("exclude = ['client/**']", ["each begins with / or ~/ or **/"]),
    ],
)
def test_mistakes_are_refused_with_file_and_key(text: str, parts: list[str]) -> None:
    message = refusal(text)
    for part in parts:
        assert part in message
    if "deadline_s (60)" not in message:
        assert "/home/me/.config/memoryd/config.toml" in message


def test_exclusions_are_a_list_or_words_between_colons() -> None:
    assert loaded("exclude = ['~/a/**', '**/b']").exclude == ("~/a/**", "**/b")
    assert loaded(environ={"MEMORYD_EXCLUDE": "/a::~/b"}).exclude == ("/a", "~/b")
    fixed = loaded("exclude = []", system="exclude = ['/a']\nlocked = ['exclude']")
    assert fixed.exclude == ("/a",)


def test_mistakes_in_locked_and_in_the_environment() -> None:
    assert "did you mean 'provider'?" in refusal(system="locked = ['provder']")
    assert "must be a list" in refusal(system="locked = 'provider'")
    assert "$MEMORYD_DRAIN_S = 'x'" in refusal(environ={"MEMORYD_DRAIN_S": "x"})
    message = refusal(environ={"MEMORYD_DATABASE_URL": "mysql://me:planted@host"})
    assert "planted" not in message


def test_variables_that_look_like_settings_are_warned_about() -> None:
    settings = loaded(
        environ={
            "MEMORYD_PROVIDR": "offline",
            "MEMORYD_STATE_DIR": "/s",
            "MEMORYD_SOMETHING_OF_OTHERS": "1",
        }
    )
    assert settings.warnings == (
        "the environment sets MEMORYD_PROVIDR; did you mean MEMORYD_PROVIDER?",
    )


def test_threat_16_repr_shows_no_password() -> None:
    settings = loaded("database_url = 'postgresql://me:planted@host/db'")
    assert settings.database_url.endswith("@host/db")
    assert "planted" not in repr(settings)


def test_reading_files(tmp_path: Path) -> None:
    missing = tmp_path / "none" / "config.toml"
    settings = read(missing, {}, home=tmp_path, system_file=missing)
    assert set(settings.origins.values()) == {DEFAULT}

    user = tmp_path / "config.toml"
    user.write_text("drain_s = 3\n")
    assert read(user, {}, home=tmp_path, system_file=missing).origins["drain_s"] == str(user)

    user.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read(user, {}, home=tmp_path, system_file=missing)
    with pytest.raises(ConfigError, match="cannot be read"):
        read(tmp_path, {}, home=tmp_path, system_file=missing)
