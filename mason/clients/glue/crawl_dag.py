"""Which DAGs a crawler can do: Glue runs no operators, but one of them does what a crawler does."""

from __future__ import annotations

from mason.clients.glue.crawlers import Crawl
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.engines.scheduler.models.deployment import Deployment
from mason.errors import Unprocessable

_OPERATOR = "table:infer"
_DATABASE = ("database_name", "bucket_name")
_PATH = "storage_path"


def crawl_of(deployment: Deployment) -> Crawl:
    """Return the crawl that does what a workflow does.

    Raises:
        Unprocessable: no crawler does that, with the reason.
    """
    dag, schedule = deployment.dag, deployment.schedule
    if len(dag.steps) != 1:
        told = f'"{dag.name}" has {len(dag.steps)} steps: Glue runs none of them, a crawler stands for one alone'
        raise Unprocessable(f"{told}.", hint=f"Deploy it {_elsewhere(deployment)}.")
    step = dag.steps[0]
    if step.operator != _OPERATOR:
        told = f"Glue has crawlers, which do what {_OPERATOR} does, and nothing for {step.operator}"
        raise Unprocessable(f"{told} ({step.key}).", hint=f"Deploy it {_elsewhere(deployment)}.")
    database = next((str(step.parameters[key]) for key in _DATABASE if key in step.parameters), "")
    others = sorted(set(step.parameters) - {*_DATABASE, _PATH})
    if others:
        told = f"A crawler finds out by itself what {', '.join(others)} would say ({step.key})"
        raise Unprocessable(f"{told}.", hint=f"Leave that out, or deploy it {_elsewhere(deployment)}.")
    path = _crawled(step, deployment)
    return Crawl(schedule.name, database, path, schedule.expression, deployment.workflow, step.key)


def _crawled(step: ValidDagStep, deployment: Deployment) -> str:
    path = str(step.parameters[_PATH])
    scheme, separator, rest = path.partition("://")
    if not separator:
        return f"s3://{path.lstrip('/')}"
    if scheme not in ("s3", "s3a", "s3n"):
        raise Unprocessable(
            f"A crawler reads S3, not {path} ({step.key}).", hint=f"Deploy it {_elsewhere(deployment)}."
        )
    return f"s3://{rest}"


def _elsewhere(deployment: Deployment) -> str:
    return f"with another scheduler{': ' if deployment.others else ''}{', '.join(deployment.others)}"
