"""A classic Spark session in this process: no server stays behind, and every command starts a JVM."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

from mason.clients.spark.class_archive import ClassArchive, with_archive
from mason.clients.spark.failures import error_of_ended_spark, out_of_memory, without_stack
from mason.clients.spark.java_home import java_home
from mason.clients.spark.server.launch import spark_environment, spark_home
from mason.clients.spark.settings import (
    SESSION_GUARDS,
    RunnerSettings,
    conf_options,
    private_conf,
    private_variables,
)
from mason.clients.spark.start_times import IN_PROCESS, start_in_background, start_spark
from mason.errors import ClientFailed, Unsupported
from mason.pipeline.work.tasks import TaskEvent

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_LINES_SHOWN = 15
_TICK = 0.1
_SECONDS_TO_END = 1.0
_OUT_OF_MEMORY_EXIT = 3  # of a JVM with -XX:+ExitOnOutOfMemoryError
_SHELL = "pyspark-shell"  # the name by which spark-submit knows that Python comes and asks

# A process has one JVM, and its environment is changed while that starts. A job that was cancelled goes on starting it,
# and jobs may begin at the same time: whoever comes second waits, and takes the same.
_STARTING = threading.Lock()

_JVMS: list[subprocess.Popen[bytes]] = []
"""Those that were started for a job that did not begin: nothing is lost if they are killed."""


class InProcessRunner:
    """Runs tasks on `local[*]` in this process; the session stays for the next job of the process."""

    def __init__(self, settings: RunnerSettings) -> None:
        self._settings = settings

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[TaskEvent]:
        if not tasks:
            return
        context = yield from start_spark(IN_PROCESS, self._context)
        _JVMS.clear()
        from mason.clients.spark.rdd_job import run_tasks

        yield from _while_alive(context, run_tasks(context, kernel, tasks))

    def query(self, content: bytes) -> Iterator[TaskEvent]:
        session = yield from start_spark(IN_PROCESS, self._session)
        _JVMS.clear()
        from mason.clients.spark.job import run_query
        from mason.clients.spark.results import Collected

        yield from _while_alive(session.sparkContext, run_query(session, content, Collected))

    def _context(self) -> SparkContext:
        return classic_context(self._settings.local_conf, self._settings.variables)

    def _session(self) -> SparkSession:
        return classic_session(self._settings.local_conf, self._settings.variables)

    def start_early(self) -> None:
        start_in_background(self._context)

    def describe(self) -> str:
        return "Spark in this process"

    def close(self) -> None:
        """Leave the session to the next job: a process has one JVM, and cannot start another cheaply."""


def _while_alive(context: SparkContext, events: Iterator[TaskEvent]) -> Iterator[TaskEvent]:
    """Yield the events of a job; where its JVM ended, say so, and let the next job of the process start another."""
    process = context._gateway.proc  # type: ignore[union-attr]
    memory = context.getConf().get("spark.driver.memory")
    try:
        yield from events
    except Exception as error:
        if not _has_ended(process):
            raise
        _forget_session()
        raise (
            out_of_memory(memory) if process.returncode == _OUT_OF_MEMORY_EXIT else error_of_ended_spark()
        ) from error


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a JVM has ended, or does so now: its connections break a moment before."""
    try:
        process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        return False
    return True


def _forget_session() -> None:
    """Forget a session whose JVM is gone; pyspark's own `stop` would ask that JVM."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with _STARTING, SparkContext._lock:
        SparkContext._active_spark_context = None
        SparkContext._gateway = SparkContext._jvm = None
        SparkSession._instantiatedSession = None


def classic_context(conf: Mapping[str, str], variables: Mapping[str, str] = MappingProxyType({})) -> SparkContext:
    """Return this process's Spark, which is started if need be. It has no session, which would take a second more.

    Raises:
        MissingDependency: there is no Java that Spark can run on.
        Unsupported: the one that runs was not started for the storage of this job.
    """
    home = java_home()
    from pyspark import SparkContext

    from mason.clients.spark.quiet import keep_quiet

    keep_quiet()
    with _STARTING:
        with SparkContext._lock:
            running = SparkContext._active_spark_context is not None
        if not running:
            _start_quietly(conf, home, {**spark_environment(home), **variables})
        context = SparkContext.getOrCreate()
    _check_storage(context, conf)
    return context


def classic_session(conf: Mapping[str, str], variables: Mapping[str, str] = MappingProxyType({})) -> SparkSession:
    """Return the session of this process's Spark, which is started if need be; raises what `classic_context` does."""
    classic_context(conf, variables)
    from pyspark.sql import SparkSession

    with _STARTING:
        session = SparkSession.builder.getOrCreate()
    for name, value in SESSION_GUARDS.items():
        session.conf.set(name, value)  # the program that this process is may have started a Spark of its own
    return session


def _check_storage(context: SparkContext, conf: Mapping[str, str]) -> None:
    """A process has one JVM, with the packages and settings of its first job."""
    started = context.getConf()
    wanted = {name: value for name, value in conf.items() if name.startswith(("spark.jars.packages", "spark.hadoop."))}
    if any(started.get(name) != value for name, value in wanted.items()):
        raise Unsupported(
            "The Spark of this process was started for another storage.",
            hint="Keep a server (`warm: always`), or use one configuration in a process.",
        )


def _start_quietly(conf: Mapping[str, str], java: Path, environment: Mapping[str, str]) -> None:
    """Start the JVM with its messages in a file: a user's terminal is not the place for a JVM's small talk."""
    from pyspark import SparkConf, SparkContext

    from mason.clients.spark.quiet import ignore_lost_counters

    scratch = Path(tempfile.mkdtemp(prefix="mason-spark-"))
    atexit.register(_remove, scratch, os.getpid())
    archive = ClassArchive.of(java)
    if archive:
        atexit.register(archive.make_in_background)  # for the next command: this one needs the cores
    settings = {**private_conf(scratch), **conf}
    variables = {**environment, **private_variables(scratch)}
    with tempfile.TemporaryDirectory(dir=scratch) as folder, tempfile.TemporaryFile() as log:
        gateway = _start_gateway(with_archive(settings, archive), variables, Path(folder), log)
    with _environment({"PYSPARK_PYTHON": sys.executable}):
        context = SparkContext(conf=SparkConf(loadDefaults=False).setAll(list(settings.items())), gateway=gateway)
    ignore_lost_counters(context)


def _remove(scratch: Path, owner: int) -> None:
    """Remove what Spark has left; a process that was forked from this one leaves it alone."""
    if os.getpid() == owner:
        for process in _JVMS:  # it would go on writing until it finds that this process has ended
            process.kill()
            process.wait()
        shutil.rmtree(scratch, ignore_errors=True)  # the JVM, which is about to end, removes files, too


def _start_gateway(conf: Mapping[str, str], environment: Mapping[str, str], folder: Path, log: IO[bytes]) -> Any:
    """Start the JVM that Python speaks to, and return what speaks to it.

    pyspark would start it with the whole environment of this process: every secret in it could be read by a query.
    """
    from pyspark.java_gateway import launch_gateway
    from pyspark.serializers import UTF8Deserializer, read_int

    address = folder / "gateway"
    process = subprocess.Popen(
        # Not as the conf of the gateway, which would make arguments of it: everybody can see those.
        [str(spark_home() / "bin" / "spark-submit"), *conf_options(conf, folder), _SHELL],
        env={**environment, "SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(address)},
        stdin=subprocess.PIPE,  # its end tells the JVM that this process has ended
        stdout=log,
        stderr=log,
        preexec_fn=_ignore_interrupts,
    )
    _JVMS.append(process)
    while process.poll() is None and not address.exists():
        time.sleep(_TICK)
    if not address.exists():
        log.seek(0)
        last = without_stack(log.read().decode(errors="replace"))[-_LINES_SHOWN:]
        raise ClientFailed("Spark did not start:\n" + "\n".join(last))
    with open(address, "rb") as stream:
        port = read_int(stream)  # type: ignore[no-untyped-call]
        secret = UTF8Deserializer().loads(stream)  # type: ignore[no-untyped-call]
    with _environment({"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}):
        gateway = launch_gateway()  # type: ignore[no-untyped-call]
    gateway.proc = process
    return gateway


def _ignore_interrupts() -> None:
    """A ctrl-C is for the command, which then ends its job."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables for a moment: pyspark takes these from nowhere else."""
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
