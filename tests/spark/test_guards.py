"""What keeps the environment and the files of a Spark from whoever may send it a statement, on every runner."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mason.clients.spark.runners import build_runner
from mason.clients.spark.runners.submit import submit_conf, submit_environment
from mason.clients.spark.settings import LOCAL_GUARDS, SESSION_GUARDS, RunnerSettings, private_conf
from mason.errors import InvalidConfiguration
from tests.cluster import connect_server
from tests.spark.conftest import Commands

RUNNERS: dict[str, dict[str, Any]] = {
    "warm": {"type": "local", "warm": "always"},
    "in process": {"type": "local", "warm": "never"},
    "connect": {"type": "connect"},
    "submit": {"type": "submit", "master": "local[1]"},
}
SECRETS = {"MASON_TOKEN": "canary-1", "AWS_SECRET_ACCESS_KEY": "canary-2", "DATABASE_PASSWORD": "canary-3"}


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server that knows nothing of Mason, and of which Mason knows nothing."""
    with connect_server(tmp_path_factory.mktemp("connect")) as port:
        yield port


@pytest.mark.parametrize("name", RUNNERS)
def test_no_statement_reads_the_environment_or_a_file_whatever_the_defaults_of_spark_say(
    commands: Commands, tmp_path: Path, name: str, request: pytest.FixtureRequest
) -> None:
    runner = RUNNERS[name]
    if name == "connect":
        runner = {**runner, "url": f"sc://localhost:{request.getfixturevalue('foreign')}"}
    careless = [f"{setting} true" for setting in SESSION_GUARDS] + [f"{setting} false" for setting in LOCAL_GUARDS]
    (tmp_path / "spark-defaults.conf").write_text("\n".join(each for each in careless if "cipher" not in each))
    literal = (
        "select '${env:MASON_TOKEN}' as a, '${env:PATH}' as b, '${system:user.name}' as c, '${spark.app.name}' as d"
    )

    command = commands.start(
        "attacks",
        literal,
        "select * from text.`/etc/hostname`",
        **SECRETS,
        SPARK_CONF_DIR=str(tmp_path),
        MASON_TEST_RUNNER=json.dumps(runner),
    )
    told = commands.finished(command, 300)  # three drivers are submitted, one after the other

    read, refused = told["answers"]
    assert list(read[0].values()) == ["${env:MASON_TOKEN}", "${env:PATH}", "${system:user.name}", "${spark.app.name}"]
    assert "`text`.`/etc/hostname` cannot be found" in refused
    assert not [each for each in told["environments"] if "canary" in each]
    assert [each for each in told["environments"] if each.startswith("SPARK_HOME=")], "it is the one of a Java"


@pytest.mark.parametrize("name", RUNNERS)
def test_a_configuration_that_would_open_what_is_closed_is_refused(name: str) -> None:
    runner = {"url": "sc://localhost:1", **RUNNERS[name]} if name == "connect" else RUNNERS[name]
    conf = {setting: value == "false" for setting, value in SESSION_GUARDS.items()}

    with pytest.raises(InvalidConfiguration) as raised:
        build_runner({"runner": {**runner, "conf": conf}})

    assert len(raised.value.messages) == 2
    wanted = 'runner: conf: spark.sql.runSQLOnFiles: it says "true", and Mason needs "false": leave it out'
    assert wanted in raised.value.messages
    build_runner({"runner": {**runner, "conf": dict.fromkeys(SESSION_GUARDS, False)}})


def test_authentication_cannot_be_turned_off_where_all_of_spark_is_one_process() -> None:
    off = {"spark.authenticate": False}
    for name in ("warm", "in process", "submit"):
        with pytest.raises(InvalidConfiguration, match=r"spark\.authenticate: it says \"false\""):
            build_runner({"runner": {**RUNNERS[name], "conf": off}})

    # The processes of a cluster share a secret that its administrator chooses.
    build_runner({"runner": {"type": "submit", "master": "spark://host:7077", "conf": off}})
    build_runner({"runner": {"type": "local", "conf": {**off, "spark.master": "spark://host:7077"}}})


def test_what_no_configuration_changes_is_said_last() -> None:
    conf = {**dict.fromkeys(SESSION_GUARDS, "true"), "spark.authenticate": "false"}
    local = RunnerSettings(conf=conf).local_conf
    submitted = submit_conf(RunnerSettings(type="submit", master="yarn", conf=conf))
    alone = submit_conf(RunnerSettings(type="submit", master="local", conf=conf))

    assert {**SESSION_GUARDS, **LOCAL_GUARDS}.items() <= local.items()
    assert {**SESSION_GUARDS, **LOCAL_GUARDS}.items() <= alone.items()
    assert SESSION_GUARDS.items() <= submitted.items() and submitted["spark.authenticate"] == "false"


def test_a_submitted_driver_has_the_variables_that_say_where_the_cluster_is_and_no_others() -> None:
    kept = {"HADOOP_CONF_DIR": "/h", "YARN_CONF_DIR": "/y", "KUBECONFIG": "/k", "KRB5CCNAME": "/tmp/krb5cc_1"}

    variables = submit_environment(Path("/java"), {**kept, **SECRETS, "SPARK_HOME": "/other", "BASH_ENV": "/evil"})

    assert kept.items() <= variables.items()
    assert variables["JAVA_HOME"] == "/java" and variables["SPARK_HOME"] != "/other"
    assert not {*SECRETS, "BASH_ENV", "SPARK_REMOTE"} & set(variables)


def test_where_the_name_of_a_socket_would_be_too_long_pythons_workers_are_reached_by_loopback_and_secret() -> None:
    assert private_conf(Path("/tmp/mason-spark-12345678"))["spark.python.unix.domain.socket.enabled"] == "true"
    assert private_conf(Path("/tmp") / ("x" * 80))["spark.python.unix.domain.socket.enabled"] == "false"
