"""What a merge will read, and into which schema: data that can be printed, saved and compared. No engine is needed."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.engines.metastore.models.schema import SchemaConflict
from mason.errors import BadPath, MasonError, NoData
from mason.pipeline.formats.file_readings import describe_readings, explain_file
from mason.pipeline.formats.file_schema import FileSchema
from mason.pipeline.formats.file_warnings import group_warnings
from mason.pipeline.formats.odd_values import Misfit
from mason.pipeline.formats.scanning.splits import Range
from mason.pipeline.jobs.merge.adopting import describe_adopted, list_adopted
from mason.pipeline.jobs.merge.job import MergeJob, Mode, Names, OnConflict
from mason.pipeline.jobs.merge.partition_keys import wrong_keys
from mason.pipeline.jobs.merge.sources_merged import merged_before
from mason.pipeline.reading.plan.base import BaseTable, is_as_before
from mason.pipeline.reading.plan.column_notes import notes_on_columns, respelled_columns
from mason.pipeline.reading.plan.gather import gather_columns, settle_base, unite_evidence
from mason.pipeline.reading.plan.inputs import check_nothing_is_there, list_inputs
from mason.pipeline.reading.plan.look import PlanRefused, look_at_files
from mason.pipeline.reading.plan.names import find_twins, fold_names, twins_in
from mason.pipeline.reading.plan.own_tables import plan_own_files
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.storage.file_stamp import FileStamp
from mason.pipeline.tables.commit import CommitRecord, TableStore, open_table
from mason.pipeline.tables.foreign_files import Foreign, check_foreign
from mason.pipeline.types.column_types import NOTHING, Evidence, decide, evidence_of, merge, mixes_zones, storable
from mason.pipeline.types.sql_types import parse_given_schema
from mason.pipeline.types.zones import checked_zone
from mason.pipeline.work.output_place import check_apart
from mason.pipeline.work.record_parts import describe_columns, where_given
from mason.pipeline.work.step_work import Work

TASK_BYTES = 256 * 1024 * 1024
SMALLEST_TASK = 8 * 1024 * 1024
LEAST_TASKS = 4
TASK_FILES = 2_000


@dataclass(frozen=True)
class MergePlan:
    """The files of a merge, what was seen of their columns, and what they disagree on."""

    job: MergeJob
    files: Sequence[PlannedFile]
    evidence: Mapping[str, Evidence]
    """What was seen of each column, in the order in which the output has them."""
    conflicts: Sequence[SchemaConflict] = ()
    warnings: Sequence[str] = ()
    given: Mapping[str, pa.DataType] = field(default_factory=dict)
    """Columns whose type the user gave."""
    types_in_conflict: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """For each column in conflict the type that each file shows."""
    base: BaseTable | None = None
    """What the merge adds to."""
    merged_before: int = 0
    """How many files of the input are in the output already."""
    misfits: Mapping[str, Misfit] = field(default_factory=dict)
    """For columns that the sample had shown to be something else, the first value that made this known."""
    work: Work | None = None
    """The step of a workflow that the merge is for."""
    rewritten: CommitRecord | None = None
    """The version of the table that is written anew from its own rows."""
    adopted: Mapping[str, FileStamp] = field(default_factory=dict)
    """Files of others in the output whose rows become rows of it, by their paths below it."""

    @property
    def schema(self) -> pa.Schema:
        """The schema of the output."""
        return pa.schema([(name, self._type(name)) for name in self.evidence])

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
        return respelled_columns(self.base.schema, self.schema) if self.base and self.rewrites_base else {}

    @property
    def rows_rewritten(self) -> int:
        """Rows that are in the table already, and are written anew because a column of theirs widens."""
        return self.base.commit.rows if self.base and self.rewrites_base else 0

    def is_taken_as_text(self, name: str) -> bool:
        """Whether the user wants a column as text because files disagree on it."""
        return self.job.options.on_conflict is OnConflict.STRING and name in self.types_in_conflict

    def tasks(self) -> list[list[tuple[PlannedFile, Range]]]:
        """Pack the files: many small ones into few tasks, since each task costs something before it does anything.

        The tasks get equal shares, and a part goes to the one in which its middle lies. Filling each as far as it goes
        would leave all of them a part short, and a last one that the other cores wait for.
        """
        packed: list[list[tuple[PlannedFile, Range]]] = []
        share, read, last = self.input_bytes / max(self._task_count, 1), 0, -1
        for file in self.files:
            for part in file.parts:
                number = int((read + part.length / 2) / share) if share else 0
                if not packed or number != last or len(packed[-1]) >= TASK_FILES:
                    packed.append([])
                    last = number
                packed[-1].append((file, part))
                read += part.length
        return packed

    @property
    def _task_count(self) -> int:
        """How many tasks: few enough to pay and, where there is much to do, as many for each of two or four cores."""
        fewest = min(LEAST_TASKS, math.ceil(self.input_bytes / SMALLEST_TASK))
        count = self.input_bytes / TASK_BYTES
        return max(fewest, round(count / LEAST_TASKS) * LEAST_TASKS if count > 1 else 1)

    @property
    def input_bytes(self) -> int:
        return sum(each.file.size for each in self.files)

    @property
    def task_bytes(self) -> Sequence[int]:
        """How much each task reads."""
        return [sum(part.length for _, part in parts) for parts in self.tasks()]

    @property
    def known_rows(self) -> int | None:
        """How many rows there are, if every file says so itself."""
        stated = [rows for each in self.files if (rows := each.schema.stated_rows) is not None]
        return sum(stated) if len(stated) == len(self.files) else None

    @property
    def is_parquet(self) -> bool:
        """Whether every file is a Parquet file."""
        return all(each.schema.format == "parquet" for each in self.files)

    def widened(self, seen: Mapping[str, Mapping[str, Evidence]]) -> MergePlan:
        """Return the plan with what tasks saw beyond the sample: for each file, by its path, the columns.

        Raises:
            PlanRefused: the output would have columns that cannot be told apart, or times of which some lack a zone;
                or files disagree, and nobody wants that.
        """
        united = dict(self.evidence)
        for columns in seen.values():
            united |= {name: merge(united.get(name, NOTHING), each) for name, each in columns.items()}
        files = [each.with_seen(seen[each.file.path]) if each.file.path in seen else each for each in self.files]
        return checked(_with_conflicts(replace(self, files=files, evidence=united)))

    def with_misfits(self, found: Mapping[str, Misfit]) -> MergePlan:
        """Return the plan with values that its schema did not hold; what is known of a column already was before."""
        return replace(self, misfits={**found, **self.misfits})

    def without_cuts(self, paths: Collection[str]) -> MergePlan:
        """Return the plan with these files read whole."""
        files = [replace(each, ranges=()) if each.file.path in paths else each for each in self.files]
        return replace(self, files=files)

    def with_base_files(self, filesystem: pafs.FileSystem) -> MergePlan:
        """Return the plan with the table's own files as inputs, if its schema is too narrow for what was seen.

        Raises:
            PlanRefused: only some partitions are to be replaced, and the others would have to be written anew; or a
                type that was given does not hold what is in the table.
        """
        if self.base is None or self.rewrites_base:
            return self
        columns = self.base.widened_columns(self.schema)
        if not columns:
            return self
        if narrow := [self._narrower(name) for name in columns if name in self.given and not self._holds_base(name)]:
            raise PlanRefused(
                narrow, hint="Leave it out of the schema, or merge everything anew into the table (mode: replace)."
            )
        if self.job.options.mode is Mode.REPLACE_PARTITIONS:
            raise PlanRefused([self._wider(name) for name in columns], hint="Replace the whole table (mode: replace).")
        return replace(self, files=[*self.base.planned_files(filesystem, self.job.output), *self.files])

    def to_dict(self) -> dict[str, Any]:
        inputs = [each for each in self.files if not each.is_base]
        told: dict[str, Any] = {
            "Inputs": [each.file.path for each in inputs],
            "InputBytes": sum(each.file.size for each in inputs),
            "Output": self.job.output,
            "Mode": self.job.options.mode,
            "Columns": describe_columns(self.schema),
            "Tasks": len(self.tasks()),
            "SchemaConflicts": [each.to_dict() for each in self.conflicts],
            "Readings": describe_readings(self.schemas),
        }
        if self.job.options.explain:
            told["Explained"] = explain_file(self.job.options.explain, self.schemas)
        told |= where_given({"PartitionKeys": list(self.partition_keys)})
        if self.job.options.incremental or self.merged_before:
            told["MergedBefore"] = self.merged_before
        return {**told, **where_given({"RowsRewritten": self.rows_rewritten, "Adopted": list(self.adopted)})}

    @property
    def schemas(self) -> Mapping[str, FileSchema]:
        """What each file of the input shows."""
        return {each.file.name: each.schema for each in self.files if each.is_source}

    def _type(self, name: str) -> pa.DataType:
        if name in self.given:
            return self.given[name]
        if self.is_taken_as_text(name):
            return pa.string()
        return storable(decide(self.evidence[name], self.job.options.timezone))

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


def plan_merge(filesystem: pafs.FileSystem, job: MergeJob) -> MergePlan:
    """Look at every file and return the plan of a merge that writes its output.

    Raises:
        BadPath: the output holds what must not go with it.
        ForeignFiles, ChangedFiles: it holds data of others, or they have written over its own.
        MasonError: as `plan_reading` does.
    """
    table = open_table(job.storage, job.output, job.options.foreign)
    rewritten = table.current() if job.is_in_place else None  # first: what is committed after it is not read
    plan = plan_reading(filesystem, job)
    table.check_room()
    check_foreign(table, job.output)
    return replace(plan, rewritten=rewritten)


def plan_reading(filesystem: pafs.FileSystem, job: MergeJob) -> MergePlan:
    """Look at every file and return how they are read into one table.

    Raises:
        PathNotFound: there is nothing at the input.
        NoData: there is no data in it.
        BadPath: the output lies inside the input, or the other way round, or is a file.
        BadSchema, UnknownZone: the schema or the time zone that was given is none.
        PlanRefused: files that cannot be read, columns that cannot be told apart, a conflict that nobody wants, an
            output that nothing can be added to.
    """
    job = _settled(job)
    table = open_table(job.storage, job.output, job.options.foreign)
    current = table.current() if job.options.mode is not Mode.REPLACE else None
    base = BaseTable.of(current) if current else None
    try:
        return _plan_on(filesystem, job, table, base)
    except (MasonError, OSError):
        if job.options.mode is Mode.REPLACE or is_as_before(filesystem, table, base, job.output):
            raise
        return plan_reading(filesystem, job)  # another job has made it a table, or moved the files that were looked at


def _plan_on(filesystem: pafs.FileSystem, job: MergeJob, table: TableStore, base: BaseTable | None) -> MergePlan:
    given = parse_given_schema(job.options.schema).types
    files, warnings = list_inputs(filesystem, job)
    work = Work.here()
    merged = merged_before(job.options, table, work)
    new = merged.without_merged(filesystem, files)
    adopted = list_adopted(filesystem, job, table, files)
    warnings += map(describe_adopted, adopted)
    columns = base.schema.names if base else ()
    own = plan_own_files(filesystem, job, new)
    looked_at = [*(() if own else new), *(each.file for each in adopted)]
    planned = [*own, *look_at_files(filesystem, job.options, looked_at, warnings, columns)]
    if not planned and len(new) == len(files):
        raise NoData(f'All data files at "{job.inputs}" are empty.')
    if job.options.names is Names.FOLD:
        planned = fold_names(planned)
    elif twins := find_twins(planned, job.options.names):
        raise PlanRefused(twins, hint='A merge has the parameter "names", which says how to take them (number, fold).')
    if not job.is_in_place and filesystem.get_file_info(job.output).type == pafs.FileType.File:
        raise BadPath(f"The output {job.output} is a file: a table is a folder.")
    if base is None and job.options.mode is not Mode.REPLACE and job.options.foreign is Foreign.REFUSE:
        check_nothing_is_there(filesystem, job.output)
    base = settle_base(filesystem, job.output, base, given, planned)
    warnings += notes_on_columns(given, planned, columns)
    plan = MergePlan(
        job,
        planned,
        unite_evidence(planned, given, base),
        warnings=group_warnings(warnings, [each.name for each in (*files, *(each.file for each in adopted))]),
        given=given,
        base=base,
        merged_before=len(files) - len(new),
        work=work,
        adopted={each.name: each.stamp for each in adopted},
    )
    return checked(_with_conflicts(plan)).with_base_files(filesystem)


def checked(plan: MergePlan) -> MergePlan:
    """Return the plan if its output is sound.

    Raises:
        PlanRefused: it is not.
    """
    problems = [f'The columns "{one}" and "{other}" differ only in case.' for one, other in twins_in(plan.evidence)]
    if not plan.job.options.timezone:
        problems += [
            f'Column "{name}" has times with a zone and times or dates without one.'
            for name, seen in plan.evidence.items()
            if name not in plan.given and not plan.is_taken_as_text(name) and mixes_zones(seen)
        ]
    if plan.base and plan.base.commit.format != "parquet":
        problems.append(f"The table is in {plan.base.commit.format}: only to one in Parquet can something be added.")
    problems += wrong_keys(plan.partition_keys, plan.schema)
    kept = list(plan.base.commit.partition_keys) if plan.base else []
    if kept and kept != list(plan.partition_keys):
        problems.append(f"The table is partitioned by {', '.join(kept)}: what is added must be, too.")
    if plan.base and plan.base.commit.files and plan.partition_keys and not kept:
        problems.append("The table is not partitioned: what is added cannot be, either (repartition_keys).")
    if plan.job.options.mode is Mode.REPLACE_PARTITIONS and not plan.partition_keys:
        problems.append("Partitions can be replaced only of a table that has some: give repartition_keys.")
    if problems:
        raise PlanRefused(problems, hint=_remedy(problems))
    return plan


def _remedy(problems: Sequence[str]) -> str:
    if any("with a zone" in each for each in problems):
        return "Give a merge the timezone whose clock the others show, or the column as text (on_conflict: string)."
    return ""


def _settled(job: MergeJob) -> MergeJob:
    """Return the job with its options checked. Files that are merged one after the other are added to the table."""
    check_apart(job.inputs, job.output)
    checked_zone(job.options.timezone)
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


def _outgrown(plan: MergePlan) -> Mapping[str, Evidence]:
    """The columns of the table that do not hold what is added. What they hold is no conflict, whatever files show."""
    if plan.base is None:
        return {}
    widened = plan.base.widened_columns(plan.schema)
    return {name: seen for name, seen in plan.base.evidence.items() if name in widened}


def _with_conflicts(plan: MergePlan) -> MergePlan:
    options, files = plan.job.options, [each for each in plan.files if not each.is_base]
    columns = gather_columns(files, _outgrown(plan), plan.base)
    chosen = {name: column for name, column in columns.items() if name not in plan.given}
    conflicts = [conflict for column in chosen.values() if (conflict := column.conflict(options.timezone))]
    if options.on_conflict is OnConflict.FAIL and conflicts:
        raise PlanRefused([f'{each.difference}: "widen" would take it as {each.chosen}.' for each in conflicts])
    types = {
        each.column: {
            file.file.name: columns[each.column].type_of(file.seen(each.column), options.timezone)
            for file in files
            if each.column in file.schema.columns or each.column in file.beyond_sample
        }
        for each in conflicts
    }
    if options.on_conflict is OnConflict.STRING:
        conflicts = [replace(each, chosen="string") for each in conflicts]
    return replace(plan, conflicts=conflicts, types_in_conflict=types)
