"""What memoryd composes is what the real client sends, but for what it refuses on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from memoryd.instructions.composing import Surroundings, compose
from memoryd.instructions.parts import Cause, Instructions, Part, When

from support.files import put
from support.messages_api import MessagesApi, Reply, ToolUse
from support.real_client import RealClient, Turn

pytestmark = [pytest.mark.client, pytest.mark.system]

Sent = tuple[str, str, str]


@pytest.fixture
def plain(binary: Path, tmp_path: Path, api: MessagesApi) -> RealClient:
    home = (tmp_path / "home").resolve()
    home.mkdir()
    return RealClient(binary, home, api, {})


def reads(*paths: Path) -> Reply:
    return Reply(tuple(ToolUse("Read", {"file_path": str(path)}) for path in paths))


def mine(client: RealClient, cwd: Path, *files: Path, **more: Any) -> Instructions:
    around = Surroundings(str(client.config), str(client.home), **more)
    return compose(str(cwd), around, files=list(map(str, files)))


def facts(part: Part) -> Sent:
    return part.kind.value, part.path, part.text


def sent_at_start(turn: Turn) -> list[Sent]:
    return [
        (file["type"].lower(), file["path"], file["content"])
        for attachment in turn.attachments("instructions")
        for file in attachment["files"]
        if file["type"] != "AutoMem"
    ]


def sent_in_play(turn: Turn) -> list[Sent]:
    return [
        (one["content"]["type"].lower(), one["path"], one["content"]["content"].strip())
        for one in turn.attachments("nested_memory")
    ]


def of_start(found: Instructions) -> list[Sent]:
    return [facts(part) for part in found.parts if part.reason.when is When.START]


def of_play(found: Instructions) -> list[Sent]:
    return [facts(part) for part in found.parts if part.reason.when is When.IN_PLAY]


def ordered(sent: Sequence[Sent]) -> list[Sent]:
    """Return parts with rules by name: the client takes them as the disk lists them."""
    rules: list[Sent] = []
    done: list[Sent] = []
    for one in [*sent, None]:
        place = one[1].partition("/rules/")[0] if one and "/rules/" in one[1] else None
        if rules and (place is None or not rules[0][1].startswith(place + "/rules/")):
            done.extend(sorted(rules, key=lambda rule: rule[1]))
            rules = []
        if one is not None:
            (done if place is None else rules).append(one)
    return done


def test_every_place_in_its_order(plain: RealClient) -> None:
    repo = plain.project("outer/repo")
    put(
        plain.home,
        {
            "CLAUDE.md": "home",
            ".claude/CLAUDE.md": "user\n@more.md tail\n",
            ".claude/more.md": "more",
            ".claude/rules/b.md": "user b",
            ".claude/rules/d/c.md": "user c",
            ".claude/CLAUDE.local.md": "not read",
            "outer/CLAUDE.md": "outer",
            "outer/.claude/rules/r.md": "outer rule",
            "outer/CLAUDE.local.md": "outer local",
        },
    )
    put(
        repo,
        {
            "CLAUDE.md": "---\nname: x\n---\nrepo\n\n\n",
            ".claude/CLAUDE.md": "repo dot",
            ".claude/rules/x.md": "x",
            ".claude/rules/d/.hidden.md": "hidden",
            "CLAUDE.local.md": "\ufefflocal",
            "sub/CLAUDE.md": "sub",
            "sub/.claude/rules/s.md": "sub rule",
            "sub/CLAUDE.local.md": "sub local",
        },
    )
    for cwd in (repo, repo / "sub"):
        sent = sent_at_start(plain.turn("Hello", cwd=cwd))
        assert ordered(of_start(mine(plain, cwd))) == ordered(sent)
        assert len(sent) > 10


IMPORTS = r"""Start @i/01.md and (@i/no1.md) `@i/no2.md` me@i/no3.md
**@i/02.md** | @i/my\ notes.md @i/03.md#part @i/no4.md, @./i/../i/04.md @i/noext @i @i/p.png

- list @i/05.md

      @i/no5.md

> quote @i/06.md
> ```
> @i/no6.md
> ```

~~~
@i/no7.md
~~~

<div>
@i/no8.md
</div>

<b>@i/07.md</b> [@i/08.md](x) ![@i/no9.md](x) \@i/no10.md

<!-- @i/no11.md
-->
text <!-- @i/no12.md --> `x
@i/no13.md` @i/09.md

[ref]: @i/no14.md

```
@i/no15.md
"""


def test_imports(plain: RealClient) -> None:
    repo = plain.project("repo")
    numbers = [f"0{number}" for number in range(1, 10)] + [f"no{number}" for number in range(1, 16)]
    put(repo, {f"i/{number}.md": number for number in numbers})
    put(repo, {"CLAUDE.md": IMPORTS, "i/my notes.md": "spaces", "i/noext": "bare", "i/p.png": "x"})
    put(repo, {"i/01.md": "1 @h2.md", "i/h2.md": "2 @h3.md", "i/h3.md": "3 @h4.md @h2.md"})
    put(repo, {"i/h4.md": "4 @h5.md", "i/h5.md": "5", "CLAUDE.local.md": "@i/01.md @i/no1.md"})
    sent = sent_at_start(plain.turn("Hello", cwd=repo))
    assert of_start(mine(plain, repo)) == sent
    assert len(sent) == 17


COMMENTS = """a
<!-- one -->
b
<!-- two --> tail
c <!-- inline -->

<!-- three

more --> rest
- item
  <!-- in a list -->
> <!-- in a quotation -->

    <!-- indented -->

~~~
<!-- fenced -->
~~~

<!-- four --><!-- five -->
<div>
<!-- in HTML -->
</div>

x

<!-- six -->


y
<!--> odd

<!-- never closed

z
"""


def test_comments(plain: RealClient) -> None:
    repo = plain.project("repo")
    put(repo, {"CLAUDE.md": COMMENTS, ".claude/CLAUDE.md": "<!-- only -->", "CLAUDE.local.md": "l"})
    assert of_start(mine(plain, repo)) == sent_at_start(plain.turn("Hello", cwd=repo))


BLOCKS = [
    "paths: src/**", "paths: **/*.py", "paths: {src,lib}/**", "paths:\n  - 'src/*'", "paths: **",
    "paths: src/** # comment", 'paths: ["lib/**", x]', "paths: [src/**,\n  b]", "description: x",
    "paths: 5", "paths: []", "{{{\npaths: src/**", "paths: src/**\n: : :", "a: b: c\npaths: src/**",
    "paths: 'a', 'b'", "paths:\n  - **/*.py", "paths: SRC/**", "paths: x.py", "paths: src/x.py/",
    'paths: ["src/**", "!src/x.py"]', "paths: ./src/**", "paths: src/[xy].py", "paths: src/[x",
]  # fmt: skip


def test_conditions_of_rules(plain: RealClient, api: MessagesApi) -> None:
    repo = plain.project("repo")
    put(repo, {f".claude/rules/{n:02}.md": f"---\n{b}\n---\n{n}" for n, b in enumerate(BLOCKS)})
    put(repo, dict.fromkeys(("src/x.py", "lib/src/y.py", "lib/z.ts", "x.py"), "x\n"))
    for name in ("src/x.py", "lib/src/y.py", "lib/z.ts", "x.py"):
        api.queue(reads(repo / name))
        turn = plain.turn("Hello", cwd=repo)
        found = mine(plain, repo, repo / name)
        assert ordered(of_start(found)) == ordered(sent_at_start(turn))
        assert sorted(of_play(found)) == sorted(sent_in_play(turn)), name


def test_nested_files(plain: RealClient, api: MessagesApi) -> None:
    repo = plain.project("repo")
    put(plain.home, {".claude/rules/u.md": "---\npaths: 'a/**'\n---\nuser"})
    put(
        repo,
        {
            "CLAUDE.md": "root",
            ".claude/rules/r.md": "---\npaths: a/**\n---\nroot rule",
            "a/CLAUDE.md": "a @more.md",
            "a/more.md": "a more",
            "a/.claude/CLAUDE.md": "a dot",
            "a/CLAUDE.local.md": "a local",
            "a/.claude/rules/1.md": "a rule",
            "a/.claude/rules/2.md": "---\npaths: b/*.txt\n---\na rule for b",
            "a/.claude/rules/3.md": "---\npaths: a/b/*.txt\n---\nno",
            "a/b/CLAUDE.md": "b",
            "a/b/x.txt": "x\n",
            "a/c/CLAUDE.md": "not in play",
            "a/AGENTS.md": "not read",
        },
    )
    for cwd in (repo, repo / "a", repo / "a" / "c"):
        api.queue(reads(repo / "a/b/x.txt"))
        turn = plain.turn("Hello", cwd=cwd)
        found = mine(plain, cwd, repo / "a/b/x.txt")
        # The client follows no import that leaves the working directory, memoryd none that leaves
        # the git root.
        ours = [one for one in of_start(found) if cwd.name != "c" or one[2] != "a more"]
        assert ordered(ours) == ordered(sent_at_start(turn))
        assert sorted(of_play(found)) == sorted(sent_in_play(turn)), cwd


def test_agents_md(plain: RealClient) -> None:
    repo = plain.project("repo")
    put(plain.home, {".claude/CLAUDE.md": "user"})
    put(repo, {"AGENTS.md": "agents @x.md", "x.md": "x", ".claude/AGENTS.md": "dot agents"})
    put(repo, {"sub/AGENTS.md": "sub agents", ".claude/rules/r.md": "rule"})
    for extra in ({}, {"CLAUDE.md": "<!-- nothing -->"}, {"CLAUDE.local.md": "local"}):
        put(repo, extra)
        sent = sent_at_start(plain.turn("Hello", cwd=repo))
        assert of_start(mine(plain, repo)) == sent
        assert any("AGENTS.md" in path for _, path, _ in sent) is (
            extra != {"CLAUDE.local.md": "local"}
        )


def test_exclusions_and_sizes(plain: RealClient) -> None:
    repo = plain.project("repo")
    excludes = ["**/repo/CLAUDE.md", f"{repo}/.claude/rules/{{a,b}}.md", "CLAUDE.local.md"]
    plain.settings({"claudeMdExcludes": excludes})
    put(
        repo, {"CLAUDE.md": "no", "CLAUDE.local.md": "local", ".claude/CLAUDE.md": b"x" * (4 << 20)}
    )
    put(repo, {f".claude/rules/{name}.md": name for name in "abc"})
    put(repo, {".claude/rules/big.md": b"y" * ((4 << 20) + 1)})
    sent = sent_at_start(plain.turn("Hello", cwd=repo))
    assert of_start(mine(plain, repo, excludes=tuple(excludes))) == sent
    assert [len(text) for _, _, text in sent] == [4 << 20, 1, len("local")]


def test_a_worktree_inside_its_repository(plain: RealClient) -> None:
    repo = plain.project("repo")
    put(repo, {"CLAUDE.md": "main", "CLAUDE.local.md": "local", ".claude/rules/r.md": "rule"})
    plain.git(repo, "add", "CLAUDE.md")
    plain.git(repo, "commit", "-qm", "More")
    plain.git(repo, "worktree", "add", "-q", str(repo / "trees" / "one"))
    put(repo, {"trees/CLAUDE.md": "above"})
    cwd = repo / "trees" / "one"
    assert of_start(mine(plain, cwd)) == sent_at_start(plain.turn("Hello", cwd=cwd))


def test_what_leaves_the_project(plain: RealClient) -> None:
    repo = plain.project("repo")
    put(plain.home, {".ssh/id_rsa": "made up key", "out/r.md": "out"})
    put(repo, {"CLAUDE.md": "repo @~/.ssh/id_rsa @in/x.md", "in/x.md": "in"})
    put(repo, {".claude/rules/own.md": "own"})
    (repo / ".claude/rules/out").symlink_to(plain.home / "out")
    sent = sent_at_start(plain.turn("Hello", cwd=repo))
    found = mine(plain, repo)
    assert of_start(found) == sent
    assert "made up key" not in found.text
    assert {Path(one.target).name for one in found.refused} == {"id_rsa", "out"}
    # The client follows a linked file of instructions; memoryd asks for trust first.
    (repo / ".claude/CLAUDE.md").symlink_to(plain.home / ".ssh/id_rsa")
    assert "made up key" not in mine(plain, repo).text
    trusted = mine(plain, repo, trusted=frozenset({str(repo)}))
    assert {part.reason.cause for part in trusted.parts} == {Cause.FILE, Cause.RULE, Cause.IMPORT}
