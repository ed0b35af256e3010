"""What a merge will read, into which schema, partitioned by what: data that can be printed, saved and compared.

No engine is needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from mason.engines.storage.models.location import Location
from mason.errors import BadPath, MasonError, NoData
from mason.pipeline.formats.file_readings import describe_readings, explain_file
from mason.pipeline.formats.file_warnings import group_warnings
from mason.pipeline.formats.writers.table_writer import can_name_folders
from mason.pipeline.jobs.merge.adopting import describe_adopted, list_adopted
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions, Mode
from mason.pipeline.jobs.merge.sources_merged import find_merged_sources
from mason.pipeline.reading.plan.base import BaseTable, is_as_before
from mason.pipeline.reading.plan.column_notes import find_respelled_columns, notes_on_columns
from mason.pipeline.reading.plan.inputs import check_nothing_is_there, list_inputs
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.reading.plan.read_plan import OtherFiles, ReadPlan, plan_files
from mason.pipeline.reading.plan.united_columns import settle_base, unite_evidence
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.file_stamp import FileStamp
from mason.pipeline.storage.files import is_file
from mason.pipeline.tables.commit import CommitRecord, TableStore, open_table
from mason.pipeline.tables.foreign_files import Foreign, check_foreign
from mason.pipeline.types.column_types import decide, evidence_of, merge, storable
from mason.pipeline.types.sql_types import parse_given_schema
from mason.pipeline.types.zones import check_zone
from mason.pipeline.work.output_place import check_apart, check_holds_tables
from mason.pipeline.work.record_parts import describe_columns, where_given
from mason.pipeline.work.step_attempt import StepAttempt


def wrong_keys(keys: Sequence[str], schema: pa.Schema) -> list[str]:
    """Return what is wrong with the columns that a table is to be partitioned by."""
    problems = [f'There is no column "{key}" to partition by.' for key in keys if key not in schema.names]
    problems += [f'"{key}" is among the columns to partition by more than once.' for key in _find_repeated(keys)]
    problems += [
        f'Column "{key}" is {schema.field(key).type}: such values cannot be the names of folders.'
        for key in keys
        if key in schema.names and not can_name_folders(schema.field(key).type)
    ]
    if keys and not set(schema.names) - set(keys):
        problems.append("Every column is to be partitioned by: at least one must be left for the files.")
    return problems


def _find_repeated(keys: Sequence[str]) -> list[str]:
    return [key for key, count in Counter(keys).items() if count > 1]


@dataclass(frozen=True, kw_only=True)
class MergePlan(ReadPlan):
    """What a merge reads, and the table that it adds to or makes."""

    job: MergeJob
    merged_before: int = 0
    """How many files of the input are in the output already."""
    work: StepAttempt | None = None
    """The step of a workflow that the merge is for."""
    rewritten: CommitRecord | None = None
    """The version of the table that is written anew from its own rows."""
    adopted: Mapping[str, FileStamp] = field(default_factory=dict)
    """Files of others in the output whose rows become rows of it, by their paths below it."""

    @property
    def partition_keys(self) -> Sequence[str]:
        given = self.job.options.repartition_keys
        return given or (self.base.commit.partition_keys if self.base else ())

    @property
    def base_commit(self) -> CommitRecord | None:
        return self.base.commit if self.base else None

    @property
    def rewrites_base(self) -> bool:
        """Whether the files of the table are among the inputs, since a column of theirs widens."""
        return any(each.is_base for each in self.files)

    @property
    def respelled(self) -> Mapping[str, str]:
        """What is to be said of columns of the table that become text."""
        return find_respelled_columns(self.base.schema, self.schema) if self.base and self.rewrites_base else {}

    @property
    def rows_rewritten(self) -> int:
        """Rows that are in the table already, and are written anew because a column of theirs widens."""
        return self.base.commit.rows if self.base and self.rewrites_base else 0

    def with_base_files(self) -> MergePlan:
        """Return the plan with the table's own files as inputs, if its schema is too narrow for what was seen.

        Raises:
            PlanRefused: only some partitions are to be replaced, and the others would have to be written anew; or a
                type that was given does not hold what is in the table.
        """
        if self.base is None or self.rewrites_base:
            return self
        columns = self.base.find_widened_columns(self.schema)
        if not columns:
            return self
        if narrow := [self._narrower(name) for name in columns if name in self.given and not self._holds_base(name)]:
            raise PlanRefused(
                narrow, hint="Leave it out of the schema, or merge everything anew into the table (mode: replace)."
            )
        if self.job.options.mode is Mode.REPLACE_PARTITIONS:
            raise PlanRefused([self._wider(name) for name in columns], hint="Replace the whole table (mode: replace).")
        return replace(self, files=[*self.base.plan_files(self.job.output), *self.files])

    def problems(self) -> list[str]:
        problems = super().problems()
        if self.base and self.base.commit.format != "parquet":
            problems.append(
                f"The table is in {self.base.commit.format}: only to one in Parquet can something be added."
            )
        problems += wrong_keys(self.partition_keys, self.schema)
        current_keys = list(self.base.commit.partition_keys) if self.base else []
        if current_keys and current_keys != list(self.partition_keys):
            problems.append(f"The table is partitioned by {', '.join(current_keys)}: what is added must be, too.")
        if self.base and self.base.commit.files and self.partition_keys and not current_keys:
            problems.append("The table is not partitioned: what is added cannot be, either (repartition_keys).")
        if self.job.options.mode is Mode.REPLACE_PARTITIONS and not self.partition_keys:
            problems.append("Partitions can be replaced only of a table that has some: give repartition_keys.")
        return problems

    def to_dict(self) -> dict[str, Any]:
        inputs = [each for each in self.files if not each.is_base]
        document: dict[str, Any] = {
            "Inputs": [each.file.path for each in inputs],
            "InputBytes": sum(each.file.size for each in inputs),
            "Output": str(self.job.output),
            "Mode": self.job.options.mode,
            "Columns": describe_columns(self.schema),
            "Tasks": len(self.tasks()),
            "SchemaConflicts": [each.to_dict() for each in self.conflicts],
            "Readings": describe_readings(self.schemas),
        }
        if self.job.options.explain:
            document["Explained"] = explain_file(self.job.options.explain, self.schemas)
        document |= where_given({"PartitionKeys": list(self.partition_keys)})
        if self.job.options.incremental or self.merged_before:
            document["MergedBefore"] = self.merged_before
        return {**document, **where_given({"RowsRewritten": self.rows_rewritten, "Adopted": list(self.adopted)})}

    def _holds_base(self, name: str) -> bool:
        """Whether the type that was given for a column holds every value that the table may have in it."""
        assert self.base is not None
        both = merge(self.base.evidence[name], evidence_of(self.given[name]))
        return bool(storable(decide(both, self.job.options.timezone)) == self.given[name])

    def _narrower(self, name: str) -> str:
        assert self.base is not None
        held = self.base.schema.field(name).type
        return f'Column "{name}" is {held} in the table: {self.given[name]}, which the schema says, does not hold that.'

    def _wider(self, name: str) -> str:
        assert self.base is not None
        return f'Column "{name}" is {self.base.schema.field(name).type} and would become {self._type(name)}.'


def plan_table(read: ReadPlan, output: Location) -> MergePlan:
    """Return the plan by which what is read becomes a table."""
    job = MergeJob(read.request.location, output, MergeOptions(**vars(read.request.options)))
    return MergePlan(job=job, **vars(read))


def plan_merge(job: MergeJob) -> MergePlan:
    """Look at every file and return the plan of a merge that writes its output.

    Raises:
        BadPath: the output holds what must not go with it.
        ForeignFiles, ChangedFiles: it holds data of others, or they have written over its own.
        MasonError: as `plan_reading` does.
    """
    table = open_table(job.output, job.options.foreign)
    rewritten = table.current() if job.is_in_place else None  # first: what is committed after it is not read
    plan = _plan_table(job)
    table.check_room()
    check_foreign(table, str(job.output))
    return replace(plan, rewritten=rewritten)


def _plan_table(job: MergeJob) -> MergePlan:
    """Look at every file and return how they are read into one table.

    Raises:
        PathNotFound: there is nothing at the input.
        NoData: there is no data in it.
        BadPath: the output lies inside the input, or the other way round, or is a file.
        BadSchema, UnknownZone: the schema or the time zone that was given is none.
        PlanRefused: files that cannot be read, columns that cannot be told apart, a conflict that nobody wants, an
            output that nothing can be added to.
    """
    job = _check_options(job)
    table = open_table(job.output, job.options.foreign)
    current = table.current() if job.options.mode is not Mode.REPLACE else None
    base = BaseTable.of(current) if current else None
    try:
        return _plan_on(job, table, base)
    except (MasonError, OSError):
        if job.options.mode is Mode.REPLACE or is_as_before(table, base, job.output):
            raise
        return _plan_table(job)  # another job has made it a table, or moved the files that were looked at


def _plan_on(job: MergeJob, table: TableStore, base: BaseTable | None) -> MergePlan:
    filesystem = open_filesystem(job.inputs.storage)
    given = parse_given_schema(job.options.schema).types
    files, warnings = list_inputs(filesystem, job.reading)
    work = StepAttempt.here()
    merged = find_merged_sources(job.options, table, work)
    new = merged.without_merged(filesystem, files)
    adopted = list_adopted(job, table, files)
    warnings += map(describe_adopted, adopted)
    columns = base.schema.names if base else ()
    others = OtherFiles([each.file for each in adopted], job.output.storage)
    planned = plan_files(filesystem, job.reading, new, warnings, others, columns)
    if not planned and len(new) == len(files):
        raise NoData(f'All data files at "{job.inputs}" are empty.')
    if not job.is_in_place and is_file(job.output):
        raise BadPath(f"The output {job.output} is a file: a table is a folder.")
    if base is None and job.options.mode is not Mode.REPLACE and job.options.foreign is Foreign.REFUSE:
        check_nothing_is_there(job.output)
    base = settle_base(job.output, base, given, planned)
    warnings += notes_on_columns(given, planned, columns)
    plan = MergePlan(
        request=job.reading,
        job=job,
        files=planned,
        evidence=unite_evidence(planned, given, base),
        warnings=group_warnings(warnings, [each.name for each in (*files, *others.files)]),
        given=given,
        base=base,
        merged_before=len(files) - len(new),
        work=work,
        adopted={each.name: each.stamp for each in adopted},
    )
    return plan.with_conflicts().check().with_base_files()


def _check_options(job: MergeJob) -> MergeJob:
    """Return the job with its options checked. Files that are merged one after the other are added to the table."""
    check_apart(job.inputs, job.output)
    check_holds_tables(job.output)
    check_zone(job.options.timezone)
    if job.options.mode is Mode.APPEND and job.is_in_place:
        raise PlanRefused(["The output is the input: to add it to itself would double every row."])
    if job.options.mode is Mode.REPLACE_PARTITIONS and job.options.foreign is Foreign.ADOPT:
        problem = "The rows of a foreign file would replace those that the table has in their partitions."
        raise PlanRefused([problem], hint="Adopt it by a merge of its own (mode: append, or the table with itself).")
    if not job.options.incremental:
        return job
    if job.options.mode is Mode.REPLACE_PARTITIONS or job.is_in_place:
        raise PlanRefused(["An incremental merge adds new files to the output: it replaces nothing."])
    return replace(job, options=replace(job.options, mode=Mode.APPEND))
