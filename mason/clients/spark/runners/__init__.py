"""The ways to reach a Spark: `runners/<type>.py` existing is the registration of a type.

Its class is `<Type>Runner`: `kubernetes_operator.py` would have `KubernetesOperatorRunner` for `kubernetes-operator`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Protocol

from mason.clients.spark.server.launch import hadoop_version
from mason.clients.spark.settings import RunnerSettings, is_version
from mason.errors import InvalidConfiguration, Unsupported
from mason.pipeline.storage.address import java_needs
from mason.pipeline.work.tasks import TaskEvent
from mason.util.packages import find_version

_EVERY = frozenset({"type", "spark_version", "conf"})


class SparkRunner(Protocol):
    """Runs tasks on a Spark; a `TaskRunner` of the pipeline that can be described and closed."""

    uses: ClassVar[frozenset[str]]
    """What a configuration may say about this runner, besides its type, `spark_version` and `conf`."""
    starts_spark: ClassVar[bool]
    """Whether it starts the Spark that is installed here, which Mason then tells how to read a storage."""

    def __init__(self, settings: RunnerSettings) -> None: ...

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


def runner_types() -> Sequence[str]:
    """Return the types of runners that there are."""
    files = Path(__file__).parent.glob("*.py")
    return sorted(file.stem.replace("_", "-") for file in files if file.stem != "__init__")


def find_runner(name: str) -> type[SparkRunner]:
    """Return the class of a type of runner.

    Raises:
        Unsupported: there is no such runner.
    """
    if name not in runner_types():
        there = f"What works today: {', '.join(runner_types())}."
        raise Unsupported(f'The runner "{name}" is not there yet.', hint=there)
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    found: type[SparkRunner] = getattr(module, "".join(map(str.capitalize, name.split("-"))) + "Runner")
    return found


def build_runner(configuration: Mapping[str, Any], storages: Sequence[str] = ()) -> SparkRunner:
    """Return the runner of a `spark` client's configuration, by default this machine's Spark, that reads some storages.

    Raises:
        Unsupported: there is no such runner, or it cannot read a storage.
        InvalidConfiguration: the configuration wants another Spark than the one that is installed, or says something
            that this runner has no use for, or wants a setting otherwise that keeps callers and others out.
    """
    settings = RunnerSettings.of(configuration)
    runner = find_runner(settings.type)
    _check_uses(configuration.get("runner") or {}, settings.type)
    _check_guards(settings)
    if runner.starts_spark:
        _check_version(settings)
        for storage in storages:
            settings = settings.with_needs(java_needs(storage, hadoop_version()))
    return runner(settings)


def _check_uses(runner: Mapping[str, Any], kind: str) -> None:
    """What is passed over in silence would be found out by its absence."""
    idle = sorted(set(runner) - _EVERY - find_runner(kind).uses)
    users = {name: " and ".join(each for each in runner_types() if name in find_runner(each).uses) for name in idle}
    if idle:
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
