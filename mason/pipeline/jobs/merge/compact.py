"""Unites the pieces that tasks wrote of a partition, so that its files come out in sensible sizes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mason.engines.storage.models.location import Location
from mason.pipeline.formats.writers.table_writer import TableWriter
from mason.pipeline.reading.tasks.staging import describe_staged_file, remove_strangers
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.tables.commit import CommittedFile
from mason.pipeline.work.tasks import TaskRunner, running, without_beats

KERNEL = "mason.pipeline.jobs.merge.compact:compact_task"
FILE_BYTES = 128 * 1024 * 1024
TASK_BYTES = 256 * 1024 * 1024
TASK_FILES = 500
_ROW_GROUP_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class CompactTask:
    """Groups of pieces; each group becomes one file."""

    staging: Location
    commit: str
    groups: Sequence[Sequence[str]]

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def of(cls, content: bytes) -> CompactTask:
        value = json.loads(content)
        return cls(**{**value, "staging": Location(**value["staging"])})


def plan_compaction(
    pieces: Sequence[CommittedFile], staging: Location, commit: str
) -> tuple[list[CommittedFile], list[CompactTask]]:
    """Return the pieces that stay as they are, and the tasks that unite the others."""
    stay: list[CommittedFile] = []
    tasks: list[CompactTask] = []
    groups: list[list[str]] = []
    size = 0
    for group in _groups(pieces):
        if len(group) == 1:
            stay += group
            continue
        groups.append([each.path for each in group])
        size += sum(each.bytes for each in group)
        if size >= TASK_BYTES or sum(map(len, groups)) >= TASK_FILES:
            tasks.append(CompactTask(staging, commit, groups))
            groups, size = [], 0
    if groups:
        tasks.append(CompactTask(staging, commit, groups))
    return stay, tasks


def unite_pieces(
    runner: TaskRunner, staging: Location, commit: str, pieces: Sequence[CommittedFile]
) -> Sequence[CommittedFile]:
    """Unite the pieces of partitions in the staging folder, and return the files that there are then."""
    filesystem = open_filesystem(staging.storage)
    stay, tasks = plan_compaction(pieces, staging, commit)
    if not tasks:
        return stay
    made: list[str] = []
    with running(runner, KERNEL, [task.to_bytes() for task in tasks]) as events:
        for _, content in without_beats(events):
            made += json.loads(content)
    files = [*stay, *(describe_staged_file(filesystem, staging.path, path) for path in made)]
    remove_strangers(filesystem, staging.path, files)
    return files


def compact_task(content: bytes) -> bytes:
    """Run a task and return the files that it wrote."""
    task = CompactTask.of(content)
    filesystem = open_filesystem(task.staging.storage)
    return json.dumps([_unite(filesystem, task, group) for group in task.groups]).encode()


def _groups(pieces: Sequence[CommittedFile]) -> Iterator[list[CommittedFile]]:
    """Pieces of the same partition, as many as make one file."""
    by_folder: dict[str, list[CommittedFile]] = {}
    for piece in pieces:
        by_folder.setdefault(piece.path.rpartition("/")[0], []).append(piece)
    for folder in sorted(by_folder):
        group: list[CommittedFile] = []
        for piece in by_folder[folder]:
            if group and sum(each.bytes for each in group) + piece.bytes > FILE_BYTES:
                yield group
                group = []
            group.append(piece)
        yield group


def _unite(filesystem: pafs.FileSystem, task: CompactTask, group: Sequence[str]) -> str:
    folder = group[0].rpartition("/")[0]
    name = f"{folder}/part-{task.commit}-{uuid.uuid4().hex[:12]}.parquet"
    paths = [f"{task.staging.path}/{piece}" for piece in group]
    with TableWriter(filesystem, task.staging.path, name, pq.read_schema(paths[0], filesystem=filesystem)) as writer:
        for rows in _row_groups(filesystem, paths):
            for batch in rows.to_batches():
                writer.write(batch)
    return name


def _row_groups(filesystem: pafs.FileSystem, paths: Sequence[str]) -> Iterator[pa.Table]:
    waiting: list[pa.Table] = []
    for path in paths:
        with pq.ParquetFile(path, filesystem=filesystem) as file:
            for number in range(file.num_row_groups):
                waiting.append(file.read_row_group(number, use_threads=False))
                if sum(each.nbytes for each in waiting) >= _ROW_GROUP_BYTES:
                    yield pa.concat_tables(waiting).combine_chunks()
                    waiting = []
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()
