"""Formats whose rows are one document: the tasks leave pieces, and one more task makes the document of them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.engines.storage.models.location import Location
from mason.pipeline.formats.writers.output_format import output_format
from mason.pipeline.jobs.format.files import FileKind, OpenFile
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.types.evidence_json import decode_schema

KERNEL = "mason.pipeline.jobs.format.document:document_task"
PIECES = "parquet"
_ROWS_AT_ONCE = 20_000


@dataclass(frozen=True, kw_only=True)
class DocumentTask:
    """The pieces of a document in the order of their rows, all in the folder that the document gets."""

    staging: Location
    name: str
    """What the name of the document begins with."""
    pieces: Sequence[str]
    schema: str
    format: str
    compression: str

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def of(cls, content: bytes) -> DocumentTask:
        value = json.loads(content)
        return cls(**{**value, "staging": Location(**value["staging"])})


def document_task(content: bytes) -> bytes:
    """Write a document; each attempt under a name of its own."""
    return json.dumps(write_document(DocumentTask.of(content))).encode()


def write_document(task: DocumentTask) -> Mapping[str, Any]:
    """Write a document and return what a sink would: the rows that are really in it, and what became of values."""
    filesystem = open_filesystem(task.staging.storage)
    kind = FileKind(output_format(task.format), task.compression)
    folder = task.pieces[0].rpartition("/")[0] if task.pieces else ""
    name = f"{folder}/" * bool(folder) + f"{task.name}-{uuid.uuid4().hex[:8]}{kind.ending}"
    file = OpenFile(filesystem, task.staging.path, name, decode_schema(task.schema), kind)
    try:
        for piece in task.pieces:
            for rows in _rows(filesystem, f"{task.staging.path}/{piece}"):
                file.write(rows)
    except BaseException:
        file.give_up()
        raise
    file.close()
    return {"rows": {name: kind.format.count(filesystem, f"{task.staging.path}/{name}")}, "noted": dict(file.noted)}


def _rows(filesystem: pafs.FileSystem, path: str) -> Any:
    with pq.ParquetFile(path, filesystem=filesystem) as stored:
        yield from stored.iter_batches(_ROWS_AT_ONCE, use_threads=False)


def group_pieces(files: Sequence[str]) -> Mapping[str, list[str]]:
    """Return the pieces of each document, which is one for each partition."""
    groups: dict[str, list[str]] = {}
    for name in files:
        groups.setdefault(name.rpartition("/")[0], []).append(name)
    return groups
