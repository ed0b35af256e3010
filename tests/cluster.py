"""Sparks that Mason did not start: a standalone cluster, and a Connect server that knows nothing of Mason."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mason.clients.spark.java_home import java_home
from mason.clients.spark.runners import SparkRunner, build_runner
from mason.clients.spark.server.keeper import _is_open
from mason.clients.spark.server.launch import server_command, spark_environment, spark_home
from mason.clients.spark.settings import LOCAL_MASTER, RunnerSettings, guards
from mason.util.processes import ProcessId
from tests.ports import free_port
from tests.spark.conftest import eventually


@dataclass(frozen=True)
class Cluster:
    """A master and two workers, each a process of its own."""

    master: str
    workers: tuple[int, int]
    events: Path

    @property
    def conf(self) -> dict[str, str]:
        return {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.executor.memory": "512m",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": self.events.as_uri(),
            "spark.eventLog.compress": "false",
        }

    def runner(self, **options: Any) -> SparkRunner:
        """Return a runner whose jobs begin when all executors are there: else one of them might get no task."""
        together = {
            "spark.scheduler.minRegisteredResourcesRatio": 1.0,
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
        }
        conf = {**self.conf, **together}
        return build_runner({"runner": {"type": "submit", "master": self.master, "conf": conf, **options}})

    def applications(self) -> set[Path]:
        """What each application so far has left in the event log."""
        return set(self.events.iterdir())


@dataclass(frozen=True)
class Sparks:
    """Every way to a Spark; what comes by Connect and what is submitted is done by the executors of one cluster."""

    cluster: Cluster
    port: int
    application: Path
    """What the server for Connect leaves in the event log of the cluster."""
    runtime: Path
    """Where the warm server is, which the first command that asks for it starts."""

    @property
    def runners(self) -> dict[str, dict[str, Any]]:
        """The runners as a configuration names them."""
        submit = {"master": self.cluster.master, "executors": 2, "conf": self.cluster.conf}
        return {
            "warm": {"type": "local", "warm": "always"},
            "cold": {"type": "local", "warm": "never"},
            "connect": {"type": "connect", "url": f"sc://localhost:{self.port}"},
            "submit": {"type": "submit", **submit},
        }

    def configurations(self) -> dict[str, str]:
        """Files of configurations: one for each runner, and one for the engine that needs no Spark."""
        runners: dict[str, dict[str, Any]] = {"here": {}, **self.runners}
        return {f"{name}.yaml": configuration(runner) for name, runner in runners.items()}


def configuration(runner: Mapping[str, Any]) -> str:
    """Return the file of a configuration that runs its jobs so, or without a Spark."""
    roles = {"metastore_engine": "local", "storage_engine": "local", "execution_engine": "spark" if runner else "local"}
    clients: dict[str, Any] = {"local": {"configuration": {"root": "."}}}
    if runner:
        clients["spark"] = {"configuration": {"runner": dict(runner)}}
    return yaml.safe_dump({**roles, "clients": clients})


@contextmanager
def all_sparks(cluster: Cluster, folder: Path) -> Iterator[Sparks]:
    """Start what there is to start, and stop it at the end."""
    for name in ("runtime", "connect"):
        (folder / name).mkdir(mode=0o700)
    before = cluster.applications()
    with connect_server(folder / "connect", cluster) as port:
        (application,) = cluster.applications() - before
        yield Sparks(cluster, port, application, folder / "runtime")
        stop = [sys.executable, "-m", "mason", "spark", "stop"]
        subprocess.run(stop, env={**os.environ, "XDG_RUNTIME_DIR": str(folder / "runtime")}, check=True)


@contextmanager
def standalone_cluster(folder: Path) -> Iterator[Cluster]:
    """Start a cluster, and stop it at the end."""
    port = free_port()
    (folder / "events").mkdir()
    address = f"spark://127.0.0.1:{port}"
    processes = [_start(folder, "master", "master.Master", "--port", str(port))]
    try:
        eventually(lambda: _is_open(port))
        size = ("--cores", "2", "--memory", "2g", "--work-dir")
        processes += [_start(folder, w, "worker.Worker", *size, str(folder / w), address) for w in ("one", "two")]
        for name in ("one", "two"):
            log = folder / f"{name}.log"
            eventually(lambda log=log: "Successfully registered" in log.read_text(encoding="utf-8"))  # type: ignore[misc]
        yield Cluster(address, (processes[1].pid, processes[2].pid), folder / "events")
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(30)


def events_of(application: Path) -> list[Mapping[str, Any]]:
    """Return what Spark has written down of an application; the last line may not be whole yet."""
    logs = [file for file in (application, *application.rglob("*")) if file.is_file() and file.name[:1] != "."]
    lines = [line for log in logs for line in log.read_text(encoding="utf-8").splitlines(keepends=True)]
    return [json.loads(line) for line in lines if line.endswith("\n")]


def executors_of(application: Path) -> set[str]:
    """Return who did the tasks of an application that have ended."""
    ended = [event["Task Info"] for event in events_of(application) if event["Event"] == "SparkListenerTaskEnd"]
    return {task["Executor ID"] for task in ended}


@contextmanager
def connect_server(folder: Path, cluster: Cluster | None = None) -> Iterator[int]:
    """Start a Connect server, whose executors may be those of a cluster; give its port, and stop it at the end."""
    port = free_port()
    known = {name: value for name, value in RunnerSettings().local_conf.items() if name not in guards(LOCAL_MASTER)}
    conf = {**known, "spark.connect.grpc.binding.address": "127.0.0.1"}
    if cluster:
        conf |= {"spark.master": cluster.master, "spark.executor.cores": "1", "spark.cores.max": "2", **cluster.conf}
    environment = {**spark_environment(java_home()), "PYTHONPATH": "", "PYSPARK_PYTHON": sys.executable}
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(
            server_command(conf, port, folder), cwd=folder, env=environment, stdout=log, stderr=log
        )
    process = ProcessId.of(server.pid)
    try:
        eventually(lambda: _is_open(port), 90)
        yield port
    finally:
        server.terminate()
        server.wait(30)
    assert not process.alive


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
