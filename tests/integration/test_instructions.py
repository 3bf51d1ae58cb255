"""Composing instructions from real files, links, devices; ``memoryctl context`` and ``trust``."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from memoryd.cli import topics
from memoryd.cli.commands import memoryctl
from memoryd.instructions.composing import MAX_RULES, Surroundings, compose
from memoryd.instructions.parts import Cause, ImportState, Instructions, Kind, When
from memoryd.instructions.reader import MAX_FILE, Reader

from support.files import put


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = (tmp_path / "home").resolve()
    home.mkdir()
    return home


@pytest.fixture
def repo(home: Path) -> Path:
    """A git repository, as far as anybody looks at it."""
    (home / "repo" / ".git").mkdir(parents=True)
    return home / "repo"


def around(home: Path, *trusted: Path, **more: object) -> Surroundings:
    given = Surroundings(str(home / ".claude"), str(home), trusted=frozenset(map(str, trusted)))
    return replace(given, **more)  # type: ignore[arg-type]


def names(found: Instructions, home: Path) -> list[str]:
    return [os.path.relpath(part.path, home) for part in found.parts]


def composed(home: Path, cwd: Path, *files: Path, **more: object) -> list[str]:
    return names(compose(str(cwd), around(home, **more), files=list(map(str, files))), home)


def test_the_order_of_places(home: Path, repo: Path) -> None:
    put(
        home,
        {
            "managed.md": "M",
            ".claude/CLAUDE.md": "U",
            ".claude/rules/b.md": "UB",
            ".claude/rules/a/z.md": "UAZ",
            ".claude/CLAUDE.local.md": "not read",
            "CLAUDE.md": "H",
            "repo/CLAUDE.md": "R",
            "repo/.claude/CLAUDE.md": "RD",
            "repo/.claude/rules/x.md": "RX",
            "repo/.claude/rules/notes.txt": "not read",
            "repo/CLAUDE.local.md": "RL",
            "repo/sub/CLAUDE.md": "S",
            "repo/sub/.claude/rules/y.md": "SY",
            "repo/sub/CLAUDE.local.md": "SL",
            "repo/sub/below/CLAUDE.md": "not in play",
        },
    )
    found = compose(str(repo / "sub"), around(home, managed=str(home / "managed.md")))
    assert [(part.text, part.kind) for part in found.parts] == [
        ("M", Kind.MANAGED),
        ("U", Kind.USER),
        ("UAZ", Kind.USER),
        ("UB", Kind.USER),
        ("H", Kind.PROJECT),
        ("R", Kind.PROJECT),
        ("RD", Kind.PROJECT),
        ("RX", Kind.PROJECT),
        ("RL", Kind.LOCAL),
        ("S", Kind.PROJECT),
        ("SY", Kind.PROJECT),
        ("SL", Kind.LOCAL),
    ]
    assert found.tokens == sum(part.tokens for part in found.parts) > 0
    assert found.text.index("RL") < found.text.index("SY")
    put(repo, {"CLAUDE.md": "# Build\n", "CLAUDE.local.md": "## Test\n# Build"})
    assert compose(str(repo), around(home)).headings == ("Build", "Test")


def test_files_in_play_add_rules_and_nested_files_in_their_place(home: Path, repo: Path) -> None:
    put(
        home,
        {
            ".claude/rules/u.md": '---\npaths: "a/**"\n---\nU',
            "repo/CLAUDE.md": "R",
            "repo/.claude/rules/r.md": "---\npaths: '**/*.txt'\n---\nRR",
            "repo/.claude/rules/no.md": "---\npaths: lib/**\n---\nno",
            "repo/CLAUDE.local.md": "RL",
            "repo/a/CLAUDE.md": "A @more.md",
            "repo/a/more.md": "AM",
            "repo/a/.claude/rules/1.md": "---\npaths: b/*.txt\n---\nA1",
            "repo/a/.claude/rules/2.md": "A2",
            "repo/a/CLAUDE.local.md": "AL",
            "repo/a/b/CLAUDE.md": "B",
            "repo/a/c/CLAUDE.md": "not in play",
        },
    )
    assert composed(home, repo) == ["repo/CLAUDE.md", "repo/CLAUDE.local.md"]
    found = compose(str(repo), around(home), files=[str(repo / "a/b/new.txt")])
    assert [part.text.split()[0] for part in found.parts] == (
        ["U", "R", "RR", "RL", "A", "AM", "A1", "A2", "AL", "B"]
    )
    assert found.parts[2].reason.patterns == ("**/*.txt",)
    assert found.parts[2].reason.file == str(repo / "a/b/new.txt")
    assert {part.text for part in found.parts if part.reason.when is When.START} == {"R", "RL"}


def test_a_file_elsewhere_adds_nothing_and_is_told(home: Path, repo: Path) -> None:
    put(repo, {"a/CLAUDE.md": "A", ".claude/rules/r.md": "---\npaths: a/**\n---\nR", "s/x": ""})
    found = compose(str(repo / "s"), around(home), files=[str(repo / "a/x")])
    assert found.parts == ()
    assert "not below" in found.notices[0]


def test_imports_follow_their_file_and_end_after_four(home: Path, repo: Path) -> None:
    put(
        repo,
        {
            "CLAUDE.md": "@docs/1.md @gone.md @CLAUDE.md",
            "docs/1.md": "one @2.md",
            "docs/2.md": "two @./3.md @1.md",
            "docs/3.md": "three @4.md",
            "docs/4.md": "four @5.md",
            "docs/5.md": "five",
            ".claude/CLAUDE.md": "@../docs/1.md",
        },
    )
    found = compose(str(repo), around(home))
    assert names(found, repo) == (
        ["CLAUDE.md", "docs/1.md", "docs/2.md", "docs/3.md", "docs/4.md", ".claude/CLAUDE.md"]
    )
    assert [one.state for one in found.parts[0].imports] == (
        [ImportState.LOADED, ImportState.MISSING, ImportState.REPEATED]
    )
    assert found.parts[4].imports[0].state is ImportState.TOO_DEEP
    assert found.parts[3].reason.cause is Cause.IMPORT
    assert found.parts[3].reason.chain == tuple(
        str(repo / name) for name in ("CLAUDE.md", "docs/1.md", "docs/2.md")
    )


def test_the_person_may_import_from_anywhere(home: Path, repo: Path) -> None:
    put(home, {".claude/CLAUDE.md": "@~/notes/a.md", "notes/a.md": "A @b.md", "notes/b.md": "B"})
    assert composed(home, repo) == [".claude/CLAUDE.md", "notes/a.md", "notes/b.md"]


KEY = "-----BEGIN MADE UP KEY-----"
WAYS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "an import from home": ({"CLAUDE.md": "@~/.ssh/id"}, {}),
    "an absolute import": ({"CLAUDE.md": "@HOME/.ssh/id"}, {}),
    "an import upwards": ({"CLAUDE.md": "@../.ssh/id"}, {}),
    "an import up and down": ({"CLAUDE.md": "@./docs/./../../.ssh/../.ssh/id", "docs/x": ""}, {}),
    "an import behind a link": ({"CLAUDE.md": "@l/id"}, {"l": "HOME/.ssh"}),
    "upwards behind a link": ({"CLAUDE.md": "@in/l/../id", "in/x": ""}, {"in/l": "HOME/.ssh/sub"}),
    "a link": ({}, {"CLAUDE.md": "HOME/.ssh/id"}),
    "a relative link": ({}, {".claude/CLAUDE.md": "../../.ssh/id"}),
    "a local link": ({}, {"CLAUDE.local.md": "HOME/.ssh/id"}),
    "a link to a link": ({}, {"CLAUDE.md": "x", "x": "HOME/.ssh/id"}),
    "a rule": ({}, {".claude/rules/r.md": "HOME/.ssh/id"}),
    "a directory of rules": ({}, {".claude/rules": "HOME/.ssh"}),
    "a directory in the rules": ({}, {".claude/rules/d": "HOME/.ssh"}),
    "the directory": ({}, {".claude": "HOME/.ssh"}),
    "AGENTS.md": ({}, {"AGENTS.md": "HOME/.ssh/id"}),
    "an import of AGENTS.md": ({"AGENTS.md": "@~/.ssh/id"}, {}),
    "an import of a rule": ({".claude/rules/r.md": "@~/.ssh/id"}, {}),
    "an import of an import": ({"CLAUDE.md": "@a.md", "a.md": "@~/.ssh/id"}, {}),
    "a nested file": ({"sub/CLAUDE.md": "@~/.ssh/id"}, {}),
    "a nested directory": ({}, {"sub": "HOME/.ssh"}),
    "nested in a link": ({}, {"sub": "HOME/.ssh/sub"}),
    "a repository in it": ({"sub/.git/x": "", "sub/CLAUDE.md": "@../../.ssh/id"}, {}),
    "a rule in play": ({".claude/rules/r.md": "---\npaths: sub/**\n---\n@~/.ssh/id"}, {}),
    "a hidden way": ({"CLAUDE.md": "# x\n<b>x</b> @~/.ssh//./id#x"}, {}),
}


@pytest.fixture
def ssh(home: Path) -> Path:
    # The names that instructions have lie there too, so that every way leads to something.
    key = ("id", "CLAUDE.md", "id.md", "rules/a.md", "sub/CLAUDE.md", "sub/x")
    put(home / ".ssh", dict.fromkeys(key, KEY))
    return home / ".ssh"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("git", [True, False])
def test_a_hostile_project_does_not_reach_the_keys(
    home: Path, ssh: Path, way: str, *, git: bool
) -> None:
    project = home / "evil"
    (project / ".git" if git else project).mkdir(parents=True)
    texts, links = WAYS[way]
    put(project, {name: text.replace("HOME", str(home)) for name, text in texts.items()})
    for name, target in links.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target.replace("HOME", str(home)))
    play = [str(project / "sub" / "x.txt")]
    reader = Reader()
    found = compose(str(project), around(home), files=play, reader=reader)
    assert KEY not in found.text
    assert any(str(ssh) in one.target for one in found.refused), found
    assert all(one.root.startswith(str(project)) for one in found.refused)
    # Trust is what was missing.
    trusted = around(home, *{Path(one.root) for one in found.refused})
    assert KEY in compose(str(project), trusted, files=play, reader=reader).text


def test_a_repository_at_home_is_no_bound(home: Path, ssh: Path) -> None:
    (home / ".git").mkdir()
    put(home, {"download/CLAUDE.md": "@../.ssh/id"})
    assert ssh.is_dir()
    found = compose(str(home / "download"), around(home))
    assert KEY not in found.text
    assert [one.root for one in found.refused] == [str(home / "download")]


def test_links_and_imports_inside_the_project_need_no_trust(home: Path, repo: Path) -> None:
    put(repo, {"docs/real.md": "R @more.md", "docs/more.md": "M", "docs/rules/r.md": "RR"})
    put(repo, {"sub/CLAUDE.md": "@../docs/up.md", "docs/up.md": "UP"})
    (repo / "CLAUDE.md").symlink_to("docs/real.md")
    (repo / ".claude").mkdir()
    (repo / ".claude/rules").symlink_to("../docs/rules")
    found = compose(str(repo / "sub"), around(home))
    assert names(found, repo) == (
        ["CLAUDE.md", "docs/more.md", ".claude/rules/r.md", "sub/CLAUDE.md", "docs/up.md"]
    )
    assert found.refused == ()


def test_links_in_circles_end(home: Path, repo: Path) -> None:
    put(repo, {".claude/rules/a.md": "A", ".claude/rules/d/b.md": "B"})
    (repo / ".claude/rules/d/up").symlink_to("..")
    (repo / ".claude/rules/self").symlink_to("self")
    (repo / ".claude/rules/copy.md").symlink_to("a.md")
    (repo / "CLAUDE.md").symlink_to("CLAUDE.md")
    assert composed(home, repo) == ["repo/.claude/rules/a.md", "repo/.claude/rules/d/b.md"]


def test_trust_covers_worktrees_and_no_repository_inside(home: Path, repo: Path) -> None:
    inner = repo / "inner"
    (inner / ".git").mkdir(parents=True)
    put(home, {"out.md": "OUT", "repo/inner/CLAUDE.md": "@~/out.md", "repo/CLAUDE.md": "@~/out.md"})
    trusting = around(home, repo)
    assert "OUT" in compose(str(repo), trusting).text
    found = compose(str(inner), trusting, files=[str(inner / "x")])
    assert [one.root for one in found.refused] == [str(inner)]

    def git(*arguments: str) -> None:
        name = ["-c", "user.name=T", "-c", "user.email=t@example.invalid"]
        subprocess.run(["git", *name, *arguments], cwd=main, check=True, capture_output=True)

    main = home / "main"
    main.mkdir()
    put(main, {"CLAUDE.md": "MAIN @~/out.md"})
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "Begin")
    git("worktree", "add", "-q", str(home / "tree"))
    assert compose(str(home / "tree"), around(home)).refused
    assert "OUT" in compose(str(home / "tree"), around(home, main)).text
    # A worktree inside its repository does not repeat the files that it has itself.
    git("worktree", "add", "-q", str(main / "trees" / "x"))
    put(main, {"CLAUDE.local.md": "LOCAL"})
    assert composed(home, main / "trees" / "x") == [
        "main/CLAUDE.local.md",
        "main/trees/x/CLAUDE.md",
    ]


def test_agents_md_counts_where_no_claude_md_speaks(home: Path, repo: Path) -> None:
    put(
        home,
        {
            ".claude/CLAUDE.md": "U",
            "repo/AGENTS.md": "AG @x.md",
            "repo/x.md": "X",
            "repo/.claude/AGENTS.md": "DAG",
            "repo/.claude/rules/r.md": "R",
            "repo/sub/AGENTS.md": "SAG",
        },
    )
    agents = ["repo/AGENTS.md", "repo/x.md", "repo/.claude/AGENTS.md"]
    rest = [".claude/CLAUDE.md", "repo/.claude/rules/r.md"]
    assert composed(home, repo, repo / "sub/f") == [*rest, *agents]
    assert composed(home, repo / "sub") == [*rest, *agents, "repo/sub/AGENTS.md"]
    put(repo, {"sub/CLAUDE.md": "<!-- nothing -->\n"})
    assert "repo/AGENTS.md" in composed(home, repo / "sub")
    put(repo, {"sub/CLAUDE.local.md": "L"})
    assert composed(home, repo / "sub") == [*rest, "repo/sub/CLAUDE.local.md"]


def test_what_is_no_text_is_told(home: Path, repo: Path) -> None:
    put(repo, {"CLAUDE.md": b"a\0b", ".claude/CLAUDE.md": b"caf\xe9 @../p.png", "p.png": b"x"})
    put(
        repo,
        {".claude/rules/big.md": b"x" * (MAX_FILE + 1), ".claude/rules/full.md": b"y" * MAX_FILE},
    )
    os.mkfifo(repo / ".claude/rules/fifo.md")
    (repo / ".claude/rules/null.md").symlink_to("/dev/null")
    (repo / "CLAUDE.local.md").mkdir()
    put(repo, {".claude/rules/z.md": "@../../fifo"})
    os.mkfifo(repo / "fifo")
    found = compose(str(repo), around(home, repo))
    assert names(found, repo) == [
        ".claude/CLAUDE.md",
        ".claude/rules/full.md",
        ".claude/rules/z.md",
    ]
    assert "�" in found.parts[0].text
    assert found.parts[0].notices == ("is not all UTF-8",)
    told = "\n".join(found.notices)
    for name, reason in {
        "/CLAUDE.md": "is no text",
        "p.png": "no text by its name",
        "big.md": "larger than 4 MiB",
        "/fifo.md": "no regular file",
        "/fifo ": "no regular file",
        "null.md": "no regular file",
        "CLAUDE.local.md": "no regular file",
    }.items():
        assert any(name in line and reason in line for line in told.splitlines()), (name, told)


def test_what_may_not_be_read_is_told(home: Path, repo: Path) -> None:
    put(repo, {"CLAUDE.md": "x", ".claude/rules/a.md": "x"})
    (repo / "CLAUDE.md").chmod(0)
    (repo / ".claude/rules").chmod(0)
    # Permission bits do not bind root until it lets go of these.
    powerless = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    done = subprocess.run(
        [
            *(powerless if os.geteuid() == 0 else ()),
            *(sys.executable, "-c", "import memoryd.cli.main as m; raise SystemExit(m.main())"),
            *("context", "--json", "--cwd", str(repo)),
        ],
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert len(json.loads(done.stdout)["notices"]) == 2


def test_counts_are_bounded_and_told(home: Path, repo: Path) -> None:
    put(repo, {f".claude/rules/{number}.md": "x" for number in range(MAX_RULES + 5)})
    put(repo, {"CLAUDE.md": " ".join(f"@n{number}.md" for number in range(600))})
    found = compose(str(repo), around(home))
    assert len(found.parts) == MAX_RULES + 1
    assert "more than 1000" in found.notices[0]
    assert "more than 500" in found.parts[0].notices[0]


def test_exclusions_spare_the_administrator(home: Path, repo: Path) -> None:
    put(home, {"m/CLAUDE.md": "M", ".claude/CLAUDE.md": "U", "repo/CLAUDE.md": "R @i.md"})
    put(home, {"repo/i.md": "I", "repo/.claude/rules/r.md": "RR", "repo/CLAUDE.local.md": "L"})
    excludes = ("**/CLAUDE.md", str(repo / ".claude/rules/**"))
    managed = str(home / "m/CLAUDE.md")
    assert composed(home, repo, managed=managed, excludes=excludes) == (
        ["m/CLAUDE.md", "repo/CLAUDE.local.md"]
    )
    assert "repo/i.md" not in composed(home, repo, excludes=("**/i.md",))


def test_rules_with_frontmatter_that_cannot_be_read_load(home: Path, repo: Path) -> None:
    put(repo, {".claude/rules/r.md": "---\npaths: [src/**\n---\nR"})
    (part,) = compose(str(repo), around(home)).parts
    assert part.text == "R"
    assert "cannot be read" in part.notices[0]


def test_what_was_read_is_remembered_until_it_changes(home: Path, repo: Path) -> None:
    reader = Reader()
    put(repo, {"CLAUDE.md": "one"})
    first = compose(str(repo), around(home), reader=reader).parts[0]
    again = reader.read(first.path)
    assert again is reader.read(first.path)
    put(repo, {"CLAUDE.md": "other"})
    assert compose(str(repo), around(home), reader=reader).parts[0].text == "other"


def test_a_link_swapped_in_after_judging_is_not_followed(repo: Path, ssh: Path) -> None:
    put(repo, {"docs/id": "harmless"})
    reader = Reader()
    real = reader.real(str(repo / "docs/id"))
    assert real is not None
    (repo / "docs").rename(repo / "moved")
    (repo / "docs").symlink_to(ssh)
    assert reader.read(real).text is None


def run(home: Path, cwd: Path, *arguments: str, **environment: str) -> Result:
    before = Path.cwd()
    os.chdir(cwd)
    try:
        variables: Mapping[str, str | None] = {
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": None,
            "CLAUDE_CODE_DISABLE_CLAUDE_MDS": None,
            "MEMORYD_STATE_DIR": str(home / "state"),
            **environment,
        }
        return CliRunner().invoke(memoryctl, list(arguments), env=variables, standalone_mode=False)
    finally:
        os.chdir(before)


def test_context_says_what_loads_and_why(home: Path, repo: Path, ssh: Path) -> None:
    put(
        home,
        {"repo/CLAUDE.md": "Use tabs @docs/a.md @~/.ssh/id @alice @b.md", "repo/docs/a.md": "A"},
    )
    put(repo, {".claude/rules/py.md": "---\npaths: '*.py'\n---\n\x1b[31mRed"})
    assert ssh.is_dir()
    shown = run(home, repo, "context", "--file", "src/x.py")
    assert "imported by" in shown.output
    assert "rule for *.py" in shown.output
    assert f"memoryctl trust {repo}" in shown.stderr
    assert "@b.md" in shown.stderr
    assert "@alice" not in shown.stderr
    text = run(home, repo, "context", "--text", "--file", "x.py").stdout
    assert "Use tabs" in text
    assert "\x1b" not in text
    facts = json.loads(run(home, repo / "docs", "context", "--cwd", "..", "--json").stdout)
    assert facts["root"] == str(repo)
    assert not facts["trusted"]
    assert [part["cause"] for part in facts["parts"]] == ["file", "import"]
    assert facts["refused"][0]["trust"] == str(repo)
    assert sum(part["tokens"] for part in facts["parts"]) == facts["tokens"]


def test_json_has_the_documented_fields(home: Path, repo: Path) -> None:
    put(home, {"out.md": "O", "repo/CLAUDE.md": "@~/out.md @a.md", "repo/a.md": "A"})
    page = topics.page("commands")
    answers = {
        "`context` (": run(home, repo, "context", "--json").stdout,
        "`trust`, and": run(home, repo, "trust", "--yes", "--json").stdout
        + run(home, repo, "trust", "--list", "--json").stdout,
    }
    for start, answer in answers.items():
        section = page[page.index(f"\n{start}") :].partition("\n\n")[2].partition("\n\n`")[0]
        named = r'"(\w+)"(?=[,:\]}])'
        assert set(re.findall(r'"(\w+)": ', answer)) == set(re.findall(named, section))


def test_context_honours_the_switches_of_the_client(home: Path, repo: Path) -> None:
    put(repo, {"CLAUDE.md": "R", ".claude/settings.json": '{"claudeMdExcludes": ["**/repo/*.md"]}'})
    facts = json.loads(run(home, repo, "context", "--json").stdout)
    assert facts["parts"] == []
    assert "claudeMdExcludes" in facts["notices"][0]
    put(repo, {".claude/settings.json": "{}"})
    off = run(home, repo, "context", "--json", CLAUDE_CODE_DISABLE_CLAUDE_MDS="1")
    assert "CLAUDE_CODE_DISABLE_CLAUDE_MDS" in json.loads(off.stdout)["notices"][0]
    assert len(json.loads(run(home, repo, "context", "--json").stdout)["parts"]) == 1


def test_trust_asks_is_kept_and_taken_back(home: Path, repo: Path, ssh: Path) -> None:
    put(repo, {"CLAUDE.md": "@~/out/a.md", "sub/x": ""})
    put(home, {"out/a.md": "A @b.md", "out/b.md": "B"})
    (repo / ".claude/rules").mkdir(parents=True)
    (repo / ".claude/rules/keys").symlink_to(ssh)
    refused = run(home, repo, "trust")
    assert refused.exception is not None
    assert getattr(refused.exception, "exit_code", None) == 2
    assert not (home / "state").exists()
    given = run(home, repo, "trust", "sub", "--yes", "--json")
    answer = json.loads(given.stdout)
    assert (answer["root"], answer["changed"]) == (str(repo), True)
    follows = {one["path"] for one in answer["follows"]}
    assert {
        str(home / "out/a.md"),
        str(home / "out/b.md"),
        str(repo / ".claude/rules/keys"),
    } <= follows
    kept = home / "state" / "memoryd.trust.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert [one.name for one in kept.parent.iterdir()] == [kept.name]
    assert json.loads(run(home, repo, "trust", "--list", "--json").stdout)[0]["path"] == str(repo)
    assert "already" in run(home, repo, "trust").stdout
    assert "B" in run(home, repo, "context", "--text").stdout
    assert "no longer" in run(home, repo, "trust", "--revoke").stdout
    assert "was not trusted" in run(home, repo, "trust", "--revoke").stdout
    assert "B" not in run(home, repo, "context", "--text").stdout


def test_a_list_of_trust_that_others_may_write_trusts_nothing(home: Path, repo: Path) -> None:
    put(home, {"out.md": "OUT", "repo/CLAUDE.md": "@~/out.md"})
    run(home, repo, "trust", "--yes")
    kept = home / "state" / "memoryd.trust.json"
    kept.chmod(0o666)
    shown = run(home, repo, "context", "--text")
    assert "OUT" not in shown.stdout
    assert "nothing is trusted" in shown.stderr
    kept.chmod(0o600)
    kept.write_text("{")
    assert "OUT" not in run(home, repo, "context", "--text").stdout


def test_wrong_use_of_trust_and_context(home: Path, repo: Path) -> None:
    for arguments in (["trust", "gone"], ["trust", "--list", "x"], ["context", "--cwd", "gone"],
                      ["context", "--json", "--text"]):  # fmt: skip
        assert getattr(run(home, repo, *arguments).exception, "exit_code", None) == 2, arguments
