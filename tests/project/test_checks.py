"""The checks of scripts/check.sh notice what they are there for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT, write


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(PROJECT / "mason", tmp_path / "mason", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def check_layers(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, PROJECT / "scripts" / "layers.py", folder]
    env = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_the_layers_are_kept(copy: Path) -> None:
    done = check_layers(copy)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("mason/util/names.py", "import mason.state.sqlite", "Each layer"),
        ("mason/clients/engines/storage.py", "import mason.pipeline.reading.inference", "Each layer"),
        ("mason/operators/runner.py", "import mason.cli.output", "Each layer"),
        ("mason/clients/spark/execution.py", "import mason.cli.output", "Each layer"),
        ("mason/clients/aws/service.py", "import mason.clients.s3.objects", "Each layer"),
        ("mason/pipeline/reading/request.py", "import mason.pipeline.jobs.merge.job", "Each room of the pipeline"),
        ("mason/pipeline/types/column_types.py", "import pyspark", "The pipeline knows nothing of Spark"),
        ("mason/clients/local/storage.py", "import mason.clients.s3.storage", "A client imports no other"),
        ("mason/clients/glue/tables.py", "import mason.clients.athena.ddl", "A client imports no other"),
        ("mason/workflows/runs/runner.py", "import mason.clients.local.scheduler", "What stands above the clients"),
        ("mason/clients/spark/execution.py", "import mason.clients.spark.command", "Nobody imports"),
        ("mason/clients/acme/storage.py", "import mason.clients.s3.storage", "A client imports no other"),
    ],
)
def test_an_import_across_the_layers_is_noticed(copy: Path, module: str, line: str, broken: str) -> None:
    write(copy, {"mason/clients/acme/schema.json": "{}", "mason/clients/acme/__init__.py": ""})  # found by its folder
    file = copy / module
    file.write_text((file.read_text() if file.exists() else "") + f"\n{line}\n")

    done = check_layers(copy)

    assert done.returncode == 1
    told = " ".join(done.stdout.partition("Broken contracts")[2].split())
    assert broken in told and line.removeprefix("import ") in told


@pytest.mark.parametrize("folder", ["mason/warehouse", "mason/pipeline/joins", "mason/api/graph"])
def test_a_folder_that_stands_in_no_layer_is_noticed(copy: Path, folder: str) -> None:
    write(copy, {f"{folder}/__init__.py": ""})

    done = check_layers(copy)

    assert done.returncode == 1
    assert done.stderr.startswith(f"{folder.replace('/', '.')} is in no ")
