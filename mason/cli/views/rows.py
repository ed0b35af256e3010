"""Results that are rows, whoever made them: found by their shape, which is that of the public JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mason.util.view import View

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Rows:
    """Rows with the names of their columns, and the types of those where the result says them."""

    columns: Sequence[str]
    values: Sequence[Document]
    types: Mapping[str, str] = field(default_factory=dict)


def find_rows(data: Sequence[Any], view: View | None = None) -> Rows | None:
    """Return the rows that a result consists of, or None where it is something else.

    One that has `Rows` is these, with `Columns` in their order; a list of flat documents, or of documents whose view
    says which columns a list has, is a row for each.
    """
    held = rows_within(data[0]) if len(data) == 1 and isinstance(data[0], Mapping) else None
    if held is not None:
        return held
    if not all(isinstance(each, Mapping) for each in data):
        return None
    if view and view.columns:
        return Rows(view.columns, data)
    is_one_result = len(data) == 1 and view is not None
    if is_one_result or any(isinstance(value, Mapping | list) for each in data for value in each.values()):
        return None
    return Rows(all_keys(data), data)


def rows_within(document: Document) -> Rows | None:
    """Return the rows that a document holds as `Rows`, if it holds any."""
    values = document.get("Rows")
    if not isinstance(values, list) or not all(isinstance(each, Mapping) for each in values):
        return None
    columns: Any = document.get("Columns")
    if not is_columns(columns):
        return Rows(all_keys(values), values)
    types = {each["Name"]: str(each["Type"]) for each in columns if "Type" in each}
    return Rows([each["Name"] for each in columns], values, types)


def is_columns(value: object) -> bool:
    """Say whether this is a list of columns, as every schema writes it."""
    return isinstance(value, list) and all(isinstance(each, Mapping) and "Name" in each for each in value)


def all_keys(documents: Sequence[Document]) -> list[str]:
    """Return every key that one of the documents has, in the order in which they appear."""
    return list(dict.fromkeys(key for each in documents for key in each))
