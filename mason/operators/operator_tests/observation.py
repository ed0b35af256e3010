"""What a run did, in a form that can be compared: its response, the tables and files that it wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from mason.engines.storage.models.location import Location
from mason.errors import MasonError
from mason.operators.operator_response import OperatorResponse
from mason.operators.operator_tests.cells import BadCell, arrow_type, read_cell
from mason.operators.operator_tests.scratch import FOLDER, Place, find_changes
from mason.operators.runner import show_result
from mason.pipeline.reading.preview import preview_table
from mason.pipeline.reading.view import view_table
from mason.pipeline.tables.room import COMMITS, ROOMS, room_of

_MOST_ROWS = 1_000_000


@dataclass(frozen=True)
class SeenTable:
    """A table as it was read back: every row, each value as its column's type has it."""

    schema: pa.Schema
    rows: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Observation:
    """All that came of a run."""

    configuration: str
    response: Mapping[str, Any]
    """Errors, Info, Warnings and Data; paths in it are relative to the folder of the test."""
    began: datetime
    ended: datetime
    tables: Mapping[str, SeenTable | str] = field(default_factory=dict)
    """Those that were written or are expected, by their paths; in place of a table the reason why there is none."""
    files: Mapping[str, str | None] = field(default_factory=dict)
    """The text of the other files that were written, by their paths; None for one that is gone."""
    changed: Sequence[str] = ()
    outside: Sequence[str] = ()
    raised_at: Sequence[str] = ()
    ids: Sequence[str] = ()
    """The ids that this run and those before it were given."""

    def messages(self, kind: str) -> Sequence[str]:
        """Return the Errors, Info or Warnings."""
        messages: Sequence[str] = self.response[kind]
        return messages


def relative_response(result: OperatorResponse, place: Place) -> Mapping[str, Any]:
    """Return the JSON form of a response in which paths are relative to the folder of the test."""
    response: Mapping[str, Any] = relative(show_result(result), place)
    return response


def relative(value: Any, place: Place) -> Any:
    """Return a value of JSON in which every path is relative to the folder of the test."""
    if isinstance(value, str):
        return value.replace(f"{place.work}/", "").replace(str(place.work), ".")
    if isinstance(value, Mapping):
        return {relative(name, place): relative(each, place) for name, each in value.items()}
    return [relative(each, place) for each in value] if isinstance(value, list) else value


def read_returned_table(result: OperatorResponse) -> SeenTable | str:
    """Return the rows that a response carries, in its object or in its data."""
    schema, rows = getattr(result.object, "schema", None), getattr(result.object, "rows", None)
    if isinstance(schema, pa.Schema) and rows is not None:
        return _table_of_rows(schema, list(rows))
    for data in result.to_dict()["Data"]:
        if isinstance(data, Mapping) and isinstance(data.get("Rows"), list) and "Columns" in data:
            return _of_json(data["Columns"], data["Rows"])
    return "the response has no rows; to look at a table that was written, say which: table: path"


def _of_json(columns: Sequence[Mapping[str, str]], rows: list[Mapping[str, Any]]) -> SeenTable | str:
    try:
        return _table_of_rows(pa.schema([(each["Name"], arrow_type(each["Type"])) for each in columns]), rows)
    except BadCell as error:
        return f"the rows of the response cannot be read: {error}"


def read_table(path: Path) -> SeenTable | str:
    """Return the table at a path, through its newest commit where it has one."""
    filesystem = pafs.LocalFileSystem()
    try:
        view = view_table(Location(str(path)))
        found = preview_table(filesystem, view, _MOST_ROWS)
    except (MasonError, OSError, pa.ArrowException) as error:
        return f"there is no table: {error}"
    if len(found.rows) == _MOST_ROWS:
        return f"the table has {_MOST_ROWS:,} rows or more, too many for a test"
    return _table_of_rows(found.schema, found.rows)


def _table_of_rows(schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> SeenTable | str:
    kinds = {each.name: each.type for each in schema}
    try:
        typed = [{name: read_cell(row.get(name), kind) for name, kind in kinds.items()} for row in rows]
    except BadCell as error:
        return f"a value does not fit its column: {error}"
    return SeenTable(schema, typed)


def what_changed(
    place: Place, before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[dict[str, SeenTable | str], dict[str, str | None]]:
    """Return the tables and the other files that are new, gone or different."""
    paths = find_changes(before, after)
    tables = sorted({table for path in paths for table in _tables_above(path, after)})
    files = [path for path in paths if FOLDER not in (before.get(path), after.get(path))]
    beside = [path for path in files if f"{ROOMS}/" not in path]
    others = [path for path in beside if not any(path.startswith(f"{table}/") for table in tables)]
    columnar = [
        path for path in others if path in after and PurePosixPath(path).suffix in (".parquet", ".orc", ".avro")
    ]
    seen = {path: read_table(place.work / path) for path in [*tables, *columnar]}
    return seen, {path: read_file(place, path) for path in others if path not in columnar}


def _tables_above(path: str, after: Mapping[str, str]) -> Iterator[str]:
    """What is in the room of a table belongs to it; its former versions are no tables of their own."""
    before, own, inside = path.partition(f"{ROOMS}/")
    if own:
        path = f"{before}{inside.partition('/')[0]}/{inside}"
    above = [str(each) for each in PurePosixPath(path).parents if each.name]
    return (each for each in above if f"{room_of(each)}/{COMMITS}" in after)


def read_file(place: Place, path: str) -> str | None:
    """Return what is in a file, as text; None if there is none."""
    file = place.work / path
    return relative(file.read_bytes().decode(errors="backslashreplace"), place) if file.is_file() else None
