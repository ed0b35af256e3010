"""What a plan has to say of columns that are not as one might expect them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from mason.pipeline.file_warnings import FileWarnings
from mason.pipeline.merge.planned_file import PlannedFile


def absent_columns(given: Mapping[str, pa.DataType], planned: Sequence[PlannedFile]) -> list[str]:
    """Return what is to be said of columns that only the schema has."""
    shown = {name for each in planned for name in (*each.schema.columns, *each.constants)}
    absent = [name for name in given if planned and name not in shown]
    return [f'No file has the column "{name}" of the schema: it is null in every row.' for name in absent]


def text_for_few_values(given: Mapping[str, pa.DataType], planned: Sequence[PlannedFile]) -> list[str]:
    """Return what is to be said of columns that few values make text, unless their type was given."""
    warnings = FileWarnings()
    for each in planned:
        for name, odd in each.schema.odd_values.items():
            if each.renames.get(name, name) not in given:
                warnings.add(each.file.name, odd.describe(name))
    return warnings.lines()
