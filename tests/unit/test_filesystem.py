"""Finding the file system of a path in a mount table."""

from pathlib import Path, PurePosixPath

import pytest
from memoryd.db import filesystem
from memoryd.errors import ConfigError

MOUNTS = """\
/dev/root / ext4 rw,relatime 0 0
tmpfs /run tmpfs rw 0 0
server:/export /home nfs4 rw,vers=4.2 0 0
/dev/sdb1 /home/ann/local\\040disk ext4 rw 0 0
//nas/share /mnt/nas cifs rw 0 0
/dev/sdc1 /mnt/nas ext4 rw 0 0
broken
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/memoryd", "ext4"),
        ("/runfile", "ext4"),
        ("/run/x", "tmpfs"),
        ("/home/ann/.local/state", "nfs4"),
        ("/home/ann/local disk/state", "ext4"),
        ("/mnt/nas/state", "ext4"),
    ],
)
def test_the_deepest_and_latest_mount_counts(path: str, kind: str) -> None:
    assert filesystem.filesystem_type(MOUNTS, PurePosixPath(path)) == kind


def test_an_unlisted_path_has_no_type() -> None:
    assert filesystem.filesystem_type("", PurePosixPath("/x")) is None


@pytest.mark.parametrize(
    ("mount", "path", "kind"),
    [
        ("server:/e /home/ann nfs rw 0 0", "/home/ann/.claude/projects", "nfs"),
        ("//nas/s /home/ann cifs rw 0 0", "/home/ann/.claude/projects", "cifs"),
        ("C: /mnt/c 9p rw 0 0", "/mnt/c/Users/ann/.claude/projects", "9p"),
        ("C: /mnt/c drvfs rw 0 0", "/mnt/c/Users/ann/.claude/projects", "drvfs"),
        ("x /home/ann fuse.gocryptfs rw 0 0", "/home/ann/.claude/projects", "fuse.gocryptfs"),
        ("x /p/-one fuse.sshfs rw 0 0", "/p", "fuse.sshfs"),
        ("x /p fuse.sshfs rw 0 0\n/dev/sda1 /p ext4 rw 0 0", "/p", None),
        ("/dev/sdb1 /home/ann fuseblk rw 0 0", "/home/ann/.claude/projects", None),
        ("x /elsewhere nfs rw 0 0", "/home/ann/.claude/projects", None),
        ("", "/home/ann/.claude/projects", None),
    ],
)
def test_which_file_systems_do_not_tell_of_changes_elsewhere(
    mount: str, path: str, kind: str | None
) -> None:
    table = f"/dev/root / ext4 rw 0 0\n{mount}\n"
    assert filesystem.without_events(table, PurePosixPath(path)) == kind


def test_a_network_file_system_is_refused_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mounts"
    monkeypatch.setattr(filesystem, "MOUNT_TABLE", table)
    filesystem.refuse_network_file_system(tmp_path)
    table.write_text(f"host:/x {tmp_path.resolve()} nfs rw 0 0\n")
    with pytest.raises(ConfigError, match=r"network file system \(nfs\)") as refused:
        filesystem.refuse_network_file_system(tmp_path / "state")
    assert "MEMORYD_STATE_DIR" in refused.value.hint
