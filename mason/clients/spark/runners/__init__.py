"""The ways to reach a Spark: `build_runner` picks one by what the configuration says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from mason.clients.spark.server.launch import hadoop_version
from mason.clients.spark.settings import RunnerSettings, is_version
from mason.errors import InvalidConfiguration, Unsupported
from mason.pipeline.storage.address import java_needs
from mason.pipeline.work.tasks import TaskEvent
from mason.util.packages import find_version

_EVERY = frozenset({"type", "spark_version", "conf"})
_USED = {
    "local": _EVERY | {"driver_memory", "packages", "warm"},
    "connect": _EVERY | {"url"},
    "submit": _EVERY | {"master", "driver_memory", "executors", "packages", "dependencies"},
}


class SparkRunner(Protocol):
    """Runs tasks on a Spark; a `TaskRunner` of the pipeline that can be described and closed."""

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[TaskEvent]:
        """Run the kernel on every task and yield the number of each task with its result, and beats in between.

        Closing the iterator interrupts the Spark job.
        """

    def query(self, content: bytes) -> Iterator[TaskEvent]:
        """Run a query, given as bytes; yield beats, and the result or the pieces of it that were written."""

    def start_early(self) -> None:
        """Begin to start the Spark, or to reach it, in the background: a job is being planned that will need it."""

    def describe(self) -> str:
        """Return what a log should say about where the tasks run."""

    def close(self) -> None:
        """Give back what the runner holds: its session, its connection."""


def build_runner(configuration: Mapping[str, Any], storages: Sequence[str] = ()) -> SparkRunner:
    """Return the runner of a `spark` client's configuration, by default this machine's Spark, that reads some storages.

    Raises:
        Unsupported: this runner is not there yet, or cannot read the storage.
        InvalidConfiguration: the configuration wants another Spark than the one that is installed, or says something
            that this runner has no use for, or wants a setting otherwise that keeps callers and others out.
    """
    _check_uses(configuration.get("runner") or {})
    settings = RunnerSettings.of(configuration)
    _check_guards(settings)
    if settings.type in ("local", "submit"):
        _check_version(settings)
        for storage in storages:
            settings = settings.reading(java_needs(storage, hadoop_version()))
    if settings.type == "local":
        from mason.clients.spark.runners.local import LocalRunner

        return LocalRunner(settings)
    if settings.type == "connect":
        from mason.clients.spark.runners.connect import ConnectRunner

        return ConnectRunner(settings)
    if settings.type == "submit":
        from mason.clients.spark.runners.submit import SubmitRunner

        return SubmitRunner(settings)
    raise Unsupported(
        f'The runner "{settings.type}" is not there yet.', hint="What works today: local, connect, submit."
    )


def _check_uses(runner: Mapping[str, Any]) -> None:
    """What is passed over in silence would be found out by its absence."""
    kind = runner.get("type", "local")
    idle = sorted(set(runner) - _USED[kind]) if kind in _USED else []
    if idle:
        users = {name: " and ".join(each for each in _USED if name in _USED[each]) for name in idle}
        raise InvalidConfiguration(
            [f'runner: {name}: the type "{kind}" has no use for it; {users[name]} would' for name in idle]
        )


def _check_guards(settings: RunnerSettings) -> None:
    wrong = [
        f'runner: conf: {name}: it says "{settings.conf[name]}", and Mason needs "{value}": leave it out'
        for name, value in settings.guards.items()
        if settings.conf.get(name, value) != value
    ]
    if wrong:
        raise InvalidConfiguration(wrong)


def _check_version(settings: RunnerSettings) -> None:
    if not settings.spark_version:
        return  # asking for the installed version takes time, which few need to spend
    installed = find_version("pyspark") or "none"
    if not is_version(installed, settings.spark_version):
        raise InvalidConfiguration(
            [f"runner: spark_version: it says {settings.spark_version}, and pyspark {installed} is installed"]
        )
