"""Mason in this process: what the command line and the server call is called here, too."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mason.clients.response import Response
from mason.connection.call_response import CallResponse, raise_errors_of
from mason.connection.connection import Connection
from mason.connection.operator_names import OperatorSignature
from mason.connection.progress import ProgressLine, show_log_of_jobs
from mason.operators.operator_response import OperatorResponse
from mason.operators.operator_spec import OperatorSpec
from mason.operators.runner import OperatorCall
from mason.service.reply import reply_with
from mason.service.service import Service
from mason.state.models import Registration
from mason.util.environment import MasonEnvironment

if TYPE_CHECKING:
    import pyarrow as pa

    from mason.connection.frames import Rows


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
        return self._first(lambda service, response: service.get_job(job_id, self._config, response))

    def cancel_job(self, job_id: str) -> Mapping[str, Any]:
        return self._first(lambda service, response: service.cancel_job(job_id, self._config, response))

    def runs(self, name: str = "", limit: int = 100) -> CallResponse:
        return _call(lambda service, response: OperatorResponse(response, service.list_runs(name, limit)))

    def run(self, run_id: str) -> CallResponse:
        return _call(lambda service, response: OperatorResponse(response, [service.get_run(run_id)]))

    def configurations(self) -> CallResponse:
        return _call(lambda service, response: OperatorResponse(response, service.list_configurations()))

    def _first(self, ask: Callable[[Service, Response], object]) -> Mapping[str, Any]:
        found: Mapping[str, Any] = _call(
            lambda service, response: OperatorResponse(response, ask(service, response))
        ).data[0]
        return found

    def _run_operator(
        self, namespace: str, command: str, values: Mapping[str, Any], config: str, plan: bool, line: ProgressLine
    ) -> CallResponse:
        name, _, digest = command.partition("@")
        call = OperatorCall(
            namespace=namespace, command=name, digest=digest, base=values, config_id=config, base_name="the request"
        )
        verb = Service.plan_operator if plan else Service.run_operator
        with show_log_of_jobs(line):
            return _call(lambda service, response: verb(service, call, response))

    def _rows(self, statement: str, database: str, parameters: Mapping[str, Any], config: str) -> Rows:
        from mason.connection.embedded_rows import EmbeddedRows  # takes Arrow, which calls without rows do without
        from mason.service.frames import Question

        return EmbeddedRows(Question(statement=statement, database=database, parameters=parameters), config)

    def _save(
        self,
        rows: pa.RecordBatchReader,
        table: str,
        mode: str,
        keys: Sequence[str],
        config: str,
        line: ProgressLine,
    ) -> CallResponse:
        with show_log_of_jobs(line):
            return _call(lambda service, response: service.save_rows(rows, table, mode, keys, config, response))

    def _describe_operators(self) -> Sequence[OperatorSignature]:
        return [_signature_of(each) for each in Service(MasonEnvironment.of()).list_operators()]

    def _run_workflow(
        self,
        namespace: str,
        command: str,
        steps: Mapping[str, Any],
        config: str,
        asked: Mapping[str, Any],
        line: ProgressLine,
    ) -> CallResponse:
        from mason.workflows.definition.parameter_file import parameters_of_request
        from mason.workflows.workflow_calls import WorkflowCall

        name, _, digest = command.partition("@")
        given, schedule = parameters_of_request(steps), asked["schedule_name"]
        call = WorkflowCall(
            name=f"{namespace}:{name}",
            digest=digest,
            parameter_file=None,
            config_id=config,
            schedule_name=schedule,
            given=given,
        )
        wanted = {"deploy": asked["deploy"], "run": asked["run_now"]}
        with show_log_of_jobs(line):
            return _call(lambda service, response: service.run_workflow(call, response, **wanted))


def _signature_of(registration: Registration) -> OperatorSignature:
    spec = OperatorSpec.of(registration.definition)
    return OperatorSignature(
        namespace=spec.namespace,
        command=spec.command,
        description=spec.description,
        parameters={each.name: each.description or each.type for each in spec.parameters.all},
        required=[each.name for each in spec.parameters.required],
        defaults={each.name: each.default for each in spec.parameters.all},
    )


def _call(work: Callable[[Service, Response], OperatorResponse]) -> CallResponse:
    """Ask the service, and raise what went wrong."""
    service = Service(MasonEnvironment.of())
    reply = reply_with(lambda response: work(service, response))
    return raise_errors_of(CallResponse(reply.document, reply.status), reply.cause)
