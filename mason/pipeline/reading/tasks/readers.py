"""The records of a file in batches, each record accounted for, whatever the format."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.errors import UnreadableFile
from mason.pipeline.formats.binary.columnar_files import translate_parser_errors, without_views
from mason.pipeline.formats.binary.finer_times import count_finer
from mason.pipeline.formats.binary.parquet_files import groups_in
from mason.pipeline.formats.scanning.header_repeats import REPEATS
from mason.pipeline.formats.sources import ArrowSource, Source, with_text_inside
from mason.pipeline.reading.tasks.batches import Batch, Place, json_text, rows_batch
from mason.pipeline.reading.tasks.csv_batches import read_csv
from mason.pipeline.reading.tasks.json_batches import read_json, read_json_lines
from mason.pipeline.reading.tasks.task import FileInTask
from mason.pipeline.reading.tasks.text_blocks import BLOCK, raw_blocks
from mason.pipeline.reading.tasks.text_checks import reject_broken_text, reject_long_fields
from mason.pipeline.storage.address import abilities_of_files
from mason.pipeline.storage.archives import inside, stamp_of_file
from mason.pipeline.storage.blocks import open_stream, translate_read_errors
from mason.pipeline.storage.file_stamp import FileStamp
from mason.pipeline.tables.rejects import Reject
from mason.pipeline.types.evidence_json import decode_schema
from mason.util.words import counted

if TYPE_CHECKING:
    from mason.pipeline.formats.sheets.files import SheetRows

ROWS = 20_000
ROW_GROUP = 122_880
READ_BUFFER = 1024 * 1024
GROUP_AT_ONCE = 64 * 1024 * 1024
_AGAIN = "Run the merge again."


def read_batches(
    filesystem: pafs.FileSystem,
    file: FileInTask,
    nulls: Sequence[str],
    schema: pa.Schema,
    columns: Collection[str] = (),
) -> Iterator[Batch]:
    """Yield the records of a file. The schema, which is the table's, says what a fast parser may expect.

    Columns are those that are needed, by their names in the file: others are left out where that saves work.

    Raises:
        UnreadableFile: it cannot be read, or is not what it was when the plan was made.
    """
    check_unchanged(filesystem, file)
    yield from read_records(filesystem, file, nulls, schema, columns)
    check_unchanged(filesystem, file)


def read_records(
    filesystem: pafs.FileSystem,
    file: FileInTask,
    nulls: Sequence[str],
    schema: pa.Schema,
    columns: Collection[str],
) -> Iterator[Batch]:
    """Yield what `read_batches` does, for who looks himself that the file is what it was.

    Raises:
        UnreadableFile: it cannot be read.
    """
    filesystem = inside(filesystem, file.archive)
    if file.is_own and file.format != "parquet":
        yield from _read_own(filesystem, file, schema, columns)
    else:
        yield from _read(filesystem, file, nulls, schema, columns)


def check_unchanged(filesystem: pafs.FileSystem, file: FileInTask) -> None:
    """See that a file is what it was when the plan was made.

    Raises:
        UnreadableFile: it is not, or is not there.
    """
    with translate_read_errors(file.data, filesystem):
        found = stamp_of_file(filesystem, file.path, file.archive, file.size)
    if found is None:
        raise error_of_vanished(file)
    check_stamp(file, found)


def check_stamp(file: FileInTask, found: FileStamp) -> None:
    """See that a stamp is that of the file when the plan was made.

    Raises:
        UnreadableFile: it is another one's.
    """
    if found != FileStamp(file.size, file.stamp):
        raise UnreadableFile(file.name, "it was changed after the plan was made.", hint=_AGAIN)


def error_of_vanished(file: FileInTask) -> UnreadableFile:
    """Return the error of a file that is not there any more."""
    return UnreadableFile(file.name, "it vanished after the plan was made.", hint=_AGAIN)


def _read(
    filesystem: pafs.FileSystem, file: FileInTask, nulls: Sequence[str], schema: pa.Schema, columns: Collection[str]
) -> Iterator[Batch]:
    if file.format == "csv":
        yield from read_csv(filesystem, file, nulls, _types_in_text(file, schema))
    elif file.format == "jsonl":
        yield from read_json_lines(filesystem, file, _types_in_text(file, schema))
    elif file.format == "parquet":
        yield from _read_parquet(filesystem, file, columns)
    elif file.format == "xlsx":
        yield from _read_xlsx(filesystem, file, nulls)
    else:
        yield from _READERS[file.format](filesystem, file)


def _read_own(
    filesystem: pafs.FileSystem, file: FileInTask, schema: pa.Schema, columns: Collection[str]
) -> Iterator[Batch]:
    """A file that Mason wrote: whatever the format made of its types is taken back."""
    from mason.pipeline.formats.writers.json_values_back import read_back, types_as_stored

    schema = decode_schema(file.own_schema) if file.own_schema else schema
    for batch in _read(filesystem, file, (), types_as_stored(file.format, schema), columns):
        found = read_back(
            file.name, file.format, batch.columns, names=file.columns, schema=schema, rows=batch.rows, wanted=columns
        )
        yield replace(batch, columns=found)


def _types_in_text(file: FileInTask, schema: pa.Schema) -> dict[str, pa.DataType]:
    """The types by which Arrow may parse: not those of columns that have a pattern, which it does not know."""
    types = _types_in_file(file, schema)
    return {old: each for old, each in types.items() if file.renames.get(old, old) not in file.patterned}


def _types_in_file(file: FileInTask, schema: pa.Schema) -> dict[str, pa.DataType]:
    """The table's types by the names that the columns have in the file."""
    types = dict(zip(schema.names, schema.types, strict=True))
    others = {*file.constants, *file.renames.values()}
    names = {name: name for name in types if name not in others} | dict(file.renames)
    return {old: types[new] for old, new in names.items() if new in types}


def _read_msgpack(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[Batch]:
    from mason.pipeline.formats.binary.msgpack_files import Maps

    maps = Maps(file.name, raw_blocks(filesystem, file), file.field_bytes)
    before = 0
    while (rows := maps.take(ROWS)) or maps.others:
        rejects = [
            Reject(file.name, number, -1, "", "it is not a Msgpack map", json_text(value))
            for number, value in maps.others
        ]
        maps.others.clear()
        yield reject_long_fields(rows_batch(rows, len(rows) + len(rejects), rejects), file, maps.whole - before)
        before = maps.whole
    if maps.problem:
        raise UnreadableFile(file.name, f"only its beginning could be read: {maps.problem}.")
    if maps.finer:
        lost = f"{counted(maps.finer, 'time')} lost what is finer than a microsecond, the finest that a table has"
        yield Batch(columns={}, rows=0, records=0, notes=[lost])


def _read_parquet(filesystem: pafs.FileSystem, file: FileInTask, columns: Collection[str]) -> Iterator[Batch]:
    from mason.pipeline.formats.binary.parquet_files import open_parquet

    with translate_read_errors(file.data, filesystem), filesystem.open_input_file(file.path) as source:
        with translate_parser_errors(file.name, "Parquet"):
            # Without a buffer whole column chunks would be loaded: of a file with one row group that is all of it.
            parquet = open_parquet(source, buffer_size=READ_BUFFER, pre_buffer=False)
            stored = parquet.metadata
            groups = groups_in(stored, file.offset, file.length)
            # A file of the table's own may be older than some of its columns, and has each name once.
            names = parquet.schema_arrow.names if file.is_own else file.columns
        wanted = _columns_to_read(file, names, columns)
        batches = _parse_batches(file, "Parquet", _rows_of_groups(filesystem, source, parquet, groups, wanted))
        finer = _finer_in_int96(filesystem, file, stored, groups, names if wanted is None else wanted)
        before = sum(stored.row_group(group).num_rows for group in range(groups[0] if groups else 0))
        rows = sum(stored.row_group(group).num_rows for group in groups)
        yield from _read_and_count(file, names if wanted is None else wanted, batches, rows, before, finer)


def _parse_batches(file: FileInTask, format_: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what a library reads: what it raises is about the file, unlike what happens to the batches."""
    with translate_parser_errors(file.name, format_):
        yield from batches


def _finer_in_int96(
    filesystem: pafs.FileSystem, file: FileInTask, stored: Any, groups: Sequence[int], names: Sequence[str]
) -> Callable[[pa.RecordBatch], Mapping[str, int]] | None:
    """Return what counts the times of a batch that have lost nanoseconds; none for a file without INT96.

    INT96 comes in microseconds, which hold every year. Whether there was more is seen by reading those columns again.
    """
    from mason.pipeline.formats.binary.parquet_files import columns_of_int96

    wanted = columns_of_int96(stored, list(names))
    if not wanted or file.renames:
        return None
    import pyarrow.parquet as pq

    rows = _rows_at_once(stored)
    opened = pq.ParquetFile(filesystem.open_input_file(file.path))
    again = opened.iter_batches(rows, list(groups), wanted, use_threads=False)
    exact = _parse_batches(file, "Parquet", again)

    def count(batch: pa.RecordBatch) -> Mapping[str, int]:
        seen = next(exact)
        return {name: count_finer(seen.column(name), batch.column(name)) for name in wanted}

    return count


def _rows_of_groups(
    filesystem: pafs.FileSystem, source: pa.NativeFile, parquet: Any, groups: Sequence[int], columns: list[str] | None
) -> Iterable[pa.RecordBatch]:
    """The rows of row groups; of a store, a row group that is not too large is asked for at once, not by columns."""
    from mason.pipeline.formats.binary.parquet_files import open_parquet

    stored, rows = parquet.metadata, _rows_at_once(parquet.metadata)
    if abilities_of_files(filesystem).is_near:
        return parquet.iter_batches(rows, groups, columns, use_threads=False)  # type: ignore[no-any-return]
    at_once = open_parquet(source, metadata=stored, pre_buffer=True)

    def read(group: int) -> Iterable[pa.RecordBatch]:
        reader = at_once if _count_compressed_bytes(stored.row_group(group)) <= GROUP_AT_ONCE else parquet
        return reader.iter_batches(rows, [group], columns, use_threads=False)  # type: ignore[no-any-return]

    return chain.from_iterable(map(read, groups))


def _count_compressed_bytes(group: Any) -> int:
    return sum(group.column(number).total_compressed_size for number in range(group.num_columns))


def _columns_to_read(file: FileInTask, names: Sequence[str], columns: Collection[str]) -> list[str] | None:
    """The columns to be read; all, where the names need not be what they seem: a dot may stand for something nested."""
    if not columns or file.renames or any("." in name for name in names):
        return None
    return [name for name in names if name in columns]


def _rows_at_once(stored: Any) -> int:
    """As many rows as make a good row group again, but no more than fit some memory."""
    groups = [stored.row_group(number) for number in range(stored.num_row_groups)]
    size = sum(group.total_byte_size for group in groups) // max(stored.num_rows, 1) + 1
    return max(min(ROW_GROUP, int(4 * BLOCK // size)), 1)


def _read_orc(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[Batch]:
    from pyarrow import orc

    with translate_read_errors(file.data, filesystem), filesystem.open_input_file(file.path) as source:
        with translate_parser_errors(file.name, "ORC"):
            stored = orc.ORCFile(source)
        stripes = (_read_stripe(file, stored, number) for number in range(stored.nstripes))
        yield from _read_and_count(file, file.columns, _parse_batches(file, "ORC", stripes), stored.nrows)


def _read_stripe(file: FileInTask, stored: Any, number: int) -> pa.RecordBatch:
    try:
        return stored.read_stripe(number)
    except pa.ArrowInvalid as error:
        if "out of range for nanosecond" not in str(error):
            raise
        far = "it has a time beyond the years 1677 to 2262, which are all that is read of ORC."
        raise UnreadableFile(file.name, far, hint="Parquet has times of every year.") from error


def _read_xlsx(filesystem: pafs.FileSystem, file: FileInTask, nulls: Sequence[str]) -> Iterator[Batch]:
    from mason.pipeline.formats.sheets.files import read_rows

    assert file.sheets
    before = 0
    with translate_read_errors(file.data, filesystem), filesystem.open_input_file(file.path) as source:
        for found in read_rows(file.name, source, file.sheets, nulls, ROWS):
            rows = len(found.numbers)
            batch = Batch(columns=found.columns, rows=rows, records=rows, place=_in_sheet(found, before))
            yield reject_long_fields(_without_repeats(batch, file, found.repeats), file, _bytes_in(found))
            before += rows


def _bytes_in(found: SheetRows) -> int:
    arrays = (each.values for each in found.columns.values() if isinstance(each, ArrowSource))
    return sum(each.nbytes for each in arrays)


def _without_repeats(batch: Batch, file: FileInTask, repeats: Collection[int]) -> Batch:
    """Set rows aside that are the header once more."""
    if not repeats:
        return batch
    rejects = [replace(batch.describe(file.name, row), reason=REPEATS) for row in sorted(repeats)]
    others = batch.take([row for row in range(batch.rows) if row not in set(repeats)])
    return replace(others, rejects=rejects)


def _read_avro(filesystem: pafs.FileSystem, file: FileInTask) -> Iterator[Batch]:
    from mason.pipeline.formats.binary.avro_files import open_avro

    with translate_read_errors(file.data, filesystem), open_stream(filesystem, file.path) as source:
        avro = open_avro(file.name, source, file.field_bytes)
        records = avro.records()
        while rows := list(islice(records, ROWS)):
            arrays = {each.name: _avro_values(file, each, rows) for each in avro.columns.schema}
            columns: dict[str, Source] = {name: ArrowSource(values) for name, values in arrays.items()}
            held = sum(values.nbytes for values in arrays.values())
            yield reject_long_fields(Batch(columns=columns, rows=len(rows), records=len(rows)), file, held)


def _avro_values(file: FileInTask, field: pa.Field, rows: Sequence[Mapping[str, Any]]) -> pa.Array:
    values = [row.get(field.name) for row in rows]
    try:
        return pa.array(with_text_inside(values, field.type), field.type)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        said = str(error).splitlines()[0]
        raise UnreadableFile(file.name, f'column "{field.name}" has values that are not of its type: {said}') from error


def _in_sheet(rows: SheetRows, before: int) -> Callable[[int], Place]:
    def place(index: int) -> Place:
        return Place(before + index + 1, -1, where=f'row {rows.numbers[index]:,} of sheet "{rows.sheet}"')

    return place


def _count_from(before: int) -> Callable[[int], Place]:
    return lambda index: Place(before + index + 1, -1)


def _read_and_count(
    file: FileInTask,
    names: Sequence[str],
    batches: Iterable[pa.RecordBatch],
    rows: int,
    before: int = 0,
    finer: Callable[[pa.RecordBatch], Mapping[str, int]] | None = None,
) -> Iterator[Batch]:
    """Yield what the batches hold, and hold them against the count in the file's footer."""
    seen = 0
    for batch in batches:
        columns: dict[str, Source] = {
            # By position: names that the file has twice are others in the table.
            name: ArrowSource(without_views(column))
            for name, column in zip(names, batch.columns, strict=True)
        }
        place = _count_from(before + seen)
        lost = finer(batch) if finer else {}
        found = Batch(columns=columns, rows=batch.num_rows, records=batch.num_rows, place=place, finer=lost)
        sound = found if file.is_own else reject_broken_text(found, file)
        yield reject_long_fields(sound, file, batch.nbytes)
        seen += batch.num_rows
    if seen != rows:
        raise UnreadableFile(file.name, f"its footer says {rows:,} rows, and {seen:,} were read.")


_READERS: Mapping[str, Callable[[pafs.FileSystem, FileInTask], Iterator[Batch]]] = {
    "json": read_json,
    "msgpack": _read_msgpack,
    "orc": _read_orc,
    "avro": _read_avro,
}
