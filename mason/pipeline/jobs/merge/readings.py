"""How the files of a merge were read, kept with its commit: a quarantined record is read in the same way again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mason.pipeline.formats.delimited.dialect import Dialect
from mason.pipeline.formats.delimited.reading import CsvReading
from mason.pipeline.jobs.merge.plan import MergePlan
from mason.pipeline.reading.plan.planned_file import PlannedFile


@dataclass(frozen=True)
class Reading:
    """The dialect and the columns of a file."""

    format: str
    csv: CsvReading | None
    columns: tuple[str, ...]

    @classmethod
    def of(cls, planned: PlannedFile) -> Reading:
        schema = planned.schema
        return cls(schema.format, schema.csv, tuple(schema.columns) if schema.format == "csv" else ())

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Reading:
        if "delimiter" in value:  # an older Mason kept nothing else of a dialect
            csv = CsvReading(Dialect(value["delimiter"])) if value["format"] == "csv" else None
        else:
            csv = CsvReading.of(value["csv"]) if value["csv"] else None
        return cls(value["format"], csv, tuple(value["columns"]))


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
    return Reading.from_json(value)
