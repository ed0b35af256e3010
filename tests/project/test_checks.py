"""The checks of scripts/check.sh notice what they are there for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT

BIN = Path(sys.executable).parent


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(PROJECT / "mason", tmp_path / "mason", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROJECT / "pyproject.toml", tmp_path)
    return tmp_path


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [BIN / "lint-imports", "--no-cache"]
    env = {"PYTHONPATH": str(folder), "PATH": f"{BIN}:/usr/bin:/bin"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_the_layers_are_kept(copy: Path) -> None:
    done = lint_imports(copy)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("mason/util/names.py", "import mason.state.sqlite"),
        ("mason/clients/engines/storage.py", "import mason.pipeline.reading.inference"),
        ("mason/operators/runner.py", "import mason.cli.output"),
        ("mason/pipeline/types/column_types.py", "import pyspark"),
    ],
)
def test_an_import_across_the_layers_is_noticed(copy: Path, module: str, line: str) -> None:
    file = copy / module
    file.write_text(file.read_text() + f"\n{line}\n")

    assert lint_imports(copy).returncode != 0
