"""The full-text index on a real file."""

import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memoryd.clock import ManualClock
from memoryd.search import Entry, TextIndex
from memoryd.search.index import Role

TEXTS = {
    "pool": "The connection pool was exhausted because the retry loop never closed its sessions.",
    "retry": "We agreed to retry uploads three times.",
    "long": "filler " * 300 + "the exhausted connection pool again " + "filler " * 300,
    "ident": "Rename max_retry_count in src/net/pool-manager.py please.",
    "chinese": "数据库迁移必须在周五之前完成,请不要忘记备份。",
    "korean": "데이터베이스를 옮기기 전에 백업하세요",
    "accent": "Le café de la résumé",
    "hindi": "डेटाबेस का बैकअप लें",
}


def entry(
    uuid: str, text: str, *, file: str = "/a.jsonl", project: str = "/p", role: Role = "human"
) -> Entry:
    return Entry(
        file=file, start=0, session="s", project=project, uuid=uuid, at=10.0, role=role, text=text
    )


@pytest.fixture
def index(tmp_path: Path) -> Iterator[TextIndex]:
    index = TextIndex(tmp_path / "text.db", clock=ManualClock())
    index.add_batch([entry(name, text) for name, text in TEXTS.items()], {"/a.jsonl": 500})
    yield index
    index.close()


def found(index: TextIndex, query: str) -> list[str]:
    return [hit.uuid for hit in index.search(query, project=None)]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("exhausted pools", {"pool", "long", "ident"}),
        ("why did the retries happen", {"pool", "retry", "ident"}),
        ("max_retry_count", {"ident", "retry", "pool"}),
        ("pool-manager.py", {"ident", "pool", "long"}),
        ("数据库", {"chinese"}),
        ("备份 数据", {"chinese"}),
        ("份", {"chinese"}),
        ("백업", {"korean"}),
        ("cafe resume", {"accent"}),
        ("बैकअप", {"hindi"}),
        ("nothingness", set()),
        ("", set()),
        ("  \n", set()),
        ("!?* \"' ()", set()),
    ],
)
def test_words_find_entries(index: TextIndex, query: str, names: set[str]) -> None:
    assert set(found(index, query)) == names


def test_stop_words_alone_still_find(index: TextIndex) -> None:
    assert "pool" in found(index, "the")


def test_all_words_and_words_in_a_row_come_first(index: TextIndex) -> None:
    index.add_batch(
        [
            entry(
                "apart", "The cache is cold; later the warm path fills it, so warm is not cache."
            ),
            entry("row", "Please use the warm cache when the machine starts, it matters to us."),
            entry("one", "A warm welcome, warm bread and a warm day to all of you here."),
        ],
        {},
    )
    assert found(index, "warm cache")[0] == "row"
    scores = [hit.score for hit in index.search("warm cache", project=None)]
    assert scores == sorted(scores, reverse=True)
    assert found(index, "warm cache")[-1] == "one"


def test_a_hit_says_where_it_is(index: TextIndex) -> None:
    (hit,) = index.search("周五", project=None)
    assert (hit.session, hit.project, hit.uuid, hit.timestamp, hit.role) == (
        "s",
        "/p",
        "chinese",
        10.0,
        "human",
    )


def test_a_snippet_shows_the_matches_on_one_line(index: TextIndex) -> None:
    snippets = {h.uuid: h.snippet for h in index.search("exhausted connection", project=None)}
    assert "exhausted connection pool" in snippets["long"]
    assert snippets["long"].startswith("…")
    assert len(snippets["long"]) <= 202
    assert snippets["pool"].startswith("The connection pool")


def test_the_project_narrows_and_the_limit_cuts(index: TextIndex) -> None:
    index.add_batch([entry(f"q{i}", "retry again", project="/q") for i in range(30)], {})
    assert {hit.project for hit in index.search("retry", project="/q")} == {"/q"}
    assert {hit.project for hit in index.search("retry", project="/p")} == {"/p"}
    assert len(index.search("retry", project=None)) == 20
    assert len(index.search("retry", project=None, limit=3)) == 3
    assert index.search("retry", project=None, limit=0) == []


def test_a_uuid_is_indexed_once(index: TextIndex) -> None:
    index.add_batch([entry("pool", "copied into a fork", file="/b.jsonl")], {"/b.jsonl": 9})
    assert found(index, "fork") == []
    assert index.count() == len(TEXTS)
    assert index.positions() == {"/a.jsonl": 500, "/b.jsonl": 9}


def test_a_batch_is_added_whole_or_not_at_all(index: TextIndex) -> None:
    wrong = entry("x2", "second", role="robot")  # type: ignore[arg-type]
    with pytest.raises(sqlite3.IntegrityError):
        index.add_batch([entry("x1", "firstborn"), wrong], {"/a.jsonl": 900})
    assert found(index, "firstborn") == []
    assert index.indexed_to("/a.jsonl") == 500
    index.add_batch([entry("x1", "firstborn")], {"/a.jsonl": 900})
    assert found(index, "firstborn") == ["x1"]


def test_a_forgotten_file_is_gone_with_its_words(index: TextIndex) -> None:
    index.add_batch([entry("b", "quokka 数据库", file="/b.jsonl")], {"/b.jsonl": 9})
    index.forget_file("/b.jsonl")
    index.forget_file("/unknown.jsonl")
    assert found(index, "quokka") == []
    assert found(index, "数据库") == ["chinese"]
    assert index.indexed_to("/b.jsonl") == 0
    index.add_batch([entry("b", "wombat", file="/b.jsonl")], {"/b.jsonl": 9})
    assert found(index, "quokka") == []
    assert found(index, "wombat") == ["b"]


def test_a_renamed_file_keeps_its_entries(index: TextIndex) -> None:
    index.add_batch([entry("b", "quokka", file="/b.jsonl")], {"/b.jsonl": 9})
    index.rename_file("/a.jsonl", "/b.jsonl")
    index.rename_file("/unknown.jsonl", "/b.jsonl")
    assert index.positions() == {"/b.jsonl": 500}
    assert found(index, "quokka") == []
    assert "pool" in found(index, "pool")


def test_reset_empties(index: TextIndex) -> None:
    index.reset()
    assert (index.count(), index.positions(), found(index, "pool")) == (0, {}, [])
    index.add_batch([entry("pool", "pool again")], {})
    assert found(index, "pool") == ["pool"]


def test_it_answers_after_its_memory_was_given_back(index: TextIndex) -> None:
    index.release()
    assert found(index, "백업") == ["korean"]


def test_it_is_there_after_closing(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    first = TextIndex(path, clock=ManualClock())
    assert first.rebuilt
    first.add_batch([entry("a", "walrus")], {"/a.jsonl": 3})
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}
    first.close()
    second = TextIndex(path, clock=ManualClock())
    assert not second.rebuilt
    assert found(second, "walrus") == ["a"]
    second.close()


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE entries (id)")
    database.close()


def _newer(path: Path) -> None:
    TextIndex(path, clock=ManualClock()).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()


def _torn(path: Path) -> None:
    TextIndex(path, clock=ManualClock()).close()
    path.write_bytes(path.read_bytes()[:3000])


@pytest.mark.parametrize(
    ("spoil", "set_aside"),
    [
        (_foreign, True),
        (_newer, False),
        (_torn, True),
        (lambda path: path.write_text("not a database " * 400), True),
        (lambda path: path.touch(), False),
    ],
    ids=["foreign", "newer", "torn", "text", "empty"],
)
def test_a_file_that_cannot_be_used_is_made_anew(
    tmp_path: Path, spoil: Callable[[Path], object], set_aside: bool
) -> None:
    path = tmp_path / "text.db"
    spoil(path)
    index = TextIndex(path, clock=ManualClock())
    assert index.rebuilt
    assert index.count() == 0
    index.add_batch([entry("a", "walrus")], {})
    assert found(index, "walrus") == ["a"]
    index.close()
    assert bool(list(tmp_path.glob("text.db.damaged-*"))) == set_aside


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=40))
def test_no_query_is_an_error(index: TextIndex, query: str) -> None:
    for text in (query, f'"{query}" AND NEAR({query} OR NOT ^*', f"{query}:x-{query}"):
        index.search(text, project="/p")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60))
def test_any_text_can_be_added_and_forgotten(index: TextIndex, text: str) -> None:
    index.add_batch([entry("any", text, file="/any.jsonl")], {"/any.jsonl": 1})
    index.add_batch([entry("odd", "lone \ud800 and nul \x00 end", file="/any.jsonl")], {})
    index.forget_file("/any.jsonl")
    assert index.count() == len(TEXTS)


def test_others_search_while_one_writes(index: TextIndex) -> None:
    done = threading.Event()
    partial: list[int] = []
    failures: list[Exception] = []

    def read() -> None:
        while not done.is_set():
            try:
                hits = index.search("marmot", project=None, limit=1000)
            except sqlite3.Error as error:
                failures.append(error)
                return
            partial.extend([len(hits)] if len(hits) % 5 else [])

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for batch in range(30):
        index.add_batch([entry(f"m{batch}-{i}", "a marmot") for i in range(5)], {})
    done.set()
    for reader in readers:
        reader.join()
    assert failures == []
    assert partial == []
    assert len(index.search("marmot", project=None, limit=1000)) == 150
