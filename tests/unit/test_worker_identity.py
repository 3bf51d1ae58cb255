"""A worker's name tells later whether it still lives."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from memoryd.queue.identity import WorkerName, is_dead


def test_a_name_survives_the_database() -> None:
    name = WorkerName.current("worker-1")
    assert WorkerName.parse(str(name)) == name
    assert name.pid == os.getpid()


def test_text_that_is_no_name_belongs_to_nobody_we_know() -> None:
    for text in ("", "worker-1", "a:b:c:d/e", "host:boot:-1:5/x"):
        assert WorkerName.parse(text) is None
        assert not is_dead(text)


def test_this_process_lives() -> None:
    assert not is_dead(str(WorkerName.current("any")))


def test_an_ended_process_is_dead_and_so_is_its_successor_by_number() -> None:
    me = WorkerName.current("w")
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert is_dead(str(replace(me, pid=child.pid)))
    assert is_dead(str(replace(me, start=me.start + 1)))


def test_an_earlier_boot_is_dead_and_another_machine_is_not_judged() -> None:
    me = WorkerName.current("w")
    assert is_dead(str(replace(me, boot="earlier")))
    assert not is_dead(str(replace(me, host="elsewhere", boot="earlier", pid=1)))


def test_a_command_name_with_parentheses_and_spaces(tmp_path: Path) -> None:
    process = tmp_path / str(os.getpid())
    process.mkdir()
    (process / "stat").write_text(f"{os.getpid()} (a) b (c) S " + " ".join(map(str, range(1, 40))))
    assert WorkerName.current("w", proc=tmp_path).start == 19


def test_without_a_process_table_a_signal_asks(tmp_path: Path) -> None:
    me = WorkerName.current("w", proc=tmp_path)
    assert (me.boot, me.start) == ("", 0)
    assert not is_dead(str(me), proc=tmp_path)
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert is_dead(str(replace(me, pid=child.pid)), proc=tmp_path)
