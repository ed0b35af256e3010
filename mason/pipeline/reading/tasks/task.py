"""A task of a merge as data: what the driver sends, and what it gets back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mason.engines.storage.models.location import Location
from mason.pipeline.formats.delimited.reading import CsvReading
from mason.pipeline.formats.scanning.splits import Range
from mason.pipeline.formats.sheets.extent import SheetPart
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.reading.plan.read_plan import ReadPlan
from mason.pipeline.reading.plan.united_columns import folder_evidence
from mason.pipeline.reading.request import Names, OnBadRecord
from mason.pipeline.reading.tasks.sinks import SinkSpec, table_spec
from mason.pipeline.storage.files import DataFile
from mason.pipeline.types.column_types import decide
from mason.pipeline.types.evidence_json import encode_schema
from mason.pipeline.types.sql_types import parse_given_schema
from mason.pipeline.work.memory_limits import memory_limits

KERNEL = "mason.pipeline.reading.tasks.kernel:merge_task"


@dataclass(frozen=True, kw_only=True)
class FileInTask:
    """One file, or a range of it, and how it is read."""

    storage: str
    path: str
    name: str
    size: int
    stamp: int
    format: str
    encoding: str
    columns: Sequence[str]
    constants: Mapping[str, str | None]
    offset: int
    length: int
    renames: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    """Columns that files disagree on, with the type that this one shows: how many values it has of them is counted."""
    is_own: bool = False
    """Mason wrote the file for the table: its values are what the table's schema says, however the format has them."""
    field_bytes: int | None = None
    """How many bytes a field may have; None is not a limit."""
    csv: CsvReading | None = None
    """How it is read, if it is delimited text."""
    archive: str = ""
    """The path of the archive that it is a member of."""
    sheets: Sequence[SheetPart] = ()
    """What is read of a workbook."""
    own_schema: str = ""
    """The schema by which Mason wrote the file, if that is not the one of the table that is written."""
    patterned: Sequence[str] = ()
    """Columns of the table for whose values text stands in its own way."""

    @classmethod
    def of(
        cls,
        planned: PlannedFile,
        part: Range,
        types: Mapping[str, str],
        storage: str,
        patterned: Sequence[str] = (),
    ) -> FileInTask:
        file, schema = planned.file, planned.schema
        return cls(
            storage=planned.storage or storage,
            path=file.path,
            name=file.name,
            size=file.size,
            stamp=planned.stamp,
            format=schema.format,
            encoding=schema.encoding,
            columns=list(schema.columns),
            constants=dict(planned.constants),
            offset=part.offset,
            length=part.length,
            renames=dict(planned.renames),
            types=types,
            is_own=planned.is_base or bool(planned.own_schema),
            # What a table has, it keeps.
            field_bytes=None if planned.is_base else memory_limits().field_bytes,
            csv=schema.csv,
            archive=file.archive,
            sheets=schema.sheets,
            own_schema=planned.own_schema,
            patterned=patterned,
        )

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> FileInTask:
        csv = CsvReading.of(value["csv"]) if value["csv"] else None
        return cls(**{**value, "csv": csv, "sheets": [SheetPart.of(each) for each in value["sheets"]]})

    @property
    def is_whole(self) -> bool:
        return self.length == self.size

    @property
    def data(self) -> DataFile:
        return DataFile(path=self.path, name=self.name, size=self.size, archive=self.archive)


@dataclass(frozen=True, kw_only=True)
class MergeTask:
    """Some files, the schema that they are fitted to, and the folder that the result is staged in."""

    number: int
    staging: Location | None
    """Where the sink writes; None if it writes nothing."""
    commit: str
    schema: str
    nulls: Sequence[str]
    files: Sequence[FileInTask]
    given: Sequence[str] = ()
    """Columns whose type the user gave: what does not fit it is bad, and widens nothing."""
    patterns: Mapping[str, str] = field(default_factory=dict)
    """How text stands for values of given columns, where that is not as usual."""
    nulls_bad_values: bool = False
    timezone: str = ""
    folds_names: bool = False
    partition_keys: Sequence[str] = ()
    columns: Sequence[str] = ()
    """The columns that go to the sink; none stands for all."""
    sink: str = ""
    sink_options: Mapping[str, Any] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def of(cls, content: bytes) -> MergeTask:
        value = json.loads(content)
        staging = Location(**value["staging"]) if value["staging"] else None
        return cls(**{**value, "staging": staging, "files": [FileInTask.from_json(each) for each in value["files"]]})


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """What a task counted and wrote. With evidence in it, the schema was too narrow and nothing of it counts."""

    number: int
    records: int
    quarantined: int
    files: Sequence[str]
    quarantine: str = ""
    evidence: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """For each file, by its path, what its columns have that the schema does not hold."""
    not_to_cut: Sequence[str] = ()
    """Files whose quotes cannot be trusted, so that a range of them may begin inside a record."""
    bad_values: Mapping[str, int] = field(default_factory=dict)
    """How many values of a column do not fit the type that the user gave."""
    values: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """How many values of each type a column has that files disagree on."""
    differing: Mapping[str, int] = field(default_factory=dict)
    """How often a file says something else of a column than its folder."""
    rows: int = 0
    """How many rows the sink got."""
    payload: Mapping[str, Any] = field(default_factory=dict)
    """What the sink has to say."""
    misfits: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """For columns whose schema was too narrow the first value that it does not hold, and where it stands."""
    finer: Mapping[str, int] = field(default_factory=dict)
    """How many times of a column have lost something finer than a microsecond."""
    broken: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """For each file how many records are in the quarantine, and why."""
    cut: Mapping[str, int] = field(default_factory=dict)
    """For each file how many records lost fields for which there is no column."""
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What is to be said of files, besides their records."""

    def to_bytes(self) -> bytes:
        return json.dumps(vars(self)).encode()  # not asdict, which would copy all that a sink has to say

    @classmethod
    def of(cls, content: bytes) -> TaskResult:
        return cls(**json.loads(content))


def tasks_of(
    plan: ReadPlan, staging: Location | None, commit: str, sink: SinkSpec | None = None, columns: Sequence[str] = ()
) -> list[MergeTask]:
    """Return the tasks of a plan; without a sink their rows become the files of a table."""
    sink = sink or table_spec(plan.partition_keys)
    options = plan.request.options
    patterns = dict(parse_given_schema(options.schema).patterns)
    common: dict[str, Any] = {
        "schema": encode_schema(plan.schema),
        "nulls": list(options.nulls),
        "given": list(plan.given),
        "patterns": patterns,
        "nulls_bad_values": options.on_bad_record is OnBadRecord.NULL,
        "timezone": options.timezone,
        "folds_names": options.names is Names.FOLD,
        "partition_keys": list(sink.partition_keys),
        "columns": list(columns),
        "sink": sink.name,
        "sink_options": dict(sink.options),
    }
    of_folders = _types_of_folders(plan) if plan.conflicts else {}
    patterned = list(patterns)
    return [
        MergeTask(
            number=number,
            staging=staging,
            commit=commit,
            files=[
                FileInTask.of(file, part, _types_in(plan, file, of_folders), plan.request.location.storage, patterned)
                for file, part in parts
            ],
            **common,
        )
        for number, parts in enumerate(plan.tasks())
    ]


def _types_in(plan: ReadPlan, file: PlannedFile, of_folders: Mapping[str, str]) -> dict[str, str]:
    types = plan.types_in_conflict
    if plan.base and file.is_base:
        return {each.name: str(each.type) for each in plan.base.schema if each.name in types}
    types_here = {column: types[column][file.file.name] for column in types if file.file.name in types[column]}
    return {**types_here, **{column: of_folders[column] for column in types if column in file.constants}}


def _types_of_folders(plan: ReadPlan) -> Mapping[str, str]:
    """The types by which conflicts list what folders say: those of all their values together."""
    seen = folder_evidence([each for each in plan.files if not each.is_base])
    types = {name: str(decide(evidence)) for name, evidence in seen.items()}
    for each in plan.conflicts:
        # Values that merely show more or fewer decimals are listed as what was chosen.
        if each.column in types and types[each.column] not in {found.type for found in each.found}:
            types[each.column] = each.chosen
    return types
