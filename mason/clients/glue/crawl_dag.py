"""Which DAGs a crawler can do: Glue runs no operators, but one of them does what a crawler does."""

from __future__ import annotations

from urllib.parse import parse_qs

from mason.clients.aws.endpoints import is_of_aws
from mason.clients.aws.service import AwsService
from mason.clients.glue.crawlers import Crawl
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.engines.scheduler.models.deployment import Deployment, StepPlace
from mason.errors import Unprocessable

_OPERATOR = "table:infer"
_DATABASE = ("database_name", "bucket_name")
_PATH = "storage_path"


def crawl_of(deployment: Deployment, glue: AwsService) -> Crawl:
    """Return the crawl by which a Glue does what a workflow does.

    Raises:
        Unprocessable: no crawler does that, with the reason.
    """
    dag, schedule = deployment.dag, deployment.schedule
    if len(dag.steps) != 1:
        reason = f'"{dag.name}" has {len(dag.steps)} steps: Glue runs none of them, a crawler stands for one alone'
        raise Unprocessable(f"{reason}.", hint=f"Deploy it {_elsewhere(deployment)}.")
    step = dag.steps[0]
    if step.operator != _OPERATOR:
        reason = f"Glue has crawlers, which do what {_OPERATOR} does, and nothing for {step.operator}"
        raise Unprocessable(f"{reason} ({step.key}).", hint=f"Deploy it {_elsewhere(deployment)}.")
    database = next((str(step.parameters[key]) for key in _DATABASE if key in step.parameters), "")
    others = sorted(set(step.parameters) - {*_DATABASE, _PATH})
    if others:
        reason = f"A crawler finds out by itself what {', '.join(others)} would say ({step.key})"
        raise Unprocessable(f"{reason}.", hint=f"Leave that out, or deploy it {_elsewhere(deployment)}.")
    path = _path_to_crawl(step, deployment, glue)
    return Crawl(
        name=schedule.name,
        database=database,
        path=path,
        expression=schedule.expression,
        workflow=deployment.workflow,
        step=step.key,
    )


def _path_to_crawl(step: ValidDagStep, deployment: Deployment, glue: AwsService) -> str:
    """Return the path that a crawler reads, where it would read and save the same as the step itself."""
    written = str(step.parameters[_PATH])
    place = deployment.find_place(step.key, written)
    reason = _why_not(place, glue)
    if reason:
        explanation = f'{reason} ({step.key}, by its configuration "{step.config_id or deployment.config_id}")'
        raise Unprocessable(f"{explanation}.", hint=f"Deploy it {_elsewhere(deployment)}.")
    return f"{place.path}/" if written.endswith("/") else place.path


def _why_not(place: StepPlace, glue: AwsService) -> str:
    """Return why a crawler would not do what a step does at a place."""
    if not place.path.startswith("s3://"):
        return f"A crawler reads S3, not {place.path}"
    store = "".join(parse_qs(place.storage.partition("?")[2]).get("endpoint", ()))
    if is_of_aws(glue.endpoint) and not is_of_aws(store):
        return f"A crawler reads the S3 of AWS, and {place.path} lies in the store at {store}"
    if place.catalog != glue.name:
        return (
            f"A crawler saves tables in the catalog {glue.name}, not in {place.catalog or 'the metastore of the step'}"
        )
    return ""


def _elsewhere(deployment: Deployment) -> str:
    return f"with another scheduler{': ' if deployment.others else ''}{', '.join(deployment.others)}"
