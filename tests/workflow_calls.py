"""What tests ask of workflows in this process: the verbs of the service, each answered with its response."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mason.clients.response import Response
from mason.operators.operator_response import OperatorResponse
from mason.service.reply import reply_with
from mason.service.service import Service
from mason.util.environment import MasonEnvironment
from mason.workflows.runs.resume import Choice
from mason.workflows.workflow_calls import WorkflowCall


def plan(env: MasonEnvironment, call: WorkflowCall, *, save: Path | None = None) -> OperatorResponse:
    return _answer(lambda response: Service(env).plan_workflow(call, response, save=save))


def run(
    env: MasonEnvironment, call: WorkflowCall, *, limit: int = 0, from_plan: Path | None = None
) -> OperatorResponse:
    return _answer(lambda response: Service(env).run_workflow(call, response, limit=limit, from_plan=from_plan))


def deploy(env: MasonEnvironment, call: WorkflowCall) -> OperatorResponse:
    return _answer(lambda response: Service(env).run_workflow(call, response, deploy=True, run=False))


def deploy_and_run(env: MasonEnvironment, call: WorkflowCall) -> OperatorResponse:
    return _answer(lambda response: Service(env).run_workflow(call, response, deploy=True))


def resume(
    env: MasonEnvironment, run_id: str, call: WorkflowCall, *, first: str = "", only: str = ""
) -> OperatorResponse:
    return _answer(lambda response: Service(env).resume_workflow(run_id, call, Choice(first, only), response))


def _answer(work: Callable[[Response], OperatorResponse]) -> OperatorResponse:
    return reply_with(work).result
