"""How the files of a merge were read, kept with its commit: a quarantined record is read in the same way again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mason.pipeline.merge.plan import MergePlan
from mason.pipeline.merge.planned_file import PlannedFile


@dataclass(frozen=True)
class Reading:
    """The dialect and the columns of a file."""

    format: str
    delimiter: str
    columns: tuple[str, ...]

    @classmethod
    def of(cls, planned: PlannedFile) -> Reading:
        schema = planned.schema
        return cls(schema.format, schema.delimiter, tuple(schema.columns) if schema.format == "csv" else ())


def readings(plan: MergePlan) -> Mapping[str, Any]:
    """Return the ways in which files were read, and for each file which of them: most share one."""
    numbers: dict[Reading, int] = {}
    files = {
        each.file.name: numbers.setdefault(Reading.of(each), len(numbers)) for each in plan.files if each.is_source
    }
    return {"readings": [asdict(each) for each in numbers], "read_by": files}


def reading_of(details: Mapping[str, Any], file: str) -> Reading | None:
    """Return how a file was read, by the details of a commit."""
    if file not in details.get("read_by", {}):
        return None
    value = details["readings"][details["read_by"][file]]
    return Reading(value["format"], value["delimiter"], tuple(value["columns"]))
