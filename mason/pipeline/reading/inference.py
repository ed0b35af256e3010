"""The schema of a table's files: the names, types and partitions that they show, and what they disagree on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow.fs as pafs

from mason.engines.metastore.models.partition import Partition
from mason.engines.metastore.models.schema import Column, Schema, SchemaConflict
from mason.engines.metastore.models.table import Delimited
from mason.engines.storage.models.infer_options import InferOptions
from mason.engines.storage.models.location import Location
from mason.errors import NoData, UnreadableFile
from mason.pipeline.formats.delimited.headers_together import describe_doubts, headers_to_change
from mason.pipeline.formats.delimited.options import check_csv_options
from mason.pipeline.formats.file_reader import FileReader
from mason.pipeline.formats.file_readings import describe_readings
from mason.pipeline.formats.file_schema import FileSchema
from mason.pipeline.formats.file_warnings import FileWarnings, reason
from mason.pipeline.formats.findings import FoundColumn, column_from_parquet, partition_columns
from mason.pipeline.formats.sampling import budget_for, spread
from mason.pipeline.storage.address import abilities_of_files
from mason.pipeline.storage.archives import expand_archives
from mason.pipeline.storage.files import DataFile, list_files, partitions_of, without_strangers
from mason.pipeline.storage.format_names import check_format, format_of_name
from mason.pipeline.tables.commit import CommitRecord
from mason.pipeline.tables.files import files_of, list_visible_partitions, newest_commit
from mason.pipeline.types.evidence_json import decode_schema
from mason.pipeline.types.pattern_hints import describe_hints, describe_thousands


@dataclass(frozen=True, kw_only=True)
class Inferred:
    """The schema of a table's files, partition columns last, and how much of them it rests on."""

    schema: Schema
    partition_keys: Sequence[str]
    conflicts: Sequence[SchemaConflict]
    warnings: Sequence[str]
    files: int
    files_read: int
    rows_read: int
    sampled: bool
    partitions: Sequence[Partition] = ()
    delimited: Delimited | None = None
    """None where the files are not delimited text, or not all in the same way."""
    readings: Sequence[Mapping[str, Any]] = ()
    """How the files were read."""

    def describe_sample(self) -> str:
        """Say in one sentence how much was looked at."""
        if not self.files:
            return "The table has no rows; its columns are those of its newest commit."
        rows = f"{self.rows_read:,} row{'s' * (self.rows_read != 1)} of " if self.rows_read else ""
        files = f"{self.files_read:,} of {self.files:,} files" if self.files > 1 else "1 file"
        everything = ", which is everything." if self.files_read == self.files else "."
        end = "; read_all: true reads everything." if self.sampled else everything
        return f"Looked at {rows}{files}{end}"


def infer_stored(filesystem: pafs.FileSystem, location: Location, options: InferOptions) -> Inferred:
    """Return the schema of what is at a place; of a table of Mason's, of the files that its commit names.

    Raises:
        MasonError: as `infer` does.
    """
    commit, path = newest_commit(location), location.path
    if commit is None:
        return infer(filesystem, path, options)
    if not commit.files:
        return _without_rows(commit)
    files = files_of(commit, path)
    found = _as_committed(infer_files(filesystem, files, path, options), commit)
    return replace(found, partitions=list_visible_partitions(files, path))


def _as_committed(found: Inferred, commit: CommitRecord) -> Inferred:
    """What the record of a commit says of the columns, no sample of the files may say otherwise.

    But text files keep the types that they show: others read these, whatever the values were made from.
    """
    stated = {each.name: each.type for each in decode_schema(commit.schema)}
    found_columns = {each.name: each for each in found.schema.columns}
    if commit.format == "parquet":
        known = [
            found_columns[name]
            if name in found_columns and found_columns[name].type == stated[name]
            else column_from_parquet(name, stated[name])
            for name in stated
            if name not in commit.partition_keys
        ]
        found = replace(found, sampled=False)
    else:
        known = [each for name, each in found_columns.items() if name not in commit.partition_keys]
    keys = [Column(name, stated[name]) for name in commit.partition_keys]
    return replace(
        found, schema=replace(found.schema, columns=[*known, *keys]), partition_keys=list(commit.partition_keys)
    )


def _without_rows(commit: CommitRecord) -> Inferred:
    columns = [Column(each.name, each.type) for each in decode_schema(commit.schema)]
    return Inferred(
        schema=Schema(commit.format, columns),
        partition_keys=commit.partition_keys,
        conflicts=(),
        warnings=(),
        files=0,
        files_read=0,
        rows_read=0,
        sampled=False,
    )


def infer(filesystem: pafs.FileSystem, path: str, options: InferOptions = InferOptions()) -> Inferred:  # noqa: B008
    """Return the schema of the file, or of all files below the folder, at this path.

    Raises:
        PathNotFound: there is nothing at that path.
        Forbidden: a folder may not be listed.
        NoData: there are no data files, or all are empty.
        UnreadableFile: not one file could be read; a bad file among good ones is a warning.
        BadInput: an option has a value that is not known.
    """
    return infer_files(filesystem, list_files(filesystem, path), path, options)


def infer_files(filesystem: pafs.FileSystem, found: Sequence[DataFile], path: str, options: InferOptions) -> Inferred:
    """Return the schema of these files, which are those at a path.

    Raises:
        MasonError: as `infer` does.
    """
    expanded = expand_archives(filesystem, found)
    if expanded.problems and not expanded.files:
        raise next(iter(expanded.problems.values()))
    found = expanded.files
    files, strangers = (found, []) if options.input_format else without_strangers(found)
    if not files:
        raise NoData(f'There are no data files at "{path}".', hint="Names that begin with . or _ do not count.")
    named = bool(options.input_format) or all(format_of_name(each.name) for each in files)
    chosen = spread(files, read_all=options.read_all, local=abilities_of_files(filesystem).is_near, named=named)
    reader = FileReader(
        filesystem=filesystem,
        budget=budget_for(len(chosen), read_all=options.read_all),
        input_format=check_format(options.input_format),
        csv=check_csv_options(options.delimiter, options.csv, options.read_headers, options.nulls),
        encoding=options.encoding,
    )
    warnings = FileWarnings()
    for name, problem in expanded.problems.items():
        warnings.add(name, reason(problem, name))
    for name, note in expanded.notes:
        warnings.add(name, note)
    for stranger in strangers:
        warnings.add(stranger.name, "its name is not that of a data file; it is left out")
    schemas = _read_files(reader, chosen, path, warnings)
    return _combine(files, len(chosen), schemas, warnings)


def _read_files(
    reader: FileReader, files: Sequence[DataFile], path: str, warnings: FileWarnings
) -> Mapping[str, FileSchema]:
    schemas: dict[str, FileSchema] = {}
    failure: UnreadableFile | None = None
    for file in files:
        try:
            schema = reader.read(file)
        except UnreadableFile as error:
            failure = failure or error
            warnings.add(file.name, reason(error, file.name))
            continue
        if schema is None:
            warnings.add(file.name, "it is empty")
        else:
            schemas[file.name] = schema
    changes = headers_to_change(schemas)
    schemas |= {
        file.name: reader.read_again(file, schemas[file.name], changes[file.name])
        for file in files
        if file.name in changes
    }
    for name, schema in schemas.items():
        for problem in schema.warnings:
            warnings.add(name, problem)
        for column, odd in schema.odd_values.items():
            warnings.add(name, odd.describe(column))
        for column, note in schema.spellings.items():
            warnings.add(name, f'column "{column}" {note}')
    if not schemas and failure:
        raise failure
    if not schemas:
        raise NoData(f'All data files at "{path}" are empty.')
    return schemas


def _combine(
    files: Sequence[DataFile], chosen: int, schemas: Mapping[str, FileSchema], warnings: FileWarnings
) -> Inferred:
    found = _unite_columns(schemas)
    partitions = partition_columns(files)
    _compare_keys(files, list(partitions), warnings)
    _compare_headers(schemas, warnings)
    names = _column_names(schemas)
    hints = describe_hints({name: each.hints for name, each in schemas.items()}, names)
    hints += describe_thousands({name: each.thousands for name, each in schemas.items() if each.csv}, names)
    doubts = describe_doubts(schemas)
    notes = [*warnings.lines(), *doubts, *_case_twins(schemas), *_notes(found, partitions), *hints]
    columns = [column for name, column in found.items() if name not in partitions]
    formats = {schema.format for schema in schemas.values()}
    data = [column.to_column(len(schemas), with_details=formats == {"parquet"}) for column in columns]
    return Inferred(
        schema=Schema(formats.pop() if len(formats) == 1 else "mixed", [*data, *partitions.values()]),
        partition_keys=list(partitions),
        conflicts=[conflict for column in columns if (conflict := column.conflict())],
        warnings=notes,
        files=len(files),
        files_read=len(schemas),
        rows_read=sum(schema.rows for schema in schemas.values()),
        sampled=chosen < len(files) or not all(schema.complete for schema in schemas.values()),
        partitions=partitions_of(files),
        delimited=_common_dialect(schemas.values()),
        readings=describe_readings(schemas),
    )


def _column_names(schemas: Mapping[str, FileSchema]) -> Mapping[str, Collection[str]]:
    return {name: schema.columns for name, schema in schemas.items()}


def _common_dialect(schemas: Collection[FileSchema]) -> Delimited | None:
    ways = {each.csv and replace(each.csv, cells=()) for each in schemas}
    way = ways.pop()
    if ways or way is None or not way.is_plain or way.dialect.quote != '"':
        return None
    return Delimited(way.dialect.delimiter, way.header, any(each.quoted for each in schemas))


def _unite_columns(schemas: Mapping[str, FileSchema]) -> dict[str, FoundColumn]:
    """Columns by name, in the order in which the files, sorted, first show them."""
    found: dict[str, FoundColumn] = {}
    for file, schema in schemas.items():
        for name, seen in schema.columns.items():
            if name not in found:
                found[name] = FoundColumn(name)
            found[name].add(seen, file, required=name in schema.required, details=schema.details.get(name))
    return found


def _compare_keys(files: Sequence[DataFile], keys: Sequence[str], warnings: FileWarnings) -> None:
    for file in files:
        missing = [key for key in keys if key not in file.partition]
        if missing:
            warnings.add(file.name, f"no folder of its path says {', '.join(missing)}, as those of other files do")


def _compare_headers(schemas: Mapping[str, FileSchema], warnings: FileWarnings) -> None:
    if all(schema.header for schema in schemas.values()) or not any(schema.header for schema in schemas.values()):
        return
    for file, schema in schemas.items():
        if not schema.header:
            warnings.add(file, "it has no header, unlike others: its columns are called col_0 and so on")


def _case_twins(schemas: Mapping[str, FileSchema]) -> Iterator[str]:
    """Columns of different files that may be meant to be one; those within a file are told of that file."""
    first: dict[str, tuple[str, str]] = {}
    warned: set[str] = set()
    for file, schema in schemas.items():
        for name in schema.columns:
            other, other_file = first.setdefault(name.casefold(), (name, file))
            if other != name and name not in warned and other_file != file:
                warned.add(name)
                yield f'The columns "{other}" ({other_file}) and "{name}" ({file}) differ only in case.'


def _notes(found: Mapping[str, FoundColumn], partitions: Mapping[str, Column]) -> Iterator[str]:
    """What is to be said of columns rather than of files."""
    for name, column in found.items():
        if name not in partitions and column.mixes_zones():
            yield f'Column "{name}" has times with a zone and dates or times without one: only text holds both.'
        if name in partitions and column.decide_type() != partitions[name].type:
            types = f"{column.decide_type()} in the files and {partitions[name].type} by the folders' names"
            yield f'Column "{name}" is {types}: the folders win.'
