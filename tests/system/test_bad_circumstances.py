"""What the service says and does where something is not as it should be."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.service import Service

pytestmark = pytest.mark.system

FACT = "Remember that the staging database listens on port 6543."


def session(uuid: str, text: str, cwd: str) -> str:
    """Return the lines of one turn that a person typed, and its end."""
    base = {
        "sessionId": "s", "cwd": cwd, "version": "2.1.332", "isSidechain": False,
        "timestamp": "2026-11-30T10:00:00.000Z",
    }  # fmt: skip
    human = {
        **base, "type": "user", "uuid": uuid, "promptSource": "typed",
        "message": {"role": "user", "content": text},
    }  # fmt: skip
    end = {**base, "type": "system", "subtype": "turn_duration", "uuid": f"{uuid}-end"}
    return f"{json.dumps(human)}\n{json.dumps(end)}\n"


def say(service: Service, text: str = FACT, *, name: str = "one", project: str = "shop") -> Path:
    """Let somebody type ``text`` in a project; return the memory directory of that project."""
    cwd = service.home / project
    cwd.mkdir(exist_ok=True)
    folder = service.projects / f"-somewhere-{project}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.jsonl").open("a") as stream:
        stream.write(session(f"{name}-{project}", text, str(cwd)))
    slug = "".join(char if char.isascii() and char.isalnum() else "-" for char in str(cwd))
    return service.projects / slug / "memory"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path / "home")
    yield made
    made.run("memoryd", "stop")


def warnings(service: Service) -> str:
    return "\n".join(service.json("status")["warnings"])


def test_projects_directory_that_appears_later(service: Service) -> None:
    service.start()
    assert service.json("list", "--all-projects") == []

    memory = say(service)
    service.wait()

    assert [m["name"] for m in service.json("list", cwd=service.home / "shop")]
    assert (memory / "MEMORY.md").read_text().startswith("- [")


def test_wait_returns_although_somebody_always_writes(service: Service) -> None:
    service.projects.mkdir(parents=True)
    service.start()
    say(service, "hello")
    enough = threading.Event()

    def write() -> None:
        number = 0
        while not enough.wait(0.005):
            number += 1
            with (service.projects / "-somewhere-shop/busy.jsonl").open("a") as stream:
                stream.write(session(f"busy-{number}", "And now?", str(service.home / "shop")))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        memory = say(service, name="two")
        service.wait(60)
        assert "6543" in (memory / "MEMORY.md").read_text()
    finally:
        enough.set()
        writer.join()


def test_commands_keep_projects_apart_that_share_a_memory_directory(service: Service) -> None:
    service.start()
    one, other = service.home / "x-y", service.home / "x" / "y"
    for directory in (one, other):
        directory.mkdir(parents=True)
        service.ctl("remember", "Deploys happen on Fridays only.", cwd=directory)
    (mine,) = service.json("list", cwd=one)
    (theirs,) = service.json("list", cwd=other)
    assert mine["name"] != theirs["name"]
    assert Path(mine["path"]).parent == Path(theirs["path"]).parent

    service.ctl("forget", mine["name"], cwd=one)
    assert service.json("list", cwd=one) == []
    assert service.json("list", cwd=other) == [theirs]
    assert service.json("recall", "when do deploys happen", cwd=one)["memories"] == []


def test_second_instance_is_refused(service: Service) -> None:
    service.start()
    again = service.run("memoryd", "start")
    assert again.returncode == 0
    assert "already running" in again.stdout

    other = Service(
        service.home,
        MEMORYD_STATE_DIR=str(service.home / "other-state"),
        MEMORYD_RUNTIME_DIR=str(service.home / "other-run"),
    )
    for arguments in (["start"], ["start", "--foreground"]):
        refused = other.run("memoryd", *arguments, timeout=30)
        assert refused.returncode == 1
        serves = f"memoryd: another memoryd already serves {service.home}/.claude (pid "
        assert f"{serves}{service.pid()}, " in refused.stderr
        assert "memoryd: memoryd:" not in refused.stderr
        assert "see: memoryctl status" in refused.stderr


def test_socket_path_too_long(tmp_path: Path) -> None:
    long = Service(tmp_path / "home", MEMORYD_RUNTIME_DIR=str(tmp_path / ("d" * 120)))

    for arguments in (["start"], ["start", "--foreground"]):
        done = long.run("memoryd", *arguments, timeout=30)
        assert done.returncode == 1
        assert "MEMORYD_RUNTIME_DIR" in done.stderr


def test_memory_index_full_of_prose_and_broken_frontmatter(service: Service) -> None:
    service.projects.mkdir(parents=True)
    service.start()
    memory = say(service, "hello")
    memory.mkdir(parents=True)
    prose = "# My notes\n\nI keep *everything* here.\n- [x](not-there.md) — mine\n\n---\nthe end"
    broken = "---\nname: [unclosed\ndescription: half a file\nNo end of the block\n"
    (memory / "MEMORY.md").write_text(prose)
    (memory / "half.md").write_text(broken)

    say(service, name="two")
    service.wait()

    index = (memory / "MEMORY.md").read_text()
    assert index.startswith(prose)
    assert "6543" in index
    assert (memory / "half.md").read_text() == broken
    names = {m["name"] for m in service.json("list", cwd=service.home / "shop")}
    assert "half" in names
    assert len(names) == 2


def test_memory_directory_that_cannot_be_written_is_waited_for(service: Service) -> None:
    service.projects.mkdir(parents=True)
    service.start()
    memory = say(service, "hello")
    memory.parent.mkdir(parents=True, exist_ok=True)
    memory.write_text("a file stands where the directory should be")

    say(service, name="two")
    service.wait()
    assert str(memory) in warnings(service)
    assert memory.read_text() == "a file stands where the directory should be"

    memory.unlink()
    (job,) = [j for j in service.json("jobs", "list") if j["state"] == "queued"]
    assert "Put off" in service.ctl("jobs", "why", str(job["id"]))


def test_unreadable_project_directory(bound: Service) -> None:
    locked = bound.projects / "-locked"
    locked.mkdir()
    (locked / "one.jsonl").write_text(session("u", FACT, str(bound.home)))
    locked.chmod(0)
    say(bound)
    bound.wait()
    assert str(locked) in warnings(bound)
    assert bound.json("list", cwd=bound.home / "shop")

    locked.chmod(0o700)
    bound.wait()
    assert str(locked) not in warnings(bound)
    assert bound.json("status")["turns"] == 2


def test_read_only_memory_directory(bound: Service) -> None:
    memory = say(bound, "hello")
    memory.mkdir(parents=True)
    memory.chmod(0o500)
    say(bound, name="two")
    bound.wait()
    assert str(memory) in warnings(bound)

    refused = bound.run("memoryctl", "remember", FACT, cwd=bound.home / "shop")
    assert refused.returncode == 1
    assert str(memory) in refused.stderr
    assert list(memory.iterdir()) == []
