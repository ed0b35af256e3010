"""The operators that come with Mason are good: their tests pass here and on a warm Spark, with the same results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, PROJECT, Mason, write

WARM = """\
id: warm
metastore_engine: local
storage_engine: local
scheduler_engine: local
execution_engine: spark
clients:
  spark:
    configuration:
      runner:
        type: local
        warm: always
"""


@pytest.fixture
def warm(mason: Mason, tmp_path: Path) -> Iterator[Mason]:
    mason.variables["XDG_RUNTIME_DIR"] = str(tmp_path / "runtime")
    (tmp_path / "runtime").mkdir(mode=0o700)
    write(mason.folder, {"warm.yaml": WARM})
    yield mason
    assert mason("spark", "stop").exit_code == 0


def test_every_shipped_operator_passes_its_tests_here_and_on_a_warm_spark(warm: Mason) -> None:
    on = ["--config", "warm.yaml", "--on", "local", "--require", "warm"]

    result = warm("test", str(EXAMPLES / "operators"), *on)

    assert result.exit_code == 0, result.stderr
    operators = {
        f"{file.parent.parent.name}:{file.parent.name}" for file in EXAMPLES.glob("operators/*/*/operator.yaml")
    }
    ran = {(each["Operator"], *each["Configurations"]) for each in result.json["Data"]}
    assert ran == {(name, place) for name in operators for place in ("local", "warm")}


def test_the_operator_of_a_new_project_passes_its_tests(mason: Mason) -> None:
    result = mason("test", str(PROJECT / "mason/project/templates/init/files"), "--on", "local")

    assert result.exit_code == 0, result.stderr
