"""The real command line client, in a scratch home, talking to ``MessagesApi`` alone.

Its binary is named by ``MEMORYD_TEST_CLIENT`` (``./scripts/test --client`` installs one).
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from support.messages_api import MessagesApi, Request

VARIABLE = "MEMORYD_TEST_CLIENT"
_TURN_S = 60.0


@dataclass(frozen=True, slots=True)
class Turn:
    """What one run of the client gave.

    Attributes:
        code: its exit code.
        results: the ``result`` objects it printed, one per prompt.
        stderr: what it complained of.
        requests: of ``POST /v1/messages`` that came while it ran.
        transcript: the file of its session, ``None`` if there is none.
    """

    code: int
    results: list[dict[str, Any]]
    stderr: str
    requests: list[Request]
    transcript: Path | None

    @property
    def session(self) -> str:
        """The id of the session at the end."""
        return str(self.results[-1]["session_id"])

    @property
    def text(self) -> str:
        """What the person was shown last."""
        return str(self.results[-1].get("result", ""))

    def records(self) -> list[dict[str, Any]]:
        """Return the records of the transcript."""
        assert self.transcript is not None
        return [json.loads(line) for line in self.transcript.read_bytes().split(b"\n") if line]

    def attachments(self, kind: str) -> list[dict[str, Any]]:
        """Return the attachments of one type in the transcript."""
        return [
            record["attachment"]
            for record in self.records()
            if record.get("type") == "attachment" and record["attachment"]["type"] == kind
        ]


class RealClient:
    """The client of one scratch home.

    Args:
        binary: the program.
        home: the scratch home directory.
        api: whom it talks to.
        environment: added to what it gets; nothing of this process's environment is passed on.

    Attributes:
        environment: of every run; may be changed between runs.
        contacted: addresses of other machines to which it was seen connected.
    """

    def __init__(
        self, binary: Path, home: Path, api: MessagesApi, environment: Mapping[str, str]
    ) -> None:
        self.binary = binary
        self.home = home
        self.api = api
        scratch = home / "tmp"
        scratch.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "ANTHROPIC_API_KEY": "sk-ant-" + "dummy",
            "ANTHROPIC_BASE_URL": api.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "IS_SANDBOX": "1",
            "TMPDIR": str(scratch),
            "CLAUDE_CODE_TMPDIR": str(scratch),
            **environment,
        }
        self.contacted: set[str] = set()

    @property
    def config(self) -> Path:
        """Its configuration directory."""
        return self.home / ".claude"

    def settings(self, value: Mapping[str, Any]) -> Path:
        """Write the person's settings and return their path."""
        path = self.config / "settings.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=2) + "\n")
        return path

    def project(self, name: str) -> Path:
        """Make a git repository with one commit in the home directory."""
        path = self.home / name
        path.mkdir(parents=True)
        (path / "README.md").write_text(f"# {name}\n")
        self.git(path, "init", "-q", "-b", "main")
        self.git(path, "add", ".")
        self.git(path, "commit", "-qm", "Begin")
        return path

    def git(self, folder: Path, *arguments: str) -> None:
        """Run git in a folder, as nobody in particular."""
        subprocess.run(
            ["git", "-c", "user.name=Test", "-c", "user.email=test@example.invalid", *arguments],
            cwd=folder, env={"PATH": os.environ["PATH"], "HOME": str(self.home)},
            check=True, capture_output=True,
        )  # fmt: skip

    def turn(
        self,
        *prompts: str,
        cwd: Path,
        options: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> Turn:
        """Run it headless with these prompts, in one process, and return what it gave.

        Args:
            prompts: what the person says, one after another.
            cwd: where it is started.
            options: of its command line, such as ``("--resume", session)``.
            environment: variables of this run.
        """
        command = [
            str(self.binary), "--print", "--verbose", "--permission-mode", "bypassPermissions",
            "--input-format", "stream-json", "--output-format", "stream-json", *options,
        ]  # fmt: skip
        before = len(self.api.requests)
        results = []
        with (
            tempfile.TemporaryFile() as complaints,
            subprocess.Popen(
                command, cwd=cwd, env={**self.environment, **(environment or {})},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints,
            ) as process,
            self._watched(process),
        ):  # fmt: skip
            assert process.stdin is not None
            assert process.stdout is not None
            # What comes while it works would be taken together with what it works on.
            for prompt in prompts:
                message = {"role": "user", "content": prompt}
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(
                        json.dumps({"type": "user", "message": message}).encode() + b"\n"
                    )
                    process.stdin.flush()
                result = _result(process.stdout)
                if result is None:
                    break
                results.append(result)
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.stdout.read()
            process.wait()
            complaints.seek(0)
            stderr = complaints.read().decode(errors="replace")
        assert not self.contacted, f"the client talked to {self.contacted}"
        found = (
            list((self.config / "projects").glob(f"*/{results[-1]['session_id']}.jsonl"))
            if results
            else []
        )
        transcript = found[0] if found else None
        return Turn(process.returncode, results, stderr, self.api.requests[before:], transcript)

    @contextlib.contextmanager
    def _watched(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """Look at its connections whenever it asks something; end it when it takes too long."""

        def look(_: Request) -> None:
            self.contacted.update(_strangers(process.pid))

        self.api.on_request = look
        limit = threading.Timer(_TURN_S, process.kill)
        limit.start()
        try:
            yield
        finally:
            limit.cancel()
            process.kill()
            self.api.on_request = lambda _: None


def _result(lines: IO[bytes]) -> dict[str, Any] | None:
    """Return the next result that is printed, ``None`` at the end."""
    for line in lines:
        if line.startswith(b"{"):
            message: dict[str, Any] = json.loads(line)
            if message.get("type") == "result":
                return message
    return None


def _strangers(pid: int) -> Iterator[str]:
    """Yield addresses outside the loopback interface to which a process is connected."""
    own = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            own.add(str(descriptor.readlink()))
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            columns = line.split()
            if f"socket:[{columns[9]}]" not in own:
                continue
            address = _address(columns[2].split(":")[0])
            if not (address.is_loopback or address.is_unspecified):
                yield str(address)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return the address that the kernel writes in words of 32 bits, low byte first."""
    words = bytes.fromhex(text)
    octets = b"".join(words[at : at + 4][::-1] for at in range(0, len(words), 4))
    address = ipaddress.ip_address(octets)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
