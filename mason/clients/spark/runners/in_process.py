"""A classic Spark session in this process: no server stays behind, and every command starts a JVM."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING

from mason.clients.spark.failures import without_stack
from mason.clients.spark.java_home import java_home
from mason.clients.spark.server.launch import spark_environment
from mason.clients.spark.settings import RunnerSettings, is_secret
from mason.errors import ClientFailed, Unsupported
from mason.pipeline.tasks import TaskEvent, starting

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

_LINES_SHOWN = 15


class InProcessRunner:
    """Runs tasks on `local[*]` in this process; the session stays for the next job of the process."""

    def __init__(self, settings: RunnerSettings) -> None:
        self._settings = settings

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[TaskEvent]:
        if not tasks:
            return
        session = yield from starting(self._session)
        from mason.clients.spark.job import run_job
        from mason.clients.spark.results import Collected

        yield from run_job(session, kernel, tasks, Collected)

    def query(self, content: bytes) -> Iterator[TaskEvent]:
        session = yield from starting(self._session)
        from mason.clients.spark.job import run_query
        from mason.clients.spark.results import Collected

        yield from run_query(session, content, Collected)

    def _session(self) -> SparkSession:
        return classic_session(self._settings.local_conf, self._settings.variables)

    def describe(self) -> str:
        return "Spark in this process"

    def close(self) -> None:
        """Leave the session to the next job: a process has one JVM, and cannot start another cheaply."""


def classic_session(conf: Mapping[str, str], variables: Mapping[str, str] = MappingProxyType({})) -> SparkSession:
    """Return this process's Spark session, which is started if need be.

    Raises:
        MissingDependency: there is no Java that Spark can run on.
        Unsupported: the one that runs was not started for the storage of this job.
    """
    home = java_home()
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    with SparkContext._lock:
        running = SparkContext._active_spark_context is not None
    if not running:
        settings = SparkConf(loadDefaults=False).setAll(list(conf.items()))
        with _environment({**spark_environment(home), **variables}):
            _start_quietly(settings)
    session = SparkSession.builder.getOrCreate()
    _check_storage(session, conf)
    return session


def _check_storage(session: SparkSession, conf: Mapping[str, str]) -> None:
    """A process has one JVM, with the packages and settings of its first job."""
    started = session.sparkContext.getConf()
    wanted = {name: value for name, value in conf.items() if name.startswith(("spark.jars.packages", "spark.hadoop."))}
    if any(started.get(name) != value for name, value in wanted.items()):
        raise Unsupported(
            "The Spark of this process was started for another storage.",
            hint="Keep a server (`warm: always`), or use one configuration in a process.",
        )


def _start_quietly(settings: SparkConf) -> None:
    """Start the JVM with its messages in a file: a user's terminal is not the place for a JVM's small talk."""
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    # What the JVM is started with are arguments, which everybody can see; the context gets its secrets from here.
    shown = SparkConf(loadDefaults=False).setAll([pair for pair in settings.getAll() if not is_secret(pair[0])])
    with tempfile.TemporaryFile(prefix="mason-spark-") as log:
        try:
            gateway = launch_gateway(shown, {"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]
        except PySparkException as error:
            log.seek(0)
            last = without_stack(log.read().decode(errors="replace"))[-_LINES_SHOWN:]
            raise ClientFailed("Spark did not start:\n" + "\n".join(last)) from error
    SparkContext(conf=settings, gateway=gateway)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables for as long as the JVM is being started, which takes its own from this process."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
