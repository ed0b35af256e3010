"""What is in the output of a merge already, for merges that add to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.fs as pafs

from mason.engines.storage.models.location import Location
from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.reading import CsvReading
from mason.pipeline.formats.file_schema import FileSchema
from mason.pipeline.reading.plan.inspection import find_file_ranges
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.storage.address import abilities_of, open_filesystem
from mason.pipeline.storage.file_stamp import FileStamp, file_stamp
from mason.pipeline.storage.files import DataFile, partition_of
from mason.pipeline.tables.commit import CommitRecord, CommittedFile, TableStore
from mason.pipeline.types.column_types import Evidence, evidence_of
from mason.pipeline.types.evidence_json import decode_schema
from mason.pipeline.types.number_types import EXACT_IN_DOUBLE, Digits

# Mason closes every quote that it opens: lines inside of one are text, whatever they look like.
_OWN_CSV = CsvReading(dialect=Dialect(sure=True))


@dataclass(frozen=True)
class BaseTable:
    """A committed table that a merge adds to."""

    commit: CommitRecord
    schema: pa.Schema
    digits: Mapping[str, Evidence] = field(default_factory=dict)
    """What is known of decimals beyond their type: how many digits their values really have."""

    @classmethod
    def of(cls, commit: CommitRecord) -> BaseTable:
        return cls(commit, decode_schema(commit.schema))

    @property
    def evidence(self) -> Mapping[str, Evidence]:
        return {field.name: evidence_of(field.type) for field in self.schema} | dict(self.digits)

    def with_digits(self, output: Location, columns: Iterable[str]) -> BaseTable:
        """Return the table with how long decimals of it are, for those of which its files tell it.

        Mason gives decimals more room than they need, and by their type alone no double would hold them.
        """
        found = {name: _digits_in(output, self.commit, self.schema.field(name)) for name in columns}
        return replace(self, digits={name: digits for name, digits in found.items() if digits})

    def find_widened_columns(self, schema: pa.Schema) -> Sequence[str]:
        """Return the columns whose type is another one in this schema, so that the files do not fit it any more."""
        return [field.name for field in self.schema if schema.field(field.name).type != field.type]

    def is_there(self, output: Location) -> bool:
        """Say whether the files of the table are still where they were; on a store they stay until a vacuum."""
        if not abilities_of(output.storage).exchanges_folders:
            return True
        filesystem = open_filesystem(output.storage)
        found = filesystem.get_file_info([each.place_in(output.path) for each in self.commit.files])
        return all(each.type != pafs.FileType.NotFound for each in found)

    def plan_files(self, output: Location) -> list[PlannedFile]:
        """Return the files of the table as inputs of a merge."""
        evidence, filesystem = self.evidence, open_filesystem(output.storage)
        return [_plan_file(filesystem, output, each, evidence, self.commit.format) for each in self.commit.files]


def _digits_in(output: Location, commit: CommitRecord, column: pa.Field) -> Evidence | None:
    """The digits of a column of decimals by the footers of its files; None where these do not tell."""
    from mason.pipeline.formats.binary.parquet_files import open_parquet

    filesystem, largest = open_filesystem(output.storage), Decimal(0)
    for each in commit.files:
        with filesystem.open_input_file(each.place_in(output.path)) as source:
            stored = open_parquet(source).metadata
        for group in map(stored.row_group, range(stored.num_row_groups)):
            chunks = (group.column(number) for number in range(group.num_columns))
            for chunk in (chunk for chunk in chunks if chunk.path_in_schema == column.name):
                found = chunk.statistics
                if found and found.has_null_count and found.null_count == group.num_rows:
                    continue
                if found is None or not found.has_min_max:
                    return None
                largest = max(largest, abs(found.min), abs(found.max))
    whole = len(str(int(largest)))
    if whole + column.type.scale > EXACT_IN_DOUBLE:
        return None
    return Evidence(frozenset([Digits(whole, column.type.scale)]))


def _plan_file(
    filesystem: pafs.FileSystem,
    output: Location,
    committed: CommittedFile,
    evidence: Mapping[str, Evidence],
    format_: str,
) -> PlannedFile:
    path = committed.place_in(output.path)
    found = file_stamp(filesystem, path) or FileStamp(committed.bytes, 0)  # one that is gone is missed by its reader
    constants = partition_of(committed.path.rpartition("/")[0])
    columns = {name: seen for name, seen in evidence.items() if name not in constants}
    file = DataFile(path=path, name=committed.path, size=found.size, partition=constants)
    schema = FileSchema(format=format_, columns=columns, csv=_OWN_CSV if format_ == "csv" else None, encoding="utf-8")
    ranges = find_file_ranges(filesystem, file, schema)
    return PlannedFile(
        file=file,
        stamp=found.number,
        schema=schema,
        constants=constants,
        ranges=ranges,
        is_base=True,
        storage=output.storage,
    )


def is_as_before(table: TableStore, base: BaseTable | None, output: Location) -> bool:
    """Return whether a table is what it was when it was looked at."""
    return base.is_there(output) if base else table.current() is None
