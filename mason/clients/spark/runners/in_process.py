"""A classic Spark session in this process: no server stays behind, and every command starts a JVM."""

from __future__ import annotations

import os
import shlex
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from mason.clients.spark.failures import without_stack
from mason.clients.spark.java_home import java_home
from mason.clients.spark.server.launch import spark_environment
from mason.clients.spark.settings import RunnerSettings, conf_options
from mason.errors import ClientFailed, Unsupported
from mason.pipeline.tasks import TaskEvent, starting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LINES_SHOWN = 15
_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"

# A process has one JVM, and its environment is changed while that starts. A job that was cancelled goes on starting it,
# and jobs may begin at the same time: whoever comes second waits, and takes the same.
_STARTING = threading.Lock()


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
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with _STARTING:
        with SparkContext._lock:
            running = SparkContext._active_spark_context is not None
        if not running:
            with _environment({**spark_environment(home), **variables}):
                _start_quietly(conf)
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


def _start_quietly(conf: Mapping[str, str]) -> None:
    """Start the JVM with its messages in a file: a user's terminal is not the place for a JVM's small talk."""
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    with tempfile.TemporaryDirectory(prefix="mason-spark-") as folder, tempfile.TemporaryFile() as log:
        # Not as the conf of the gateway, which would make arguments of it: everybody can see those.
        options = shlex.join(conf_options(conf, Path(folder)))
        arguments = f"{options} {os.environ.get(_ARGUMENTS, 'pyspark-shell')}"
        try:
            with _environment({_ARGUMENTS: arguments}):
                gateway = launch_gateway(None, {"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]
        except PySparkException as error:
            log.seek(0)
            last = without_stack(log.read().decode(errors="replace"))[-_LINES_SHOWN:]
            raise ClientFailed("Spark did not start:\n" + "\n".join(last)) from error
    SparkContext(conf=SparkConf(loadDefaults=False).setAll(list(conf.items())), gateway=gateway)


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
