"""What benchmarks and scripts import inside of functions is not seen by mypy, and only by whoever runs them."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import PROJECT

FILES = [*sorted((PROJECT / "benchmarks").glob("*.py")), *sorted((PROJECT / "scripts").glob("*.py"))]


def imports_of_mason(file: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "mason":
            yield from ((node.module, each.name) for each in node.names)


def is_there(module: str, name: str) -> bool:
    try:
        return hasattr(importlib.import_module(module), name) or bool(importlib.import_module(f"{module}.{name}"))
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_what_is_imported_from_mason_exists(file: Path) -> None:
    assert [each for each in imports_of_mason(file) if not is_there(*each)] == []


def test_an_import_of_something_that_is_gone_is_noticed() -> None:
    assert not is_there("mason.gone", "Gone") and not is_there("mason.errors", "Gone")
