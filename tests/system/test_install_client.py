"""What ``memoryctl install`` tells the client and the shells, and takes back."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from memoryd.install.hooktext import EVENTS, find

from support.fake_claude import FakeClaude
from support.fake_systemctl import FakeSystemctl
from support.service import COMMANDS, Service

pytestmark = pytest.mark.system

CONTROL = COMMANDS.resolve() / "memoryctl"
SETTINGS = (
    '{\r\n    "model" : "opus",\r\n    "hooks": { "Stop": [ ] },\r\n    "é": 1.50\r\n}\r\n\r\n'
)


@pytest.fixture
def service(tmp_path: Path) -> Service:
    systemctl = FakeSystemctl(tmp_path / "bin")
    path = f"{systemctl.folder}{os.pathsep}{os.environ['PATH']}"
    made = Service(tmp_path / "home", PATH=path, SHELL="/bin/bash")
    shared = made.runtime / "run"
    shared.mkdir()
    made.environment["XDG_RUNTIME_DIR"] = str(shared)
    del made.environment["MEMORYD_RUNTIME_DIR"]
    return made


@pytest.fixture(autouse=True)
def claude(service: Service, tmp_path: Path) -> FakeClaude:
    return FakeClaude(tmp_path / "bin", service.home)


@pytest.fixture
def file(service: Service) -> Path:
    path = service.home / ".claude/settings.json"
    path.parent.mkdir()
    path.write_bytes(SETTINGS.encode())
    path.chmod(0o640)
    return path


def tree(home: Path) -> dict[str, tuple[int, bytes | str]]:
    """Everything below a home directory but memoryd's state and the client's own file."""
    return {
        name: (
            path.lstat().st_mode,
            str(path.readlink())
            if path.is_symlink()
            else path.read_bytes()
            if path.is_file()
            else "",
        )
        for path in sorted(home.rglob("*"))
        if not (name := str(path.relative_to(home))).startswith(".local/state")
        and name not in {".local", ".claude.json"}
    }


def commands(path: Path) -> dict[str, str]:
    return {one.event: one.command.value for one in find(path.read_text(encoding="utf-8"))}


def findings(service: Service, subject: str, cwd: Path | None = None) -> list[tuple[str, str]]:
    done = service.run("memoryctl", "doctor", "--json", cwd=cwd)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return [(one["level"], one["mend"]) for one in found if one["subject"] == subject]


def test_everything_comes_and_goes_and_the_rest_is_the_same_bytes(
    service: Service, file: Path, claude: FakeClaude
) -> None:
    before = tree(service.home)
    shown = service.ctl("install", "--dry-run")
    assert '+    "hooks": { "Stop": [' in shown
    assert tree(service.home) == before
    assert claude.calls() == []

    service.ctl("install", "--yes")
    assert list(commands(file)) == ["Stop", *(name for name in EVENTS if name != "Stop")]
    (command,) = set(commands(file).values())
    python, *options, hook = shlex.split(command.partition("exec ")[2])
    assert os.access(python, os.X_OK)
    assert options == ["-I", "-S"]
    assert Path(hook).is_file()
    assert file.stat().st_mode & 0o777 == 0o640
    assert file.read_bytes().count(b"\r\n") == file.read_bytes().count(b"\n")
    backup = next((service.state / "backups").iterdir())
    assert backup.read_bytes() == SETTINGS.encode()
    assert (backup.stat().st_mode & 0o777, backup.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert (service.state / "memoryd.installed.json").stat().st_mode & 0o777 == 0o600

    assert service.ctl("install").startswith("all is installed\n")
    service.ctl("uninstall", "--yes")
    assert tree(service.home) == before
    assert list(service.state.iterdir()) == []
    assert service.ctl("uninstall").startswith("nothing is installed")


def test_what_was_not_there_before_is_not_there_after(service: Service) -> None:
    service.ctl("install", "--yes", "--no-service")
    file = service.home / ".claude/settings.json"
    assert set(json.loads(file.read_text())["hooks"]) == set(EVENTS)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    service.ctl("uninstall", "--yes", "--no-service")
    assert tree(service.home) == {}


@pytest.mark.usefixtures("file")
def test_off_a_terminal_without_yes_the_client_is_told_nothing(
    service: Service, claude: FakeClaude
) -> None:
    before = tree(service.home)
    assert service.run("memoryctl", "install").returncode == 2
    assert tree(service.home) == before
    assert claude.calls() == []
    service.ctl("install", "--yes")
    installed = tree(service.home)
    assert service.run("memoryctl", "uninstall").returncode == 2
    assert tree(service.home) == installed


def test_what_a_person_changed_around_the_hooks_stays(service: Service, file: Path) -> None:
    service.ctl("install", "--yes")
    found = json.loads(file.read_text(encoding="utf-8"))
    mine = {"hooks": [{"type": "command", "command": "mine"}]}
    found["hooks"]["Stop"].insert(0, mine)
    found["model"] = "sonnet"
    file.write_text(json.dumps(found))
    service.ctl("uninstall", "--yes")
    assert json.loads(file.read_text()) == {"model": "sonnet", "hooks": {"Stop": [mine]}, "é": 1.5}
    assert len(list((service.state / "backups").iterdir())) == 2


def test_a_link_into_another_folder_stays_a_link(service: Service, file: Path) -> None:
    dotfiles = service.home / "dotfiles"
    dotfiles.mkdir()
    target = file.rename(dotfiles / "claude.json")
    file.symlink_to(target)
    before = tree(service.home)
    service.ctl("install", "--yes")
    assert file.is_symlink()
    assert set(commands(target)) == set(EVENTS)
    service.ctl("uninstall", "--yes")
    assert tree(service.home) == before


@pytest.mark.parametrize(
    "how", ["broken", "twice", "wrong", "read only", "gone", "folder", "latin"]
)
def test_what_cannot_be_edited_is_said_and_nothing_at_all_is_done(
    service: Service, file: Path, claude: FakeClaude, how: str
) -> None:
    match how:
        case "broken":
            file.write_text('{"model": "opus",}')
        case "twice":
            file.write_text('{"model": "opus", "model": "opus"}')
        case "wrong":
            file.write_text('{"hooks": []}')
        case "read only":
            file.chmod(0o444)
        case "gone":
            file.unlink()
            file.symlink_to(service.home / "nowhere")
        case "folder":
            file.unlink()
            file.mkdir()
        case _:
            file.write_bytes('{"é": 1}'.encode("latin-1"))
    before = tree(service.home)
    done = service.run("memoryctl", "install", "--yes")
    assert (done.returncode, done.stdout) == (1, "")
    assert ".claude/settings.json" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert tree(service.home) == before
    assert claude.calls() == []


def test_hooks_of_an_older_installation_are_replaced(service: Service, file: Path) -> None:
    service.ctl("install", "--yes")
    new = file.read_bytes()
    (command,) = set(commands(file).values())
    old = "'/gone/my python' -I -S /gone/memoryd/hook.py"
    file.write_bytes(new.replace(json.dumps(command).encode(), json.dumps(old).encode()))
    assert ("broken", "memoryctl install") in findings(service, "hooks")
    service.ctl("install", "--yes")
    assert file.read_bytes() == new
    service.ctl("uninstall", "--yes")
    assert file.read_bytes() == SETTINGS.encode()


def test_a_package_that_is_gone_refuses_no_prompt(service: Service, file: Path) -> None:
    service.ctl("install", "--yes", "--no-service")
    command = commands(file)["UserPromptSubmit"]
    hook = Path(shlex.split(command)[-1])
    done = subprocess.run(
        ["sh", "-c", command.replace(str(hook.parent), str(service.home / "gone/memoryd"))],
        input="{}", capture_output=True, text=True, check=False,
    )  # fmt: skip
    # Python alone would exit with 2, which refuses the prompt.
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_program_that_cannot_be_read_refuses_no_prompt(service: Service, file: Path) -> None:
    service.ctl("install", "--yes", "--no-service")
    command = commands(file)["UserPromptSubmit"]
    hook = Path(shlex.split(command)[-1])
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        unread = Path(folder) / hook.name
        unread.touch(0o000)
        done = subprocess.run(
            ["sh", "-c", command.replace(str(hook), str(unread))],
            # Root may read everything.
            user=65534 if os.geteuid() == 0 else None,
            input="{}", capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_another_instance_is_found_by_its_hooks_and_its_server(
    service: Service, claude: FakeClaude
) -> None:
    state = service.home / "a state"
    service.environment["MEMORYD_STATE_DIR"] = str(state)
    service.ctl("install", "--yes")
    (command,) = set(commands(service.home / ".claude/settings.json").values())
    assert f" exec env 'MEMORYD_STATE_DIR={state}' " in command
    assert claude.servers()["memoryd"]["env"] == {"MEMORYD_STATE_DIR": str(state)}
    assert service.ctl("install").startswith("all is installed\n")
    service.ctl("uninstall", "--yes")
    assert claude.servers() == {}


def test_the_server_is_entered_by_the_clients_own_command(
    service: Service, claude: FakeClaude
) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    service.ctl("install", "--yes")
    quiet = ["DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER"]
    assert claude.calls() == [
        [
            str(service.home), "mcp", "add", "--scope", "user", "memoryd", "--",
            str(CONTROL), "mcp", *quiet,
        ]
    ]  # fmt: skip
    # That of another installation is replaced, that of somebody else is left alone.
    known = service.home / ".claude.json"
    known.write_text(known.read_text().replace(str(CONTROL), "/gone/memoryctl"))
    assert findings(service, "mcp") == [("note", "memoryctl install")]
    service.ctl("install", "--yes")
    assert [call[2] for call in claude.calls()] == ["remove", "add"]
    assert findings(service, "mcp") == [("fine", "")]
    # Entered by hand under its name alone, it is this one where the shell finds this one.
    service.environment["PATH"] = f"{CONTROL.parent}{os.pathsep}{service.environment['PATH']}"
    known.write_text(known.read_text().replace(str(CONTROL), CONTROL.name))
    assert findings(service, "mcp") == [("fine", "")]
    known.write_text(known.read_text().replace(f'"{CONTROL.name}"', '"/their/server"'))
    assert "another MCP server called memoryd" in service.ctl("install")
    service.ctl("uninstall", "--yes")
    assert claude.calls() == []
    assert claude.servers()["memoryd"]["command"] == "/their/server"


def test_without_the_clients_command_the_person_is_told_it(
    service: Service, claude: FakeClaude, tmp_path: Path
) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    claude.program.unlink()
    service.environment["PATH"] = str(tmp_path / "bin")
    said = service.ctl("install", "--yes")
    assert f"\n    claude mcp add --scope user memoryd -- {CONTROL} mcp\n" in said
    assert service.ctl("install").startswith("all is installed\n")


@pytest.mark.usefixtures("file")
def test_a_client_that_refuses_is_quoted_and_the_rest_can_be_taken_back(
    service: Service, claude: FakeClaude
) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    before = tree(service.home)
    claude.break_()
    done = service.run("memoryctl", "install", "--yes")
    assert done.returncode == 1
    assert "it does not like that" in done.stderr
    service.ctl("uninstall", "--yes")
    assert tree(service.home) == before


def test_one_project_alone(service: Service, claude: FakeClaude) -> None:
    shop, other = service.home / "shop", service.home / "other"
    for project in (shop, other):
        (project / "sub").mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(project)], check=True)
    before = tree(service.home)
    assert service.run("memoryctl", "install", "--yes", "--project", ".").returncode == 2
    service.ctl("install", "--yes", "--scope", "project", cwd=shop / "sub")
    service.ctl("install", "--yes", "--scope", "project", "--project", str(other))
    for project in (shop, other):
        assert set(commands(project / ".claude/settings.local.json")) == set(EVENTS)
        assert set(claude.servers(str(project))) == {"memoryd"}
    assert not (service.home / ".claude").exists()
    assert claude.servers() == {}

    service.ctl("uninstall", "--yes", "--scope", "project", cwd=shop)
    assert not (shop / ".claude").exists()
    unit = service.home / ".config/systemd/user/memoryd.service"
    assert unit.exists(), "the other project still needs it"
    service.ctl("uninstall", "--yes", "--scope", "project", cwd=other)
    assert tree(service.home) == before

    # Without a scope all is taken back, wherever it was.
    for project in (shop, other):
        service.ctl("install", "--yes", "--scope", "project", cwd=project)
    service.ctl("uninstall", "--yes")
    assert tree(service.home) == before
    assert claude.servers(str(shop)) == {}


def test_the_doctor_names_what_keeps_hooks_from_running(service: Service, file: Path) -> None:
    assert findings(service, "hooks") == [("note", "memoryctl install")]
    service.ctl("install", "--yes")
    assert findings(service, "hooks") == [("fine", "")]
    assert findings(service, "completions") == [("fine", "")]
    installed = file.read_text(encoding="utf-8")
    file.write_text(installed.replace('"model"', '"disableAllHooks": true, "model"'))
    assert findings(service, "hooks")[0] == ("note", "take that line out")
    file.write_text(
        installed.replace('"model"', '"enabledPlugins": {"memoryd@memoryd": true}, "model"')
    )
    ((level, mend),) = findings(service, "hooks")
    assert (level, "claude plugin uninstall memoryd" in mend) == ("note", True)
    found = json.loads(installed)
    del found["hooks"]["SessionEnd"]
    file.write_text(json.dumps(found))
    assert findings(service, "hooks") == [("note", "memoryctl install")]
    service.ctl("install", "--yes")
    project = service.home / "shop"
    project.mkdir()
    service.ctl("install", "--yes", "--scope", "project", cwd=project)
    assert findings(service, "hooks", project) == [("fine", "")], "the client runs one only once"
    local = project / ".claude/settings.local.json"
    local.write_text(local.read_text().replace("-I -S", "-S -I"))
    assert ("note", f"memoryctl uninstall --no-service --scope project --project {project}") in (
        findings(service, "hooks", project)
    )


PROGRAMS = {
    "bash": """
        source "$XDG_DATA_HOME/bash-completion/completions/memoryctl"
        read -ra COMP_WORDS <<< "$1"
        if [[ $1 == *' ' ]]; then COMP_WORDS+=(''); fi
        COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
        _memoryctl 2> /dev/null  # Options of completion can only be set while it goes on.
        printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "fish": "complete --do-complete $argv[1]",
    # The functions that show what is offered work only inside the line editor.
    "zsh": """
        compadd() { shift; print -l -- ${(M)@:#${words[CURRENT]}*} }
        _describe() {
            if [[ $1 == -o ]]; then shift; fi
            compadd -- ${${(P)2}%%:*}
        }
        _files() { print -l -- ${words[CURRENT]}*(N/) }
        offer() { source $XDG_DATA_HOME/zsh/site-functions/_memoryctl }
        words=(${=1})
        if [[ $1 == *' ' ]]; then words+=(''); fi
        CURRENT=$#words
        offer
    """,
}


def complete(shell: str, service: Service, line: str) -> list[str]:
    """Return what a real shell offers at the end of a line."""
    # fish completes only what it can find.
    path = f"{COMMANDS}{os.pathsep}{service.environment['PATH']}"
    data = str(service.home / ".local/share")
    arguments = [line] if shell == "fish" else [shell, line]
    done = subprocess.run(
        [shell, "-c", PROGRAMS[shell], *arguments],
        env={**service.environment, "XDG_DATA_HOME": data, "TERM": "dumb", "PATH": path},
        cwd=service.home, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return [word.partition("\t")[0] for word in done.stdout.splitlines() if word]


@pytest.mark.parametrize("shell", PROGRAMS)
def test_a_real_shell_completes_words_without_starting_the_program(
    service: Service, shell: str
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    service.ctl("install", "--yes", "--no-service")
    (service.home / "my project").mkdir()
    assert complete(shell, service, "memoryctl uni") == ["uninstall"]
    assert set(complete(shell, service, "memoryctl jobs ")) >= {"list", "show", "why", "retry"}
    assert "--all-projects" in complete(shell, service, "memoryctl recall --")
    assert "--limit" not in complete(shell, service, "memoryctl undo --")
    assert set(complete(shell, service, "memoryctl remember --type ")) == {
        "user", "feedback", "project", "reference",
    }  # fmt: skip
    assert complete(shell, service, "memoryctl recall --limit ") == []
    offered = complete(shell, service, "memoryctl list --project my")
    assert [word.rstrip("/").replace("\\", "") for word in offered] == ["my project"]
    assert "service" in complete(shell, service, "memoryctl help ")
