"""Schemas and columns. Arrow is the canonical type system; the JSON keys are the public ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


LOGICAL_TYPE = "LogicalType"
"""What a column holds, beside how its format stores it."""


@dataclass(frozen=True)
class Column:
    """A named column of a canonical (Arrow) type.

    `details` are the words that a storage format prints besides the name, such as Parquet's `ConvertedType`.
    """

    name: str
    type: pa.DataType
    nullable: bool = True
    details: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        words = {"Name": self.name, **(self.details or {"Type": str(self.type)})}
        # A format that tells how it stores a column leaves open what the column holds; a type alone does not.
        return words if words.keys() <= {"Name", "Type"} else {**words, LOGICAL_TYPE: str(self.type)}


@dataclass(frozen=True)
class Schema:
    """The columns of a table and the format that they were read from (`csv`, `parquet`, `glue` …)."""

    schema_type: str
    columns: Sequence[Column]

    def to_arrow(self) -> pa.Schema:
        import pyarrow as pa

        return pa.schema([pa.field(column.name, column.type, column.nullable) for column in self.columns])

    def to_dict(self) -> dict[str, Any]:
        return {"SchemaType": self.schema_type, "Columns": [column.to_dict() for column in self.columns]}


@dataclass(frozen=True)
class TypeInFile:
    """The type that one file gives a column, and how many values there are of it, where they were counted."""

    file: str
    type: str
    values: int | None = None

    def to_dict(self) -> dict[str, Any]:
        counted = {} if self.values is None else {"Values": self.values}
        return {"File": self.file, "Type": self.type, **counted}


@dataclass(frozen=True)
class SchemaConflict:
    """A column on which files disagree, and the type that holds all their values."""

    column: str
    found: Sequence[TypeInFile]
    chosen: str

    def to_dict(self) -> dict[str, Any]:
        return {"Column": self.column, "Found": [each.to_dict() for each in self.found], "Chosen": self.chosen}

    @property
    def difference(self) -> str:
        """The column, and who has it as what."""
        found = ", ".join(f"{each.type} in {each.file}" for each in self.found)
        if len(self.found) == 1:  # as an object without fields: no table has such a type
            return f'Column "{self.column}" is {found}'
        return f'Column "{self.column}" differs between files ({found})'

    def __str__(self) -> str:
        return f"{self.difference}: taken as {self.chosen}.{self._remedy}"

    @property
    def _remedy(self) -> str:
        """What keeps decimals beside floats numbers: no type is sure to hold both."""
        types = {each.type for each in self.found}
        decimals = [each.type for each in self.found if each.type.startswith("decimal")]
        if self.chosen != "string" or not decimals or not types <= {*decimals, "double", "float"}:
            return ""
        declared = f"{self.column} {decimals[0]}"
        return f' A schema with "{declared}" keeps it a number, and sends what does not fit to the quarantine.'
