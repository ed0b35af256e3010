"""The work of one task: read its files, fit them to the schema, write what fits, keep what does not."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mason.engines.metastore.models.partition import NULL_PARTITION
from mason.engines.storage.models.location import Location
from mason.errors import UnreadableFile
from mason.pipeline.formats.binary.finer_times import count_finer_in
from mason.pipeline.formats.delimited.records import QUOTED_EMPTY
from mason.pipeline.formats.odd_values import Misfit
from mason.pipeline.formats.sources import ArrowSource, Source, TextSource
from mason.pipeline.formats.writers.table_writer import too_far_for_folders, too_long_for_folders
from mason.pipeline.reading.tasks.batches import Batch, CannotBeCut, find_misfit
from mason.pipeline.reading.tasks.numbering import COUNTED_FROM
from mason.pipeline.reading.tasks.sinks import Sink, SinkPlace, open_sink
from mason.pipeline.reading.tasks.task import FileInTask, MergeTask, TaskResult
from mason.pipeline.reading.tasks.task_files import read_files
from mason.pipeline.reading.tasks.text_blocks import fit_texts, is_text_at
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.files import make_folder
from mason.pipeline.tables.rejects import Reject
from mason.pipeline.tables.room import QUARANTINE, REJECTS
from mason.pipeline.types.column_types import NOTHING, Evidence, decide, evidence_of, merge, storable
from mason.pipeline.types.evidence_json import decode_schema, encode
from mason.pipeline.types.given_types import Fitted, describe_type
from mason.pipeline.types.python_values import python_value
from mason.pipeline.types.time_text import is_day_or_moment
from mason.pipeline.types.value_patterns import describe_misfit

_LONGEST_SHOWN = 60


def merge_task(content: bytes) -> bytes:
    """Run a task and return its result.

    The records were counted where the text was cut, not by the parser: the commit compares them with the rows in the
    footers and the lines of the quarantine.
    """
    task = MergeTask.of(content)
    with ExitStack() as stack:
        work = _TaskRun(task, stack)
        try:
            for file, batch in read_files(task.files, task.nulls, work.schema, work.needed):
                work.take(file, batch)
        except CannotBeCut as problem:
            return TaskResult(
                number=task.number, records=0, quarantined=0, files=[], not_to_cut=[problem.path]
            ).to_bytes()
        return work.result().to_bytes()


class _TaskRun:
    """What a task has read and written so far. Each attempt writes files of its own names."""

    def __init__(self, task: MergeTask, stack: ExitStack) -> None:
        self._task = task
        self._staging = task.staging or Location("")
        self._filesystem = open_filesystem(self._staging.storage)
        self._stack = stack
        self.schema = decode_schema(task.schema)
        self._given = set(task.given)
        self._spelling = {name.casefold(): name for name in self.schema.names} if task.folds_names else {}
        self._attempt = f"{task.commit}-{task.number:05}-{uuid.uuid4().hex[:8]}"
        self._columns = list(task.columns) or self.schema.names
        self.needed = () if task.folds_names else task.columns
        self._sink = self._new_sink()
        stack.enter_context(self._sink)
        self._begin_rows_at = getattr(self._sink, "begin_rows_at", None)
        self._records = self._rows = 0
        self._quarantined = 0
        self._evidence: dict[str, dict[str, Evidence]] = {}
        self._bad_values: Counter[str] = Counter()
        self._values: dict[str, Counter[str]] = {}
        self._differing: Counter[str] = Counter()
        self._misfits: dict[str, Misfit] = {}
        self._finer: Counter[str] = Counter()
        self._broken: dict[str, Counter[str]] = {}
        self._cut: Counter[str] = Counter()
        self._notes: dict[str, list[str]] = {}
        self._rejects: Any = None

    def take(self, file: FileInTask, batch: Batch) -> None:
        self._records += batch.records
        batch = self._without_twins(file, batch)
        for reject in batch.rejects:
            self._keep(file, reject)
        self._finer.update(batch.finer)
        self._cut[file.name] += batch.cut
        if batch.notes:
            found = self._notes.setdefault(file.name, [])
            found += [note for note in batch.notes if note not in found]
        columns = self._columns_by_name(file, batch)
        bad: dict[str, pa.Array] = {}
        arrays = self._fit(file, columns, batch, bad)
        if self._evidence or not batch.rows:
            return
        rows = pa.record_batch(arrays, schema=self.schema)
        self._note_odd_keys(rows, bad)
        for name, mask in bad.items():
            self._bad_values[name] += mask.true_count
        if bad and self._task.nulls_bad_values:
            rows = _with_nulls(rows, bad)
        elif bad:
            rows = self._without_bad(file, batch, columns, rows, bad)
        self._rows += rows.num_rows
        if self._begin_rows_at and batch.place:
            self._begin_rows_at(file.path, batch.place(0).record - 1)
        self._sink.write(rows.select(self._columns) if self._task.columns else rows)

    def result(self) -> TaskResult:
        self._stack.close()  # a Parquet file has its footer only now
        return TaskResult(
            number=self._task.number,
            records=self._records,
            quarantined=self._quarantined,
            files=self._sink.files,
            quarantine=self._quarantine_path if self._rejects else "",
            evidence={
                path: {name: encode(seen) for name, seen in each.items()} for path, each in self._evidence.items()
            },
            not_to_cut=(),
            bad_values=dict(self._bad_values),
            values={name: dict(counts) for name, counts in self._values.items()},
            differing=dict(self._differing),
            rows=self._rows,
            payload=self._sink.result(),
            misfits={name: misfit.to_dict() for name, misfit in self._misfits.items()},
            finer=dict(+self._finer),
            broken={name: dict(reasons) for name, reasons in self._broken.items()},
            cut=dict(+self._cut),
            notes=self._notes,
        )

    @property
    def _quarantine_path(self) -> str:
        return f"{QUARANTINE}/{self._attempt}{REJECTS}"

    def _new_sink(self) -> Sink:
        place = SinkPlace(self._filesystem, self._staging.path, f"part-{self._attempt}")
        schema = pa.schema([self.schema.field(name) for name in self._columns])
        return open_sink(self._task.sink, place, schema, self._task.sink_options)

    def _name_in_table(self, file: FileInTask, name: str) -> str:
        return file.renames.get(name) or self._spelling.get(name.casefold(), name)

    def _without_twins(self, file: FileInTask, batch: Batch) -> Batch:
        """Set records aside that have two values for one column, under names that differ only in case."""
        if not self._spelling:
            return batch
        groups: dict[str, list[str]] = {}
        for name in batch.columns:
            groups.setdefault(self._name_in_table(file, name), []).append(name)
        twins = [names for names in groups.values() if len(names) > 1]
        both = {row: names for names in twins for row in _rows_with_several(batch, names)}
        if not both:
            return batch
        for row, names in both.items():
            reason = f'it has both "{names[0]}" and "{names[1]}", which differ only in case'
            self._keep(file, replace(batch.describe(file.name, row), column=names[1], reason=reason))
        return batch.take([row for row in range(batch.rows) if row not in both])

    def _columns_by_name(self, file: FileInTask, batch: Batch) -> Mapping[str, Source]:
        """The columns by the names that they have in the table."""
        if not file.renames and not self._spelling:
            return batch.columns
        named: dict[str, Source] = {}
        for name, source in batch.columns.items():
            wanted = self._name_in_table(file, name)
            united = named[wanted].or_else(source) if wanted in named else source
            named[wanted if united else name] = united or source
        return named

    def _fit(
        self, file: FileInTask, columns: Mapping[str, Source], batch: Batch, bad: dict[str, pa.Array]
    ) -> list[pa.Array]:
        rows = batch.rows
        arrays = []
        for field in self.schema:
            if field.name in file.constants:
                arrays.append(self._constant(file, field, columns.get(field.name), rows, bad))
            elif field.name in columns:
                arrays.append(self._fit_column(file, field, columns[field.name], batch, bad))
            else:
                arrays.append(pa.nulls(rows, field.type))
        known = {*self.schema.names, *file.constants}
        for name, source in columns.items():  # in their order, which is that of the new columns of the table
            if name not in known:
                self._note(file, name, source.evidence())  # a key that the sample had not shown
        return arrays

    def _fit_column(
        self, file: FileInTask, field: pa.Field, source: Source, batch: Batch, bad: dict[str, pa.Array]
    ) -> pa.Array | None:
        values: pa.Array | None
        if field.name in self._given:
            fitted = self._fit_given(field, source)
            values = fitted.values
            if fitted.bad is not None:
                bad[field.name] = fitted.bad
        else:
            values = source.fit(field.type, self._task.timezone)
            if values is None:
                self._note(file, field.name, _wider(file, field, source, self._task.timezone))
                self._note_misfit(file, field, source, batch)
        if values is not None:
            self._count_values(file, field.name, values)
            self._count_finer(field, source, values)
        return values

    def _fit_given(self, field: pa.Field, source: Source) -> Fitted:
        pattern = self._task.patterns.get(field.name)
        if pattern:
            return fit_texts(source, pattern, field.type, self._task.timezone)
        return source.fit_given(field.type, self._task.timezone)

    def _count_finer(self, field: pa.Field, source: Source, values: pa.Array) -> None:
        """Count the times that were told in nanoseconds, and are no whole microseconds."""
        if isinstance(source, ArrowSource) and (lost := count_finer_in(source.values, values)):
            self._finer[field.name] += lost

    def _count_values(self, file: FileInTask, name: str, values: pa.Array) -> None:
        if name in file.types:
            self._values.setdefault(name, Counter())[file.types[name]] += len(values) - values.null_count

    def _constant(
        self, file: FileInTask, field: pa.Field, in_file: Source | None, rows: int, bad: dict[str, pa.Array]
    ) -> pa.Array:
        value = file.constants[field.name]
        try:
            if field.name in self._task.patterns:
                raise pa.ArrowInvalid("it is written by a pattern")
            constant = pa.nulls(rows, field.type) if not value else _repeat_value(value, field.type, rows)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # a type that the user gave, and the folder has another
            fitted = self._fit_given(field, TextSource(pa.array([value], pa.string())))
            constant = pa.nulls(rows, field.type) if fitted.bad is not None else pa.repeat(fitted.values[0], rows)
            if fitted.bad is not None:
                bad[field.name] = pa.repeat(True, rows)
        self._count_values(file, field.name, constant)
        if in_file is not None:
            self._differing[field.name] += _count_differing(in_file, constant)
        return constant

    def _note(self, file: FileInTask, name: str, seen: Evidence) -> None:
        in_file = self._evidence.setdefault(file.path, {})
        in_file[name] = merge(in_file.get(name, NOTHING), seen)

    def _note_misfit(self, file: FileInTask, field: pa.Field, source: Source, batch: Batch) -> None:
        if field.name in self._misfits:
            return
        found = find_misfit(file, batch, source, field.type, self._task.timezone)
        if found:
            self._misfits[field.name] = found

    def _without_bad(
        self, file: FileInTask, batch: Batch, columns: Mapping[str, Source], rows: pa.RecordBatch, bad: dict[str, Any]
    ) -> pa.RecordBatch:
        is_bad = _any_of(list(bad.values()))
        for index in pc.indices_nonzero(is_bad).to_pylist():
            column = next(name for name, mask in bad.items() if mask[index].as_py())
            value = file.constants.get(column) or (columns[column].value(index) if column in columns else None)
            reason = _reason(rows, value, column, index, self._pattern_at(file, columns, column, index))
            where = batch.where(index)
            message = f"{reason} ({where})" if where else reason
            self._keep(file, replace(batch.describe(file.name, index), column=column, reason=message))
        return rows.filter(pc.invert(is_bad))

    def _pattern_at(self, file: FileInTask, columns: Mapping[str, Source], column: str, index: int) -> str:
        """The pattern by which a value was read; none for one that is not text."""
        is_text = column in file.constants or (column in columns and is_text_at(columns[column], index))
        return self._task.patterns.get(column, "") if is_text else ""

    def _note_odd_keys(self, rows: pa.RecordBatch, bad: dict[str, pa.Array]) -> None:
        """No folder can stand for text that would come back as null, for a very long one, or for a far year."""
        for key in self._task.partition_keys:
            values = rows.column(key)
            if pa.types.is_string(values.type):
                unsayable = pc.is_in(values, value_set=pa.array(["", NULL_PARTITION]))
                odd = pc.or_(unsayable, too_long_for_folders(key, values))
            elif is_day_or_moment(values.type):
                odd = too_far_for_folders(values)
            else:
                continue
            if odd.true_count:
                bad[key] = pc.or_(bad[key], odd) if key in bad else odd

    def _keep(self, file: FileInTask, reject: Reject) -> None:
        self._quarantined += 1
        why = f'column "{reject.column}" does not fit' if reject.column else reject.reason
        self._broken.setdefault(file.name, Counter())[why] += 1
        if not self._task.staging:
            return  # the job writes nothing: what does not fit is only counted
        if self._rejects is None:
            path = f"{self._task.staging.path}/{self._quarantine_path}"
            # Not what is above it: a task that outlives its job must not bring the staging folder back.
            make_folder(self._filesystem, path.rpartition("/")[0], recursive=False)
            self._rejects = self._stack.enter_context(self._filesystem.open_output_stream(path))
        named = replace(reject, id=f"{self._attempt}:{self._quarantined}")
        line = named.to_dict() if file.is_whole else {**named.to_dict(), COUNTED_FROM: file.offset}
        self._rejects.write(json.dumps(line).encode() + b"\n")


def _rows_with_several(batch: Batch, names: Sequence[str]) -> list[int]:
    """The rows in which more than one of some columns have a value."""
    sources = [batch.columns[name] for name in names]
    return [row for row in range(batch.rows) if sum(each.value(row) is not None for each in sources) > 1]


def _with_nulls(rows: pa.RecordBatch, bad: Mapping[str, pa.Array]) -> pa.RecordBatch:
    arrays = [
        pc.if_else(bad[name], pa.scalar(None, values.type), values) if name in bad else values
        for name, values in zip(rows.schema.names, rows.columns, strict=True)
    ]
    return pa.record_batch(arrays, schema=rows.schema)


def _reason(rows: pa.RecordBatch, found: object, column: str, index: int, pattern: str) -> str:
    value = python_value(rows.column(column)[index])
    if value == "":
        return "empty text cannot be the value of a partition"
    if value == NULL_PARTITION:
        return f'"{value}" cannot be the value of a partition: in the name of a folder it stands for null'
    if value is not None and is_day_or_moment(rows.schema.field(column).type):
        return f"{value} cannot be the value of a partition: its year has no four digits"
    if isinstance(value, str):  # there is no other text that does not fit text
        return f"a text of {len(value):,} characters cannot be the value of a partition"
    target = rows.schema.field(column).type
    if found == "":
        return f"empty text is not {describe_type(target)} (in delimited files, nulls:'{QUOTED_EMPTY}' makes it null)"
    why = describe_misfit(str(found), pattern, target) if pattern else f"is not {describe_type(target)}"
    return f'"{str(found)[:_LONGEST_SHOWN]}" {why}'


def _wider(file: FileInTask, field: pa.Field, source: Source, timezone: str) -> Evidence:
    """Return what the values say of their type, which must be more than the column's type holds.

    Raises:
        UnreadableFile: no type is wider: running the tasks again would not help.
    """
    seen = source.evidence()
    is_widest = pa.types.is_string(field.type) or isinstance(source, ArrowSource)
    if is_widest and storable(decide(merge(evidence_of(field.type), seen), timezone)) == field.type:
        raise UnreadableFile(file.name, f'column "{field.name}" has values that {field.type} does not hold.')
    return seen


def _repeat_value(value: str, target: pa.DataType, rows: int) -> pa.Array:
    return pa.repeat(pa.array([value]).cast(target)[0], rows)


def _count_differing(in_file: Source, constant: pa.Array) -> int:
    values = in_file.fit(constant.type)
    if values is None:
        return len(constant)
    if constant.null_count:  # it is null in every row, and Arrow does not compare all types
        return len(values) - int(values.null_count)
    same = pc.fill_null(pc.equal(values, constant), False)
    agreeing: int = pc.or_(same, pc.is_null(values)).true_count
    return len(constant) - agreeing


def _any_of(masks: list[pa.Array]) -> pa.Array:
    united = masks[0]
    for mask in masks[1:]:
        united = pc.or_(united, mask)
    return united


def evidence_of_results(results: Mapping[int, TaskResult]) -> dict[str, dict[str, Evidence]]:
    """Return what all tasks saw beyond the schema: for each file, by its path, the columns."""
    from mason.pipeline.types.evidence_json import decode

    united: dict[str, dict[str, Evidence]] = {}
    for number in sorted(results):
        for path, columns in results[number].evidence.items():
            in_file = united.setdefault(path, {})
            for name, seen in columns.items():
                in_file[name] = merge(in_file.get(name, NOTHING), decode(seen))
    return united
