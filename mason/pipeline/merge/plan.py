"""What a merge will read, and into which schema: data that can be printed, saved and compared. No engine is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.engines.metastore.models.schema import SchemaConflict
from mason.errors import BadPath, NoData, Problems, UnreadableFile
from mason.pipeline.blocks import is_compressed
from mason.pipeline.csv_splits import Range, find_ranges
from mason.pipeline.file_reader import FileReader
from mason.pipeline.file_schema import FileSchema
from mason.pipeline.files import DataFile, list_files, without_strangers
from mason.pipeline.findings import FoundColumn, partition_columns
from mason.pipeline.formats import checked_format
from mason.pipeline.merge.job import MergeJob, OnConflict
from mason.pipeline.sampling import budget_for
from mason.pipeline.types import NOTHING, Evidence, decide, merge, storable

TASK_BYTES = 256 * 1024 * 1024
CUT_BYTES = 128 * 1024 * 1024
SMALLEST_TASK = 8 * 1024 * 1024
LEAST_TASKS = 4
TASK_FILES = 2_000


class PlanRefused(Problems):
    """422 · exit 1 · a merge that would lose or mangle something, with every reason"""

    status = 422


@dataclass(frozen=True)
class PlannedFile:
    """A file as it was when the plan was made, and how it is read."""

    file: DataFile
    modified_ns: int
    schema: FileSchema
    constants: Mapping[str, str | None]
    """Columns that the file's folders give."""
    ranges: Sequence[Range] = ()
    """Where a large file can be cut; none for a file that is read whole."""


@dataclass(frozen=True)
class MergePlan:
    """The files of a merge, what was seen of their columns, and what they disagree on."""

    job: MergeJob
    files: Sequence[PlannedFile]
    evidence: Mapping[str, Evidence]
    constants: Mapping[str, pa.DataType]
    conflicts: Sequence[SchemaConflict]
    warnings: Sequence[str]

    @property
    def schema(self) -> pa.Schema:
        """The schema of the output: columns in the order in which the files, sorted, first show them."""
        columns = {name: self._decide(seen) for name, seen in self.evidence.items() if name not in self.constants}
        return pa.schema([*columns.items(), *self.constants.items()])

    def tasks(self) -> list[list[tuple[PlannedFile, Range]]]:
        """Pack the files: many small ones into few tasks, since each task costs something before it does anything."""
        packed: list[list[tuple[PlannedFile, Range]]] = []
        room = 0
        for file in self.files:
            for part in file.ranges or [Range(0, file.file.size, 1)]:
                if not packed or part.length > room or len(packed[-1]) >= TASK_FILES:
                    packed.append([])
                    room = self.task_bytes
                packed[-1].append((file, part))
                room -= part.length
        return packed

    @property
    def task_bytes(self) -> int:
        """How much one task reads: small enough that two cores have something to do, and large enough to pay."""
        total = sum(each.file.size for each in self.files)
        return max(min(TASK_BYTES, total // LEAST_TASKS + 1), SMALLEST_TASK)

    def widened(self, seen: Mapping[str, Evidence]) -> MergePlan:
        """Return the plan with what tasks saw beyond the sample."""
        names = {**self.evidence, **seen}
        united = {name: merge(self.evidence.get(name, NOTHING), seen.get(name, NOTHING)) for name in names}
        return replace(self, evidence=united)

    def to_dict(self) -> dict[str, Any]:
        return {
            "Inputs": [each.file.path for each in self.files],
            "InputBytes": sum(each.file.size for each in self.files),
            "Output": self.job.output,
            "Mode": self.job.options.mode,
            "Columns": [{"Name": field.name, "Type": str(field.type)} for field in self.schema],
            "Tasks": len(self.tasks()),
            "SchemaConflicts": [each.to_dict() for each in self.conflicts],
        }

    def _decide(self, seen: Evidence) -> pa.DataType:
        decided = storable(decide(seen))
        in_conflict = len(seen.scalars) > 1 and self.job.options.on_conflict is OnConflict.STRING
        return pa.string() if in_conflict else decided


def plan_merge(filesystem: pafs.FileSystem, job: MergeJob) -> MergePlan:
    """Look at every file and return the plan.

    Raises:
        PathNotFound: there is nothing at the input.
        NoData: there is no data in it.
        UnreadableFile: a file cannot be read: leaving it out would lose its rows.
        BadPath: the output lies inside the input, or the other way round.
        PlanRefused: columns that cannot be told apart, or a conflict that the user does not want.
    """
    _check_paths(job)
    found = list_files(filesystem, job.inputs)
    files, strangers = (found, []) if job.options.input_format else without_strangers(found)
    if not files:
        raise NoData(f'There are no data files at "{job.inputs}".', hint="Names that begin with . or _ do not count.")
    warnings = [f"{each.name}: its name is not that of a data file; it is left out." for each in strangers]
    planned = list(_look_at(filesystem, job, files, warnings))
    columns = _gather(planned)
    conflicts = [conflict for column in columns.values() if (conflict := column.conflict())]
    _refuse_twins(planned)
    if job.options.on_conflict is OnConflict.FAIL and conflicts:
        raise PlanRefused(conflicts)
    evidence = {
        name: reduce(merge, (each.schema.columns.get(name, NOTHING) for each in planned), NOTHING) for name in columns
    }
    constants = {name: column.type for name, column in partition_columns(_with_constants(planned)).items()}
    return MergePlan(job, planned, evidence, constants, conflicts, warnings)


def _look_at(
    filesystem: pafs.FileSystem, job: MergeJob, files: Sequence[DataFile], warnings: list[str]
) -> Iterator[PlannedFile]:
    options = job.options
    reader = FileReader(
        filesystem,
        budget_for(len(files), read_all=False),
        checked_format(options.input_format),
        options.parse_headers,
        nulls=options.nulls,
    )
    problems = []
    for file in files:
        try:
            modified = filesystem.get_file_info(file.path).mtime_ns or 0
            schema = reader.read(file)
        except UnreadableFile as error:
            problems.append(error)
            continue
        if schema is None:
            warnings.append(f"{file.name}: it is empty.")
            continue
        warnings += [f"{file.name}: {problem}." for problem in schema.warnings]
        ranges = _ranges(filesystem, file, schema)
        yield PlannedFile(file, modified, schema, _constants(file, options.extract_paths), ranges)
    if problems:
        raise PlanRefused(problems)


def _ranges(filesystem: pafs.FileSystem, file: DataFile, schema: FileSchema) -> Sequence[Range]:
    """Only plain text of known ends can be cut: compressed or transcoded text has no places to begin at."""
    plain = schema.format == "csv" and schema.encoding == "utf-8" and file.size > CUT_BYTES
    if not plain or is_compressed(filesystem, file.path):
        return ()
    return find_ranges(filesystem, file.path, file.size, schema.delimiter, CUT_BYTES // 2)


def _constants(file: DataFile, extract_paths: bool) -> Mapping[str, str | None]:
    folders = [part for part in file.name.split("/")[:-1] if "=" not in part] if extract_paths else []
    return {**{f"dir_{number}": folder for number, folder in enumerate(folders)}, **file.partition}


def _with_constants(planned: Sequence[PlannedFile]) -> list[DataFile]:
    return [replace(each.file, partition=each.constants) for each in planned]


def _gather(planned: Sequence[PlannedFile]) -> dict[str, FoundColumn]:
    columns: dict[str, FoundColumn] = {}
    for each in planned:
        for name, seen in each.schema.columns.items():
            if name not in columns:
                columns[name] = FoundColumn(name)
            columns[name].add(seen, each.file.name)
    return columns


def _refuse_twins(planned: Sequence[PlannedFile]) -> None:
    """Names that no technology can be trusted to tell apart: merging would mix or lose their values."""
    problems = [
        f"{each.file.name}: {warning}."
        for each in planned
        for warning in each.schema.warnings
        if "more than one column" in warning or "differ only in case" in warning
    ]
    first: dict[str, tuple[str, str]] = {}
    for each in planned:
        for name in each.schema.columns:
            other, file = first.setdefault(name.casefold(), (name, each.file.name))
            if other != name and file != each.file.name:
                problems.append(f'"{other}" in {file} and "{name}" in {each.file.name} differ only in case.')
    if problems:
        raise PlanRefused(problems)


def _check_paths(job: MergeJob) -> None:
    inputs, output = job.inputs.rstrip("/") + "/", job.output.rstrip("/") + "/"
    if inputs == output:
        return
    if output.startswith(inputs):
        raise BadPath(f"The output {job.output} lies inside the input {job.inputs}: a second merge would read it, too.")
    if inputs.startswith(output):
        raise BadPath(f"The input {job.inputs} lies inside the output {job.output}, which would be replaced.")
