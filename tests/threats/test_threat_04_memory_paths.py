"""Path traversal, symbolic links and hard links in memory writes: nothing outside changes."""

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from memoryd.db.engine import Database, sqlite_url
from memoryd.db.schema import metadata
from memoryd.errors import MemorydError, UnsafePath
from memoryd.memory.changes import Remove, Write

from support.memories import Room, write

SECRET = b"outside and precious\n"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside"
    path.mkdir()
    (path / "a.md").write_bytes(SECRET)
    return path


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    database = Database.open(sqlite_url(tmp_path / "memoryd.db"))
    with database.write() as connection:
        metadata.create_all(connection)
    yield Room(tmp_path / "projects" / "-p" / "memory", database)
    database.dispose()


def untouched(outside: Path) -> bool:
    return {p.name: p.read_bytes() for p in outside.iterdir()} == {"a.md": SECRET}


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "a/b",
        "/etc/passwd",
        "a\0b",
        ".",
        "..",
        "",
        ".hidden",
        "x" * 300,
        "‥",
        "a․b",
        "a\nb",
        "A",
        "-a",
        "a b",
        "MEMORY",
        "memory",
        "a\\b",
        "e\u0301",
        "a.md",
    ],
)
def test_names_that_are_none_are_refused(room: Room, tmp_path: Path, name: str) -> None:
    store = room.store()
    before = sorted(p.name for p in tmp_path.rglob("*.md"))
    done = store.apply([write(name)], based_on=store.scan(), actor="extract")
    assert not done.applied
    assert isinstance(done.dropped[0].error, UnsafePath)
    assert sorted(p.name for p in tmp_path.rglob("*.md")) == before


@pytest.mark.parametrize("name", ["../outside/a", "/etc/passwd", "a\0b"])
def test_removing_by_a_path_is_refused(room: Room, outside: Path, name: str) -> None:
    store = room.store()
    done = store.apply([Remove(name=name)], based_on=store.scan(), actor="extract")
    assert isinstance(done.dropped[0].error, UnsafePath)
    assert untouched(outside)


@pytest.mark.parametrize("kind", ["symlink", "dangling", "hardlink", "fifo", "directory"])
def test_what_is_no_plain_file_is_neither_read_nor_replaced(
    room: Room, outside: Path, kind: str
) -> None:
    room.directory.mkdir(parents=True)
    path = room.directory / "a.md"
    match kind:
        case "symlink":
            path.symlink_to(outside / "a.md")
        case "dangling":
            path.symlink_to(outside / "new.md")
        case "hardlink":
            path.hardlink_to(outside / "a.md")
        case "fifo":
            os.mkfifo(path)
        case _:
            path.mkdir()
    store = room.store()
    seen = store.scan()
    assert not seen.topics
    assert len(seen.warnings) == 1
    done = store.apply([write("a"), write("b")], based_on=seen, actor="extract")
    gone = store.apply([Remove(name="a")], based_on=seen, actor="person")
    assert [a.name for a in done.applied] == ["b"]
    assert isinstance(done.dropped[0].error, UnsafePath)
    assert isinstance(gone.dropped[0].error, UnsafePath)
    assert os.path.lexists(path)
    assert untouched(outside)


@pytest.mark.parametrize("kind", ["symlink", "fifo"])
def test_an_index_that_is_no_plain_file_is_left_alone(room: Room, outside: Path, kind: str) -> None:
    room.directory.mkdir(parents=True)
    path = room.directory / "MEMORY.md"
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(outside / "a.md")
    store = room.store()
    done = store.apply([write("b")], based_on=store.scan(), actor="extract")
    assert [a.name for a in done.applied] == ["b"]
    assert any("index was left alone" in warning for warning in done.warnings)
    assert untouched(outside)


@pytest.mark.parametrize("depth", ["memory", "key"])
def test_a_linked_directory_is_refused(room: Room, outside: Path, depth: str) -> None:
    if depth == "memory":
        room.directory.parent.mkdir(parents=True)
        room.directory.symlink_to(outside)
    else:
        (outside.parent / "projects").mkdir()
        (outside / "memory").mkdir()
        room.directory.parent.symlink_to(outside)
    store = room.store()
    for act in (store.scan, store.recover, store.record_external):
        with pytest.raises(UnsafePath):
            act()
    (outside / "memory").rmdir() if depth == "key" else None
    assert untouched(outside)


def test_a_directory_swapped_for_a_link_while_writing_changes_nothing_outside(
    room: Room, outside: Path
) -> None:
    store = room.store()
    store.apply([write("a")], based_on=store.scan(), actor="extract")
    real, parked = room.directory, room.directory.with_name("parked")
    stop = threading.Event()

    def flip() -> None:
        while not stop.is_set():
            # The store may make a directory of its own where it finds none just now.
            for act in (
                lambda: real.rename(parked),
                lambda: real.symlink_to(outside),
                real.unlink,
                lambda: parked.rename(real),
            ):
                with suppress(OSError):
                    act()

    flipper = threading.Thread(target=flip)
    flipper.start()
    try:
        for number in range(200):
            try:
                seen = store.scan()
                store.apply([write("a", f"body {number}")], based_on=seen, actor="extract")
            except MemorydError:
                continue
    finally:
        stop.set()
        flipper.join()
    store.recover()
    assert untouched(outside)


def test_a_file_swapped_for_a_link_while_writing_changes_nothing_outside(
    room: Room, outside: Path
) -> None:
    store = room.store()
    store.apply([write("a")], based_on=store.scan(), actor="extract")
    seen = store.scan()
    path = room.directory / "a.md"

    def swap(step: str) -> None:
        if step == "temporary a.md":
            path.unlink()
            path.symlink_to(outside / "a.md")

    done = room.store(swap).apply([Write(name="a", content=b"new")], based_on=seen, actor="extract")
    assert isinstance(done.dropped[0].error, UnsafePath)
    assert path.is_symlink()
    assert untouched(outside)
