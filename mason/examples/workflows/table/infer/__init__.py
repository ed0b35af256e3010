from mason.workflows.workflow_definition import WorkflowDefinition


class TableInfer(WorkflowDefinition):
    """Infer one table."""
