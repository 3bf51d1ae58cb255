import os
from pathlib import Path

import pytest
from memoryd.db.engine import Database
from memoryd.errors import MemoryBusy, MemoryConflict, MemorydError, NotFound
from memoryd.memory.changes import Remove, Write
from memoryd.memory.directory import MemoryDirectory
from memoryd.memory.journal import EXTERNAL, Action, EntryState

from support.memories import ROOT, Killed, Room, said, write


@pytest.fixture
def room(tmp_path: Path, sqlite_database: Database) -> Room:
    return Room(tmp_path / "projects" / "-p" / "memory", sqlite_database)


def files(room: Room) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in room.directory.iterdir()}


def test_a_memory_is_written_indexed_and_journaled(room: Room) -> None:
    store = room.store()
    done = store.apply([write("uses-uv")], based_on=store.scan(), actor="extract")
    assert [(a.name, a.action) for a in done.applied] == [("uses-uv", Action.CREATE)]
    assert room.index == "- [uses-uv](uses-uv.md) — about it\n"
    assert sorted(files(room)) == ["MEMORY.md", "uses-uv.md"]
    assert (room.directory / "uses-uv.md").stat().st_mode & 0o777 == 0o600
    assert room.directory.stat().st_mode & 0o777 == 0o700
    entry = room.journal.get(done.applied[0].id)
    assert entry.state is EntryState.DONE
    assert (entry.before, entry.after) == (None, files(room)["uses-uv.md"])
    assert entry.evidence == said()
    assert entry.project_root == ROOT
    assert entry.after_mtime_ns == (room.directory / "uses-uv.md").stat().st_mtime_ns
    assert done.snapshot == store.scan()


def test_the_same_changes_again_change_nothing(room: Room) -> None:
    store = room.store()
    seen = store.scan()
    store.apply([write("a")], based_on=seen, actor="extract")
    before = {p: p.stat().st_mtime_ns for p in room.directory.iterdir()}
    room.clock.advance(60)
    again = store.apply([write("a")], based_on=seen, actor="extract")
    assert again.unchanged == ("a",)
    assert not again.applied
    assert not again.dropped
    assert {p: p.stat().st_mtime_ns for p in room.directory.iterdir()} == before
    assert len(room.journal.history(str(room.directory), "a")) == 1


def test_an_update_keeps_mode_and_unknown_keys(room: Room) -> None:
    room.directory.mkdir(parents=True)
    path = room.directory / "db_port.md"
    path.write_bytes(b"---\nname: db_port\nmine: 1\ndescription: old\n---\n\nport 1\n")
    path.chmod(0o644)
    store = room.store()
    store.apply([write("db_port", "port 2", "old")], based_on=store.scan(), actor="extract")
    assert "mine: 1\ndescription: old\n" in room.text("db_port")
    assert room.text("db_port").endswith("---\n\nport 2\n")
    assert path.stat().st_mode & 0o777 == 0o644


def test_what_changed_meanwhile_wins_and_the_others_go_on(room: Room) -> None:
    store = room.store()
    store.apply([write("a"), write("b"), write("c")], based_on=store.scan(), actor="extract")
    seen = store.scan()
    (room.directory / "a.md").write_text("mine now\n")
    (room.directory / "b.md").unlink()
    (room.directory / "d.md").write_text("mine too\n")
    done = store.apply(
        [write("a", "x"), write("b", "x"), write("c", "x"), write("d", "x"), write("e")],
        based_on=seen,
        actor="extract",
    )
    assert [a.name for a in done.applied] == ["c", "e"]
    assert [d.name for d in done.dropped] == ["a", "b", "d"]
    assert all(isinstance(d.error, MemoryConflict) for d in done.dropped)
    assert room.text("a") == "mine now\n"
    assert not (room.directory / "b.md").exists()
    assert room.text("d") == "mine too\n"
    last = room.journal.history(str(room.directory), "a")[-1]
    assert (last.state, last.actor) == (EntryState.REJECTED, "extract")
    assert "meanwhile" in last.reason


def test_a_change_between_the_look_and_the_rename_wins(room: Room) -> None:
    store = room.store()
    store.apply([write("a")], based_on=store.scan(), actor="extract")

    def edit(step: str) -> None:
        if step == "temporary a.md":
            (room.directory / "a.md").write_text("theirs\n")

    done = room.store(edit).apply([write("a", "new")], based_on=store.scan(), actor="extract")
    assert [d.name for d in done.dropped] == ["a"]
    assert room.text("a") == "theirs\n"
    assert room.journal.history(str(room.directory), "a")[-1].state is EntryState.ABORTED
    assert not list(room.directory.glob(".memoryd-*"))


def test_a_write_into_the_old_file_after_the_last_look_wins(room: Room) -> None:
    store = room.store()
    store.apply([write("a")], based_on=store.scan(), actor="extract")
    with (room.directory / "a.md").open("ab") as theirs:

        def late(step: str) -> None:
            if step == "renamed a.md":
                theirs.write(b"late words\n")
                theirs.flush()

        done = room.store(late).apply([write("a", "new")], based_on=store.scan(), actor="extract")
    assert [d.name for d in done.dropped] == ["a"]
    assert room.text("a").endswith("body\nlate words\n")


def test_changes_by_others_are_journaled(room: Room) -> None:
    store = room.store()
    store.apply([write("a"), write("b")], based_on=store.scan(), actor="extract")
    original = room.text("a")
    (room.directory / "a.md").write_text(original.replace("body", "their words"))
    (room.directory / "b.md").unlink()
    (room.directory / "c.md").write_text("new\n")
    os.utime(room.directory / "c.md", ns=(5, 5))
    store.record_external()
    found = {e.name: e for e in room.journal.entries(limit=3)}
    assert {n: (e.action, e.actor) for n, e in found.items()} == {
        "a": (Action.UPDATE, EXTERNAL),
        "b": (Action.DELETE, EXTERNAL),
        "c": (Action.CREATE, EXTERNAL),
    }
    assert found["a"].before == original.encode()
    assert found["c"].after_mtime_ns == 5
    count = len(room.journal.entries(limit=100))
    os.utime(room.directory / "c.md", ns=(9, 9))
    store.record_external()
    assert len(room.journal.entries(limit=100)) == count


def test_an_edited_description_moves_memoryds_line_and_no_other(room: Room) -> None:
    room.directory.mkdir(parents=True)
    theirs = "# Mine\n- [A](other.md) — the client's hook\n"
    (room.directory / "MEMORY.md").write_text(theirs)
    (room.directory / "other.md").write_text(
        "---\ndescription: d\nmetadata:\n  node_type: memory\n---\n"
    )
    store = room.store()
    store.apply([write("a")], based_on=store.scan(), actor="extract")
    (room.directory / "a.md").write_text(room.text("a").replace("about it", "their words"))
    store.recover()
    assert room.index == theirs + "- [a](a.md) — their words\n"
    (room.directory / "a.md").unlink()
    store.recover()
    assert room.index == theirs


def test_a_removed_memory_is_in_the_journal_and_comes_back(room: Room) -> None:
    store = room.store()
    store.apply([write("a")], based_on=store.scan(), actor="extract")
    os.utime(room.directory / "a.md", ns=(123_456_789, 123_456_789))
    before = files(room)
    gone = store.apply([Remove(name="a", reason="wrong")], based_on=store.scan(), actor="person")
    assert files(room) == {"MEMORY.md": b""}
    back = store.undo(gone.applied[0].id)
    assert files(room) == before
    assert (room.directory / "a.md").stat().st_mtime_ns == 123_456_789
    assert room.journal.get(back.applied[0].id).undoes == gone.applied[0].id
    again = store.undo(back.applied[0].id)
    assert files(room) == {"MEMORY.md": b""}
    assert again.applied[0].action is Action.DELETE


def test_an_undo_restores_bytes_and_mtime_of_an_update(room: Room) -> None:
    room.directory.mkdir(parents=True)
    path = room.directory / "old.md"
    path.write_bytes(b"---\r\nname: old\r\n---\r\nbody\r\n")
    os.utime(path, ns=(77, 77))
    store = room.store()
    done = store.apply([write("old", "new")], based_on=store.scan(), actor="extract")
    store.undo(done.applied[0].id)
    assert path.read_bytes() == b"---\r\nname: old\r\n---\r\nbody\r\n"
    assert path.stat().st_mtime_ns == 77


def test_an_undo_is_refused_when_the_memory_changed_since(room: Room) -> None:
    store = room.store()
    done = store.apply([write("a")], based_on=store.scan(), actor="extract")
    (room.directory / "a.md").write_text("mine\n")
    with pytest.raises(MemoryConflict, match="changed since"):
        store.undo(done.applied[0].id)
    assert room.text("a") == "mine\n"
    with pytest.raises(NotFound):
        store.undo(4711)
    refused = store.reject("b", action=Action.CREATE, reason="no", actor="extract")
    with pytest.raises(NotFound, match="never made"):
        store.undo(refused)


def test_a_broken_memory_is_seen_and_left_alone(room: Room) -> None:
    room.directory.mkdir(parents=True)
    broken = "---\nname: a\ndescription: d\n\nText.\n"
    (room.directory / "a.md").write_text(broken)
    store = room.store()
    seen = store.scan()
    assert seen.topics["a"].description == "d"
    assert any("not closed" in warning for warning in seen.warnings)
    done = store.apply([write("a", "new"), write("b")], based_on=seen, actor="extract")
    assert [d.name for d in done.dropped] == ["a"]
    assert [a.name for a in done.applied] == ["b"]
    assert room.text("a") == broken


def test_prose_in_the_index_stays_byte_for_byte(room: Room) -> None:
    room.directory.mkdir(parents=True)
    prose = b"# My notes\n\nNever touch \xff this.\n\n- [Site](https://example.org/x.md) - a link"
    (room.directory / "MEMORY.md").write_bytes(prose)
    store = room.store()
    store.apply([write("a")], based_on=store.scan(), actor="extract")
    assert files(room)["MEMORY.md"] == prose + "\n- [a](a.md) — about it\n".encode()
    store.apply([Remove(name="a")], based_on=store.scan(), actor="person")
    assert files(room)["MEMORY.md"] == prose + b"\n"


def test_400_memories_stay_within_the_limits_of_the_index(room: Room) -> None:
    store = room.store()
    for part in range(4):
        room.clock.advance(60)
        changes = [write(f"m-{part}-{i}", description="words " * 50) for i in range(100)]
        store.apply(changes, based_on=store.scan(), actor="extract")
    room.clock.advance(60)
    store.apply([write("newest")], based_on=store.scan(), actor="extract")
    assert len(room.index.encode()) <= 24 * 1024
    assert room.index.count("\n") <= 200
    assert room.index.startswith("- [newest](newest.md)")
    assert len(store.scan().topics) == 401


def test_an_unchanged_file_is_not_read_again(room: Room) -> None:
    store = room.store()
    store.apply([write("a"), write("b")], based_on=store.scan(), actor="extract")
    first = store.scan()
    mtime = (room.directory / "b.md").stat().st_mtime_ns
    (room.directory / "b.md").write_text(room.text("b").replace("body", "BODY"))
    os.utime(room.directory / "b.md", ns=(mtime, mtime))
    second = store.scan(first)
    assert second.topics["a"] is first.topics["a"]
    assert second.topics["b"].body == "BODY"


def test_only_memory_files_of_the_directory_itself_count(room: Room) -> None:
    (room.directory / "logs").mkdir(parents=True)
    (room.directory / "logs" / "note.md").write_text("x")
    for name in (".hidden.md", "note.txt", ".memoryd-00.tmp", "MEMORY.md"):
        (room.directory / name).write_text("x")
    (room.directory / "big.md").write_bytes(b"x" * (1024 * 1024 + 1))
    (room.directory / "Ünïcode name.md").write_text("x")
    seen = room.store().scan()
    assert list(seen.topics) == ["Ünïcode name"]
    assert any("big.md is larger" in warning for warning in seen.warnings)


def test_a_second_writer_is_turned_away(room: Room) -> None:
    store = room.store()
    store.apply([write("a")], based_on=store.scan(), actor="extract")
    with MemoryDirectory.open(room.directory) as folder:
        assert folder is not None
        with folder.lock(), pytest.raises(MemoryBusy):
            store.apply([write("b")], based_on=store.scan(), actor="extract")
    assert "b" not in store.scan().topics


def test_a_missing_directory_is_empty_and_not_made_by_looking(room: Room) -> None:
    store = room.store()
    assert not store.scan().topics
    assert not store.recover().done
    store.record_external()
    store.apply([Remove(name="a")], based_on=store.scan(), actor="person")
    assert not room.directory.exists()


def test_a_file_in_place_of_the_directory_is_explained(room: Room) -> None:
    room.directory.parent.mkdir(parents=True)
    room.directory.write_text("a file\n")
    store = room.store()
    with pytest.raises(MemorydError, match="a symbolic link or a file stands in its place"):
        store.scan()
    assert room.directory.read_text() == "a file\n"


STEPS = (
    "locked",
    "journaled",
    "temporary a.md",
    "renamed a.md",
    "touched a",
    "touched b",
    "temporary c.md",
    "renamed c.md",
    "touched c",
    "index",
    "temporary MEMORY.md",
    "renamed MEMORY.md",
    "committed",
)


def test_every_step_of_a_change_is_stopped_below(room: Room) -> None:
    seen: list[str] = []
    prepare(room)
    store = room.store(seen.append)
    store.apply(group(), based_on=store.scan(), actor="extract")
    assert tuple(seen) == STEPS


def prepare(room: Room) -> None:
    store = room.store()
    store.apply([write("a"), write("b")], based_on=store.scan(), actor="extract")
    room.clock.advance(60)


def group() -> list[Write | Remove]:
    return [write("a", "new", "news"), Remove(name="b"), write("c")]


@pytest.mark.parametrize("step", STEPS)
def test_a_writer_killed_at_any_step_leaves_old_or_new(room: Room, step: str) -> None:
    prepare(room)
    old = files(room)

    def kill(at: str) -> None:
        if at == step:
            raise Killed

    with pytest.raises(Killed):
        room.store(kill).apply(group(), based_on=room.store().scan(), actor="extract")
    store = room.store()
    recovered = store.recover()
    now = files(room)
    assert not room.journal.intents()
    assert not [name for name in now if name.startswith(".")]
    assert now.get("a.md") == old["a.md"] or b"new\n" in now["a.md"]
    assert now.get("b.md") in {None, old["b.md"]}
    names = sorted(recovered.snapshot.topics)
    for name in names:
        line = recovered.snapshot.line_of(name)
        assert f"{line}\n" in room.index
    assert room.index.count("\n") == len(names)
    done = {e.name for e in room.journal.entries(limit=3) if e.id in recovered.done}
    assert all(
        (n in done) == changed
        for n, changed in {
            "a": now["a.md"] != old["a.md"],
            "b": "b.md" not in now,
            "c": "c.md" in now,
        }.items()
    ) or step in {"locked", "committed"}
    again = store.apply(group(), based_on=store.scan(), actor="extract")
    assert not again.dropped
    assert sorted(store.scan().topics) == ["a", "c"]
    assert "news" in room.index
    assert not [e for e in room.journal.entries(limit=50) if e.actor == EXTERNAL]
    held = {e.before for e in room.journal.entries(limit=50)}
    assert {old["a.md"], old["b.md"]} <= held


def test_an_intent_overtaken_by_a_person_is_aborted(room: Room) -> None:
    prepare(room)

    def kill(at: str) -> None:
        if at == "journaled":
            raise Killed

    with pytest.raises(Killed):
        room.store(kill).apply(group(), based_on=room.store().scan(), actor="extract")
    (room.directory / "a.md").write_text("mine\n")
    recovered = room.store().recover()
    assert len(recovered.aborted) == 3
    assert room.text("a") == "mine\n"
    assert room.journal.history(str(room.directory), "a")[-1].actor == EXTERNAL


def test_an_index_that_is_lost_is_made_again(room: Room) -> None:
    prepare(room)
    index = room.index
    (room.directory / "MEMORY.md").unlink()
    room.store().recover()
    assert sorted(room.index.splitlines()) == sorted(index.splitlines())


def test_two_changes_of_one_memory_are_a_mistake(room: Room) -> None:
    store = room.store()
    with pytest.raises(ValueError, match="same memory"):
        store.apply([write("a"), Remove(name="a")], based_on=store.scan(), actor="extract")
