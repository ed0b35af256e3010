"""A standalone cluster: a master and two workers, each a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mason.clients.spark.java_home import java_home
from mason.clients.spark.runners import SparkRunner, build_runner
from mason.clients.spark.server.keeper import _is_open
from mason.clients.spark.server.launch import free_port, spark_home
from mason.errors import ClientFailed, UnreadableFile
from tests.spark.conftest import KERNELS, eventually


@dataclass(frozen=True)
class Cluster:
    master: str
    workers: tuple[int, int]
    events: Path

    def runner(self, **options: Any) -> SparkRunner:
        conf = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.executor.memory": "512m",
            "spark.eventLog.enabled": True,
            "spark.eventLog.dir": self.events.as_uri(),
            "spark.eventLog.compress": False,
        }
        return build_runner({"runner": {"type": "submit", "master": self.master, "conf": conf, **options}})


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder, port = tmp_path_factory.mktemp("cluster"), free_port()
    (folder / "events").mkdir()
    address = f"spark://127.0.0.1:{port}"
    master = _start(folder, "master", "master.Master", "--port", str(port))
    processes = [master]
    try:
        eventually(lambda: _is_open(port), 60)
        size = ("--cores", "1", "--memory", "1g", "--work-dir")
        processes += [_start(folder, w, "worker.Worker", *size, str(folder / w), address) for w in ("one", "two")]
        for name in ("one", "two"):
            log = folder / f"{name}.log"
            eventually(lambda log=log: "Successfully registered" in log.read_text(encoding="utf-8"), 60)  # type: ignore[misc]
        yield Cluster(address, (processes[1].pid, processes[2].pid), folder / "events")
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(30)


@pytest.fixture(autouse=True)
def kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(KERNELS)
    monkeypatch.setenv("PYTHONPATH", str(KERNELS))


def test_the_executors_of_both_workers_do_the_tasks_with_the_code_that_was_shipped(cluster: Cluster) -> None:
    results = dict(cluster.runner(executors=2).run("spark_kernels:whereabouts", [str(n).encode() for n in range(12)]))

    told = [json.loads(results[number]) for number in range(12)]
    assert [each["task"] for each in told] == [str(number) for number in range(12)]
    assert all(".zip" in each["mason"] for each in told), "not the code that lies on this machine"
    logs = [file for file in cluster.events.rglob("*") if file.is_file() and not file.name.startswith(".")]
    events = [json.loads(line) for log in logs for line in log.read_text(encoding="utf-8").splitlines()]
    finished = [event["Task Info"] for event in events if event["Event"] == "SparkListenerTaskEnd"]
    assert {task["Executor ID"] for task in finished} == {"0", "1"}
    assert len([task for task in finished if not task["Failed"]]) >= 12
    assert len({each["parent"] for each in told}) == 2, "each executor has a daemon of its own, whose workers these are"


def test_an_error_of_masons_comes_back_from_the_driver() -> None:
    runner = build_runner({"runner": {"type": "submit", "master": "local[1]"}})
    with pytest.raises(UnreadableFile, match="a.csv: it is torn"):
        list(runner.run("spark_kernels:unreadable", [b"a.csv"]))


def test_a_master_that_is_not_there_gives_the_end_of_the_log() -> None:
    conf = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    runner = build_runner({"runner": {"type": "submit", "master": "spark:/nonsense", "conf": conf}})
    with pytest.raises(ClientFailed, match="spark-submit ended without 1 of 1 results"):
        list(runner.run("spark_kernels:echo", [b"x"]))


def _start(folder: Path, name: str, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
    places = {"SPARK_HOME": str(spark_home()), "JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable}
    ports = ("--host", "127.0.0.1", "--webui-port", str(free_port()))
    with open(folder / f"{name}.log", "wb") as log:
        return subprocess.Popen(
            [str(spark_home() / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *ports, *arguments],
            env={"PATH": os.environ["PATH"], "SPARK_LOCAL_IP": "127.0.0.1", **places},
            cwd=folder,
            stdout=log,
            stderr=log,
        )
