"""The class that an operator's author inherits from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.execution.models.job import Job
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment


class OperatorDefinition(ABC):
    """What an operator does: "for this configuration do this with these parameters".

    A verb of a client takes the response and gives it back: `table, response = client.get_table(…, response=resp)`.
    Whatever goes wrong is raised; the runner puts it into the response.
    """

    only_asks: ClassVar[bool] = False
    """Whether it does nothing but ask a metastore, a scheduler or the state.

    A server runs such operators of Mason's own itself, and all others in processes of their own.
    """

    is_stateless: ClassVar[bool] = False
    """Whether calls may share one, since it remembers nothing of them."""

    @abstractmethod
    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        """Do the work and return what came of it."""

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        """Say what `run` would do, without writing anything; an operator that writes something has its own plan."""
        resp.add_info("The operator says nothing about its plan beyond its parameters and clients.")
        return OperatorResponse(resp)

    def answer_depends_on(self, parameters: ValidatedParameters) -> str:
        """Say on what the answer depends besides the parameters and the files that are read: "the time", "chance".

        Such an answer may be another one by now, so that a workflow that is resumed asks for it again.
        """
        return ""

    def changed_paths(self, config: ValidConfig, parameters: ValidatedParameters) -> Sequence[str]:
        """Return the paths that it changes besides its outputs, such as that of a table which it tidies up.

        To a workflow that is resumed, what one of its steps did to a path is no change that others have made.
        """
        return ()


class DataOperator(OperatorDefinition):
    """An operator that moves data: it says which job, and the execution engine plans and runs it.

    Since both come from the same job, a plan cannot promise what the run does not do.
    """

    @abstractmethod
    def job(self, config: ValidConfig, parameters: ValidatedParameters) -> Job:
        """Return the job that these parameters ask for."""

    def plan(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        from mason.pipeline.jobs.table_output import list_schema_changes  # of no use to who does not plan

        plan, response = config.execution.client.plan_job(self.job(config, parameters), response=resp)
        changes = list_schema_changes(plan)
        if changes:
            plan = replace(plan, details={**plan.details, "SchemaChanges": changes})
            response.add_info(f"The table that is there changes: {', '.join(changes)}.")
        return OperatorResponse(response, plan)

    def run(
        self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response
    ) -> OperatorResponse:
        job = self.job(config, parameters)
        config.execution.client.expect_job(job)

        from mason.operators.catalog_entries import settle_read  # much, and of no use before a job is run

        plan, response = config.execution.client.plan_job(job, response=settle_read(config, job, resp))
        record, response = config.execution.client.run_job(plan, response=response)
        return OperatorResponse(self.follow_up(config, parameters, job, response), record)

    def follow_up(self, config: ValidConfig, parameters: ValidatedParameters, job: Job, response: Response) -> Response:
        """Have the catalogs show what the job has committed."""
        from mason.operators.catalog_entries import follow_job

        return follow_job(config, job, response)


def is_one_job(operator: OperatorDefinition) -> bool:
    """Say whether an operator does nothing but run a job: what becomes of the job is what becomes of the call."""
    return isinstance(operator, DataOperator) and type(operator).run is DataOperator.run
