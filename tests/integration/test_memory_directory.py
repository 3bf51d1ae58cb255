import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from memoryd.errors import MemoryConflict, MemorydError
from memoryd.memory.directory import MemoryDirectory

NOBODY = 65534


@pytest.fixture
def place() -> Iterator[Path]:
    """A memory directory that everybody can reach."""
    with TemporaryDirectory(prefix="memoryd-test-") as parent:
        Path(parent).chmod(0o755)
        directory = Path(parent) / "key" / "memory"
        directory.mkdir(parents=True)
        yield directory


def put(directory: Path, name: str, data: bytes, *, expected: bytes | None = None) -> None:
    with MemoryDirectory.open(directory) as folder:
        assert folder is not None
        folder.write(
            name, data, expected=expected, mtime_ns=None, token="t", on_step=lambda _: None
        )


def as_nobody(act: Callable[[], None]) -> str:
    """Run ``act`` in a process that permission bits bind; return what it raised."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        answer = "nothing"
        try:
            if os.geteuid() == 0:
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
            act()
        except MemorydError as error:
            answer = f"{type(error).__name__}: {error} | {error.hint}"
        finally:
            os.write(writing, answer.encode())
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        return pipe.read().decode()


def give_away(directory: Path) -> None:
    if os.geteuid() == 0:
        os.chown(directory, NOBODY, NOBODY)


def test_a_directory_that_cannot_be_written_is_explained(place: Path) -> None:
    give_away(place)
    place.chmod(0o500)
    outcome = as_nobody(lambda: put(place, "a.md", b"x"))
    assert outcome == (
        f"MemorydError: cannot write at {place / 'a.md'}: Permission denied | "
        "check owner and mode of the directory: it must be yours and writable"
    )
    assert not list(place.iterdir())


def test_a_directory_that_cannot_be_entered_is_explained(place: Path) -> None:
    give_away(place)
    place.chmod(0)
    assert "cannot open the memory directory" in as_nobody(lambda: put(place, "a.md", b"x"))
    place.chmod(0o700)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have a directory of another user")
def test_a_directory_of_another_user_is_refused(place: Path) -> None:
    assert "belongs to another user" in as_nobody(lambda: put(place, "a.md", b"x"))


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(place: Path) -> None:
    (place / "a.md").write_bytes(b"old")
    with pytest.raises(MemoryConflict):
        put(place, "a.md", b"new", expected=b"other")
    with pytest.raises(MemoryConflict):
        put(place, "a.md", b"new", expected=None)
    assert [path.read_bytes() for path in place.iterdir()] == [b"old"]


def test_leftovers_of_dead_writers_are_swept_and_nothing_else(place: Path) -> None:
    (place / ".memoryd-00ff.tmp").write_text("half")
    (place / ".memoryd-notes").write_text("mine")
    (place / ".memoryd-dir.tmp").mkdir()
    (place / ".memoryd-link.tmp").symlink_to("/etc/hostname")
    with MemoryDirectory.open(place) as folder:
        assert folder is not None
        folder.sweep()
    assert sorted(path.name for path in place.iterdir()) == [
        ".memoryd-dir.tmp",
        ".memoryd-link.tmp",
        ".memoryd-notes",
    ]
