"""A Mason in this process whose lineage goes where a test wants it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mason
from mason.connection.connection import Connection
from tests.api.support import prepared
from tests.conftest import Mason

Event = dict[str, Any]
Told = Callable[[], list[Event]]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Mason:
    root = tmp_path_factory.mktemp("lineage")
    return prepared(root / "work", root / "home")


@pytest.fixture
def m(home: Mason, monkeypatch: pytest.MonkeyPatch) -> Connection:
    monkeypatch.setenv("MASON_HOME", str(home.home))
    monkeypatch.chdir(home.folder)
    return mason.connect(config="files")


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
    """Have lineage told to a file, and return what reads the events in it."""
    file = tmp_path / "lineage" / "events.jsonl"
    monkeypatch.setenv("MASON_LINEAGE", f"file://{file}")
    return lambda: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
