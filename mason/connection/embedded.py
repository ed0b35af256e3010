"""Mason in this process: what the command line and the server call is called here, too."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from mason.clients.response import Response
from mason.configurations.saved import shown_configurations, use_configuration
from mason.connection.call_response import CallResponse
from mason.connection.connection import Connection
from mason.connection.failures import checked
from mason.connection.progress import ProgressLine, told_by_log
from mason.engines.execution.models.job import JobRecord
from mason.operators.call_records import cancel_job, find_job
from mason.operators.operator_response import OperatorResponse
from mason.operators.runner import OperatorCall, plan_operator, respond, run_operator, show_result
from mason.state.home import read_state
from mason.util.environment import MasonEnvironment


class EmbeddedConnection(Connection):
    """Operators, workflows and jobs of this MASON_HOME, run by this process."""

    def __init__(self, config: str, progress: bool | None) -> None:
        super().__init__(config, progress)
        # What goes wrong is raised, and warnings are in the response: Python's own last resort would print both again.
        logger = logging.getLogger("mason")
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())

    def close(self) -> None:
        """There is nothing to let go of."""

    def get_job(self, job_id: str) -> Mapping[str, Any]:
        return self._about_job(find_job, job_id)

    def cancel_job(self, job_id: str) -> Mapping[str, Any]:
        return self._about_job(cancel_job, job_id)

    def runs(self, name: str = "", limit: int = 100) -> CallResponse:
        from mason.workflows.runs import list_runs

        return _responded(lambda response: OperatorResponse(response, list_runs(read_state(_env()), name, limit)))

    def run(self, run_id: str) -> CallResponse:
        from mason.workflows.runs import show_run

        return _responded(lambda response: OperatorResponse(response, [show_run(read_state(_env()), run_id)]))

    def configurations(self) -> CallResponse:
        return _responded(lambda response: OperatorResponse(response, shown_configurations(_env())))

    def _about_job(self, work: Callable[..., JobRecord], job_id: str) -> Mapping[str, Any]:
        def look(response: Response) -> OperatorResponse:
            config = use_configuration(_env(), self._config)
            return OperatorResponse(response, work(_env(), config, job_id, response))

        record: Mapping[str, Any] = _responded(look).data[0]
        return record

    def _run_operator(
        self, namespace: str, command: str, values: Mapping[str, Any], config: str, plan: bool, line: ProgressLine
    ) -> CallResponse:
        name, _, digest = command.partition("@")
        call = OperatorCall(namespace, name, digest, base=values, config_id=config, base_name="the request")
        with told_by_log(line):
            return _responded(lambda response: (plan_operator if plan else run_operator)(_env(), call, response))

    def _run_workflow(
        self,
        namespace: str,
        command: str,
        steps: Mapping[str, Any],
        config: str,
        asked: Mapping[str, Any],
        line: ProgressLine,
    ) -> CallResponse:
        from mason.workflows.parameter_file import given_parameters
        from mason.workflows.workflow_calls import WorkflowCall, find_workflow, handled

        name, _, digest = command.partition("@")
        given, schedule = given_parameters(steps), asked["schedule_name"]
        call = WorkflowCall(f"{namespace}:{name}", digest, None, config, schedule, given=given)

        def work(response: Response) -> OperatorResponse:
            handled(find_workflow(_env(), call), call, response, deploy=asked["deploy"], run=asked["run_now"])
            return OperatorResponse(response)

        with told_by_log(line):
            return _responded(work)


def _env() -> MasonEnvironment:
    return MasonEnvironment.of()


def _responded(work: Callable[[Response], OperatorResponse]) -> CallResponse:
    """Do the work as every front door does, and raise what went wrong."""
    raised: list[BaseException] = []

    def watched(response: Response) -> OperatorResponse:
        try:
            return work(response)
        except BaseException as error:
            raised.append(error)
            raise

    result = respond(watched)
    response = CallResponse(show_result(result), result.response.status)
    return checked(response, raised[0] if raised else None)
