"""One server for each module of tests: what a test changes, it names after itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.api.support import Server, prepared
from tests.conftest import Mason

Start = Callable[..., Server]


@pytest.fixture(scope="module")
def prepared_mason(tmp_path_factory: pytest.TempPathFactory) -> Mason:
    root = tmp_path_factory.mktemp("api")
    return prepared(root / "work", root / "home")


@pytest.fixture(scope="module")
def server(prepared_mason: Mason) -> Iterator[Server]:
    running = Server(prepared_mason).start()
    yield running
    running.kill()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a server with a home of its own."""
    running: list[Server] = []

    def begin(*arguments: str, **variables: str) -> Server:
        mason = prepared(tmp_path / "work", tmp_path / "home")
        running.append(Server(mason, arguments, variables).start())
        return running[-1]

    yield begin
    for each in running:
        if each.process is not None and each.process.poll() is None:
            each.kill()
