"""The parts that need no Spark."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from mason.clients.spark.code import write_archive
from mason.clients.spark.connection import when_forgotten
from mason.clients.spark.exchange import read_items, write_items
from mason.clients.spark.failures import plain_reason, without_stack
from mason.clients.spark.java_home import java_home
from mason.clients.spark.runners import build_runner, submit
from mason.clients.spark.runners.local import keeps_warm, why_none_is_kept
from mason.clients.spark.server.keeper import idle_minutes
from mason.clients.spark.server.launch import Launch
from mason.clients.spark.server.record import RETIRE, ServerRecord, has_successor
from mason.clients.spark.server.runtime import private_folder, runtime_folder
from mason.clients.spark.server.sessions import count_sessions, last_use, lease_session
from mason.clients.spark.settings import RunnerSettings, default_memory
from mason.clients.spark.start_times import start_spark
from mason.errors import (
    BadInput,
    ClientFailed,
    Forbidden,
    InvalidConfiguration,
    MissingDependency,
    TableNotFound,
    Unsupported,
)
from mason.pipeline.work.failures import decode_failure, encode_failure
from mason.util.processes import ProcessId
from tests.conftest import PROJECT, write


@pytest.mark.parametrize("kind", ["kubernetes-operator", "emr"])
def test_a_runner_that_is_not_there_yet_says_so(kind: str) -> None:
    with pytest.raises(Unsupported, match=f'"{kind}" is not there yet'):
        build_runner({"runner": {"type": kind}})


@pytest.mark.parametrize("kind", ["local", "submit"])
def test_another_spark_than_the_one_that_is_wanted_is_refused(kind: str) -> None:
    runner = {"type": kind, **({"master": "local[1]"} if kind == "submit" else {})}
    with pytest.raises(InvalidConfiguration, match=r"spark_version: it says 3\.5, and pyspark 4\.1\."):
        build_runner({"runner": {**runner, "spark_version": "3.5"}})
    with pytest.raises(InvalidConfiguration, match="it says 4.11, and"):
        build_runner({"runner": {**runner, "spark_version": "4.11"}})
    assert build_runner({"runner": {**runner, "spark_version": "4.1"}})


def test_a_runner_that_lacks_its_address_says_so() -> None:
    with pytest.raises(InvalidConfiguration, match="needs a url"):
        build_runner({"runner": {"type": "connect"}})
    with pytest.raises(InvalidConfiguration, match="needs a master"):
        build_runner({"runner": {"type": "submit"}})
    with pytest.raises(InvalidConfiguration, match="runs on this machine"):
        build_runner({"runner": {"type": "submit", "master": "yarn", "conf": {"spark.submit.deployMode": "cluster"}}})


def test_what_a_runner_has_no_use_for_is_refused() -> None:
    with pytest.raises(InvalidConfiguration) as refused:
        build_runner({"runner": {"type": "local", "executors": 2, "url": "sc://host:1"}})
    assert list(refused.value.messages) == [
        'runner: executors: the type "local" has no use for it; submit would',
        'runner: url: the type "local" has no use for it; connect would',
    ]
    with pytest.raises(InvalidConfiguration, match='driver_memory: the type "connect" has no use .* local and submit'):
        build_runner({"runner": {"type": "connect", "url": "sc://host:1", "driver_memory": "2g"}})


def test_a_description_never_shows_a_token() -> None:
    runner = build_runner({"runner": {"type": "connect", "url": "sc://host:443/;token=s3cret"}})
    assert runner.describe() == "Spark Connect at host:443"


def test_status_and_stop_import_nothing_heavy() -> None:
    code = "import sys, mason.clients.spark.command, mason.clients.spark.server.status; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT)
    assert not {"pyspark", "py4j", "grpc", "pyarrow", "pandas"} & set(done.stdout.split())


def test_without_java_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingDependency, match="apt-get install openjdk-17"):
        java_home(places=[])


def test_a_java_that_is_too_new_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    newer, older = _java(tmp_path / "a", 25), _java(tmp_path / "b", 17)
    monkeypatch.setenv("JAVA_HOME", str(newer))
    monkeypatch.setenv("PATH", str(newer / "bin"))

    with pytest.raises(MissingDependency, match="a newer one does not serve"):
        java_home(places=[str(newer.parent)])
    assert java_home(places=[str(newer.parent), str(older.parent)]) == older


def test_an_error_survives_the_way_back() -> None:
    error = decode_failure(encode_failure(TableNotFound("db", "tools", ["tool"])))
    assert isinstance(error, TableNotFound)
    assert str(error) == str(TableNotFound("db", "tools", ["tool"]))

    class Strange(Exception):
        pass

    strange = decode_failure(encode_failure(Strange("what")))
    assert isinstance(strange, ClientFailed) and "Strange: what" in str(strange)
    assert isinstance(decode_failure(encode_failure(FileNotFoundError(2, "no", "a.csv"))), FileNotFoundError)


def test_a_result_that_was_cut_off_is_no_result(tmp_path: Path) -> None:
    file = tmp_path / "results"
    with open(file, "wb") as stream:
        write_items(stream, [(3, b"three"), (1, b""), (2, b"two")])
    whole = file.read_bytes()

    assert list(read_items(file)) == [(3, b"three"), (1, b""), (2, b"two")]
    file.write_bytes(whole[:-1])
    assert list(read_items(file)) == [(3, b"three"), (1, b"")]


def test_the_archive_of_the_same_code_has_the_same_name(tmp_path: Path) -> None:
    first = write_archive(tmp_path, "mason.pipeline.work.tasks:kernel_named")
    second = write_archive(tmp_path, "mason.pipeline.work.tasks:kernel_named")

    assert first == second
    assert {"mason/__init__.py", "mason/pipeline/work/tasks.py"} <= set(zipfile.ZipFile(first).namelist())


def test_a_module_in_the_archive_is_not_compiled_again_by_the_same_python(tmp_path: Path) -> None:
    archive = write_archive(tmp_path, "mason.pipeline.work.tasks:kernel_named")

    assert imported_from(archive) == "tasks.pyc"


def test_another_python_takes_the_sources_in_the_archive(tmp_path: Path) -> None:
    archive = write_archive(tmp_path, "mason.pipeline.work.tasks:kernel_named")
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(archive) as before, zipfile.ZipFile(other, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            after.writestr(name, b"\0\0\r\n" + content[4:] if name.endswith(".pyc") else content)

    assert imported_from(other) == "tasks.py"


def imported_from(archive: Path) -> str:
    """The file that a new process, which knows no other Mason, imports a module from."""
    code = f"import sys; sys.path.insert(0, {str(archive)!r}); import mason.pipeline.work.tasks as t; print(t.__file__)"
    done = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True, timeout=60)
    place = Path(done.stdout.strip())
    assert archive in place.parents
    return place.name


@pytest.mark.parametrize("variable", ["CI", "MASON_SCHEDULED"])
def test_no_server_is_kept_in_ci_and_scheduled_tasks_unless_told(variable: str, tmp_path: Path) -> None:
    assert keeps_warm("auto", {}, tmp_path)
    assert not keeps_warm("auto", {variable: "1"}, tmp_path)
    assert keeps_warm("always", {variable: "1"}, tmp_path)
    assert not keeps_warm("never", {}, tmp_path)


def test_no_server_is_kept_in_containers_where_nobody_works(tmp_path: Path) -> None:
    (tmp_path / "proc" / "1").mkdir(parents=True)
    (tmp_path / "proc" / "1" / "cgroup").write_text("0::/kubepods/pod1\n")
    assert why_none_is_kept({}, tmp_path, pid=7, terminal=False) == "this is a container"
    (tmp_path / "proc" / "1" / "cgroup").write_text("0::/init.scope\n")
    assert why_none_is_kept({}, tmp_path, pid=7, terminal=False) == ""
    (tmp_path / ".dockerenv").touch()
    assert why_none_is_kept({}, tmp_path, pid=7, terminal=False) == "this is a container"


def test_a_server_is_kept_in_a_container_with_a_terminal_or_an_editor(tmp_path: Path) -> None:
    (tmp_path / ".dockerenv").touch()
    assert why_none_is_kept({}, tmp_path, pid=7, terminal=True) == ""
    assert why_none_is_kept({"REMOTE_CONTAINERS": "true"}, tmp_path, pid=7, terminal=False) == ""
    assert "all that its container runs" in why_none_is_kept({}, tmp_path, pid=1, terminal=True)
    assert why_none_is_kept({"CI": "1"}, tmp_path, pid=7, terminal=True) == "CI is set"


def test_a_runtime_folder_that_others_can_look_into_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    with pytest.raises(Forbidden, match="belongs to you alone"):
        runtime_folder({"MASON_RUNTIME_DIR": str(folder)})
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    with pytest.raises(Forbidden):
        runtime_folder({"MASON_RUNTIME_DIR": str(link)})
    (tmp_path / "user").mkdir()
    assert runtime_folder({"XDG_RUNTIME_DIR": str(tmp_path / "user")}) == tmp_path / "user" / "mason" / "spark"


def test_a_session_is_leased_once_and_used_again(tmp_path: Path) -> None:
    first, second = lease_session(tmp_path), lease_session(tmp_path)
    assert first.id != second.id
    assert count_sessions(tmp_path) == (2, 2)

    first.give_back()
    again = lease_session(tmp_path)
    assert (again.id, again.left_behind) == (first.id, False)
    second.discard()
    assert count_sessions(tmp_path) == (1, 1)
    again.give_back()


def test_what_is_forgotten_in_another_thread_is_ended_in_one_of_its_own() -> None:
    ended: queue.SimpleQueue[str] = queue.SimpleQueue()
    owners = [threading.Event()]
    when_forgotten(owners[0], lambda: ended.put(threading.current_thread().name))
    collector = threading.Thread(target=owners.clear, name="of gRPC")
    collector.start()

    assert ended.get(timeout=30) != "of gRPC"


def test_a_process_is_told_from_another_of_the_same_id() -> None:
    me = ProcessId.of(os.getpid())
    assert me.alive
    assert not ProcessId(me.pid, "1").alive
    assert not ProcessId.of(2**22 - 3).alive


def test_the_memory_of_a_local_spark_is_bounded(tmp_path: Path) -> None:
    assert 0 < default_memory() <= 4096
    assert RunnerSettings(driver_memory="7g").local_conf["spark.driver.memory"] == "7g"

    files = {
        "proc/self/cgroup": "0::/user.slice/shell.scope\n",
        "sys/fs/cgroup/user.slice/shell.scope/memory.max": "max\n",
    }
    write(tmp_path, files)
    assert default_memory(tmp_path) == default_memory()
    write(tmp_path, {"sys/fs/cgroup/user.slice/memory.max": f"{3 * 2**30}\n"})
    assert default_memory(tmp_path) == 1024, "what a group above may take counts, too"
    write(tmp_path, {"sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2**30}\n"})
    assert default_memory(tmp_path) == 512


def test_whatever_a_server_depends_on_is_in_its_key(tmp_path: Path) -> None:
    write(tmp_path, {"java/release": 'JAVA_VERSION="17.0.1"\n', "a.jar": "a", "conf/spark-defaults.conf": "a 1\n"})
    write(tmp_path, {"env.tar.gz": "e", "jars/b.jar": "b"})
    conf = {
        "spark.jars": f"file://{tmp_path}/a.jar,/nowhere/b.jar,{tmp_path}/jars/*.jar",
        "spark.archives": f"{tmp_path}/env.tar.gz#env",
    }
    settings = RunnerSettings(conf=conf)

    def key(settings: RunnerSettings = settings, **variables: str) -> str:
        launch = Launch.of(settings, tmp_path / "java")
        return replace(
            launch, environment={**launch.environment, "SPARK_CONF_DIR": f"{tmp_path}/conf", **variables}
        ).key

    before = key()
    assert key() == before == key(USER="another"), "who asks is no matter"
    assert key(LANG="xx_XX") != before
    assert key(replace(settings, driver_memory="3g")) != before
    changed = ("java/release", "a.jar", "conf/spark-defaults.conf", "env.tar.gz", "jars/b.jar", "jars/new.jar")
    for file in changed:
        write(tmp_path, {file: "something else"})
        assert key() != before, file
        before = key()


def test_of_two_servers_that_were_started_at_once_the_younger_one_stays(tmp_path: Path) -> None:
    me = ProcessId.of(os.getpid())
    old, young = private_folder(tmp_path / "old"), private_folder(tmp_path / "young")
    server = ServerRecord(key="old", port=1, server=me, keeper=me, token_digest="", scratch="", since=1.0, ready=True)
    server.write(old)
    younger = replace(server, key="young", since=2.0, ready=False)
    younger.write(young)
    assert not has_successor(old), "it is not there yet"
    replace(younger, ready=True).write(young)
    assert has_successor(old) and not has_successor(young)
    (young / RETIRE).touch()
    assert not has_successor(old), "it is to stop itself"


def test_a_session_that_is_discarded_while_others_look_harms_nobody(tmp_path: Path) -> None:
    (tmp_path / "gone.session").symlink_to(tmp_path / "nowhere")  # there for who lists it, and gone for who opens it

    assert count_sessions(tmp_path) == (0, 0) and last_use(tmp_path) == 0
    lease_session(tmp_path).give_back()


@pytest.mark.parametrize("minutes", ["soon", "-1", "nan", "inf"])
def test_an_idle_time_that_is_none_is_refused(minutes: str) -> None:
    with pytest.raises(BadInput, match=f'^MASON_SPARK_IDLE_MINUTES is "{minutes}": it must be a number of minutes'):
        idle_minutes({"MASON_SPARK_IDLE_MINUTES": minutes})
    assert idle_minutes({}) == 15


def _java(place: Path, version: int) -> Path:
    home = place / f"jdk-{version}"
    (home / "bin").mkdir(parents=True)
    (home / "release").write_text(f'JAVA_VERSION="{version}.0.1"\n')
    java = home / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}.0.1\"' >&2\n")
    java.chmod(0o755)
    return home


def test_what_is_shown_of_a_log_is_the_cause_and_no_stack(tmp_path: Path) -> None:
    log = tmp_path / "log"
    frames = ["\tat java.base/java.lang.Thread.run(Thread.java:840)", "py4j.Gateway.invoke(Gateway.java:238)"]
    log.write_text("\n".join(["x ERROR Backend: no master", *frames * 50, "\t... 4 more", "It was stopped.", ""]))

    with pytest.raises(ClientFailed) as caught:
        list(submit._check_answers(iter(()), 1, log))

    assert str(caught.value).splitlines()[1:] == ["x ERROR Backend: no master", "It was stopped."]


def test_what_is_told_of_an_error_of_spark_connect_has_neither_a_stack_nor_its_class() -> None:
    stack = (
        "org.apache.spark.SparkRuntimeException\n\tat a.B.c(B.scala:1)\nCaused by: java.io.IOException: no space left"
    )

    told = without_stack(
        f"escape cannot be more than one character.\n\nJVM stacktrace:\n{stack}\n\tat a.B.d(B.scala:2)"
    )

    assert told == ["escape cannot be more than one character.", "Caused by: java.io.IOException: no space left"]


@pytest.mark.parametrize(
    ("details", "told"),
    [
        ("Application error processing RPC", "Application error processing RPC"),
        ("", "it broke off without a reason (UNKNOWN)."),
    ],
)
def test_a_call_of_grpc_that_says_nothing_is_told_in_words(details: str, told: str) -> None:
    broken = "<_MultiThreadedRendezvous of RPC that terminated with:\n\tstatus = StatusCode.UNKNOWN"
    call = f'{broken}\n\tdetails = "{details}"\n>'

    assert plain_reason(call) == told
    assert plain_reason("Division by zero.") == "Division by zero."


def test_a_task_that_goes_too_deep_does_not_end_the_spark_of_all() -> None:
    assert RunnerSettings().local_conf["spark.executor.killOnFatalError.depth"] == "0"
    assert "-XX:+ExitOnOutOfMemoryError" in RunnerSettings().local_conf["spark.driver.extraJavaOptions"]


def test_how_long_spark_took_to_start_is_said_the_next_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MASON_RUNTIME_DIR", str(tmp_path / "runtime"))

    def beats() -> list[str]:
        return [str(each) for each in start_spark("process", lambda: time.sleep(1.2))]

    assert beats()[-1] == "Starting Spark (once) …"
    assert beats()[-1] == "Starting Spark (about 1 s, once) …"
    (tmp_path / "runtime" / "spark" / "seconds-to-start-a-process").write_text("soon", encoding="ascii")
    assert beats()[0] == "Starting Spark (once) …"


def test_spark_starts_where_its_time_cannot_be_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MASON_RUNTIME_DIR", str(tmp_path / "file" / "runtime"))

    assert [str(each) for each in start_spark("process", lambda: time.sleep(1.2))][-1] == "Starting Spark (once) …"
