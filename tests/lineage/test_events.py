"""What jobs and workflows tell, read back from a file."""

from __future__ import annotations

import copy
import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml
from openlineage.client.naming.dataset import S3, LocalFileSystem

from mason.clients.engines.execution import ExecutionClient
from mason.clients.engines.role import unsupported, verb
from mason.clients.response import Response
from mason.connection.connection import Connection
from mason.engines.execution.models.job import Job, JobPlan, JobRecord, JobStatus
from mason.engines.storage.models.location import Location
from mason.errors import Interrupted, MasonError
from mason.lineage.datasets import dataset_name
from mason.lineage.sender import Sender
from mason.lineage.settings import LineageSettings
from mason.lineage.stories import Moment, Said, Subject
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.pipeline.driving.calls import begin_call, end_call
from mason.state.home import open_state
from mason.state.models import RecordKind
from mason.util.environment import MasonEnvironment
from mason.workflows.definition.parameter_file import parameters_of_request
from mason.workflows.definition.registration import WORKFLOWS
from mason.workflows.runs.outside_runs import OutsideRun, StepExit, judge_outside_run, run_outside_step
from mason.workflows.workflow_calls import WorkflowCall, find_workflow
from tests.conftest import EXAMPLES, Mason, write
from tests.lineage.conftest import Event, Told
from tests.lineage.specification import problems

CANARY = "kanarienvogel-4711"


def moments(events: list[Event]) -> list[str]:
    return [event["eventType"] for event in events]


def named(datasets: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(each["namespace"], each["name"]) for each in datasets]


def fields(dataset: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["type"] for each in dataset["facets"]["schema"]["fields"]}


def test_a_job_tells_when_it_begins_and_what_it_wrote(m: Connection, home: Mason, told: Told) -> None:
    response = m.operator("table", "merge", input_path="in", output_path="told")

    start, complete = told()
    data = home.folder / "data"
    assert moments([start, complete]) == ["START", "COMPLETE"]
    assert start["run"]["runId"] == complete["run"]["runId"]
    assert named(complete["inputs"]) == [("file", str(data / "in"))]
    assert named(complete["outputs"]) == [("file", str(data / "told"))] == named(start["outputs"])
    [output] = complete["outputs"]
    assert fields(output) == {"id": "int64", "name": "string"}
    record = response.data[0]
    counts = output["outputFacets"]["outputStatistics"]
    assert (counts["rowCount"], counts["size"], counts["fileCount"]) == (2, record["Bytes"], len(record["Files"]))
    assert complete["inputs"][0]["inputFacets"]["inputStatistics"]["rowCount"] == 2
    assert complete["job"]["namespace"] == "mason"
    assert complete["job"]["name"].startswith("table:merge.") and complete["job"]["name"].endswith("_data_told")
    assert complete["run"]["facets"]["tags"]["tags"][0]["value"] == record["JobID"]


def test_every_event_is_one_by_the_specification(m: Connection, told: Told) -> None:
    m.operator("table", "merge", input_path="in", output_path="valid")
    with pytest.raises(MasonError):
        m.operator("table", "check", path="valid", checks=["range id max=1"])

    events = told()

    assert len(events) == 4
    assert [problem for event in events for problem in problems(event)] == []


def test_the_check_by_the_specification_notices_what_is_wrong(m: Connection, told: Told) -> None:
    m.operator("table", "merge", input_path="in", output_path="valid")
    good = told()[-1]

    for place, wrong in (
        (("run", "runId"), "4711"),
        (("eventType",), "DONE"),
        (("eventTime",), "2026-01-31 12:30"),
        (("job", "name"), ""),
        (("outputs", 0, "outputFacets", "outputStatistics", "rowCount"), -1),
        (("outputs", 0, "facets", "schema", "_producer"), "Mason"),
    ):
        broken: Any = copy.deepcopy(good)
        inner = broken
        for word in place[:-1]:
            inner = inner[word]
        inner[place[-1]] = wrong
        assert problems(broken), place


def test_datasets_are_named_as_openlineage_names_them() -> None:
    assert dataset_name("/data/orders") == (
        LocalFileSystem("/data/orders").get_namespace(),
        LocalFileSystem("/data/orders").get_name(),
    )
    assert dataset_name("s3://lake/shop/orders") == (
        S3("lake", "shop/orders").get_namespace(),
        S3("lake", "shop/orders").get_name(),
    )


def test_what_each_kind_of_job_reads_and_writes(m: Connection, home: Mason, told: Told) -> None:
    write(home.folder / "data", {"orders_in/o.jsonl": '{"id": 1, "tags": ["a", "b"]}\n{"id": 1, "tags": []}\n'})
    shop = {"database_name": "shop"}
    m.operator("table", "explode", path="orders_in", output_path="flat")
    m.operator("table", "dedupe", path="orders_in", keys=["id"], output_path="once", removed_path="twice")
    m.operator("table", "query", shop, query_string="SELECT id, price * 2 AS twice FROM orders", output_path="doubled")
    m.operator("table", "format", path="doubled", output_path="as_csv", format="csv")
    m.operator("table", "summarize", path="doubled")

    ends = {event["job"]["name"].partition(".")[0]: event for event in told() if event["eventType"] == "COMPLETE"}
    data = str(home.folder / "data")
    shown = {
        name: [
            (each["name"].removeprefix(data), each["outputFacets"]["outputStatistics"]["rowCount"], list(fields(each)))
            for each in event["outputs"]
        ]
        for name, event in ends.items()
    }
    assert shown == {
        "table:explode": shown["table:explode"],
        "table:dedupe": [("/once", 1, ["id", "tags"]), ("/twice", 1, ["id", "tags"])],
        "table:query": [("/doubled", 3, ["id", "twice"])],
        "table:format": [("/as_csv", 3, ["id", "twice"])],
        "table:summarize": [],
    }
    assert [each[:2] for each in shown["table:explode"]] == [("/flat/orders_in", 2), ("/flat/orders_in_tags", 2)]
    query = ends["table:query"]
    assert query["job"]["facets"]["sql"]["query"] == "SELECT id, price * 2 AS twice FROM orders"
    assert named(query["inputs"]) == [("file", f"{data}/shop/orders.csv")]
    assert query["inputs"][0]["inputFacets"]["inputStatistics"]["fileCount"] == 1


def test_a_job_that_fails_says_why(m: Connection, told: Told) -> None:
    with pytest.raises(MasonError) as caught:
        m.operator("table", "check", database_name="shop", table_name="orders", checks=["range price max=3"])

    start, fail = told()
    assert moments([start, fail]) == ["START", "FAIL"]
    assert fail["run"]["facets"]["errorMessage"]["message"] == str(caught.value)
    assert fail["inputs"][0]["inputFacets"]["inputStatistics"]["rowCount"] == 3


def test_a_job_that_is_cancelled_is_told_as_one(m: Connection, told: Told) -> None:
    store = open_state(MasonEnvironment.of())
    store.add_record(RecordKind.CANCELLATION, "cancelled-early", "asked", {})
    call = begin_call("cancelled-early")  # the job's id: it finds that its end was asked for when it begins
    try:
        with pytest.raises(Interrupted):
            m.operator("table", "merge", input_path="in", output_path="never")
    finally:
        end_call(call)

    assert moments(told()) == ["START", "ABORT"]


def test_a_workflow_tells_its_run_its_steps_and_their_jobs(m: Connection, home: Mason, told: Told) -> None:
    shutil.copytree(EXAMPLES / "data" / "suppliers", home.folder / "data" / "suppliers")
    given = yaml.safe_load((EXAMPLES / "parameters" / "workflow_table_daily.yaml").read_text())

    response = m.workflow("table", "daily", given, run=True)

    events = told()
    assert [problem for event in events for problem in problems(event)] == []
    by_kind: dict[str, list[Event]] = {}
    for event in events:
        by_kind.setdefault(event["job"]["facets"]["jobType"]["jobType"], []).append(event)
    run_start, run_end = by_kind["WORKFLOW"]
    assert (run_start["job"]["name"], run_start["eventType"], run_end["eventType"]) == (
        "table:daily",
        "START",
        "COMPLETE",
    )
    assert run_end["run"]["facets"]["tags"]["tags"][0]["value"] == response.data[0]["RunID"]
    run_id = run_start["run"]["runId"]
    steps_told = {event["job"]["name"]: event for event in by_kind["STEP"] if event["eventType"] == "COMPLETE"}
    ran = [key for key, status in response.data[0]["Statuses"].items() if status == "succeeded"]
    assert sorted(steps_told) == sorted(f"table:daily.{key}" for key in ran)
    assert {event["run"]["facets"]["parent"]["run"]["runId"] for event in by_kind["STEP"]} == {run_id}
    merge = next(event for event in by_kind["JOB"] if event["job"]["name"] == "table:daily.merge.merge")
    parent = merge["run"]["facets"]["parent"]
    assert parent["run"]["runId"] == steps_told["table:daily.merge"]["run"]["runId"]
    assert parent["job"]["name"] == "table:daily.merge"
    assert parent["root"]["run"]["runId"] == run_id
    assert moments(events)[0] == "START" and events[0] is run_start and events[-1] is run_end


def test_a_step_that_fails_fails_its_run(m: Connection, told: Told) -> None:
    with pytest.raises(MasonError):
        m.workflow(
            "table", "infer", {"step_1": {"parameters": {"database_name": "shop", "storage_path": "nowhere"}}}, run=True
        )

    ends = {event["job"]["name"]: event for event in told() if event["eventType"] == "FAIL"}
    assert list(ends) == ["table:infer.step_1", "table:infer"]
    assert "nowhere" in ends["table:infer"]["run"]["facets"]["errorMessage"]["message"]


def test_a_run_that_a_scheduler_elsewhere_drives_is_told_by_whoever_runs_its_steps(m: Connection, told: Told) -> None:
    given = {"step_1": {"parameters": {"database_name": "shop", "storage_path": "in", "table_name": "outside"}}}
    call = WorkflowCall(name="table:infer", config_id="files", given=parameters_of_request(given))
    outside = OutsideRun("airflow", "nightly", "scheduled-4711")

    assert run_outside_step(find_workflow(MasonEnvironment.of(), call), outside, "step_1", 1) == StepExit.DONE
    judge_outside_run(find_workflow(MasonEnvironment.of(), call), outside, Response())  # another process, as a rule

    events = told()
    assert [(event["eventType"], event["job"]["name"]) for event in events] == [
        ("START", "table:infer"),
        ("START", "table:infer.step_1"),
        ("COMPLETE", "table:infer.step_1"),
        ("COMPLETE", "table:infer"),
    ]
    assert (
        events[1]["run"]["facets"]["parent"]["run"]["runId"] == events[0]["run"]["runId"] == events[3]["run"]["runId"]
    )


class OwnEngine(ExecutionClient):
    """An engine that is none of Mason's: it runs nothing, and says that it was done."""

    job_types = list_jobs = cancel_job = unsupported("it is for a test")

    @verb
    def plan_job(self, job: Job, *, response: Response) -> JobPlan:
        return JobPlan(job)

    @verb
    def submit_job(self, plan: JobPlan, *, token: str = "", response: Response) -> JobRecord:
        return JobRecord("own-1", JobStatus.QUEUED)

    @verb
    def get_job(self, job_id: str, *, response: Response) -> JobRecord:
        return JobRecord(job_id, JobStatus.SUCCEEDED, {"RowsOut": 5})


class EngineOnTop(OwnEngine):
    @verb
    def run_job(self, plan: JobPlan, *, response: Response) -> JobRecord:
        return super().run_job(plan, response=response)[0]  # type: ignore[no-any-return]


@pytest.mark.parametrize("engine", [OwnEngine, EngineOnTop])
def test_a_job_is_told_once_whoever_runs_it(m: Connection, told: Told, engine: type[ExecutionClient]) -> None:
    job = Job("copy", {"path": Location("lake/a", "s3://?region=x")}, {"path": Location("lake/b", "s3://?region=x")})

    engine().run_job(JobPlan(job), response=Response())

    start, complete = told()
    assert moments([start, complete]) == ["START", "COMPLETE"]
    assert named(complete["inputs"]) == [("s3://lake", "a")]
    assert complete["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 5
    assert complete["job"]["name"] == "copy.b"


def test_no_secret_is_in_any_event(m: Connection, home: Mason, told: Told) -> None:
    code = """
from mason.engines.execution.models.job import Job
from mason.operators.operator_definition import DataOperator
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions


class TestSecretMerge(DataOperator):
    def job(self, config, parameters) -> Job:
        secret = parameters.get_required("password")
        root = config.location(".")
        options = MergeOptions(schema=f"id date" if parameters.get_optional("fails") else "", most_bad_share=0.0)
        return MergeJob(root.child("in"), root.child(secret), options).to_job()
"""
    definition = (
        "type: operator\nnamespace: test\ncommand: secret_merge\ndescription: For a test\nparameters:\n  required:\n"
        "    - {name: password, type: secret}\n  optional:\n    - {name: fails, type: boolean}\n"
    )
    folder = write(home.folder / "secret" / "test" / "secret_merge", {"operator.yaml": definition, "__init__.py": code})
    env = MasonEnvironment.of()
    register(env, open_state(env), read_definitions(folder, [OPERATORS, WORKFLOWS]).valid, replace=True)

    m.operator("test", "secret_merge", password=CANARY)
    with pytest.raises(MasonError):
        m.operator("test", "secret_merge", password=CANARY, fails=True)

    events = told()
    assert moments(events) == ["START", "COMPLETE", "START", "FAIL"]
    assert CANARY not in json.dumps(events)
    assert "REDACTED" in events[0]["outputs"][0]["name"]


def test_long_events_of_several_writers_are_lines_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    error = "x" * 50_000
    subject = Subject("JOB", "a", "5d1f3a0c-9b7e-4f21-8c3d-0123456789ab")

    def write_some() -> None:
        sender = Sender(LineageSettings(url="", file=str(file)))
        for _ in range(20):
            assert sender.send(Moment.FAIL, subject, Said(error=error)) == ""

    threads = [threading.Thread(target=write_some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [
        len(json.loads(line)["run"]["facets"]["errorMessage"]["message"]) for line in file.read_text().splitlines()
    ] == [50_000] * 80
