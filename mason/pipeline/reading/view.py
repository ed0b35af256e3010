"""A table as a reader finds it: through its newest commit, or, where there is none, as the files at a path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.fs as pafs

from mason.engines.storage.models.location import Location
from mason.errors import Unprocessable
from mason.pipeline.reading.plan.base import BaseTable
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.reading.plan.read_plan import ReadPlan, plan_reading
from mason.pipeline.reading.request import ReadOptions, ReadRequest
from mason.pipeline.reading.tasks.batches import Batch
from mason.pipeline.reading.tasks.readers import read_batches
from mason.pipeline.reading.tasks.task import FileInTask
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.format_names import FORMATS
from mason.pipeline.tables.commit import CommitRecord, open_table


@dataclass(frozen=True)
class TableView:
    """The files of a table and the schema that they are read by, fitted to one another."""

    plan: ReadPlan
    commit: CommitRecord | None = None

    @property
    def schema(self) -> pa.Schema:
        return self.plan.schema

    @property
    def files(self) -> Sequence[PlannedFile]:
        return self.plan.files

    @property
    def rows_in_files(self) -> Sequence[int] | None:
        """How many rows each file has, where that is known before they are read."""
        if self.commit:
            return [each.rows for each in self.commit.files]
        stated = [rows for each in self.files if (rows := each.schema.stated_rows) is not None]
        return stated if len(stated) == len(self.files) else None

    @property
    def warnings(self) -> Sequence[str]:
        return [*map(str, self.plan.conflicts), *self.plan.warnings]

    def batches(self, filesystem: pafs.FileSystem, file: PlannedFile, nulls: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield the records of a file, not yet fitted to the schema."""
        for part in file.parts:
            yield from read_batches(
                filesystem, FileInTask.of(file, part, {}, self.plan.request.location.storage), nulls, self.schema
            )


def view_table(
    location: Location,
    options: ReadOptions | None = None,
    commit: CommitRecord | None = None,
) -> TableView:
    """Return what is at a place: the version of a table that is given, its newest, or the files.

    Raises:
        PathNotFound, NoData, PlanRefused: as a merge of it would.
        Unprocessable: the table is in a format that Mason does not read.
    """
    request = ReadRequest(location, options or ReadOptions())
    commit = commit or open_table(location).current()
    if commit is None:
        return TableView(plan_reading(open_filesystem(location.storage), request))
    if commit.format not in FORMATS:
        message = f'The table at "{location}" is in {commit.format}, which Mason writes, but does not read.'
        raise Unprocessable(message, hint="Take the table that it was made from.")
    base = BaseTable.of(commit)
    given = {field.name: field.type for field in base.schema}
    files = base.plan_files(location)
    plan = ReadPlan(request=request, files=files, evidence=base.evidence, given=given)
    return TableView(plan, commit)
