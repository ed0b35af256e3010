"""What writing a table in another format will read and write, and what the format makes of its types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from mason.pipeline.formats.writers.output_format import OutputFormat, output_format
from mason.pipeline.formats.writers.table_writer import can_name_folders
from mason.pipeline.jobs.format.condition import Condition
from mason.pipeline.jobs.format.job import FormatJob, parse_size
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.reading.request import choose_columns
from mason.pipeline.reading.scan import Scan, plan_scan
from mason.pipeline.work.output_place import check_output
from mason.pipeline.work.record_parts import describe_columns, where_given


@dataclass(frozen=True, kw_only=True)
class FormatPlan:
    """A job whose parameters hold together, and the scan that gives it its rows."""

    job: FormatJob
    scan: Scan
    format: OutputFormat
    compression: str
    file_size: int

    @property
    def schema(self) -> pa.Schema:
        """The columns that are written, those in the names of folders included."""
        return choose_columns(self.scan.plan.schema, self.job.options.columns)

    @property
    def file_schema(self) -> pa.Schema:
        """The columns that stand in the files."""
        return pa.schema([each for each in self.schema if each.name not in self.job.options.partition_columns])

    @property
    def rows(self) -> int | None:
        """How many rows will be written, where that is known."""
        known, sample = self.scan.rows, self.job.options.sample_size
        if known is None or self.job.options.filter:
            return None
        return known if sample is None else min(known, sample)

    @property
    def changes(self) -> Sequence[dict[str, str]]:
        """What becomes of columns whose type, or whose name, the format does not have."""
        names = self.file_schema.names
        renamed = [
            {"Column": name, "Type": str(self.file_schema.field(name).type), "Becomes": f'the field "{other}"'}
            for name, other in zip(names, self.format.names(names), strict=True)
            if name != other
        ]
        return renamed + [
            {"Column": f"{field.name}{change.path}", "Type": str(change.type), "Becomes": change.words}
            for field in self.file_schema
            for change in self.format.codec(field.type).changes
        ]

    @property
    def warnings(self) -> Iterator[str]:
        yield from self.scan.warnings
        yield from change_warnings(self.changes, self.format.name)

    def widen_with(self, scan: Scan) -> FormatPlan:
        """Return the plan with what tasks saw beyond the sample.

        Raises:
            PlanRefused, BadCondition: what was asked for cannot be done with the types that there really are.
        """
        return check_plan(replace(self, scan=scan))

    def to_dict(self) -> dict[str, Any]:
        options = self.job.options
        document: dict[str, Any] = {
            **self.scan.to_dict(),
            "Columns": describe_columns(self.schema),
            "Output": str(self.job.output),
            "Format": self.format.name,
            "Compression": self.compression,
            "Changes": list(self.changes),
        }
        if self.rows is not None:
            document["RowsOut"] = self.rows
        given = where_given({"PartitionColumns": list(options.partition_columns), "FileSize": self.file_size})
        return {**document, **given}


def plan_format(job: FormatJob) -> FormatPlan:
    """Look at the table and return the plan.

    Raises:
        BadInput: there is no such format, compression or size, or the condition is none.
        MissingDependency: the package that writes the format is not installed.
        BadPath: the output lies inside the table, or the other way round.
        NoSuchColumn: a column is not there.
        PathNotFound, NoData, PlanRefused: as a merge of the table would.
        TooManyForFormat: there are more rows or columns than the format has room for.
    """
    options = job.options
    format_ = output_format(options.format)
    format_.check_package()
    compression = format_.check_compression(options.compression)
    size = parse_size(options.file_size)
    if size and format_.is_document:
        problem = f"A table in {format_.name} is one document: it cannot be cut into files of a size (file_size)."
        raise PlanRefused([problem])
    check_output([job.path], job.output, job.foreign)
    condition = Condition.of(options.filter) if options.filter else None
    scan = plan_scan(job.path)
    choose_columns(scan.schema, [*options.columns, *options.partition_columns])
    needed = [*options.columns, *(condition.columns(scan.schema) if condition and options.columns else ())]
    return check_plan(
        FormatPlan(
            job=job,
            scan=replace(scan, columns=tuple(dict.fromkeys(needed))),
            format=format_,
            compression=compression,
            file_size=size,
        )
    )


def check_plan(plan: FormatPlan) -> FormatPlan:
    """Return the plan if it can be carried out.

    Raises:
        PlanRefused, BadCondition, TooManyForFormat: it cannot.
    """
    options = plan.job.options
    problems = list(_partition_problems(plan.schema, options.partition_columns))
    if problems:
        raise PlanRefused(problems)
    if options.filter:
        Condition.of(options.filter).check(plan.scan.plan.schema)
    known = plan.rows if plan.rows is not None and not options.partition_columns else 0
    plan.format.check_size(known, len(plan.file_schema))
    return plan


def change_warnings(changes: Sequence[dict[str, str]], format_: str) -> Iterator[str]:
    for each in changes:
        yield f'Column "{each["Column"]}" ({each["Type"]}) becomes {each["Becomes"]} in {format_}.'


def _partition_problems(schema: pa.Schema, keys: Sequence[str]) -> Iterator[str]:
    for key in keys:
        if key not in schema.names:
            yield f'The column "{key}" to partition by is not among the columns that are written.'
        elif not can_name_folders(schema.field(key).type):
            yield f'Column "{key}" is {schema.field(key).type}: its values are no good names for folders.'
    if keys and set(schema.names) <= set(keys):
        yield "All columns are partition columns: nothing would be left to stand in the files."
