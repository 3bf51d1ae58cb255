"""Caps and gate of what is given."""

from memoryd.recall.ranker import Note, Ranker
from memoryd.recall.selection import BEST_BEYOND, NEWEST, SESSION_BYTES, Manifest, select

QUERY = "kafka retention policy"


def collection(
    count: int, body: str = "the kafka retention policy"
) -> tuple[Ranker, list[Manifest]]:
    ranker, manifest = Ranker(), []
    for i in range(count):
        key = f"n{i:04}"
        ranker.put(Note(key, "", "", "", body))
        manifest.append(Manifest(key, key, "project", "", mtime=float(i)))
    return ranker, manifest


def unrelated(ranker: Ranker, manifest: list[Manifest], count: int = 60) -> None:
    for i in range(count):
        ranker.put(Note(f"other{i}", "", "", "", "something about the weather"))
        manifest.append(Manifest(f"other{i}", "", None, "", mtime=0.0))


def test_at_most_five_and_none_twice() -> None:
    ranker, manifest = collection(12)
    unrelated(ranker, manifest)
    first = {hit.key for hit in select(QUERY, manifest, ranker)}
    second = {hit.key for hit in select(QUERY, manifest, ranker, already_given=first)}
    assert len(first) == len(second) == 5
    assert not first & second


def test_a_limit_lifts_caps_and_gate() -> None:
    ranker, manifest = collection(12)
    assert len(select(QUERY, manifest, ranker, limit=9, given_bytes=SESSION_BYTES)) == 9
    assert select("kafka of the weather in spring and autumn", manifest, ranker) == []
    assert len(select("kafka of the weather in spring and autumn", manifest, ranker, limit=3)) == 3
    assert select(QUERY, manifest, ranker, limit=0) == []


def test_after_sixty_kilobytes_nothing_more() -> None:
    ranker, manifest = collection(3)
    assert select(QUERY, manifest, ranker, given_bytes=SESSION_BYTES - 1)
    assert select(QUERY, manifest, ranker, given_bytes=SESSION_BYTES) == []


def test_an_old_memory_is_found_beyond_the_newest() -> None:
    ranker, manifest = collection(NEWEST + 50, body="something about the weather")
    ranker.put(Note("old", "", "", "", "the kafka retention policy is a week"))
    manifest.append(Manifest("old", "old", None, "", mtime=-1.0))
    assert [hit.key for hit in select(QUERY, manifest, ranker)] == ["old"]


def test_of_the_older_ones_only_the_best_are_candidates() -> None:
    ranker, manifest = collection(NEWEST, body="something about the weather")
    for i in range(BEST_BEYOND + 5):
        ranker.put(Note(f"old{i:02}", "", "", "", "the kafka retention policy"))
        manifest.append(Manifest(f"old{i:02}", "", None, "", mtime=-1.0))
    given = {f"old{i:02}" for i in range(BEST_BEYOND)}
    assert select(QUERY, manifest, ranker, already_given=given) == []
    given.remove("old07")
    assert [hit.key for hit in select(QUERY, manifest, ranker, already_given=given)] == ["old07"]


def test_only_what_the_manifest_names_is_given() -> None:
    ranker, manifest = collection(8)
    assert {hit.key for hit in select(QUERY, manifest[:2], ranker)} == {"n0000", "n0001"}
    assert select(QUERY, [], ranker) == []
