"""What ``--json`` prints has the fields that ``memoryctl help commands`` shows, and no others."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memoryd.cli import topics
from memoryd.client import Client

from support.service import SCRIPTS, Service

pytestmark = pytest.mark.system


def documented(command: str) -> list[str]:
    section = topics.page("commands").partition("\n## JSON\n")[2]
    block = re.search(rf"^`{command}`[^\0]*?:\n\n((?:    .*\n)+)", section, re.MULTILINE)
    assert block, command
    return sorted(set(re.findall(r'"(\w+)"', block[1])))


def fields(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from fields(item)
    if isinstance(value, dict):
        for name, content in value.items():
            yield name
            if name != "result":  # Depends on the kind of the job.
                yield from fields(content)


def strictly(text: str) -> Any:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({name for name, _ in pairs}) == len(pairs)
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def test_json_has_the_documented_fields(tmp_path: Path) -> None:
    service = Service(tmp_path / "home")
    place = service.home / "orchard"
    place.mkdir()
    replay = service.replay_command(SCRIPTS / "samples")
    service.start()
    try:
        subprocess.run([*replay, "--substitute", f"/home/dev/orchard={place}"], check=True)
        service.wait()
        with Client(service.runtime / "memoryd.sock") as client:
            stop = {"hook_event_name": "Stop", "session_id": "s", "cwd": str(place)}
            client.call("hook", {"stdin": stop})
        for commands in (
            ["recall which port does staging use"],
            ["status"],
            ["list", "show staging-database-port --why"],
            ["log"],
            ["search staging"],
            ["sessions"],
            ["projects"],
            ["jobs list", "jobs show 1"],
            ["jobs why 1"],
        ):
            answers = [
                strictly(service.ctl(*command.split(), "--json", cwd=place)) for command in commands
            ]
            name = re.sub(r" (which|staging|1).*", "", commands[0])
            assert sorted(set(fields(answers))) == documented(name), name
    finally:
        service.stop()
