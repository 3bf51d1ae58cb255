"""Which project a directory belongs to: on the disk, and remembered when it is gone."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memoryd.db.engine import Database
from memoryd.projects import Root, RootKind, resolve, slug
from memoryd.stores import projects

from support.ingest import Bench, prompt


def git(*arguments: str, cwd: Path) -> None:
    subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments],
        cwd=cwd,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "repo"
    (root / "sub" / "dir").mkdir(parents=True)
    git("init", "-q", cwd=root)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=root)
    return root


def test_subdirectories_worktrees_and_links_share_the_main_root(repository: Path) -> None:
    git("worktree", "add", "-q", "../wt", cwd=repository)
    (repository.parent / "link").symlink_to(repository / "sub")
    main = Root(str(repository), RootKind.GIT)

    for place in ("repo", "repo/sub/dir", "wt", "link/dir"):
        assert resolve(str(repository.parent / place)) == main


def test_nested_repositories_and_submodules_have_their_own(repository: Path) -> None:
    other = repository.parent / "other"
    other.mkdir()
    git("init", "-q", cwd=other)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=other)
    git(
        "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(other), "mod",
        cwd=repository,
    )  # fmt: skip
    nested = repository / "nested"
    nested.mkdir()
    git("init", "-q", cwd=nested)

    assert resolve(str(repository / "mod")) == Root(str(repository / "mod"), RootKind.GIT)
    assert resolve(str(nested)) == Root(str(nested), RootKind.GIT)


def test_a_directory_outside_git_is_its_own_project(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    inner = str((tmp_path / "a" / "b").resolve())

    assert resolve(inner) == Root(inner, RootKind.DIRECTORY)


def test_worktrees_of_a_bare_repository_share_it(repository: Path) -> None:
    bare = repository.parent / "bare.git"
    git("clone", "-q", "--bare", str(repository), str(bare), cwd=repository)
    git("worktree", "add", "-q", str(repository.parent / "one"), cwd=bare)
    git("worktree", "add", "-q", "-b", "b2", str(repository.parent / "two"), cwd=bare)

    one, two = (resolve(str(repository.parent / name)) for name in ("one", "two"))
    assert one == two == Root(str(bare), RootKind.GIT)


def test_a_directory_cannot_claim_to_be_a_worktree_of_another_repository(
    repository: Path,
) -> None:
    git("worktree", "add", "-q", "../wt", cwd=repository)
    hostile = repository.parent / "hostile"
    fake = hostile / "fake"
    fake.mkdir(parents=True)
    (fake / "commondir").write_text(str(repository / ".git"))
    own = Root(str(hostile), RootKind.GIT)

    for claim in (fake, repository / ".git" / "worktrees" / "wt"):
        (hostile / ".git").write_text(f"gitdir: {claim}\n")
        assert resolve(str(hostile)) == own


@pytest.mark.parametrize("cwd", ["", "relative", "/no/such/place", "C:\\x", "/a\0b", "/\ud800"])
def test_what_is_no_directory_here_is_unknown(cwd: str) -> None:
    assert resolve(cwd) is None


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/dev/odd dir_with.dots é日本", "-home-dev-odd-dir-with-dots----"),
        ("/UPPER@x+y=z~(1)'", "-UPPER-x-y-z--1--"),
        ("emoji\U0001f600e\u0301x_y", "emoji--e-x-y"),
    ],
)
def test_the_clients_directory_names(path: str, name: str) -> None:
    assert slug(path) == name


@given(st.text())
def test_directory_names_are_short_plain_and_stable(path: str) -> None:
    name = slug(path)

    assert len(name) <= 208
    assert all(letter.isascii() and (letter.isalnum() or letter == "-") for letter in name)
    assert slug("/x" * 150).startswith("-x" * 100 + "-")


# Remembered


def root_of(database: Database, cwd: Path | str) -> str:
    with database.write() as connection:
        return projects.project_for(connection, str(cwd), now=1.0).root


def test_a_worktree_belongs_to_its_repository_after_both_are_gone(
    database: Database, repository: Path
) -> None:
    worktree = repository.parent / "wt"
    git("worktree", "add", "-q", str(worktree), cwd=repository)
    assert root_of(database, worktree) == str(repository)
    shutil.rmtree(worktree)
    assert root_of(database, worktree) == str(repository)
    shutil.rmtree(repository)

    assert root_of(database, worktree) == str(repository)
    assert root_of(database, repository / "sub" / "never-seen") == str(repository)
    with database.read() as connection:
        assert len(projects.all_projects(connection)) == 1
        assert projects.find_project(connection, str(worktree)) == projects.by_id(connection, 1)


def test_a_worktree_whose_repository_is_gone_keeps_its_project(
    database: Database, repository: Path
) -> None:
    worktree = repository.parent / "wt"
    git("worktree", "add", "-q", str(worktree), cwd=repository)
    root_of(database, worktree)
    shutil.rmtree(repository)

    assert root_of(database, worktree) == str(repository)


def test_worktrees_of_the_client_are_known_by_their_place(
    database: Database, repository: Path
) -> None:
    assert root_of(database, repository / ".claude/worktrees/gone") == str(repository)
    assert root_of(database, "/nowhere/r/.claude/worktrees/x") == "/nowhere/r"
    assert root_of(database, "/nowhere/r") == "/nowhere/r"


def test_a_vanished_directory_is_not_swallowed_by_a_plain_one_above_it(
    database: Database, tmp_path: Path
) -> None:
    home = str(tmp_path.resolve())
    assert root_of(database, home) == home

    assert root_of(database, f"{home}/gone") == f"{home}/gone"


def test_a_directory_that_becomes_a_repository_stays_one_project(
    database: Database, tmp_path: Path
) -> None:
    (tmp_path / "p").mkdir()
    root_of(database, tmp_path / "p")
    git("init", "-q", cwd=tmp_path / "p")
    root_of(database, tmp_path / "p")

    with database.read() as connection:
        found = projects.all_projects(connection)
        assert [project.kind for project in found] == [RootKind.GIT]
        assert projects.find_project(connection, str(tmp_path / "p")) == found[0]
        assert projects.find_project(connection, "/never/seen") is None
        assert projects.by_id(connection, found[0].id) == found[0]


def test_each_turn_belongs_to_the_project_of_its_own_directory(
    tmp_path: Path, sqlite_database: Database, repository: Path
) -> None:
    git("worktree", "add", "-q", "../wt", cwd=repository)
    bench = Bench(tmp_path, sqlite_database)
    bench.write(
        prompt("h1", "One.", cwd=str(repository.parent))
        + prompt("h2", "Two.", cwd=str(repository / "sub"))
        + prompt("h3", "Three.", cwd=str(repository.parent / "wt"))
    )
    bench.settle()

    first, second, third = (row[0] for row in bench.turns("project_id"))
    assert first != second == third
    assert sorted(bench.project_rows()) == [
        (str(repository.parent), "directory"),
        (str(repository), "git"),
    ]
    assert {key for _, key, _ in bench.jobs()} == {f"extract:{first}", f"extract:{second}"}
    assert bench.entries("project")["h3"] == str(repository)


def test_turns_without_a_directory_go_to_the_project_of_the_clients_directory(
    tmp_path: Path, sqlite_database: Database
) -> None:
    bench = Bench(tmp_path, sqlite_database)
    bench.write(prompt("h1", "One."), "a")
    bench.scan()
    bench.write(prompt("h2", "Two.", cwd=""), "b")
    bench.scan()

    assert bench.project_rows() == [("/nowhere/app", "directory")]
    assert bench.turns("uuid", "project_id") == [("h1", 1), ("h2", 1)]
