"""Clients that are named and that nobody will use: a warning when they are saved or registered, and when used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import operator_with, strict_json
from tests.conftest import EXAMPLES, Mason, Result, write

LOCAL = "metastore_engine: local\nstorage_engine: local\nscheduler_engine: local\nexecution_engine: local\n"


def save(mason: Mason, text: str) -> list[str]:
    """Save a configuration and return the warnings, without the path of the file."""
    file = write(mason.folder / "configs", {"one.yaml": text}) / "one.yaml"
    return warnings(mason("config", str(file)), f"{file}:")


def register(mason: Mason, folder: Path) -> list[str]:
    return warnings(mason("register", str(folder)), f"{folder}/")


def warnings(result: Result, prefix: str) -> list[str]:
    assert result.exit_code == 0, result.stderr
    return [
        line.removeprefix("warning: ").removeprefix(prefix)
        for line in result.stderr.splitlines()
        if line.startswith("warning: ")
    ]


def used(mason: Mason, *words: str) -> list[str]:
    """Run something and return the warnings of its response."""
    told: list[str] = strict_json(mason(*words))["Warnings"]
    return told


class TestOperators:
    @pytest.mark.parametrize(
        ("supported", "place", "said"),
        [
            (
                "  - metastore: local\n  - metastore: gleu\n",
                "supported_configurations[1].metastore",
                'there is no client "gleu". Did you mean "glue"? Clients for metastore: ',
            ),
            (
                "  - metastore: [local, hive]\n",
                "supported_configurations[0].metastore",
                'there is no client "hive". Clients for metastore: ',
            ),
            (
                "  - metastore: local\n  - scheduler: athena\n",
                "supported_configurations[1].scheduler",
                '"athena" does not fill the role scheduler. Clients for scheduler: ',
            ),
        ],
    )
    def test_a_client_that_does_not_exist_is_told_when_registered_and_when_used(
        self, mason: Mason, tmp_path: Path, supported: str, place: str, said: str
    ) -> None:
        save(mason, LOCAL)
        folder = operator_with(tmp_path / "src", "new", "one", supported=supported)

        (at_first,) = register(mason, folder)
        (then,) = used(mason, "operator", "new", "one")

        line = 5 + (2 if "[1]" in place else 1)
        assert at_first.startswith(f"operator.yaml:{line}: {place}: {said}")
        assert then.startswith(f"new:one: supported_configurations: {said}")

    def test_it_is_told_also_where_no_configuration_is_accepted_because_of_it(
        self, mason: Mason, tmp_path: Path
    ) -> None:
        save(mason, LOCAL)
        register(mason, operator_with(tmp_path / "src", "new", "one", supported="  - metastore: gleu\n"))

        result = mason("operator", "new", "one")

        assert result.exit_code == 1
        assert "It accepts metastore: gleu." in strict_json(result)["Errors"][0]
        assert 'Did you mean "glue"?' in strict_json(result)["Warnings"][0]

    def test_a_scheduler_of_a_workflow_that_does_not_exist_is_told(self, mason: Mason, tmp_path: Path) -> None:
        save(mason, LOCAL)
        operator_with(tmp_path / "src", "new", "one")
        dag = "dag:\n  - {id: a, type: operator, namespace: new, command: one}\n"
        yaml = f"type: workflow\nnamespace: new\ncommand: flow\n{dag}supported_schedulers: [local, airflwo]\n"
        write(tmp_path / "src" / "flow", {"workflow.yaml": yaml})

        (at_first,) = register(mason, tmp_path / "src")
        told = [used(mason, "workflow", "new", "flow", *flags)[0] for flags in ((), ("-r",))]

        said = 'there is no client "airflwo". Did you mean "airflow"?'
        assert at_first.startswith(f"flow/workflow.yaml:6: supported_schedulers[1]: {said}")
        assert all(each.startswith(f"new:flow: supported_schedulers: {said}") for each in told)

    def test_what_comes_with_mason_names_no_client_that_is_not_there(self, mason: Mason) -> None:
        assert register(mason, EXAMPLES / "operators") == []
        assert register(mason, EXAMPLES / "workflows") == []


class TestConfigurations:
    @pytest.mark.parametrize("runner", ["kubernetes-operator", "emr"])
    def test_a_runner_that_is_not_there_yet_is_told_when_saved_and_when_used(
        self, mason: Mason, tmp_path: Path, runner: str
    ) -> None:
        mason.variables["RUNNER"] = runner
        register(mason, operator_with(tmp_path / "src", "new", "one"))
        text = "id: far\nexecution_engine: spark\nclients:\n  spark:\n    configuration:\n      runner:\n        type: "

        at_first = save(mason, f"{text}{runner}\n")
        then = used(mason, "operator", "new", "one")
        filled = save(mason, text + '"{{RUNNER}}"\n'), used(mason, "operator", "new", "one")

        said = f'"{runner}" is not there yet, and fails when used. What works today: connect, local, submit.'
        key = "clients.spark.configuration.runner.type"
        assert at_first == [f"7: {key}: {said}"]
        assert then == [f'Configuration "far": {key}: {said}']
        assert filled == ([], then), "what a variable stands for is known when it is filled"
        assert said in mason("doctor").stdout

    def test_a_further_client_that_nothing_uses_is_told_when_saved_and_when_used(
        self, mason: Mason, tmp_path: Path
    ) -> None:
        src = tmp_path / "src"
        operator_with(src, "new", "one", supported="  - scheduler: [local, airflow]\n")
        register(mason, src)
        text = f"id: two\n{LOCAL}".replace("scheduler_engine: local", "scheduler_engine: [local, airflow]")
        far = "{url: 'http://127.0.0.1:1', dags_folder: dags}"

        at_first = save(mason, f"{text}clients:\n  airflow:\n    configuration: {far}\n")
        then = used(mason, "operator", "new", "one")

        said = 'nothing uses airflow: Mason uses the first client, "local", unless an operator or workflow accepts '
        assert len(at_first) == len(then) == 1
        assert at_first[0].startswith(f"4: scheduler_engine: {said}")
        assert then[0].startswith(f'Configuration "two": scheduler_engine: {said}')

    def test_every_metastore_and_every_engine_is_used(self, mason: Mason, tmp_path: Path) -> None:
        register(mason, operator_with(tmp_path / "src", "new", "one"))
        text = f"id: two\n{LOCAL}".replace("metastore_engine: local", "metastore_engine: [local, s3]")

        assert save(mason, text.replace("execution_engine: local", "execution_engine: [local, spark]")) == []

    def test_a_further_client_that_an_operator_or_a_workflow_picks_is_not(self, mason: Mason, tmp_path: Path) -> None:
        src = tmp_path / "src"
        operator_with(src, "new", "one")
        operator_with(src, "new", "other", supported="  - metastore: s3\n    execution: local\n")
        dag = "dag:\n  - {id: a, type: operator, namespace: new, command: one}\nsupported_schedulers: [airflow]\n"
        write(src / "flow", {"workflow.yaml": f"type: workflow\nnamespace: new\ncommand: flow\n{dag}"})
        register(mason, src)
        text = f"id: two\n{LOCAL}".replace("metastore_engine: local", "metastore_engine: [local, s3]")
        text = text.replace("scheduler_engine: local", "scheduler_engine: [local, airflow]")

        far = "{url: 'http://127.0.0.1:1', dags_folder: dags}"
        assert save(mason, f"{text}clients:\n  airflow:\n    configuration: {far}\n") == []
        assert used(mason, "operator", "new", "one") == []

    def test_a_client_that_no_role_names_is_told(self, mason: Mason, tmp_path: Path) -> None:
        register(mason, operator_with(tmp_path / "src", "new", "one"))

        at_first = save(mason, f"id: more\n{LOCAL}clients:\n  spark:\n    configuration: {{runner: {{type: local}}}}\n")

        said = 'clients.spark: no role names "spark", so nothing uses it; add it to an engine or remove it'
        assert at_first == [f"7: {said}"]
        assert used(mason, "operator", "new", "one") == [f'Configuration "more": {said}']

    def test_what_can_be_used_gives_no_warning(self, mason: Mason) -> None:
        mason.register_examples()

        assert save(mason, f"id: plain\n{LOCAL}") == []
        assert used(mason, "operator", "database", "list") == []
