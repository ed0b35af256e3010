"""Every verb of the service asks what its caller may do, whichever door the call came through."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mason.clients.response import Response
from mason.errors import Forbidden, NotFound
from mason.operators.runner import OperatorCall
from mason.service.caller import Caller
from mason.service.reply import reply_with
from mason.service.service import Service
from mason.state.tokens import Scope, Token
from mason.util.environment import MasonEnvironment
from mason.workflows.definition.parameter_file import parameters_of_request
from mason.workflows.runs.resume import Choice
from mason.workflows.workflow_calls import WorkflowCall
from tests.api.support import prepared

SHOP = {"database_name": "shop"}
STEPS = {"step_1": {"config_id": "files", "parameters": {**SHOP, "storage_path": "in"}}}
LIST = OperatorCall(namespace="table", command="list", base=SHOP, config_id="files")
INFER = WorkflowCall(name="table:infer", config_id="files", given=parameters_of_request(STEPS))


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MasonEnvironment]:
    root = tmp_path_factory.mktemp("callers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MASON_HOME", str(root / "elsewhere"))  # what is asked for is in the environment that is given
        yield MasonEnvironment(prepared(root / "work", root / "home").home)
        assert not (root / "elsewhere").exists()


@pytest.fixture(scope="module")
def run_id(env: MasonEnvironment) -> str:
    reply = reply_with(lambda response: Service(env).run_workflow(INFER, response))
    assert reply.status == 200, reply.document
    return str(Service(env).list_runs()[0]["RunID"])


@pytest.fixture(scope="module")
def job_id(env: MasonEnvironment) -> str:
    call = OperatorCall(
        namespace="table", command="merge", base={"input_path": "in", "output_path": "merged"}, config_id="files"
    )
    reply = reply_with(lambda response: Service(env).run_operator(call, response))
    assert reply.status == 200, reply.document
    return str(reply.document["Data"][0]["JobID"])


def limited(env: MasonEnvironment, *operators: str, config: str = "files") -> Service:
    return Service(env, Caller(Token("ci", Scope.RUN, "", operators=operators, configurations=(config,))))


def test_a_caller_does_what_its_token_is_for(env: MasonEnvironment, run_id: str, job_id: str) -> None:
    service = limited(env, "table:*", "job:get")

    assert reply_with(lambda response: service.run_operator(LIST, response)).status == 200
    assert reply_with(lambda response: service.plan_workflow(INFER, response)).status == 200
    assert {str(each.name).partition(":")[0] for each in service.list_operators()} == {"table", "job"}
    assert [each["ConfigID"] for each in service.list_configurations()] == ["files"]
    assert [each["RunID"] for each in service.list_runs()] == [run_id]
    assert "Parameters" not in service.get_run(run_id)
    assert service.get_job(job_id, "files", Response()).status == "succeeded"
    assert [each.name for each in service.list_tables("shop", "files", Response())]


VERBS: dict[str, Callable[[Service, str, str], object]] = {
    "run an operator": lambda service, run, job: service.run_operator(LIST, Response()),
    "plan an operator": lambda service, run, job: service.plan_operator(LIST, Response()),
    "detach an operator": lambda service, run, job: service.detach_operator(LIST, Response()),
    "plan a workflow": lambda service, run, job: service.plan_workflow(INFER, Response()),
    "run a workflow": lambda service, run, job: service.run_workflow(INFER, Response()),
    "resume a run": lambda service, run, job: service.resume_workflow(run, INFER, Choice("", ""), Response()),
    "get a run": lambda service, run, job: service.get_run(run),
    "get a job": lambda service, run, job: service.get_job(job, "files", Response()),
    "cancel a job": lambda service, run, job: service.cancel_job(job, "files", Response()),
    "list databases": lambda service, run, job: service.list_databases("files", Response()),
    "list tables": lambda service, run, job: service.list_tables("shop", "files", Response()),
    "get a table": lambda service, run, job: service.get_table("shop", "orders", "files", Response()),
    "list schedules": lambda service, run, job: service.list_schedules("files", Response()),
    "trigger a schedule": lambda service, run, job: service.trigger_schedule("daily", "files", Response()),
    "delete a schedule": lambda service, run, job: service.delete_schedule("daily", "files", Response()),
    "choose a configuration": lambda service, run, job: service.choose_configuration("files"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("config", ["files", "another"])
def test_a_caller_is_refused_what_its_token_is_not_for(
    env: MasonEnvironment, run_id: str, job_id: str, verb: str, config: str
) -> None:
    operators = ("none:*",) if config == "files" else ("*",)

    with pytest.raises(Forbidden, match='The token "ci" is'):
        VERBS[verb](limited(env, *operators, config=config), run_id, job_id)


def test_a_caller_who_may_use_nothing_of_a_home_is_shown_nothing(env: MasonEnvironment, run_id: str) -> None:
    service = limited(env, "none:*", config="another")

    assert (service.list_operators(), service.list_runs(), service.list_configurations()) == ([], [], [])


def test_the_configuration_that_is_current_is_refused_as_one_that_is_named(
    env: MasonEnvironment, tmp_path: Path
) -> None:
    call = OperatorCall(namespace="table", command="list", base=SHOP)

    with pytest.raises(Forbidden, match='is not for the configuration "files"'):
        limited(env, "*", config="another").run_operator(call, Response())


@pytest.mark.parametrize(
    ("operator", "parameters", "verb"),
    [
        ("database:list", {}, lambda service: service.list_databases("files", Response())),
        ("table:list", SHOP, lambda service: service.list_tables("shop", "files", Response())),
        (
            "table:get",
            {**SHOP, "table_name": "orders"},
            lambda service: [service.get_table("shop", "orders", "files", Response())],
        ),
        ("schedule:list", {}, lambda service: service.list_schedules("files", Response())),
    ],
)
def test_a_verb_for_what_an_engine_knows_returns_what_its_operator_does(
    env: MasonEnvironment, operator: str, parameters: Mapping[str, str], verb: Callable[[Service], Sequence[Any]]
) -> None:
    namespace, _, command = operator.partition(":")
    call = OperatorCall(namespace=namespace, command=command, base=parameters, config_id="files")

    reply = reply_with(lambda response: Service(env).run_operator(call, response))

    assert reply.status == 200, reply.document
    assert json.loads(json.dumps([each.to_dict() for each in verb(Service(env))])) == reply.document["Data"]


def test_a_schedule_that_is_not_there_can_neither_be_triggered_nor_deleted(env: MasonEnvironment) -> None:
    service = Service(env)

    with pytest.raises(NotFound, match="daily"):
        service.trigger_schedule("daily", "files", Response())
    with pytest.raises(NotFound, match="daily"):
        service.delete_schedule("daily", "files", Response())
