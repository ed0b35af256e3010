"""A workflow on a real Airflow: deployed, run, listed, deleted, and what is said when something is wrong."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from mason.clients.airflow.rest import AirflowApi
from mason.clients.airflow.scheduler import AirflowSchedulerClient
from mason.clients.response import Response
from mason.configurations.saved import read_configurations, save_configurations
from mason.errors import ClientFailed, Conflict, Forbidden, NotFound, Unprocessable
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.pipeline.driving.handover import RUN, Handover, begin_handover
from mason.state.home import open_state, read_state
from mason.testing.scheduler.fixtures import a_deployment
from mason.util.atomic_file import write_file
from mason.util.environment import MasonEnvironment
from mason.workflows.definition.registration import WORKFLOWS
from mason.workflows.runs.recorded_runs import show_run
from mason.workflows.workflow_calls import WorkflowCall
from tests import workflow_calls
from tests.airflow.server import Airflow, a_name
from tests.cli.support import operator_with
from tests.conftest import EXAMPLES, write
from tests.workflows.conftest import NOOP_PARAMETERS, step, workflow_yaml


@dataclass
class Home:
    """A MASON_HOME with operators, workflows and two configurations: `airflow`, and `here` for the local scheduler."""

    env: MasonEnvironment
    folder: Path

    def register(self, *places: Path) -> None:
        for place in places:
            found = read_definitions(place, [OPERATORS, WORKFLOWS])
            assert found.problems == []
            register(self.env, open_state(self.env), found.valid, replace=True)

    def flow(self, *steps: str, **operators: str) -> None:
        """Register `demo:flow`, and operators by their bodies."""
        for command, body in {"noop": "pass", **operators}.items():
            operator_with(self.folder / "defs", "demo", command, parameters=NOOP_PARAMETERS, body=body)
        text = workflow_yaml(steps, schedulers="[local, airflow]")
        write(self.folder / "defs" / "flow", {"workflow.yaml": text})
        self.register(self.folder / "defs")

    def run(self, name: str = "demo:flow", config: str = "airflow", **more: Any) -> dict[str, Any]:
        return workflow_calls.run(self.env, WorkflowCall(name=name, config_id=config, **more)).to_dict()

    def deploy(self, name: str = "demo:flow", **more: Any) -> dict[str, Any]:
        return workflow_calls.deploy(self.env, WorkflowCall(name=name, config_id="airflow", **more)).to_dict()


@pytest.fixture
def home(airflow: Airflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MASON_HOME", str(tmp_path / "home"))
    home = Home(MasonEnvironment(tmp_path / "home"), folder)
    roles = {f"{role}_engine": "local" for role in ("metastore", "storage", "execution")}
    for name, scheduler in (("airflow", "airflow"), ("here", "local")):
        clients = {"airflow": {"configuration": airflow.configuration()}} if scheduler == "airflow" else {}
        said = {"id": name, **roles, "scheduler_engine": scheduler, "clients": clients}
        write(tmp_path / "configs", {f"{name}.yaml": yaml.safe_dump(said)})
    found = read_configurations(tmp_path / "configs")
    assert found.problems == []
    save_configurations(home.env, found.valid)
    return home


@pytest.fixture
def client(airflow: Airflow, home: Home) -> AirflowSchedulerClient:
    return AirflowSchedulerClient(airflow.configuration())


@pytest.fixture
def api(airflow: Airflow) -> AirflowApi:
    return AirflowApi(airflow.url, "admin", airflow.password)


@pytest.fixture
def name(airflow: Airflow) -> Iterator[str]:
    """The name of a schedule whose file goes after the test."""
    with a_name(airflow) as name:
        yield name


def rows(folder: Path) -> list[dict[str, Any]]:
    table = pq.read_table(folder, partitioning=None)
    return sorted(table.to_pylist(), key=str)


def texts(folder: Path) -> list[str]:
    return sorted(each.read_text() for each in folder.glob("*.csv"))


def test_a_workflow_gives_the_same_table_and_file_as_here(home: Home, name: str) -> None:
    home.register(EXAMPLES / "operators" / "table", EXAMPLES / "workflows" / "table" / "export")
    shutil.copytree(EXAMPLES / "data" / "suppliers", home.folder / "suppliers")
    file = EXAMPLES / "parameters" / "workflow_table_export.yaml"
    here = home.run("table:export", "here", parameter_file=file)
    assert here["Errors"] == []
    expected = rows(home.folder / "exported" / "rows"), texts(home.folder / "exported" / "csv")
    shutil.rmtree(home.folder / "exported")

    there = home.run("table:export", parameter_file=file, schedule_name=name)

    assert there["Errors"] == []
    assert there["Info"][0] == f"Registering workflow dag {name} with airflow."
    assert f"Triggering schedule: {name}" in there["Info"]
    assert (
        there["Data"][-1]["Statuses"] == here["Data"][-1]["Statuses"] == {"query": "succeeded", "format": "succeeded"}
    )
    assert (rows(home.folder / "exported" / "rows"), texts(home.folder / "exported" / "csv")) == expected
    run = show_run(read_state(home.env), there["Data"][-1]["RunID"])
    assert (run["Status"], run["Scheduler"], run["Schedule"]) == ("succeeded", "airflow", name)
    assert [each["Status"] for each in run["Steps"]] == ["succeeded", "succeeded"]


def test_retries_failures_branches_and_skips_are_those_of_a_run_here(home: Home, name: str) -> None:
    mark = repr(str(home.folder / "mark"))
    flaky = f"if not os.path.exists({mark}):\n    open({mark}, 'w').close()\n    raise RuntimeError('once')"
    home.flow(
        step("flaky", command="flaky", retry="constant(1)", retry_max=1),
        step("broken", "flaky", command="broken"),
        step("behind", "broken"),
        step("skipped", "flaky", when="\"{{flaky.status}} = 'failed'\""),
        flaky=flaky,
        broken="raise RuntimeError('broken')",
    )

    said = home.run(schedule_name=name)

    (error,) = said["Errors"]
    assert error.endswith("demo:broken failed in its own code: RuntimeError: broken")
    assert said["Data"][-1]["Statuses"] == {
        "flaky": "succeeded",
        "broken": "failed",
        "behind": "blocked",
        "skipped": "skipped",
    }
    run = show_run(read_state(home.env), said["Data"][-1]["RunID"])
    assert run["Status"] == "failed"
    assert [len(each["Attempts"]) for each in run["Steps"]] == [2, 1, 0, 0]


def test_the_dag_keeps_the_schedule_the_time_zone_the_retries_and_the_order(
    home: Home, name: str, api: AirflowApi, airflow: Airflow
) -> None:
    home.flow(step("a", retry="exponential(5)", retry_max=2, timeout=60), step("b", "a"))

    said = home.deploy(schedule_name=name, schedule="30 6 * * MON Europe/Berlin")

    assert said["Errors"] == []
    assert said["Info"][-1] == f"Registered schedule {name}"
    dag = api.dag(name)
    assert dag
    assert (dag["is_paused"], dag["timetable_summary"]) == (False, "30 6 * * MON")
    assert said["Data"][0]["NextDueAt"].startswith("20")
    tasks = {each["task_id"]: each for each in _details(api, name)}
    assert sorted(tasks["a"]["downstream_task_ids"]) == ["b", "mason-verdict"]
    assert tasks["b"]["trigger_rule"] == "all_done"
    assert (tasks["a"]["retries"], tasks["a"]["retry_delay"]["seconds"]) == (2, 5)
    assert tasks["a"]["execution_timeout"]["seconds"] == 60
    assert airflow.password not in (airflow.dags / f"mason_{name}.py").read_text()


def test_what_is_deployed_and_the_same_is_left_alone(home: Home, name: str, airflow: Airflow) -> None:
    home.flow(step("a"))
    home.deploy(schedule_name=name)
    file = airflow.dags / f"mason_{name}.py"
    before = file.stat().st_mtime_ns

    said = home.deploy(schedule_name=name)

    assert f"Airflow has the DAG {name} as it is." in said["Info"]
    assert file.stat().st_mtime_ns == before


def test_a_run_that_an_earlier_process_began_is_followed_and_not_begun_again(home: Home, name: str) -> None:
    home.flow(step("a"))
    began: list[str] = []

    def run(handover: Handover) -> dict[str, Any]:
        def work() -> dict[str, Any]:
            begin_handover(handover)
            return home.run(schedule_name=name)

        return copy_context().run(work)

    first = run(Handover(kind=RUN, keep=lambda run_id, _: began.append(run_id)))
    again, unknown = Handover(kind=RUN, earlier=began[0]), Handover(kind=RUN, earlier="mason__never")
    followed, lost = run(again), run(unknown)

    assert followed["Data"] == first["Data"]
    assert followed["Data"][0]["SchedulerRun"] == began[0]
    assert "Triggering" in str(first["Info"])
    assert "Triggering" not in str(followed["Info"])
    assert lost["Errors"] == [f'Airflow has no run "mason__never" of {name} any more. Was its DAG deleted?']
    assert (again.is_forgotten, unknown.is_forgotten) == (False, True)


def test_a_token_that_has_expired_is_renewed(api: AirflowApi) -> None:
    api._token = "eyJhbGciOiJIUzUxMiJ9.e30.expired"

    assert api.dag("nobody") is None


class TestFaults:
    def test_an_airflow_that_is_down(self, home: Home, airflow: Airflow) -> None:
        client = AirflowSchedulerClient(airflow.configuration(url="http://127.0.0.1:9"))

        with pytest.raises(ClientFailed, match="cannot be reached.*Does its api-server run"):
            client.register_dag(a_deployment("nightly"), response=Response())

        assert not (airflow.dags / "mason_nightly.py").exists()
        assert client.check() != []

    def test_a_wrong_password(self, home: Home, airflow: Airflow) -> None:
        client = AirflowSchedulerClient(airflow.configuration(password="guessed"))

        with pytest.raises(Forbidden, match='does not let the user "admin" in') as caught:
            client.register_dag(a_deployment("nightly"), response=Response())

        assert "guessed" not in str(caught.value)
        assert not (airflow.dags / "mason_nightly.py").exists()

    def test_a_dag_that_airflow_cannot_import(self, client: AirflowSchedulerClient, airflow: Airflow) -> None:
        with pytest.raises(Unprocessable, match="unwanted_one is not wanted here"):
            client.register_dag(a_deployment("unwanted_one"), response=Response())

        assert not (airflow.dags / "mason_unwanted_one.py").exists()
        with pytest.raises(NotFound):
            client.trigger_schedule("unwanted_one", response=Response())

    def test_a_folder_that_is_not_there(self, home: Home, airflow: Airflow) -> None:
        client = AirflowSchedulerClient(airflow.configuration(dags_folder="/nowhere/dags"))

        with pytest.raises(NotFound, match="`dags_folder` of the client airflow"):
            client.register_dag(a_deployment("nightly"), response=Response())

    def test_a_folder_that_airflow_does_not_look_at(self, home: Home, airflow: Airflow, tmp_path: Path) -> None:
        client = AirflowSchedulerClient(airflow.configuration(dags_folder=str(tmp_path), parse_seconds=1))

        with pytest.raises(ClientFailed, match="has not read .* within 1 seconds. Does its dag-processor run"):
            client.register_dag(a_deployment("nightly"), response=Response())

        assert not (tmp_path / "mason_nightly.py").exists()

    def test_a_dag_that_was_deleted_by_hand_is_deployed_again_by_a_run(
        self, home: Home, name: str, api: AirflowApi, airflow: Airflow, client: AirflowSchedulerClient
    ) -> None:
        home.flow(step("a"))
        home.deploy(schedule_name=name)
        (airflow.dags / f"mason_{name}.py").unlink()
        delete_by_hand(api, name)
        with pytest.raises(NotFound, match=f'There is no schedule "{name}"'):
            client.trigger_schedule(name, response=Response())

        said = home.run(schedule_name=name)

        assert said["Errors"] == []
        assert said["Data"][-1]["Statuses"] == {"a": "succeeded"}

    def test_a_dag_that_was_deleted_by_hand_is_deleted_with_a_warning(
        self, home: Home, name: str, api: AirflowApi, airflow: Airflow, client: AirflowSchedulerClient
    ) -> None:
        file = airflow.dags / f"mason_{name}.py"
        response = Response()
        home.flow(step("a"))
        home.deploy(schedule_name=name)
        (airflow.dags / ".airflowignore").write_text(f"mason_{name}.py\n")  # Airflow does not read it again
        delete_by_hand(api, name)

        client.delete_schedule(name, response=response)

        (airflow.dags / ".airflowignore").unlink()
        assert response.warnings == (f"Airflow had no DAG {name} any more; its file is removed.",)
        assert not file.exists()

    def test_a_dag_whose_file_was_removed_by_hand_is_deleted_with_all_that_is_left_of_it(
        self, home: Home, name: str, api: AirflowApi, airflow: Airflow, client: AirflowSchedulerClient
    ) -> None:
        home.flow(step("a"))
        home.deploy(schedule_name=name)
        (airflow.dags / f"mason_{name}.py").unlink()
        while api.dag(name):
            time.sleep(0.1)

        client.delete_schedule(name, response=Response())

        assert api.find_dag(name) is None, "Airflow still has its history"
        with pytest.raises(NotFound, match=f'There is no schedule "{name}"'):
            client.delete_schedule(name, response=Response())

    def test_a_dag_that_mason_did_not_deploy_is_none_of_its_schedules(
        self, home: Home, name: str, api: AirflowApi, airflow: Airflow, client: AirflowSchedulerClient
    ) -> None:
        other = airflow.dags / f"mason_{name}_of_others.py"
        write_file(
            other, f"from airflow.sdk import DAG\n\ndag = DAG({name!r}, is_paused_upon_creation=False)\n".encode()
        )
        while not api.dag(name):
            time.sleep(0.1)
        home.flow(step("a"))

        for verb in (client.trigger_schedule, client.delete_schedule):
            with pytest.raises(NotFound, match=f'There is no schedule "{name}"'):
                verb(name, response=Response())
        said = home.deploy(schedule_name=name)

        assert said["Errors"] == [f"Airflow has a DAG {name} that Mason did not deploy. Give it another name with -s."]
        assert not (airflow.dags / f"mason_{name}.py").exists()
        dag = api.dag(name)
        assert dag
        assert not dag["is_paused"]

    def test_a_dag_that_runs_is_not_deleted_under_airflows_feet(
        self, name: str, api: AirflowApi, airflow: Airflow, client: AirflowSchedulerClient
    ) -> None:
        client.register_dag(a_deployment(name), response=Response())
        run, _ = client.trigger_schedule(name, response=Response())

        with pytest.raises(Conflict, match=f"Airflow runs {name} just now .{run}."):
            client.delete_schedule(name, response=Response())

        dag = api.dag(name)
        assert dag
        assert not dag["is_paused"]
        assert (airflow.dags / f"mason_{name}.py").exists()
        assert api.scheduler_runs()

    def test_a_command_that_airflow_cannot_find(self, home: Home, name: str, airflow: Airflow) -> None:
        home.flow(step("a"))
        config = yaml.safe_load((home.env.config_home / "airflow.yaml").read_text())
        config["clients"]["airflow"]["configuration"]["command"] = ["/nowhere/mason"]
        write(home.folder / "configs", {"airflow.yaml": yaml.safe_dump(config)})
        save_configurations(home.env, read_configurations(home.folder / "configs").valid)

        said = home.run(schedule_name=name)

        assert said["Errors"] == [
            "a: it failed before Mason could begin it (airflow): "
            "FileNotFoundError: [Errno 2] No such file or directory: '/nowhere/mason'"
        ]

    def test_a_variable_that_airflows_workers_do_not_have(
        self, home: Home, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home.flow(step("a"))
        config = yaml.safe_load((home.env.config_home / "airflow.yaml").read_text())
        given = config["clients"]["airflow"]["configuration"]
        monkeypatch.setenv("ONLY_HERE", given["password"])
        given["password"] = "{{ONLY_HERE}}"
        write(home.folder / "configs", {"airflow.yaml": yaml.safe_dump(config)})
        save_configurations(home.env, read_configurations(home.folder / "configs").valid)

        said = home.run(schedule_name=name)

        (error,) = said["Errors"]
        assert error.startswith("a: it failed before Mason could begin it (airflow): ")
        assert error.endswith("the variable ONLY_HERE is not set. Set it in the environment, or in a .env file.")

    def test_how_many_steps_run_at_the_same_time_is_not_for_mason_to_say(self, home: Home, name: str) -> None:
        home.flow(step("a"))
        call = WorkflowCall(name="demo:flow", config_id="airflow", schedule_name=name)

        said = workflow_calls.run(home.env, call, limit=2).to_dict()

        assert said["Errors"] == [
            "airflow decides by itself how many steps run at the same time. Leave out --parallel."
        ]

    @pytest.mark.parametrize("bad", ["../../etc", "a/b", "a?b"])
    def test_a_name_that_can_be_none_is_no_schedule(self, client: AirflowSchedulerClient, bad: str) -> None:
        with pytest.raises(NotFound):
            client.delete_schedule(bad, response=Response())


def delete_by_hand(api: AirflowApi, name: str) -> None:
    """Delete a DAG as a careful person would: when Airflow has noticed that it does not read its file any more."""
    while api.dag(name):
        time.sleep(0.1)
    assert api.delete_dag(name)


def _details(api: AirflowApi, name: str) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = api._call("GET", f"/dags/{name}/tasks").json()["tasks"]
    return found
