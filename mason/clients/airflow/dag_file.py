"""The DAG file of a deployment: data at its top, the same few lines of code below, and no secret anywhere."""

from __future__ import annotations

import hashlib
import pprint
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.engines.scheduler.models.deployment import Deployment

TAG = "mason"
VERDICT = "mason-verdict"
"""The task that judges a run; no step can be called so."""

EXITS = {"failed": 1, "skipped": 99}
_BODY = Path(__file__).parent / "dag_body.txt"


@dataclass(frozen=True)
class DagFile:
    """The text of a DAG file, and the tag by which the DAG that Airflow has read is known to be this one."""

    text: str
    tag: str


def dag_file(deployment: Deployment, command: Sequence[str], start: str) -> DagFile:
    """Return the DAG file of a deployment.

    Args:
        command: how Airflow's workers call Mason.
        start: before this moment nothing is due.
    """
    spec = _spec(deployment, command, start)
    body = _BODY.read_text(encoding="utf-8")
    tag = f"{TAG}:{hashlib.sha256((repr(spec) + body).encode()).hexdigest()[:12]}"
    tags = [TAG, tag, *([_schedule_tag(deployment.schedule.expression)] if deployment.schedule.expression else [])]
    head = f'"""Made by Mason: {deployment.schedule.name}. Deploying it again writes it anew; do not edit it."""'
    written = pprint.pformat({**spec, "tags": tags}, width=110, sort_dicts=False)
    return DagFile(f"{head}\n\nSPEC = {written}\n\n{body}", tag)


def expression_in(tags: Sequence[str]) -> str:
    """Return the expression that a DAG was deployed with."""
    start = _schedule_tag("")
    return next((each.removeprefix(start) for each in tags if each.startswith(start)), "")


def _schedule_tag(expression: str) -> str:
    return f"schedule: {expression}"


def _spec(deployment: Deployment, command: Sequence[str], start: str) -> Mapping[str, Any]:
    timing = deployment.schedule.timing
    return {
        "name": deployment.schedule.name,
        "description": f"Mason workflow {deployment.workflow}",
        "fields": timing.fields if timing else "",
        "zone": timing.zone if timing else "UTC",
        "start": start,
        "command": list(command),
        "folder": deployment.folder,
        "environment": {"MASON_HOME": deployment.home, "MASON_SCHEDULED": "1"},
        "exits": EXITS,
        "verdict": VERDICT,
        "steps": [_step(each) for each in deployment.dag.steps],
    }


def _step(step: ValidDagStep) -> Mapping[str, Any]:
    return {
        "key": step.key,
        "dependencies": list(step.dependencies),
        "retries": step.retry.most,
        "retry_seconds": step.retry.seconds,
        "retry_doubles": step.retry.doubles,
        "timeout": step.timeout,
    }
