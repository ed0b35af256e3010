"""A task of a merge as data: what the driver sends, and what it gets back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mason.pipeline.csv_splits import Range
from mason.pipeline.evidence_json import encode_schema
from mason.pipeline.merge.plan import MergePlan, PlannedFile

KERNEL = "mason.pipeline.merge.kernel:merge_task"


@dataclass(frozen=True)
class FileInTask:
    """One file, or a range of it, and how it is read."""

    path: str
    name: str
    size: int
    modified_ns: int
    format: str
    delimiter: str
    encoding: str
    header: bool
    columns: Sequence[str]
    constants: Mapping[str, str | None]
    offset: int
    length: int
    first_record: int

    @classmethod
    def of(cls, planned: PlannedFile, part: Range) -> FileInTask:
        file, schema = planned.file, planned.schema
        columns, constants = list(schema.columns), dict(planned.constants)
        dialect = (schema.format, schema.delimiter, schema.encoding, schema.header)
        place = (part.offset, part.length, part.first_record)
        return cls(file.path, file.name, file.size, planned.modified_ns, *dialect, columns, constants, *place)

    @property
    def is_whole(self) -> bool:
        return self.length == self.size


@dataclass(frozen=True)
class MergeTask:
    """Some files, the schema that they are fitted to, and the folder that the result is staged in."""

    number: int
    storage: str
    staging: str
    commit: str
    schema: str
    nulls: Sequence[str]
    files: Sequence[FileInTask]

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def of(cls, content: bytes) -> MergeTask:
        value = json.loads(content)
        return cls(**{**value, "files": [FileInTask(**each) for each in value["files"]]})


@dataclass(frozen=True)
class TaskResult:
    """What a task counted and wrote. With evidence in it, the schema was too narrow and nothing of it counts."""

    number: int
    records: int
    quarantined: int
    files: Sequence[str]
    quarantine: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def of(cls, content: bytes) -> TaskResult:
        return cls(**json.loads(content))


def tasks_of(plan: MergePlan, staging: str, commit: str) -> list[MergeTask]:
    """Return the tasks of a plan."""
    schema, job = encode_schema(plan.schema), plan.job
    return [
        MergeTask(
            number,
            job.storage,
            staging,
            commit,
            schema,
            list(job.options.nulls),
            [FileInTask.of(file, part) for file, part in parts],
        )
        for number, parts in enumerate(plan.tasks())
    ]
