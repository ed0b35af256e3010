"""Spark in this process: a JVM is started once, whoever asks for it, and with no argument that anybody could read."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyspark
import pyspark.sql
import pytest

from mason.clients.spark import in_process
from mason.clients.spark.in_process import classic_session
from mason.clients.spark.settings import SESSION_GUARDS
from tests.conftest import EXAMPLES, PROJECT, write
from tests.spark.conftest import eventually


class Context:
    """Stands for Spark's own, which a process can have one of."""

    _lock: Any = nullcontext()
    _active_spark_context: Any = None

    @classmethod
    def getOrCreate(cls) -> Session:
        return Session()


class Session:
    """Stands for Spark's own."""

    builder: Any
    sparkContext: Any
    conf: Any

    def getOrCreate(self) -> Session:
        return self

    def getConf(self) -> dict[str, str]:
        return {}

    def set(self, name: str, value: str) -> None:
        assert SESSION_GUARDS[name] == value


def test_jobs_that_begin_at_once_start_one_jvm_and_leave_the_environment_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = []

    def start(conf: Any, java: Any, environment: Any) -> None:
        started.append(environment["SPARK_HOME"])
        assert "SPARK_HOME" not in os.environ, "other threads of this process need its variables as they are"
        time.sleep(0.2)
        Context._active_spark_context = object()

    Session.builder = Session.sparkContext = Session.conf = Session()
    monkeypatch.setattr(Context, "_active_spark_context", None)
    monkeypatch.setattr(pyspark, "SparkContext", Context)
    monkeypatch.setattr(pyspark.sql, "SparkSession", Session)
    monkeypatch.setattr(in_process, "java_home", lambda: Path("/java"))
    monkeypatch.setattr(in_process, "_start_quietly", start)
    monkeypatch.delenv("SPARK_HOME", raising=False)

    with ThreadPoolExecutor(4) as pool:
        sessions = {each.result() for each in [pool.submit(classic_session, {}) for _ in range(4)]}

    assert len(started) == len(sessions) == 1
    assert "SPARK_HOME" not in os.environ


_START = """
import os, subprocess, sys
from mason.clients.spark.in_process import classic_session
from mason.clients.spark.settings import RunnerSettings
conf = {
    "spark.hadoop.fs.s3a.encryption.key": "canary one", "spark.shop.url": "jdbc:x?password=canary",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -Dmason.told=yes",
}
session = classic_session(RunnerSettings(conf=conf, driver_memory="700m").local_conf)
jvm = session.sparkContext._jvm
print(session.conf.get("spark.shop.url"), session.sparkContext.getConf().get("spark.hadoop.fs.s3a.encryption.key"))
print(jvm.System.getProperty("mason.told"), jvm.Runtime.getRuntime().maxMemory() // 2**20 in range(600, 701))
print("PYSPARK_SUBMIT_ARGS" in os.environ, flush=True)
subprocess.run(["ps", "-ww", "-o", "args=", "-p", str(session.sparkContext._gateway.proc.pid)], check=True)
"""


def test_no_setting_is_an_argument_and_all_of_them_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-"], input=_START, capture_output=True, text=True, check=True, cwd=PROJECT, timeout=120
    )

    lines = done.stdout.splitlines()
    assert lines[0] == "jdbc:x?password=canary canary one"
    assert lines[1] == "yes True", "the JVM itself was started with what only it can be told"
    assert lines[2] == "False"
    assert "org.apache.spark.deploy.SparkSubmit" in lines[3] and "canary" not in lines[3]


_SHOP = """\
id: shop
metastore_engine: local
storage_engine: local
execution_engine: spark
clients:
  spark:
    configuration: {runner: {type: local, warm: never, driver_memory: 1g}}
"""


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("1 / 0", "error: query:1:8: Division by zero."),
        ("cast(X'ff41' as string)", "error: The query makes text of bytes that are not UTF-8."),
        (
            "repeat(id, 100000) rlike '(1|2)*3'",
            "error: A pattern, or another part of the query, goes too deep for Spark",
        ),
        ("repeat('a', 1000000000)", "error: Spark ran out of its memory (1g) and ended. Ask for less at once, or give"),
    ],
)
def test_a_query_that_fails_in_this_process_is_told_in_words_alone(tmp_path: Path, expression: str, told: str) -> None:
    write(tmp_path, {"shop.yaml": _SHOP, "shop/orders/a.csv": "id\n1\n"})
    environment = {**os.environ, "MASON_HOME": str(tmp_path / "home"), "PYTHONPATH": str(PROJECT)}

    def mason(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "mason", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    mason("register", str(EXAMPLES / "operators" / "table" / "query"))
    mason("config", "shop.yaml")
    query = f"query_string:select {expression} as x from orders"
    asked = mason("operator", "table", "query", "-p", "database_name:shop", "-p", query)

    assert asked.returncode == 1
    assert told in asked.stderr
    assert "Traceback" not in asked.stderr and "org.apache.spark" not in asked.stderr


_EARLY = """
import os, subprocess, sys, threading, time
from mason.clients.spark.in_process import InProcessRunner, classic_context
from mason.clients.spark.settings import RunnerSettings
runner = InProcessRunner(RunnerSettings(driver_memory="700m"))
runner.start_early()
{then}
"""
_COUNT = """
runner.start_early()
conf = runner._settings.local_conf
context = classic_context(conf)
found = subprocess.run(["ps", "-ww", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True).stdout
print(sum("SparkSubmit" in line for line in found.splitlines()), context.parallelize([1, 2]).sum())
"""
_LEAVE = """
while not [each for each in os.listdir(os.environ["TMPDIR"]) if each.startswith("mason-spark-")]:
    time.sleep(0.01)
time.sleep({pause})
"""


def _run(code: str, scratch: Path) -> subprocess.CompletedProcess[str]:
    scratch.mkdir()
    return subprocess.run(
        [sys.executable, "-"],
        input=_EARLY.format(then=code),
        env={**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )


def test_an_early_start_and_the_job_share_one_jvm(tmp_path: Path) -> None:
    done = _run(_COUNT, tmp_path / "scratch")

    assert done.stdout.split() == ["1", "3"]


@pytest.mark.parametrize("pause", [0, 0.5, 2])
def test_a_command_that_ends_before_its_early_start_leaves_no_process_and_no_file(tmp_path: Path, pause: float) -> None:
    scratch = tmp_path / "scratch"

    done = _run(_LEAVE.format(pause=pause), scratch)

    assert done.stderr == ""
    eventually(lambda: not _processes_of(scratch))
    assert [each.name for each in scratch.iterdir() if each.name.startswith("mason-spark-")] == []


def _processes_of(scratch: Path) -> list[str]:
    found = subprocess.run(["ps", "-ww", "-eo", "args="], capture_output=True, text=True, check=True)
    return [line for line in found.stdout.splitlines() if str(scratch) in line]
