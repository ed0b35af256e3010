"""Glue as scheduler: crawlers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from moto.moto_api import state_manager

from mason.clients.engines.scheduler import SchedulerClient
from mason.clients.glue.catalog import glue_service
from mason.clients.glue.crawlers import Crawl, Crawlers
from mason.clients.glue.scheduler import GlueSchedulerClient
from mason.clients.response import Response
from mason.configurations.configuration import parse_configuration
from mason.configurations.saved import save_configurations
from mason.engines.scheduler.models.dags.dag import Dag
from mason.engines.scheduler.models.dags.dag_run import StepStatus
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.engines.scheduler.models.deployment import Deployment, StepPlace
from mason.engines.scheduler.models.schedule import Schedule
from mason.errors import BadInput, Conflict, NotFound, Unprocessable
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.registry import register
from mason.state.home import open_state
from mason.state.tokens import Scope, create_token
from mason.testing import SchedulerContract
from mason.testing.contract import answer
from mason.util.environment import MasonEnvironment
from mason.workflows.definition.registration import WORKFLOWS
from mason.workflows.revocation import revoke
from mason.workflows.workflow_calls import WorkflowCall
from tests import workflow_calls
from tests.aws import KEYS, ROLE, Moto
from tests.conftest import EXAMPLES, write
from tests.glue.conftest import Operators
from tests.glue.proxy import AwsProxy, error

WORKFLOW = f"table:infer@sha256:{'0' * 64}"


@pytest.fixture
def scheduler(moto: Moto) -> GlueSchedulerClient:
    return GlueSchedulerClient(moto.configuration(aws_role_arn=ROLE))


@pytest.fixture
def crawlers(moto: Moto) -> Crawlers:
    return Crawlers(glue_service(moto.configuration()), ROLE)


@pytest.fixture
def crawl(database: str) -> Crawl:
    return Crawl(
        name=f"crawler_{uuid4().hex[:8]}",
        database=database,
        path="s3://data/orders",
        expression="0 6 * * 1-5",
        workflow=WORKFLOW,
        step="step_1",
    )


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
    assert Schedule(name=crawl.name, expression="0 6 * * 1-5", workflow=WORKFLOW) in answer(scheduler.list_schedules)
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
    through.save(replace(crawl, path="s3://data/new", expression=""), response)

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
        through.save(replace(crawl, path="s3://data/new"), Response())
    with pytest.raises(Conflict, match="is running. Delete it when its crawler has ended."):
        through.delete(crawl.name)


def test_a_crawler_without_a_role_is_refused_with_what_to_set(moto: Moto, crawl: Crawl) -> None:
    with pytest.raises(BadInput, match="Set aws_role_arn in the configuration of glue"):
        Crawlers(glue_service(moto.configuration()), "").save(crawl, Response())


def test_a_schedule_is_checked_before_it_is_kept(scheduler: GlueSchedulerClient) -> None:
    answer(scheduler.validate_schedule, Schedule(name="x", expression="0 6 * * *"))
    answer(scheduler.validate_schedule, Schedule(name="x"))
    with pytest.raises(BadInput, match="every 5 minutes"):
        answer(scheduler.validate_schedule, Schedule(name="x", expression="* * * * *"))


def deployment_of(*operators: str, name: str = "table_infer", expression: str = "", **parameters: Any) -> Deployment:
    given: Mapping[str, Any] = {"database_name": "shop", "storage_path": "data/orders", **parameters}
    steps = [
        ValidDagStep(id=f"step_{n}", key=f"step_{n}", operator=each, digest="0" * 64, parameters=given)
        for n, each in enumerate(operators, 1)
    ]
    return Deployment(
        schedule=Schedule(name=name, expression=expression),
        dag=Dag("table_infer", steps),
        workflow=WORKFLOW,
        find_place=lambda step, path: place_of(path),
    )


def place_of(path: str, storage: str = "s3://?path_style=false", catalog: str = "") -> StepPlace:
    """Return a place in S3, as a configuration with nothing but Glue and S3 in it finds it."""
    whole = path if "://" in path else f"s3://{path.strip('/')}"
    return StepPlace(whole, storage, catalog or CATALOG[0])


CATALOG: list[str] = []
"""What the catalog of the emulated AWS is called, once that runs."""


@pytest.fixture(autouse=True)
def catalog(moto: Moto, proxy: AwsProxy, request: pytest.FixtureRequest) -> None:
    """Glue is asked through the proxy by the contract, and without it by the other tests."""
    CATALOG[:] = [f"glue in us-east-1 at {proxy.endpoint if request.cls else moto.endpoint}"]


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
    call = WorkflowCall(name="demo:two", parameter_file=write(tmp_path, {"p.yaml": given}) / "p.yaml")

    assert workflow_calls.deploy(operators.env, call).response.errors == (
        '"demo_two" has 2 steps: Glue runs none of them, a crawler stands for one alone. '
        f"Deploy it with another scheduler: {others}.",
    )


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (StepPlace("file:///data/suppliers", "file:///", ""), "A crawler reads S3, not file:///data/suppliers (step_1"),
        (StepPlace("s3://data/x", "s3://?path_style=false", ""), "not in the metastore of the step (step_1"),
        (StepPlace("s3://data/x", "s3://?path_style=false", "glue in eu-west-1"), "not in glue in eu-west-1 (step_1"),
    ],
    ids=["disk", "metastore", "region"],
)
def test_what_a_crawler_would_do_elsewhere_than_the_step_is_refused(
    moto: Moto, scheduler: GlueSchedulerClient, crawl: Crawl, place: StepPlace, words: str
) -> None:
    deployment = replace(deployment_of("table:infer", name=crawl.name), find_place=lambda step, path: place)

    for act in (lambda: answer(scheduler.register_dag, deployment), lambda: scheduler.plan_dag(deployment)):
        with pytest.raises(Unprocessable) as caught:
            act()
        assert words in str(caught.value)
    assert crawl.name not in moto.client("glue").list_crawlers()["CrawlerNames"]


def test_the_glue_of_aws_is_not_sent_to_a_store_that_is_not_of_aws() -> None:
    glue = GlueSchedulerClient({"aws_region": "us-east-1", "aws_role_arn": ROLE, **KEYS})
    store = "s3://?endpoint=https%3A%2F%2Fobjects.example.com&path_style=true"
    deployment = replace(
        deployment_of("table:infer"), find_place=lambda step, path: place_of(path, store, "glue in us-east-1")
    )

    with pytest.raises(Unprocessable) as caught:
        glue.plan_dag(deployment)

    assert "reads the S3 of AWS, and s3://data/orders lies in the store at https://objects.example.com" in str(
        caught.value
    )


@dataclass(frozen=True)
class Infer:
    """The example workflow of one step, with its parameters, and the configurations `aws` and `here`."""

    env: MasonEnvironment
    moto: Moto
    folder: Path
    bucket: str
    database: str
    name: str

    def call(self, config: str = "aws", **parameters: str) -> WorkflowCall:
        given = {"database_name": self.database, "storage_path": f"{self.bucket}/orders", **parameters}
        told = {"schedule_name": self.name, "step_1": {"config_id": config, "parameters": given}}
        write(self.folder, {"p.yaml": yaml.safe_dump(told)})
        return WorkflowCall(name="table:infer", parameter_file=self.folder / "p.yaml", config_id="aws")

    def crawler(self) -> Mapping[str, Any] | None:
        """Return the crawler that Glue has of the schedule's name."""
        glue = self.moto.client("glue")
        found: Mapping[str, Any] | None = None
        if self.name in glue.list_crawlers()["CrawlerNames"]:
            found = glue.get_crawler(Name=self.name)["Crawler"]
        return found


@pytest.fixture
def infer(moto: Moto, operators: Operators, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Infer:
    found = read_definitions(EXAMPLES / "workflows" / "table" / "infer", [WORKFLOWS])
    register(operators.env, open_state(operators.env), found.valid, replace=True)
    here = "id: here\nmetastore_engine: local\nstorage_engine: local\nscheduler_engine: local\n"
    save_configurations(
        operators.env, [(Path("here.yaml"), parse_configuration(here, name="here.yaml", default_id="here"))]
    )
    bucket, s3 = f"data-{uuid4().hex[:8]}", moto.client("s3")
    s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket=bucket, Key="orders/a.csv", Body=b"id\n1\n")
    folder = write(tmp_path / "work", {f"{database}/orders/a.csv": "id\n1\n"})
    monkeypatch.chdir(folder)
    for name, value in operators.env.variables.items():  # where the scheduler notes who deployed
        monkeypatch.setenv(name, value)
    return Infer(operators.env, moto, folder, bucket, database, f"infer_{uuid4().hex[:8]}")


def test_a_step_of_another_configuration_becomes_no_crawler(infer: Infer) -> None:
    call = infer.call("here", storage_path=f"{infer.database}/orders")

    planned = workflow_calls.plan(infer.env, call).response
    deployed = workflow_calls.deploy(infer.env, call).response
    ran = workflow_calls.run(infer.env, call).response

    words = f'reads S3, not file://{infer.folder}/{infer.database}/orders (step_1, by its configuration "here").'
    for said in (planned, deployed, ran):
        [told] = said.errors
        assert words in told and told.endswith("Deploy it with another scheduler: local.")
    assert infer.crawler() is None


def test_a_step_in_another_region_of_the_same_server_becomes_no_crawler(infer: Infer, moto: Moto) -> None:
    clients = {"glue": moto.configuration(aws_region="eu-west-1"), "s3": moto.configuration()}
    text = yaml.safe_dump(
        {
            "metastore_engine": "glue",
            "storage_engine": "s3",
            "clients": {name: {"configuration": told} for name, told in clients.items()},
        }
    )
    found = parse_configuration(text, name="elsewhere.yaml", default_id="elsewhere")
    save_configurations(infer.env, [(Path("elsewhere.yaml"), found)])

    for act in (workflow_calls.plan, workflow_calls.deploy):
        told = act(infer.env, infer.call("elsewhere")).response.errors[-1]
        assert f"A crawler saves tables in the catalog glue in us-east-1 at {moto.endpoint}, " in told
        assert f"not in glue in eu-west-1 at {moto.endpoint} (step_1, " in told
    assert infer.crawler() is None


def test_a_dry_run_says_which_crawler_would_be_made_and_makes_none(infer: Infer) -> None:
    call = replace(infer.call(storage_path=f"{infer.bucket}/orders/"), schedule="0 6 * * 1-5")

    planned = workflow_calls.plan(infer.env, call)

    made = (
        f"Would create table crawler {infer.name}: s3://{infer.bucket}/orders/ into database {infer.database}, "
        'schedule "cron(0 6 ? * MON-FRI *)".'
    )
    assert planned.response.errors == ()
    assert f"glue: {made}" in planned.response.info
    assert planned.to_dict()["Data"][0]["Made"] == [made]
    assert infer.crawler() is None

    assert workflow_calls.deploy(infer.env, call).response.errors == ()
    again = workflow_calls.plan(infer.env, call).response
    other = workflow_calls.plan(infer.env, infer.call()).response

    assert any(f"Table crawler {infer.name} already exists, and does this" in each for each in again.info)
    [line] = [each for each in other.info if "Would change" in each]
    assert line.endswith(
        f'its former path "s3://{infer.bucket}/orders/" and schedule "cron(0 6 ? * MON-FRI *)" would give way.'
    )


def test_a_dry_run_refuses_what_glue_would_refuse(infer: Infer, tmp_path: Path) -> None:
    named = workflow_calls.plan(infer.env, infer.call(table_name="mine")).response
    every_minute = workflow_calls.plan(infer.env, replace(infer.call(), schedule="* * * * *")).response
    steps = "".join(f"  - {{id: {each}, type: operator, namespace: table, command: list}}\n" for each in "ab")
    two = f"type: workflow\nnamespace: demo\ncommand: two\ndag:\n{steps}supported_schedulers: [glue]\n"
    found = read_definitions(write(tmp_path / "two", {"workflow.yaml": two}), [WORKFLOWS])
    register(infer.env, open_state(infer.env), found.valid, replace=True)
    given = "".join(f"{each}:\n  parameters: {{database_name: {infer.database}}}\n" for each in "ab")
    file = write(tmp_path, {"two.yaml": given}) / "two.yaml"
    both = workflow_calls.plan(infer.env, WorkflowCall(name="demo:two", parameter_file=file, config_id="aws")).response

    for said, words in (
        (named, "finds out by itself what table_name would say (step_1)."),
        (every_minute, "every 5 minutes"),
        (both, '"demo_two" has 2 steps: Glue runs none of them'),
    ):
        [told] = said.errors
        assert words in told
    assert infer.crawler() is None


def test_a_crawler_that_mason_did_not_make_is_left_alone(infer: Infer, scheduler: GlueSchedulerClient) -> None:
    glue = infer.moto.client("glue")
    target = {"S3Targets": [{"Path": "s3://theirs/data"}]}
    glue.create_crawler(
        Name=infer.name, Role=ROLE, DatabaseName="theirs", Targets=target, Description="nightly, ask Ada"
    )
    before = infer.crawler()

    for act in (workflow_calls.plan, workflow_calls.deploy, workflow_calls.run, workflow_calls.deploy_and_run):
        said = act(infer.env, infer.call()).response
        assert said.errors == (
            f'Mason did not make the crawler "{infer.name}", which Glue has: it is left as it is. '
            "Give the schedule another name: -s, or schedule_name in the file of parameters.",
        )
    with pytest.raises(Conflict, match="Mason did not make the crawler .* Delete it in Glue."):
        answer(scheduler.delete_schedule, infer.name)

    assert infer.crawler() == before


def test_revoking_a_token_names_the_crawlers_that_were_deployed_with_it(infer: Infer) -> None:
    store = open_state(infer.env)
    create_token(store, "ci", Scope.RUN)

    deploy_with_token(infer, "ci")

    ended = revoke(store, "ci")
    assert (ended.paused, ended.elsewhere) == ([], [(infer.name, f"glue in us-east-1 at {infer.moto.endpoint}")])


def test_a_crawler_is_its_last_deployers_and_nobodys_once_it_is_deleted(
    infer: Infer, scheduler: GlueSchedulerClient
) -> None:
    store = open_state(infer.env)
    for name in ("ci", "nightly", "other"):
        create_token(store, name, Scope.RUN)
    deploy_with_token(infer, "ci")
    deploy_with_token(infer, "nightly")
    assert [revoke(store, name).elsewhere for name in ("ci", "nightly")] == [
        [],
        [(infer.name, f"glue in us-east-1 at {infer.moto.endpoint}")],
    ]

    deploy_with_token(infer, "other")
    answer(scheduler.delete_schedule, infer.name)

    assert not revoke(store, "other").elsewhere


def test_a_deployment_that_glue_refuses_leaves_no_deployer(infer: Infer) -> None:
    store = open_state(infer.env)
    create_token(store, "ci", Scope.RUN)
    target = {"S3Targets": [{"Path": "s3://theirs/data"}]}
    infer.moto.client("glue").create_crawler(Name=infer.name, Role=ROLE, DatabaseName="theirs", Targets=target)

    deploy_with_token(infer, "ci", "Mason did not make the crawler")

    assert not revoke(store, "ci").elsewhere


def deploy_with_token(infer: Infer, name: str, error: str = "") -> None:
    """Deploy the workflow as a request with the token does; `error` is what that is to be refused with."""
    said = workflow_calls.deploy(infer.env, replace(infer.call(), caller=name)).response
    assert [error in each for each in said.errors] == ([True] if error else [])


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
    call = WorkflowCall(name="table:infer", parameter_file=write(tmp_path, {"p.yaml": parameters}) / "p.yaml")

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
