"""What a planned job would change about the columns of the table that is there."""

from __future__ import annotations

from mason.engines.execution.models.job import JobPlan
from mason.pipeline.tables.commit import open_table
from mason.pipeline.tables.versions import column_changes, column_types
from mason.pipeline.work.base import Work


def list_schema_changes(plan: JobPlan) -> list[str]:
    """Return how columns would change: none do where no table is there, or nobody knows before the job has run."""
    planned = plan.payload.output_columns if isinstance(plan.payload, Work) else ()
    output = plan.job.output
    if not planned or not output:
        return []
    commit = open_table(output).current()
    types = {each.name: str(each.type) for each in planned}
    return column_changes(column_types(commit), types) if commit else []
