"""What Spark's processes are started with."""

from __future__ import annotations

import re
import stat
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mason.clients.spark.runners import submit
from mason.clients.spark.runners.submit import submit_command
from mason.clients.spark.server.launch import server_command
from mason.clients.spark.settings import RunnerSettings, conf_options


def test_the_command_line_for_yarn_and_kubernetes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submit, "dependency_archive", lambda: tmp_path / "dependencies.tar")
    settings = RunnerSettings.of(
        {
            "runner": {
                "type": "submit",
                "master": "k8s://https://host:6443",
                "conf": {"spark.kubernetes.container.image": "spark:4.1.4", "spark.eventLog.enabled": True},
                "driver_memory": "2g",
                "executors": 3,
                "packages": ["org.apache.spark:spark-avro_2.13:4.1.1"],
            }
        }
    )
    command = submit_command(settings, tmp_path / "mason-1.zip", ["tasks", "results", "kernel"])

    assert Path(command[0]).name == "spark-submit"
    assert _option(command, "--master") == ["k8s://https://host:6443"]
    assert _option(command, "--deploy-mode") == ["client"]
    assert _option(command, "--driver-memory") == ["2g"]
    assert _option(command, "--packages") == ["org.apache.spark:spark-avro_2.13:4.1.1"]
    assert _option(command, "--py-files") == [f"{tmp_path}/mason-1.zip"]
    told = {
        "spark.executor.instances": "3",
        "spark.kubernetes.container.image": "spark:4.1.4",
        "spark.eventLog.enabled": "true",
        "spark.pyspark.python": "python3",
        "spark.pyspark.driver.python": sys.executable,
        "spark.executorEnv.PYTHONPATH": "mason_dependencies",
    }
    assert told.items() <= _settings(command).items()
    assert _option(command, "--archives") == [f"{tmp_path}/dependencies.tar#mason_dependencies"]
    assert command[-4].endswith("run_tasks.py") and command[-3:] == ["tasks", "results", "kernel"]
    yarn = submit_command(RunnerSettings(type="submit", master="yarn", executors=2), tmp_path / "m.zip", [])
    assert _option(yarn, "--master") == ["yarn"]
    assert _settings(yarn)["spark.executor.instances"] == "2"


def test_packages_go_along_where_nobody_knows_the_python_of_the_workers() -> None:
    def ships(master: str, **more: Any) -> bool:
        return submit.ships_dependencies(RunnerSettings(type="submit", master=master, **more))

    assert ships("yarn") and ships("k8s://https://host:6443")
    assert not ships("spark://host:7077") and not ships("local[2]")
    assert not ships("yarn", dependencies="present")
    assert not ships("yarn", conf={"spark.pyspark.python": "/opt/python/bin/python"})
    assert ships("spark://host:7077", dependencies="shipped")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.hadoop.fs.s3a.secret.key", "canary"),
        ("spark.hadoop.fs.azure.account.key.shop.dfs.core.windows.net", "canary"),
        ("spark.hadoop.fs.s3a.encryption.key", "canary"),
        ("spark.sql.catalog.lake.credential", "canary"),
        ("spark.sql.catalog.shop.url", "jdbc:postgresql://host/shop?user=me&password=canary"),
        ("spark.executor.extraJavaOptions", "-Djavax.net.ssl.trustStorePassword=canary"),
        ("spark.shop.door", "canary"),
    ],
)
def test_a_secret_among_the_settings_is_in_no_argument(tmp_path: Path, name: str, value: str) -> None:
    conf = {name: value, "spark.eventLog.enabled": "true"}
    submitted = submit_command(RunnerSettings(type="submit", master="local[1]", conf=conf), tmp_path / "m.zip", [])
    started = server_command(conf, 1, tmp_path / "server")

    for command in (submitted, started):
        assert not [each for each in command if "canary" in each], command
        assert "--load-spark-defaults" in command
        (file,) = map(Path, _option(command, "--properties-file"))
        assert {name: value, "spark.eventLog.enabled": "true"}.items() <= _settings(command).items()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_no_setting_means_something_else_in_a_file(tmp_path: Path) -> None:
    conf_options({"spark.odd:name": " a=\\b#c\nspark.more=1"}, tmp_path)

    assert (tmp_path / "settings.properties").read_text() == ("spark.odd\\:name=\\ a\\=\\\\b\\#c\\nspark.more\\=1\n")


def test_a_standalone_master_counts_cores(tmp_path: Path) -> None:
    settings = RunnerSettings(
        type="submit", master="spark://host:7077", executors=3, conf={"spark.executor.cores": "2"}
    )
    conf = _settings(submit_command(settings, tmp_path / "m.zip", []))

    told = {"spark.cores.max": "6", "spark.executor.cores": "2", "spark.pyspark.python": sys.executable}
    assert told.items() <= conf.items()


def _option(command: list[str], name: str) -> list[str]:
    return [value for flag, value in pairwise(command) if flag == name]


def _settings(command: list[str]) -> dict[str, str]:
    """What spark-submit is told in its file."""
    (file,) = _option(command, "--properties-file")
    pairs = [re.split(r"(?<!\\)=", line, maxsplit=1) for line in Path(file).read_text().splitlines()]
    return {name: re.sub(r"\\(.)", r"\1", value) for name, value in pairs}
