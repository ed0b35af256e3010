"""Glue as scheduler: crawlers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from moto.moto_api import state_manager

from mason.clients.engines.scheduler import SchedulerClient
from mason.clients.glue.catalog import glue_service
from mason.clients.glue.crawlers import Crawl, Crawlers
from mason.clients.glue.scheduler import GlueSchedulerClient
from mason.clients.response import Response
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.dag_run import StepStatus
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.engines.scheduler.models.deployment import Deployment
from mason.engines.scheduler.models.schedule import Schedule
from mason.errors import BadInput, Conflict, NotFound, Unprocessable
from mason.operators.definition_folder import read_definitions
from mason.operators.registry import register
from mason.state.home import open_state
from mason.testing import SchedulerContract
from mason.testing.contract import answer
from mason.workflows import workflow_calls
from mason.workflows.definition_kind import WORKFLOWS
from mason.workflows.workflow_calls import WorkflowCall
from tests.aws import ROLE, Moto
from tests.conftest import EXAMPLES, write
from tests.glue.conftest import Operators
from tests.glue.proxy import AwsProxy, error


@pytest.fixture
def scheduler(moto: Moto) -> GlueSchedulerClient:
    return GlueSchedulerClient(moto.configuration(aws_role_arn=ROLE))


@pytest.fixture
def crawlers(moto: Moto) -> Crawlers:
    return Crawlers(glue_service(moto.configuration()), ROLE)


@pytest.fixture
def crawl(database: str) -> Crawl:
    return Crawl(f"crawler_{uuid4().hex[:8]}", database, "s3://data/orders", "0 6 * * 1-5")


@pytest.fixture
def crawls_end_at_once() -> Iterator[None]:
    state_manager.set_transition("glue::crawl", {"progression": "immediate"})
    yield
    state_manager.unset_transition("glue::crawl")


def test_a_crawler_is_created_listed_started_and_deleted(
    moto: Moto, scheduler: GlueSchedulerClient, crawlers: Crawlers, crawl: Crawl
) -> None:
    response = Response()
    crawlers.save(crawl, response)
    scheduler.trigger_schedule(crawl.name, response=response)

    assert response.info == (f"Created table crawler {crawl.name}.", f"Refreshing Table Crawler: {crawl.name}")
    assert Schedule(crawl.name, "cron(0 6 ? * MON-FRI *)") in answer(scheduler.list_schedules)
    found = moto.client("glue").get_crawler(Name=crawl.name)["Crawler"]
    assert found["Role"] == ROLE
    assert found["DatabaseName"] == crawl.database
    assert found["Targets"]["S3Targets"] == [{"Path": "s3://data/orders"}]
    assert found["State"] == "RUNNING"

    answer(scheduler.delete_schedule, crawl.name)

    assert crawl.name not in [each.name for each in answer(scheduler.list_schedules)]


def test_a_crawler_that_is_there_and_one_that_runs_are_warnings(
    scheduler: GlueSchedulerClient, crawlers: Crawlers, crawl: Crawl
) -> None:
    crawlers.save(crawl, Response())
    answer(scheduler.trigger_schedule, crawl.name)

    response = Response()
    crawlers.save(crawl, response)
    scheduler.trigger_schedule(crawl.name, response=response)

    assert response.warnings == (
        f"Table crawler {crawl.name} already exists.",
        f"Table crawler {crawl.name} is already refreshing.",
    )
    assert not response.errors and not response.info


def test_a_crawler_of_the_same_name_that_does_something_else_gives_way(
    moto: Moto, proxy: AwsProxy, crawlers: Crawlers, crawl: Crawl
) -> None:
    crawlers.save(crawl, Response())
    through = Crawlers(glue_service(moto.configuration(endpoint=proxy.endpoint)), ROLE)
    proxy.says = lambda operation, request: (200, {}) if operation == "UpdateCrawler" else None

    response = Response()
    through.save(Crawl(crawl.name, crawl.database, "s3://data/new"), response)

    [sent] = [request for operation, request in proxy.requests if operation == "UpdateCrawler"]
    assert sent["Targets"] == {"S3Targets": [{"Path": "s3://data/new"}]}
    assert sent["Schedule"] == ""
    assert response.warnings == (
        f'Table crawler {crawl.name} already exists; its former path "s3://data/orders" and '
        'schedule "cron(0 6 ? * MON-FRI *)" gave way.',
    )


@pytest.mark.parametrize("verb", ["trigger_schedule", "delete_schedule"])
def test_a_crawler_that_is_not_there_is_named_with_a_likely_one(
    scheduler: GlueSchedulerClient, crawlers: Crawlers, crawl: Crawl, verb: str
) -> None:
    crawlers.save(crawl, Response())

    with pytest.raises(NotFound, match=f'Schedule "{crawl.name}x" not found in Glue. Did you mean "{crawl.name}"'):
        answer(getattr(scheduler, verb), f"{crawl.name}x")


def test_a_crawler_that_runs_is_neither_changed_nor_deleted(
    moto: Moto, proxy: AwsProxy, crawlers: Crawlers, crawl: Crawl
) -> None:
    crawlers.save(crawl, Response())
    through = Crawlers(glue_service(moto.configuration(endpoint=proxy.endpoint)), ROLE)
    runs = error("CrawlerRunningException", "Crawler cannot be deleted while running.")
    proxy.says = lambda operation, request: runs if operation in ("UpdateCrawler", "DeleteCrawler") else None

    with pytest.raises(Conflict, match="is running. Change it when its crawler has ended."):
        through.save(Crawl(crawl.name, crawl.database, "s3://data/new"), Response())
    with pytest.raises(Conflict, match="is running. Delete it when its crawler has ended."):
        through.delete(crawl.name)


def test_a_crawler_without_a_role_is_refused_with_what_to_set(moto: Moto, crawl: Crawl) -> None:
    with pytest.raises(BadInput, match="Set aws_role_arn in the configuration of glue"):
        Crawlers(glue_service(moto.configuration()), "").save(crawl, Response())


def test_a_schedule_is_checked_before_it_is_kept(scheduler: GlueSchedulerClient) -> None:
    answer(scheduler.validate_schedule, Schedule("x", "0 6 * * *"))
    answer(scheduler.validate_schedule, Schedule("x"))
    with pytest.raises(BadInput, match="every 5 minutes"):
        answer(scheduler.validate_schedule, Schedule("x", "* * * * *"))


def deployment_of(*operators: str, name: str = "table_infer", expression: str = "", **parameters: Any) -> Deployment:
    given: Mapping[str, Any] = {"database_name": "shop", "storage_path": "data/orders", **parameters}
    steps = [
        ValidDagStep(f"step_{n}", f"step_{n}", each, "0" * 64, parameters=given) for n, each in enumerate(operators, 1)
    ]
    return Deployment(Schedule(name, expression), Dag("table_infer", steps), f"table:infer@sha256:{'0' * 64}")


def test_a_workflow_of_one_infer_becomes_a_crawler(
    moto: Moto, scheduler: GlueSchedulerClient, crawl: Crawl, crawls_end_at_once: None
) -> None:
    deployment = deployment_of("table:infer", name=crawl.name, expression="*/30 6 * * *")

    made = answer(scheduler.register_dag, deployment)
    run = answer(scheduler.trigger_schedule, crawl.name)

    assert answer(scheduler.follow_run, crawl.name, run) == {"step_1": StepStatus.SUCCEEDED}
    assert made in answer(scheduler.list_schedules)
    assert (made.expression, made.workflow) == ("*/30 6 * * *", deployment.workflow)
    found = moto.client("glue").get_crawler(Name=crawl.name)["Crawler"]
    assert found["Targets"]["S3Targets"] == [{"Path": "s3://data/orders"}]
    assert found["Schedule"]["ScheduleExpression"] == "cron(0,30 6 * * ? *)"


def test_a_schedule_that_was_changed_in_glue_is_listed_as_it_is_there(
    moto: Moto, scheduler: GlueSchedulerClient, crawl: Crawl
) -> None:
    answer(scheduler.register_dag, deployment_of("table:infer", name=crawl.name, expression="0 6 * * *"))
    glue = moto.client("glue")
    found = glue.get_crawler(Name=crawl.name)["Crawler"]
    glue.delete_crawler(Name=crawl.name)
    kept = {key: found[key] for key in ("Name", "Role", "DatabaseName", "Targets", "Description")}
    glue.create_crawler(**kept, Schedule="cron(0 7 L * ? *)")

    [listed] = [each for each in answer(scheduler.list_schedules) if each.name == crawl.name]

    assert listed.expression == "cron(0 7 L * ? *)"


@pytest.mark.parametrize(
    ("deployment", "words"),
    [
        (deployment_of("table:infer", "table:get"), "has 2 steps: Glue runs none of them"),
        (deployment_of("table:merge"), "nothing for table:merge (step_1)"),
        (deployment_of("table:infer", table_name="mine"), "finds out by itself what table_name would say"),
        (deployment_of("table:infer", storage_path="file:///data"), "reads S3, not file:///data"),
    ],
    ids=["steps", "operator", "parameter", "path"],
)
def test_a_workflow_that_no_crawler_does_is_refused_with_the_reason(
    scheduler: GlueSchedulerClient, deployment: Deployment, words: str
) -> None:
    with pytest.raises(Unprocessable) as caught:
        answer(scheduler.register_dag, deployment)

    assert words in str(caught.value)


@pytest.mark.parametrize(("supported", "others"), [("glue, local", "local"), ("glue", "airflow, local")])
def test_a_workflow_of_two_steps_is_refused_with_the_schedulers_that_could_take_it(
    operators: Operators, tmp_path: Path, supported: str, others: str
) -> None:
    steps = "".join(f"  - {{id: {each}, type: operator, namespace: table, command: list}}\n" for each in "ab")
    text = f"type: workflow\nnamespace: demo\ncommand: two\ndag:\n{steps}supported_schedulers: [{supported}]\n"
    found = read_definitions(write(tmp_path / "two", {"workflow.yaml": text}), [WORKFLOWS])
    register(operators.env, open_state(operators.env), found.valid, replace=True)
    given = "".join(f"{each}:\n  parameters: {{database_name: shop}}\n" for each in "ab")
    call = WorkflowCall("demo:two", parameter_file=write(tmp_path, {"p.yaml": given}) / "p.yaml")

    assert workflow_calls.deploy(operators.env, call).response.errors == (
        '"demo_two" has 2 steps: Glue runs none of them, a crawler stands for one alone. '
        f"Deploy it with another scheduler: {others}.",
    )


def test_a_crawl_that_failed_is_a_step_that_failed_and_says_why(moto: Moto, proxy: AwsProxy) -> None:
    failed = {"Status": "FAILED", "ErrorMessage": "Internal Service Exception"}
    crawler = {"Crawler": {"Name": "table_infer", "State": "READY", "LastCrawl": failed}}
    proxy.says = lambda operation, request: (200, crawler) if operation == "GetCrawler" else None
    scheduler = GlueSchedulerClient(moto.configuration(endpoint=proxy.endpoint, aws_role_arn=ROLE))

    response = Response()
    statuses, _ = scheduler.follow_run("table_infer", "run", response=response)

    assert statuses == {"table_infer": StepStatus.FAILED}
    assert response.warnings == ("Table crawler table_infer: Internal Service Exception.",)


def test_deploying_and_running_the_example_says_what_the_seeds_say(
    moto: Moto, operators: Operators, database: str, tmp_path: Path, crawls_end_at_once: None
) -> None:
    found = read_definitions(EXAMPLES / "workflows" / "table" / "infer", [WORKFLOWS])
    register(operators.env, open_state(operators.env), found.valid, replace=True)
    parameters = f"step_1:\n  parameters:\n    database_name: {database}\n    storage_path: data/orders/\n"
    call = WorkflowCall("table:infer", parameter_file=write(tmp_path, {"p.yaml": parameters}) / "p.yaml")

    said = workflow_calls.deploy_and_run(operators.env, call).response

    assert said.errors == ()
    assert list(said.info) == [
        "Registering workflow dag table_infer with glue.",
        "Created table crawler table_infer.",
        "Registered schedule table_infer",
        "Triggering schedule: table_infer",
        "Refreshing Table Crawler: table_infer",
    ]
    moto.client("glue").delete_crawler(Name="table_infer")


class TestGlueScheduler(SchedulerContract):
    refuses = {"* * * * *": "every 5 minutes", "0 6 * * * Europe/Berlin": "UTC"}

    @pytest.fixture
    def client(self, moto: Moto, proxy: AwsProxy) -> SchedulerClient:
        """Through the proxy, which changes crawlers: the emulator cannot."""
        glue = moto.client("glue")

        def change(operation: str, request: Mapping[str, Any]) -> tuple[int, dict[str, Any]] | None:
            if operation != "UpdateCrawler":
                return None
            glue.delete_crawler(Name=request["Name"])
            glue.create_crawler(**{key: value for key, value in request.items() if value})
            return 200, {}

        proxy.says = change
        return GlueSchedulerClient(moto.configuration(endpoint=proxy.endpoint, aws_role_arn=ROLE))

    @pytest.fixture
    def deployment(self) -> Callable[..., Deployment]:
        return lambda name, expression="": deployment_of("table:infer", name=name, expression=expression)


def test_table_refresh_starts_the_crawler_that_keeps_the_table(
    moto: Moto, operators: Operators, crawlers: Crawlers, crawl: Crawl
) -> None:
    crawlers.save(crawl, Response())
    moto.client("glue").create_table(
        DatabaseName=crawl.database,
        TableInput={
            "Name": "orders",
            "StorageDescriptor": {"Columns": [{"Name": "id", "Type": "int"}], "Location": "s3://data/orders/"},
            "Parameters": {"UPDATED_BY_CRAWLER": crawl.name},
        },
    )
    names = {"database_name": crawl.database, "table_name": "orders"}

    planned = operators("refresh", plan=True, **names)
    assert moto.client("glue").get_crawler(Name=crawl.name)["Crawler"]["State"] == "READY"
    first, second = operators("refresh", **names), operators("refresh", **names)

    assert f'Would start the crawler "{crawl.name}", which keeps table "orders".' in planned.info
    assert first.info == (f"Refreshing Table Crawler: {crawl.name}",)
    assert first.data[0]["CreatedBy"] == f"crawler:{crawl.name}"
    assert second.warnings == (f"Table crawler {crawl.name} is already refreshing.",)


def test_table_refresh_infers_a_table_that_no_crawler_keeps(moto: Moto, operators: Operators, database: str) -> None:
    bucket, s3 = f"data-{uuid4().hex[:8]}", moto.client("s3")
    s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket=bucket, Key="orders/a.csv", Body=b"id\n1\n")
    operators("infer", database_name=database, storage_path=f"{bucket}/orders")
    s3.put_object(Bucket=bucket, Key="orders/b.csv", Body=b"id,name\n2,x\n")

    refreshed = operators("refresh", database_name=database, table_name="orders")

    assert f'Refreshed table "orders" of database "{database}".' in refreshed.info
    [table] = operators("get", database_name=database, table_name="orders").data
    assert [each["Name"] for each in table["Schema"]["Columns"]] == ["id", "name"]
