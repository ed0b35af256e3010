"""What a planned job would change about the columns of the table that is there."""

from __future__ import annotations

from mason.engines.execution.models.job import JobPlan
from mason.pipeline.storage_address import LOCAL
from mason.pipeline.table_commit import open_table
from mason.pipeline.table_versions import column_changes, column_types

_WRITE_THEIR_COLUMNS = ("merge", "dedupe")
"""Jobs whose plan knows the columns of what they write."""


def planned_changes(plan: JobPlan) -> list[str]:
    """Return how columns would change: none do where no table is there, or nobody knows before the job has run."""
    if plan.job.type not in _WRITE_THEIR_COLUMNS or not plan.details.get("Output"):
        return []
    commit = open_table(plan.job.inputs.get("storage", LOCAL), plan.details["Output"]).current()
    planned = {each["Name"]: each["Type"] for each in plan.details.get("Columns", ())}
    return column_changes(column_types(commit), planned) if commit else []
