"""The numbers of quarantined records in files that were read in ranges.

A task counts from where its range begins. What stands before that is counted only if somebody wants to know.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow.fs as pafs

from mason.pipeline.formats.scanning.splits import number_of_lines, number_of_records
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.storage.blocks import read_bytes, write_bytes

COUNTED_FROM = "CountedFrom"


def number_records(
    filesystem: pafs.FileSystem, files: Sequence[PlannedFile], quarantine: Sequence[str], storage: str
) -> None:
    """Give the records in these files of the quarantine the numbers that they have in their own files.

    The file system is that of the quarantine; `storage` is the address of that in which the files are.
    """
    planned = {each.file.name: each for each in files}
    before: dict[tuple[str, int], int] = {}
    for path in quarantine:
        content = read_bytes(filesystem, path)
        if COUNTED_FROM.encode() not in content:
            continue
        records: list[dict[str, Any]] = [json.loads(line) for line in content.splitlines()]
        for record in records:
            place = (record["File"], record.pop(COUNTED_FROM, 0))
            if place not in before:
                before[place] = _count(planned[place[0]], place[1], storage)
            record["Record"] += before[place]
        write_bytes(filesystem, path, "".join(json.dumps(record) + "\n" for record in records).encode())


def _count(planned: PlannedFile, until: int, storage: str) -> int:
    if not until:
        return 0
    filesystem = open_filesystem(planned.storage or storage)
    if planned.schema.csv is None:  # each line is a record
        return number_of_lines(filesystem, planned.file.path, until)
    return number_of_records(filesystem, planned.file.path, until, planned.schema.csv.dialect.quote)
