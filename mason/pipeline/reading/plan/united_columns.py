"""What all files of a merge together say of its columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce

import pyarrow as pa

from mason.engines.storage.models.location import Location
from mason.pipeline.formats.findings import FoundColumn
from mason.pipeline.reading.plan.base import BaseTable
from mason.pipeline.reading.plan.patterns import check_patterns
from mason.pipeline.reading.plan.planned_file import PlannedFile
from mason.pipeline.types.column_types import NOTHING, Evidence, merge
from mason.pipeline.types.text_types import classify

THE_TABLE = "the table"


def unite_columns(
    planned: Sequence[PlannedFile], table: Mapping[str, Evidence], base: BaseTable | None
) -> dict[str, FoundColumn]:
    """Return the columns as the files show them, and those of the table that they are added to, where it has a say."""
    columns: dict[str, FoundColumn] = {}
    for each in planned:
        for name in {**each.schema.columns, **each.beyond_sample}:
            if name not in each.constants:  # what the folder says wins over the file
                columns.setdefault(name, FoundColumn(name)).add(each.find_evidence(name), each.file.name)
    for name, seen in folder_evidence(planned).items():
        if name in columns or name in table:
            first = next(each.file.name for each in planned if name in each.constants)
            columns.setdefault(name, FoundColumn(name)).add(seen, first)
    for name, seen in table.items():
        declared = base.schema.field(name).type if base else None
        columns.setdefault(name, FoundColumn(name)).add(seen, THE_TABLE, declared=declared)
    return columns


def settle_base(
    output: Location,
    base: BaseTable | None,
    given: Collection[str],
    planned: Sequence[PlannedFile],
) -> BaseTable | None:
    """Return the table that files are added to, with how long its decimals are, where they meet floats.

    Raises:
        PlanRefused: text of the files would be read otherwise than what is in the table.
    """
    if base is None:
        return None
    check_patterns(base, given, planned)
    decimals = [field.name for field in base.schema if pa.types.is_decimal(field.type) and field.name not in given]
    meet = [name for name in decimals if any(_has_floats(each, name) for each in planned)]
    return base.with_digits(output, meet) if meet and base.commit.format == "parquet" else base


def _has_floats(file: PlannedFile, name: str) -> bool:
    own = next((old for old, new in file.renames.items() if new == name), name)
    scalars = file.schema.columns.get(own, NOTHING).scalars
    return any(isinstance(each, pa.DataType) and pa.types.is_floating(each) for each in scalars)


def unite_evidence(
    planned: Sequence[PlannedFile], given: Mapping[str, pa.DataType], base: BaseTable | None
) -> Mapping[str, Evidence]:
    """What is known of each column: the table's, the files', what only the schema has, the folders', in this order.

    A schema that names every column of the files says by that how they are to stand, too.
    """
    known = dict(base.evidence) if base else {}
    from_files = {name: None for each in planned for name in each.schema.columns if name not in each.constants}
    from_folders = folder_evidence(planned)
    united = {
        name: reduce(merge, (e.schema.columns.get(name, NOTHING) for e in planned if name not in e.constants), NOTHING)
        for name in from_files
    }
    first, then = (given, from_files) if from_files.keys() <= given.keys() else (from_files, given)
    own = [name for name in (*first, *then) if name not in from_folders]
    names = dict.fromkeys([*known, *own, *from_folders])
    everything = (known, united, from_folders)
    return {name: reduce(merge, (each.get(name, NOTHING) for each in everything), NOTHING) for name in names}


def folder_evidence(planned: Sequence[PlannedFile]) -> dict[str, Evidence]:
    """A value is text in a path, so the rules for text give its type: `year=2024` is a number, `month=01` is text."""
    values: dict[str, dict[str, None]] = {}
    for each in planned:
        for name, value in each.constants.items():
            values.setdefault(name, {})[value or ""] = None
    return {name: classify([value for value in seen if value]) for name, seen in values.items()}
