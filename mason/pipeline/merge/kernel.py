"""The work of one task: read its files, fit them to the schema, write what fits, keep what does not."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.pipeline.evidence_json import decode_schema, encode
from mason.pipeline.merge.readers import Batch, read_batches
from mason.pipeline.merge.task import FileInTask, MergeTask, TaskResult
from mason.pipeline.rejects import Reject
from mason.pipeline.types import NOTHING, Evidence, merge


def merge_task(content: bytes) -> bytes:
    """Run a task and return its result.

    The records were counted where the text was cut, not by the parser: the commit compares them with the rows in the
    footers and the lines of the quarantine.
    """
    task = MergeTask.of(content)
    filesystem, _ = pafs.FileSystem.from_uri(task.storage)
    with ExitStack() as stack:
        work = _Work(task, filesystem, stack)
        for file in task.files:
            for batch in read_batches(filesystem, file, task.nulls):
                work.take(file, batch)
        return work.result().to_bytes()


class _Work:
    """What a task has read and written so far. Each attempt writes files of its own names."""

    def __init__(self, task: MergeTask, filesystem: pafs.FileSystem, stack: ExitStack) -> None:
        self._task = task
        self._filesystem = filesystem
        self._stack = stack
        self._schema = decode_schema(task.schema)
        self._attempt = f"{task.commit}-{task.number:05}-{uuid.uuid4().hex[:8]}"
        self._records = 0
        self._quarantined = 0
        self._evidence: dict[str, Evidence] = {}
        self._writer: pq.ParquetWriter | None = None
        self._rejects: Any = None

    def take(self, file: FileInTask, batch: Batch) -> None:
        self._records += batch.records
        for reject in batch.rejects:
            self._keep(reject)
        arrays = self._fit(file, batch)
        if not self._evidence and batch.rows:
            self._write(pa.record_batch(arrays, schema=self._schema))

    def result(self) -> TaskResult:
        self._stack.close()  # a Parquet file has its footer only now
        return TaskResult(
            self._task.number,
            self._records,
            self._quarantined,
            [self._data_path] if self._writer else [],
            self._quarantine_path if self._rejects else "",
            {name: encode(seen) for name, seen in self._evidence.items()},
        )

    @property
    def _data_path(self) -> str:
        return f"part-{self._attempt}.parquet"

    @property
    def _quarantine_path(self) -> str:
        return f"_mason/quarantine/{self._attempt}.jsonl"

    def _fit(self, file: FileInTask, batch: Batch) -> list[pa.Array]:
        arrays = []
        for field in self._schema:
            if field.name in file.constants:
                arrays.append(_constant(file.constants[field.name], field.type, batch.rows))
            elif field.name in batch.columns:
                source = batch.columns[field.name]
                fitted = source.fit(field.type)
                if fitted is None:
                    self._note(field.name, source.evidence())
                arrays.append(fitted)
            else:
                arrays.append(pa.nulls(batch.rows, field.type))
        for name in batch.columns.keys() - set(self._schema.names) - set(file.constants):
            self._note(name, batch.columns[name].evidence())  # a key that the sample had not shown
        return arrays

    def _note(self, name: str, seen: Evidence) -> None:
        self._evidence[name] = merge(self._evidence.get(name, NOTHING), seen)

    def _write(self, batch: pa.RecordBatch) -> None:
        if self._writer is None:
            sink = self._filesystem.open_output_stream(f"{self._task.staging}/{self._data_path}")
            self._stack.enter_context(sink)
            self._writer = self._stack.enter_context(pq.ParquetWriter(sink, self._schema, compression="snappy"))
        self._writer.write_batch(batch)

    def _keep(self, reject: Reject) -> None:
        if self._rejects is None:
            path = f"{self._task.staging}/{self._quarantine_path}"
            self._filesystem.create_dir(path.rpartition("/")[0], recursive=True)
            self._rejects = self._stack.enter_context(self._filesystem.open_output_stream(path))
        self._rejects.write(json.dumps(reject.to_dict()).encode() + b"\n")
        self._quarantined += 1


def _constant(value: str | None, target: pa.DataType, rows: int) -> pa.Array:
    if value is None:
        return pa.nulls(rows, target)
    return pa.repeat(pa.array([value]).cast(target)[0], rows)


def evidence_of_results(results: Mapping[int, TaskResult]) -> dict[str, Evidence]:
    """Return what all tasks saw beyond the schema."""
    from mason.pipeline.evidence_json import decode

    united: dict[str, Evidence] = {}
    for number in sorted(results):
        for name, seen in results[number].evidence.items():
            united[name] = merge(united.get(name, NOTHING), decode(seen))
    return united
