"""spark-submit to any master: the driver runs on this machine, the tasks on the cluster.

The driver reads its tasks from a file here and writes their results to one, so it must run here: the deploy mode is
`client`. Mason's code is shipped with the job, and so are the Python packages that its kernels need, unless the workers
have them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mason.clients.spark import driver
from mason.clients.spark.code import write_archive
from mason.clients.spark.dependencies import FOLDER, dependency_archive
from mason.clients.spark.exchange import ENDED, FAILED, QUERY, read_items, write_items
from mason.clients.spark.failures import without_stack
from mason.clients.spark.java_home import java_home
from mason.clients.spark.server.launch import spark_environment, spark_home
from mason.clients.spark.settings import (
    LOG_SETTINGS,
    PLACING_JAVA_OPTIONS,
    RunnerSettings,
    conf_options,
    private_variables,
)
from mason.errors import ClientFailed, InvalidConfiguration
from mason.pipeline.work.failures import decode_failure
from mason.pipeline.work.tasks import BEAT_SECONDS, TaskEvent
from mason.util.processes import ProcessId

# They name places and people. Whatever else is in the environment, a query must not be able to read.
CLUSTER_VARIABLES = (
    "HADOOP_CONF_DIR",
    "YARN_CONF_DIR",
    "KUBECONFIG",
    "HADOOP_USER_NAME",
    "KRB5CCNAME",
    "KRB5_CONFIG",
    "SPARK_LOCAL_IP",
)

_PYTHON_PATH = "spark.executorEnv.PYTHONPATH"
_SCRIPT = Path(driver.__file__).parent / "run_tasks.py"
_LINES_SHOWN = 15
_ERRORS_SHOWN = 5
_ERROR = " ERROR "
_TICK = 0.1
_SECONDS_TO_END = 15.0

Checked = Callable[[Iterator[tuple[int, bytes]], Path], Iterator[tuple[int, bytes]]]
"""Yields results and sees, with the log at hand, that they are all there."""


class SubmitRunner:
    """Runs tasks on the cluster of a master such as `spark://host:7077`, `yarn` or `k8s://https://host:6443`."""

    uses = frozenset({"master", "driver_memory", "executors", "packages", "dependencies"})
    starts_spark = True

    def __init__(self, settings: RunnerSettings) -> None:
        if not settings.master:
            raise InvalidConfiguration(['runner: the type "submit" needs a master such as spark://host:7077'])
        if settings.conf.get("spark.submit.deployMode", "client") != "client":
            raise InvalidConfiguration(
                ["runner: spark.submit.deployMode: Mason's driver runs on this machine (client)"]
            )
        self._settings = settings

    def run(self, kernel: str, tasks: Sequence[bytes]) -> Iterator[TaskEvent]:
        if tasks:
            yield from self._events(kernel, tasks, lambda items, log: _check_answers(items, len(tasks), log))

    def query(self, content: bytes) -> Iterator[TaskEvent]:
        yield from self._events(QUERY, [content], _until_the_end)

    def _events(self, kernel: str, tasks: Sequence[bytes], checked: Checked) -> Iterator[TaskEvent]:
        with tempfile.TemporaryDirectory(prefix="mason-submit-") as name:
            folder = Path(name)
            results = folder / "results"
            with open(folder / "tasks", "wb") as stream:
                write_items(stream, enumerate(tasks))
            results.touch()
            yield from self._submit(folder, kernel)
            yield from checked(read_items(results), folder / "log")

    def start_early(self) -> None:
        """Leave it to the job: what is submitted has its tasks with it."""

    def describe(self) -> str:
        return f"spark-submit to {self._settings.master}"

    def close(self) -> None:
        """Nothing is held between jobs."""

    def _submit(self, folder: Path, kernel: str) -> Iterator[int | None]:
        me = ProcessId.of(os.getpid())
        arguments = [str(folder / "tasks"), str(folder / "results"), kernel, str(me.pid), me.started]
        options = "" if kernel == QUERY else PLACING_JAVA_OPTIONS
        command = submit_command(self._settings, write_archive(folder, kernel), arguments, options)
        with open(folder / "log", "wb") as log:
            process = subprocess.Popen(
                command,
                env={**submit_environment(java_home()), **private_variables(folder), **self._settings.variables},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            yield from _beats_until_the_end(process, folder / "done")
        finally:
            _end(process)


def submit_command(
    settings: RunnerSettings, archive: Path, arguments: Sequence[str], java_options: str = ""
) -> list[str]:
    """Return the whole command line of a job; the settings in it come from the configuration, secrets beside it."""
    options = ["--master", settings.master, "--deploy-mode", "client", "--name", "mason", "--py-files", str(archive)]
    if settings.driver_memory:
        options += ["--driver-memory", settings.driver_memory]
    if ships_dependencies(settings):
        archives = [settings.conf.get("spark.archives", ""), f"{dependency_archive()}#{FOLDER}"]
        options += ["--archives", ",".join(filter(None, archives))]
    if settings.packages:
        options += ["--packages", ",".join(settings.packages)]
    options += conf_options(submit_conf(settings, java_options), archive.parent)
    return [str(spark_home() / "bin" / "spark-submit"), *options, str(_SCRIPT), *arguments]


def submit_conf(settings: RunnerSettings, java_options: str = "") -> dict[str, str]:
    """Return the settings of a submitted job; what the configuration says wins over all but the guards."""
    ivy = {name: value for name, value in settings.package_conf.items() if name != "spark.jars.packages"}
    return {
        "spark.pyspark.driver.python": sys.executable,
        "spark.pyspark.python": _workers_python(settings.master),
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={LOG_SETTINGS.as_uri()}",
        **({"spark.executor.extraJavaOptions": java_options} if java_options else {}),
        "spark.driver.maxResultSize": "0",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        **ivy,
        **_executors(settings),
        **{f"spark.executorEnv.{name}": value for name, value in settings.variables.items()},
        **settings.conf,
        **_python_path(settings),
        **settings.guards,
    }


def submit_environment(java: Path, variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of spark-submit: what Spark needs, and what says where the cluster is."""
    passed_on = {name: variables[name] for name in CLUSTER_VARIABLES if variables.get(name)}
    # Which Python runs the tasks is a setting.
    needed = {name: value for name, value in spark_environment(java, variables).items() if name != "PYSPARK_PYTHON"}
    return {**passed_on, **needed}


def ships_dependencies(settings: RunnerSettings) -> bool:
    """Say whether the Python packages go along; by default, to where an unknown Python runs the tasks."""
    if settings.dependencies != "auto":
        return settings.dependencies == "shipped"
    return "spark.pyspark.python" not in settings.conf and _workers_python(settings.master) != sys.executable


def _python_path(settings: RunnerSettings) -> dict[str, str]:
    if not ships_dependencies(settings):
        return {}
    given = settings.conf.get(_PYTHON_PATH, "")
    return {_PYTHON_PATH: os.pathsep.join(filter(None, [FOLDER, given]))}


def _workers_python(master: str) -> str:
    # A container's image or a Hadoop node has a Python of its own; a standalone cluster is set up like this machine.
    return "python3" if master.startswith(("yarn", "k8s://")) else sys.executable


def _executors(settings: RunnerSettings) -> dict[str, str]:
    if not settings.executors:
        return {}
    asked = {"spark.executor.instances": str(settings.executors)}
    if settings.master.startswith("spark://"):
        # A standalone master counts cores, not executors.
        cores = int(settings.conf.get("spark.executor.cores", "1"))
        asked |= {"spark.executor.cores": str(cores), "spark.cores.max": str(cores * settings.executors)}
    return asked


def _beats_until_the_end(process: subprocess.Popen[bytes], done: Path) -> Iterator[int | None]:
    """Wait for the driver, which writes down how many tasks are done."""
    beat = time.monotonic()
    while process.poll() is None:
        time.sleep(_TICK)
        if time.monotonic() - beat >= BEAT_SECONDS:
            beat = time.monotonic()
            yield int(done.read_text(encoding="ascii")) if done.exists() else None


def _check_answers(items: Iterator[tuple[int, bytes]], count: int, log: Path) -> Iterator[tuple[int, bytes]]:
    missing = set(range(count))
    for number, payload in items:
        if number == FAILED:
            raise decode_failure(payload)
        if number in missing:
            missing.discard(number)
            yield number, payload
    if missing:
        raise ClientFailed(f"spark-submit ended without {len(missing)} of {count} results:\n{_essence(log)}")


def _until_the_end(items: Iterator[tuple[int, bytes]], log: Path) -> Iterator[tuple[int, bytes]]:
    for number, payload in items:
        if number == FAILED:
            raise decode_failure(payload)
        if number == ENDED:
            return
        yield number, payload
    raise ClientFailed(f"spark-submit ended without a result:\n{_essence(log)}")


def _essence(log: Path) -> str:
    """What Spark calls an error, and how the log ends: the one may be the cause of the other, and far above it."""
    lines = without_stack(log.read_text(encoding="utf-8", errors="replace"))
    errors = [line for line in lines if _ERROR in line]
    return "\n".join(dict.fromkeys([*errors[:_ERRORS_SHOWN], *lines[-_LINES_SHOWN:]]))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End spark-submit and its driver, if the job was given up before they were done."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_SECONDS_TO_END)
