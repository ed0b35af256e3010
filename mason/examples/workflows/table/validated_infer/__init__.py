from mason.engines.execution.models.job import JobStatus
from mason.engines.metastore.models.table import Table
from mason.engines.scheduler.models.dags.executed_dag_step import ExecutedDagStep
from mason.engines.scheduler.models.dags.failed_dag_step import FailedDagStep
from mason.engines.scheduler.models.dags.valid_dag_step import ValidDagStep
from mason.workflows.workflow_definition import WorkflowDefinition


class TableValidatedInfer(WorkflowDefinition):
    """Infer a table, look whether it is there, query it, look at that job; delete the table if it did not work."""

    def step(
        self,
        current: ExecutedDagStep,
        next: ValidDagStep,  # noqa: A002
    ) -> ValidDagStep | FailedDagStep | ExecutedDagStep:
        found = current.operator_response.object
        if current.step.id in ("step_1", "step_2"):
            return next if isinstance(found, Table) else current.failed("There is no table.")
        if current.step.id == "step_3":
            return next  # also when the query failed: the next step looks at it, and the one after that cleans up
        worked = found is not None and found.status is JobStatus.SUCCEEDED
        return current if worked else next
