"""A table as a reader finds it: through its newest commit, or, where there is none, as the files at a path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.fs as pafs

from mason.pipeline.merge.base import BaseTable
from mason.pipeline.merge.batches import Batch
from mason.pipeline.merge.job import MergeJob, MergeOptions
from mason.pipeline.merge.plan import plan_merge
from mason.pipeline.merge.planned_file import PlannedFile
from mason.pipeline.merge.readers import read_batches
from mason.pipeline.merge.task import FileInTask
from mason.pipeline.table_commit import CommitRecord, TableFolder


@dataclass(frozen=True)
class TableView:
    """The files of a table and the schema that they are read by."""

    path: str
    schema: pa.Schema
    files: Sequence[PlannedFile]
    commit: CommitRecord | None = None
    warnings: Sequence[str] = ()

    def batches(self, filesystem: pafs.FileSystem, file: PlannedFile, nulls: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield the records of a file, not yet fitted to the schema."""
        for part in file.parts:
            yield from read_batches(filesystem, FileInTask.of(file, part, {}), nulls, self.schema)


def view_table(filesystem: pafs.FileSystem, path: str, options: MergeOptions | None = None) -> TableView:
    """Return what is at a path.

    Raises:
        PathNotFound, NoData, PlanRefused: as a merge of it would.
    """
    commit = TableFolder(path).current()
    if commit is not None:
        base = BaseTable.of(commit)
        return TableView(path, base.schema, base.planned_files(filesystem, path), commit)
    plan = plan_merge(filesystem, MergeJob(path, path, options=options or MergeOptions()))
    return TableView(path, plan.schema, plan.files, None, [*map(str, plan.conflicts), *plan.warnings])
