"""A standalone cluster: a master and two workers, each a process of its own."""

from __future__ import annotations

import json
import subprocess
import venv
from pathlib import Path

import pytest

from mason.clients.spark.runners import build_runner
from mason.errors import ClientFailed, UnreadableFile
from mason.pipeline.work.tasks import without_beats
from tests.cluster import Cluster, events_of
from tests.spark.conftest import KERNELS


@pytest.fixture(autouse=True)
def kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(KERNELS)
    monkeypatch.setenv("PYTHONPATH", str(KERNELS))


def test_the_executors_of_both_workers_do_the_tasks_with_the_code_that_was_shipped(cluster: Cluster) -> None:
    before = cluster.applications()
    results = dict(
        without_beats(
            cluster.runner(executors=2).run("spark_kernels:whereabouts", [str(n).encode() for n in range(12)])
        )
    )

    told = [json.loads(results[number]) for number in range(12)]
    assert [each["task"] for each in told] == [str(number) for number in range(12)]
    assert all(".zip" in each["mason"] for each in told), "not the code that lies on this machine"
    (application,) = cluster.applications() - before
    ended = [event["Task Info"] for event in events_of(application) if event["Event"] == "SparkListenerTaskEnd"]
    assert {task["Executor ID"] for task in ended} == {"0", "1"}
    assert len([task for task in ended if not task["Failed"]]) >= 12
    assert len({each["parent"] for each in told}) == 2, "each executor has a daemon of its own, whose workers these are"


def test_workers_whose_python_has_none_of_the_packages_get_them_with_the_job(cluster: Cluster, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", symlinks=True, with_pip=False)
    bare = str(tmp_path / "bare" / "bin" / "python")
    assert subprocess.run([bare, "-c", "import pyarrow"], capture_output=True, check=False).returncode == 1
    conf = {**cluster.conf, "spark.pyspark.python": bare}

    events = cluster.runner(conf=conf, dependencies="shipped", executors=1).run("spark_kernels:packages", [b""])

    ((_, told),) = without_beats(events)
    assert all("mason_dependencies" in each for each in json.loads(told).values()), told


def test_an_error_of_masons_comes_back_from_the_driver() -> None:
    runner = build_runner({"runner": {"type": "submit", "master": "local[1]"}})
    with pytest.raises(UnreadableFile, match="a.csv: it is torn"):
        list(runner.run("spark_kernels:unreadable", [b"a.csv"]))


def test_a_master_that_is_not_there_gives_the_end_of_the_log() -> None:
    conf = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    runner = build_runner({"runner": {"type": "submit", "master": "spark:/nonsense", "conf": conf}})
    with pytest.raises(ClientFailed, match="spark-submit ended without 1 of 1 results"):
        list(runner.run("spark_kernels:echo", [b"x"]))
