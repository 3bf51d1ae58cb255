"""The walk over the tree reports exactly what changed."""

from pathlib import Path

import pytest
from memoryd.ingest.scanner import Scanner


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for relative in (
        "-a/s1.jsonl",
        "-a/s2.jsonl",
        "-a/s1/subagents/agent-1.jsonl",
        "-a/s1/subagents/x/agent-2.jsonl",
        "-b/s3.jsonl",
    ):
        path = tmp_path / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}\n")
    (tmp_path / "-a" / "memory").mkdir()
    (tmp_path / "-a" / "memory" / "m.jsonl").write_bytes(b"{}\n")
    (tmp_path / "-c").symlink_to(tmp_path / "-b")
    return tmp_path


ALL = [
    "-a/s1.jsonl",
    "-a/s1/subagents/agent-1.jsonl",
    "-a/s1/subagents/x/agent-2.jsonl",
    "-a/s2.jsonl",
    "-b/s3.jsonl",
]


def test_the_first_walk_reports_everything_and_the_next_nothing(root: Path) -> None:
    scanner = Scanner(str(root))

    assert sorted(scanner.scan().changed) == ALL
    again = scanner.scan()
    assert (again.changed, again.missing, again.files) == ([], [], len(ALL))


def test_appended_deleted_and_vanished_paths_are_reported_once(root: Path) -> None:
    scanner = Scanner(str(root))
    scanner.scan()
    with (root / "-a/s2.jsonl").open("ab") as file:
        file.write(b"{}\n")
    (root / "-a/s1/subagents/x/agent-2.jsonl").unlink()
    (root / "-b").rename(root / "-d")
    scan = scanner.scan()

    assert sorted(scan.changed) == ["-a/s2.jsonl", "-d/s3.jsonl"]
    assert sorted(scan.missing) == ["-a/s1/subagents/x/agent-2.jsonl", "-b/s3.jsonl"]
    assert not scanner.scan().missing


def test_a_part_of_the_tree_can_be_walked_alone(root: Path) -> None:
    scanner = Scanner(str(root))

    assert sorted(scanner.scan_below("-a/s1/subagents/x").changed) == ALL[1:3]
    assert sorted(scanner.scan_below("-a").changed) == [ALL[0], ALL[3]]
    assert scanner.scan_below("-a/memory").changed == []
    assert scanner.scan().changed == ["-b/s3.jsonl"]


def test_a_vanished_session_directory_takes_its_subagents_along(root: Path) -> None:
    scanner = Scanner(str(root))
    scanner.scan()
    (root / "-a/s1").rename(root / "elsewhere")

    assert sorted(scanner.scan().missing) == ALL[1:3]


def test_what_was_read_to_its_end_before_is_not_reported(root: Path) -> None:
    scanner = Scanner(str(root))
    inode = {name: (root / name).stat().st_ino for name in ALL}
    scanner.expect(
        [
            ("-a/s1.jsonl", inode["-a/s1.jsonl"], 3, True),
            ("-a/s2.jsonl", inode["-a/s2.jsonl"], 3, False),
            ("-b/s3.jsonl", inode["-b/s3.jsonl"], 2, True),
            ("-b/gone.jsonl", 1, 3, True),
        ]
    )
    scan = scanner.scan()

    assert sorted(scan.changed) == [*ALL[1:]]
    assert scan.missing == ["-b/gone.jsonl"]
    assert not scanner.scan().changed


def test_a_doubted_file_is_reported_again(root: Path) -> None:
    scanner = Scanner(str(root))
    scanner.scan()
    scanner.doubt("-b/s3.jsonl")

    assert scanner.scan().changed == ["-b/s3.jsonl"]
    scanner.doubt("-b/s3.jsonl")
    scanner.note("-b/s3.jsonl", (root / "-b/s3.jsonl").stat())
    assert scanner.scan().changed == []
