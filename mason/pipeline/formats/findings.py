"""What all files together say of a table's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

import pyarrow as pa

from mason.engines.metastore.models.schema import Column, SchemaConflict, TypeInFile
from mason.pipeline.storage.files import DataFile
from mason.pipeline.types.column_types import NOTHING, Evidence, decide, merge, mixes_zones, storable
from mason.pipeline.types.number_types import Digits
from mason.pipeline.types.text_types import classify

_FILES_IN_CONFLICT = 10


class FoundColumn:
    """One column as the files show it: all that was seen, and for each type the first file that has it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.files = 0
        self.required = True
        self._seen = NOTHING
        self._last = NOTHING
        self._types: dict[pa.DataType, str] = {}
        self._fractions: tuple[pa.DataType, str] | None = None
        self._details: dict[pa.DataType, Mapping[str, str]] = {}

    def add(
        self,
        seen: Evidence,
        file: str,
        *,
        required: bool = False,
        details: Mapping[str, str] | None = None,
        declared: pa.DataType | None = None,
    ) -> None:
        """Take in what one file shows, or a table, whose type is declared."""
        self.files += 1
        self.required = self.required and required
        if seen is self._last:  # as it nearly always is, in a folder of a thousand files
            return
        self._last = seen
        self._seen = merge(self._seen, seen)
        column_type = declared or decide(seen)
        if declared is None and _are_text_fractions(seen):
            self._fractions = self._fractions or (column_type, file)
            return
        self._types.setdefault(column_type, file)
        if details:
            self._details.setdefault(column_type, details)

    def decide_type(self, timezone: str = "") -> pa.DataType:
        return storable(decide(self._seen, timezone))

    def to_column(self, files: int, *, with_details: bool) -> Column:
        """Return the column as it is in a table of so many files: nullable unless all of them say otherwise."""
        chosen = self.decide_type()
        nullable = not self.required or self.files < files
        return Column(self.name, chosen, nullable, self._details_of(chosen, nullable) if with_details else {})

    def conflict(self, timezone: str = "") -> SchemaConflict | None:
        """Return how the files disagree, if they do.

        Files agree if one has nulls only, or lacks fields of a struct, and if their text merely shows more or fewer
        decimals: how many a sample shows is chance.
        """
        chosen = self.decide_type(timezone)
        types = {each: file for each, file in self._types.items() if not pa.types.is_null(each)}
        if self._fractions:
            example, file = self._fractions
            types.setdefault(example if pa.types.is_string(chosen) else chosen, file)
        if all(_agrees(each, chosen) for each in types):
            return None
        found = [TypeInFile(file, str(each)) for each, file in sorted(types.items(), key=itemgetter(1))]
        return SchemaConflict(self.name, found[:_FILES_IN_CONFLICT], str(chosen))

    def type_of(self, seen: Evidence, timezone: str = "") -> str:
        """Return the type by which a conflict lists a file that shows this."""
        chosen = self.decide_type(timezone)
        if not _are_text_fractions(seen):
            return str(decide(seen))
        return str(self._fractions[0] if self._fractions and pa.types.is_string(chosen) else chosen)

    def with_zone_and_without(self) -> tuple[str, str] | None:
        """Return a file that has times with a zone and one that has times or dates without, if both came together."""
        if not self.mixes_zones():
            return None
        zoned = [file for each, file in self._types.items() if "tz=" in str(each)]
        others = [file for each, file in self._types.items() if "tz=" not in str(each)]
        every = [*self._types.values()]
        return (zoned or every)[0], (others or every)[0]

    def mixes_zones(self) -> bool:
        return mixes_zones(self._seen)

    def _details_of(self, chosen: pa.DataType, nullable: bool) -> Mapping[str, str]:
        known = self._details.get(chosen, _plain_details(chosen))
        return {**known, "RepititionType": "OPTIONAL" if nullable else "REQUIRED"}


def column_from_parquet(name: str, stated: pa.DataType) -> Column:
    """Return a column of a Parquet table that no file showed which was looked at."""
    return Column(name, stated, details={**_plain_details(stated), "RepititionType": "OPTIONAL"})


def _plain_details(chosen: pa.DataType) -> Mapping[str, str]:
    return {"Type": str(chosen), "ConvertedType": "NONE"}


def partition_columns(files: Sequence[DataFile]) -> dict[str, Column]:
    """Return the columns that the folders of all files make, in order of first appearance.

    A value is text in a path, so the rules for text give its type: `year=2024` is a number, `month=01` stays text.
    """
    values: dict[str, dict[str, None]] = {}
    for file in files:
        for key, value in file.partition.items():
            values.setdefault(key, {})[value or ""] = None
    return {key: Column(key, storable(decide(classify(list(seen))))) for key, seen in values.items()}


def _are_text_fractions(seen: Evidence) -> bool:
    digits = [each for each in seen.scalars if isinstance(each, Digits) and not each.are_doubles]
    return len(digits) == len(seen.scalars) and any(each.scale for each in digits)


def _agrees(in_file: pa.DataType, chosen: pa.DataType) -> bool:
    if pa.types.is_null(in_file) or in_file == chosen:
        return True
    if pa.types.is_struct(in_file) and pa.types.is_struct(chosen):
        return all(_agrees(each.type, chosen.field(each.name).type) for each in in_file)
    if pa.types.is_map(in_file) and pa.types.is_map(chosen):
        return _agrees(in_file.key_type, chosen.key_type) and _agrees(in_file.item_type, chosen.item_type)
    if pa.types.is_list(in_file) and pa.types.is_list(chosen):
        return _agrees(in_file.value_type, chosen.value_type)
    return False
