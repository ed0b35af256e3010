"""Looks at the files of a merge: what each of them shows, and where it can be cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import pyarrow.fs as pafs

from mason.errors import Problems, UnreadableFile
from mason.pipeline.formats.binary.parquet_files import find_group_ranges
from mason.pipeline.formats.delimited.headers_together import describe_doubts, headers_to_change, strangers
from mason.pipeline.formats.delimited.options import check_csv_options
from mason.pipeline.formats.file_reader import FileReader, OpenedFile
from mason.pipeline.formats.file_schema import FileSchema
from mason.pipeline.formats.sampling import budget_for
from mason.pipeline.formats.scanning.splits import Range, find_line_ranges, find_ranges
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.reading.request import Names, ReadOptions
from mason.pipeline.storage.address import abilities_of_files
from mason.pipeline.storage.archives import stamp_of_file
from mason.pipeline.storage.asking import ask_ahead
from mason.pipeline.storage.blocks import is_compressed, translate_read_errors
from mason.pipeline.storage.file_stamp import FileStamp
from mason.pipeline.storage.files import DataFile
from mason.pipeline.storage.format_names import check_format

CUT_BYTES = 128 * 1024 * 1024
_SMALL_PART = 8
_AT_ONCE = 16
_FEW_NAMED = 3
CUT_LINES_BYTES = 32 * 1024 * 1024  # lines cost more to parse, and nothing to cut

_Inspection = tuple[FileStamp | None, OpenedFile]


class PlanRefused(Problems):
    """Raised when a merge would lose or mangle something, with every reason. 422 · exit 1"""

    status = 422


def inspect_files(
    filesystem: pafs.FileSystem,
    options: ReadOptions,
    files: Sequence[DataFile],
    warnings: list[str],
    table: Sequence[str] = (),
) -> Iterator[PlannedFile]:
    """Yield what is to be read of each file that holds something; what is odd about it goes to the warnings.

    `table` are the columns of the table that the files are added to, if there is one.

    Raises:
        PlanRefused: files cannot be read: leaving them out would lose their rows.
    """
    reader = _reader(filesystem, options, len(files))
    seen = _see(reader, files, table, warnings)
    total = sum(file.size for file in files)
    keys = {key for file in files for key in file.partition}
    headers: dict[bool, list[str]] = {True: [], False: []}
    for file, stamp, schema in seen:
        warnings += [f"{file.name}: {problem}." for problem in schema.warnings]
        headers[schema.header].append(file.name)
        if missing := sorted(keys - file.partition.keys()):
            message = f"no folder of its path says {', '.join(missing)}, as those of other files do"
            warnings.append(f"{file.name}: {message}.")
        ranges = _ranges(filesystem, file, schema, total)
        yield PlannedFile(
            file=file,
            stamp=stamp.number if stamp else 0,
            schema=schema,
            constants=constants_of(file, options.extract_paths),
            ranges=ranges,
        )
    warnings += describe_doubts({file.name: schema for file, _, schema in seen})
    if not headers[False]:
        warnings += _describe_differences(
            {file.name: schema for file, _, schema in seen}, folds=options.names is Names.FOLD
        )
    elif headers[True]:
        warnings += [
            f"{name}: it has no header, unlike others: its columns are called col_0 and so on."
            for name in headers[False]
        ]


def _see(
    reader: FileReader, files: Sequence[DataFile], table: Sequence[str], warnings: list[str]
) -> list[tuple[DataFile, FileStamp | None, FileSchema]]:
    """The files that hold something, with what they show; whether they have headers is decided by all of them."""
    problems = []
    seen: list[tuple[DataFile, FileStamp | None, FileSchema]] = []
    for file, finding in zip(files, _inspect_each(reader, files), strict=True):
        try:
            stamp, opened = finding()
            schema = reader.read_opened(opened)
        except UnreadableFile as error:
            problems.append(error)
            continue
        if schema is None:
            warnings.append(f"{file.name}: it is empty.")
        else:
            seen.append((file, stamp, schema))
    if problems:
        raise PlanRefused(problems)
    changes = headers_to_change({file.name: schema for file, _, schema in seen}, table)
    return [
        (file, stamp, reader.read_again(file, schema, changes[file.name]) if file.name in changes else schema)
        for file, stamp, schema in seen
    ]


def _describe_differences(schemas: Mapping[str, FileSchema], *, folds: bool) -> Iterator[str]:
    groups = strangers(schemas, folds=folds)
    if groups:
        first, *others = (names[0] for names in groups)
        yield f"{first} has no column in common with {', '.join(others[:_FEW_NAMED])}: are they files of one table?"


def _inspect_each(reader: FileReader, files: Sequence[DataFile]) -> Iterator[Callable[[], _Inspection]]:
    """Yield for each file, in their order, what gives its stamp and its beginning, or what it declares."""

    def inspect(file: DataFile) -> _Inspection:
        with translate_read_errors(file, reader.filesystem):
            stamp = stamp_of_file(reader.filesystem, file.path, file.archive, file.size)
        return stamp, reader.open(file)

    if abilities_of_files(reader.filesystem).is_near:
        return (partial(inspect, file) for file in files)
    return ask_ahead(inspect, files, _AT_ONCE)


def constants_of(file: DataFile, extract_paths: bool) -> Mapping[str, str | None]:
    """Return the columns that a file's folders give."""
    folders = [part for part in file.name.split("/")[:-1] if "=" not in part] if extract_paths else []
    return {**{f"dir_{number}": folder for number, folder in enumerate(folders)}, **file.partition}


def _reader(filesystem: pafs.FileSystem, options: ReadOptions, files: int) -> FileReader:
    return FileReader(
        filesystem=filesystem,
        budget=budget_for(files, read_all=options.sample == 0, rows=options.sample),
        input_format=check_format(options.input_format),
        csv=check_csv_options(options.delimiter, options.csv, options.parse_headers, options.nulls),
        encoding=options.encoding,
    )


def _ranges(filesystem: pafs.FileSystem, file: DataFile, schema: FileSchema, total: int) -> Sequence[Range]:
    """Finding the places takes time: a file that is a small part of all there is need not be cut."""
    return () if file.size * _SMALL_PART < total else find_file_ranges(filesystem, file, schema)


def find_file_ranges(filesystem: pafs.FileSystem, file: DataFile, schema: FileSchema) -> Sequence[Range]:
    """Return where a file can be cut; none for one that is small, or of which only the beginning is a place to begin.

    Only plain text of known ends can be cut: compressed or transcoded text has no places to begin at.
    """
    if file.archive:
        return ()
    if schema.format == "parquet":
        return find_group_ranges(filesystem, file.path, file.size)
    least = {"csv": CUT_BYTES, "jsonl": CUT_LINES_BYTES}.get(schema.format)
    if least is None or file.size <= least or schema.encoding != "utf-8" or is_compressed(filesystem, file.path):
        return ()
    if schema.csv and not schema.csv.is_plain:
        return ()
    if schema.csv is None or not schema.csv.dialect.quote:
        return find_line_ranges(filesystem, file.path, file.size, least // 2)
    return find_ranges(filesystem, file.path, file.size, schema.csv.dialect, least // 2)
