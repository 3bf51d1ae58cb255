"""The real client in a scratch home, with a service and its hooks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.messages_api import MessagesApi
from support.real_client import VARIABLE, RealClient
from support.service import COMMANDS, Service


@pytest.fixture(scope="session")
def binary() -> Path:
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"{VARIABLE} does not name the client (./scripts/test --client installs one)")
    path = Path(named)
    assert os.access(path, os.X_OK), f"{VARIABLE}: {path} cannot be run"
    return path


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with MessagesApi() as api:
        yield api


@pytest.fixture
def client(binary: Path, service: Service, api: MessagesApi) -> RealClient:
    environment = {"MEMORYD_RUNTIME_DIR": str(service.runtime)}
    return RealClient(binary, service.home, api, environment)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A running service whose hooks are installed, in a home where nothing can start a client."""
    programs = tmp_path / "bin"
    programs.mkdir()
    recorder = programs / "claude"
    recorder.write_text(f'#!/bin/sh\necho "$PPID $*" >> {tmp_path}/started\n')
    recorder.chmod(0o755)
    path = f"{programs}{os.pathsep}{COMMANDS}{os.pathsep}{os.environ['PATH']}"
    service = Service(tmp_path / "home", PATH=path)
    service.projects.mkdir(parents=True)
    service.start()
    service.ctl("install", "--yes", "--no-service")
    yield service
    if service.run("memoryctl", "status").returncode == 0:
        service.stop()
    # Installing and uninstalling ask it to enter the MCP server; nothing else may start it.
    started = (tmp_path / "started").read_text().splitlines()
    assert {line.split()[1] for line in started} == {"mcp"}
