"""What will be read, and into which schema: data that can be printed, saved and compared. No engine is needed."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import pyarrow as pa
import pyarrow.fs as pafs

from mason.engines.metastore.models.schema import SchemaConflict
from mason.errors import NoData
from mason.pipeline.formats.file_schema import FileSchema
from mason.pipeline.formats.file_warnings import group_warnings
from mason.pipeline.formats.odd_values import Misfit
from mason.pipeline.formats.scanning.splits import Range
from mason.pipeline.reading.plan.base import BaseTable
from mason.pipeline.reading.plan.column_notes import notes_on_columns
from mason.pipeline.reading.plan.inputs import list_inputs, plan_own_files
from mason.pipeline.reading.plan.inspection import PlanRefused, inspect_files
from mason.pipeline.reading.plan.names import find_twins, fold_names, twins_in
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.reading.plan.united_columns import unite_columns, unite_evidence
from mason.pipeline.reading.request import Names, OnConflict, ReadRequest
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.files import DataFile
from mason.pipeline.types.column_types import NOTHING, Evidence, decide, merge, mixes_zones, storable
from mason.pipeline.types.sql_types import parse_given_schema
from mason.pipeline.types.zones import check_zone

TASK_BYTES = 256 * 1024 * 1024
SMALLEST_TASK = 8 * 1024 * 1024
LEAST_TASKS = 4
TASK_FILES = 2_000


@dataclass(frozen=True, kw_only=True)
class ReadPlan:
    """The files that are read, what was seen of their columns, and what they disagree on."""

    request: ReadRequest
    files: Sequence[PlannedFile]
    evidence: Mapping[str, Evidence]
    """What was seen of each column, in the order in which the table has them."""
    conflicts: Sequence[SchemaConflict] = ()
    warnings: Sequence[str] = ()
    given: Mapping[str, pa.DataType] = field(default_factory=dict)
    """Columns whose type the user gave."""
    types_in_conflict: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """For each column in conflict the type that each file shows."""
    base: BaseTable | None = None
    """The table that the rows will be added to: its columns have a say."""
    misfits: Mapping[str, Misfit] = field(default_factory=dict)
    """For columns that the sample had shown to be something else, the first value that made this known."""

    @property
    def schema(self) -> pa.Schema:
        """The schema of the output."""
        return pa.schema([(name, self._type(name)) for name in self.evidence])

    @property
    def partition_keys(self) -> Sequence[str]:
        """The columns by which files of a table are written; none where no table is."""
        return ()

    def is_taken_as_text(self, name: str) -> bool:
        """Whether the user wants a column as text because files disagree on it."""
        return self.request.options.on_conflict is OnConflict.STRING and name in self.types_in_conflict

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

    def widen_with(self, seen: Mapping[str, Mapping[str, Evidence]]) -> Self:
        """Return the plan with what tasks saw beyond the sample: for each file, by its path, the columns.

        Raises:
            PlanRefused: the output would have columns that cannot be told apart, or times of which some lack a zone;
                or files disagree, and nobody wants that.
        """
        united = dict(self.evidence)
        for columns in seen.values():
            united |= {name: merge(united.get(name, NOTHING), each) for name, each in columns.items()}
        files = [each.with_seen(seen[each.file.path]) if each.file.path in seen else each for each in self.files]
        return replace(self, files=files, evidence=united).with_conflicts().check()

    def with_misfits(self, found: Mapping[str, Misfit]) -> Self:
        """Return the plan with values that its schema did not hold; what is known of a column already was before."""
        return replace(self, misfits={**found, **self.misfits})

    def without_cuts(self, paths: Collection[str]) -> Self:
        """Return the plan with these files read whole."""
        files = [replace(each, ranges=()) if each.file.path in paths else each for each in self.files]
        return replace(self, files=files)

    def with_base_files(self) -> Self:
        """Return the plan with what has to be read besides, since the schema became wider: here it is nothing."""
        return self

    def problems(self) -> list[str]:
        """Return what keeps what is read from being one table."""
        problems = [f'The columns "{one}" and "{other}" differ only in case.' for one, other in twins_in(self.evidence)]
        if not self.request.options.timezone:
            problems += [
                f'Column "{name}" has times with a zone and times or dates without one.'
                for name, seen in self.evidence.items()
                if name not in self.given and not self.is_taken_as_text(name) and mixes_zones(seen)
            ]
        return problems

    def check(self) -> Self:
        """Return the plan if it is sound.

        Raises:
            PlanRefused: it is not.
        """
        problems = self.problems()
        if problems:
            raise PlanRefused(problems, hint=_remedy(problems))
        return self

    def with_conflicts(self) -> Self:
        """Return the plan with what the files disagree on.

        Raises:
            PlanRefused: they disagree, and nobody wants that.
        """
        options, files = self.request.options, [each for each in self.files if not each.is_base]
        columns = unite_columns(files, _outgrown(self), self.base)
        chosen = {name: column for name, column in columns.items() if name not in self.given}
        conflicts = [conflict for column in chosen.values() if (conflict := column.conflict(options.timezone))]
        if options.on_conflict is OnConflict.FAIL and conflicts:
            raise PlanRefused([f'{each.difference}: "widen" would take it as {each.chosen}.' for each in conflicts])
        types = {
            each.column: {
                file.file.name: columns[each.column].type_of(file.find_evidence(each.column), options.timezone)
                for file in files
                if each.column in file.schema.columns or each.column in file.beyond_sample
            }
            for each in conflicts
        }
        if options.on_conflict is OnConflict.STRING:
            conflicts = [replace(each, chosen="string") for each in conflicts]
        return replace(self, conflicts=conflicts, types_in_conflict=types)

    @property
    def schemas(self) -> Mapping[str, FileSchema]:
        """What each file of the input shows."""
        return {each.file.name: each.schema for each in self.files if each.is_source}

    def _type(self, name: str) -> pa.DataType:
        if name in self.given:
            return self.given[name]
        if self.is_taken_as_text(name):
            return pa.string()
        return storable(decide(self.evidence[name], self.request.options.timezone))


@dataclass(frozen=True)
class OtherFiles:
    """Files that are read beside those of the request, in a storage that may be another one."""

    files: Sequence[DataFile]
    storage: str

    def is_elsewhere(self, request: ReadRequest) -> bool:
        """Whether they lie in another storage than what is read."""
        return self.storage != request.location.storage


def plan_reading(filesystem: pafs.FileSystem, request: ReadRequest) -> ReadPlan:
    """Look at every file and return how they are read as one table.

    Raises:
        PathNotFound: there is nothing at the path.
        NoData: there is no data in it.
        BadSchema, UnknownZone: the schema or the time zone that was given is none.
        PlanRefused: files that cannot be read, columns that cannot be told apart, a conflict that nobody wants.
    """
    check_zone(request.options.timezone)
    given = parse_given_schema(request.options.schema).types
    files, warnings = list_inputs(filesystem, request)
    planned = plan_files(filesystem, request, files, warnings)
    if not planned:
        raise NoData(f'All data files at "{request.location}" are empty.')
    warnings += notes_on_columns(given, planned, ())
    plan = ReadPlan(
        request=request,
        files=planned,
        evidence=unite_evidence(planned, given, None),
        warnings=group_warnings(warnings, [each.name for each in files]),
        given=given,
    )
    return plan.with_conflicts().check()


def plan_files(
    filesystem: pafs.FileSystem,
    request: ReadRequest,
    files: Sequence[DataFile],
    warnings: list[str],
    others: OtherFiles | None = None,
    columns: Sequence[str] = (),
) -> list[PlannedFile]:
    """Return how files of the request are read, and others with them; what is odd about them is added to the warnings.

    `columns` are those of a table that the rows will be added to.

    Raises:
        PlanRefused: files that cannot be read, or columns that cannot be told apart.
    """
    own = plan_own_files(request, files)
    looked_at = [*(() if own else files), *(others.files if others and not others.is_elsewhere(request) else ())]
    planned = [*own, *inspect_files(filesystem, request.options, looked_at, warnings, columns)]
    if others and others.is_elsewhere(request):
        there = inspect_files(open_filesystem(others.storage), request.options, others.files, warnings, columns)
        planned += [replace(each, storage=others.storage) for each in there]
    if request.options.names is Names.FOLD:
        return fold_names(planned)
    if twins := find_twins(planned, request.options.names):
        raise PlanRefused(twins, hint='A merge has the parameter "names", which says how to take them (number, fold).')
    return planned


def _remedy(problems: Sequence[str]) -> str:
    if any("with a zone" in each for each in problems):
        return "Give a merge the timezone whose clock the others show, or the column as text (on_conflict: string)."
    return ""


def _outgrown(plan: ReadPlan) -> Mapping[str, Evidence]:
    """The columns of the table that do not hold what is added. What they hold is no conflict, whatever files show."""
    if plan.base is None:
        return {}
    widened = plan.base.find_widened_columns(plan.schema)
    return {name: seen for name, seen in plan.base.evidence.items() if name in widened}
