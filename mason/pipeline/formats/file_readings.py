"""How files are read, told: what was guessed of each of them, and what its first records are by that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mason.errors import NotFound
from mason.pipeline.formats.delimited.headers import Header
from mason.pipeline.formats.file_schema import FileSchema
from mason.pipeline.types.column_types import decide, storable

_FILES_NAMED = 20


def describe_readings(schemas: Mapping[str, FileSchema], *, with_records: bool = True) -> list[dict[str, Any]]:
    """Return the ways in which files are read, each with its files; most files of a table share one.

    What stands in the files is for who asks for a plan, not for the records of jobs.
    """
    ways: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for name, schema in schemas.items():
        way = _way(schema)
        ways.setdefault(repr(way), (way, []))[1].append(name)
    return [
        {
            "Files": names[:_FILES_NAMED],
            "FilesInAll": len(names),
            **way,
            "RecordsInSample": sum(schemas[name].rows for name in names),
            **(_first_records(schemas[names[0]]) if with_records else {}),
        }
        for way, names in ways.values()
    ]


def explain_file(name: str, schemas: Mapping[str, FileSchema]) -> dict[str, Any]:
    """Return all that is known of how one file is read.

    Raises:
        NotFound: there is no such file among those that are read.
    """
    if name not in schemas:
        known = ", ".join(list(schemas)[:3])
        raise NotFound(f'"{name}" is not among the files that are read.', hint=f"Those are named as in {known}.")
    schema = schemas[name]
    return {
        "File": name,
        **_way(schema),
        "Columns": [{"Name": column, "Type": str(storable(decide(seen)))} for column, seen in schema.columns.items()],
        "RecordsInSample": schema.rows,
        "IsComplete": schema.complete,
        **_first_records(schema),
        "Remarks": list(schema.warnings),
    }


def _way(schema: FileSchema) -> dict[str, Any]:
    if schema.sheets:
        details = {"Sheets": [part.sheet for part in schema.sheets], "FirstRow": schema.sheets[0].first_row + 1}
        return {"Format": schema.format, **details, "HeaderIs": _how_sure(schema.guess)}
    if schema.csv is None:
        return {"Format": schema.format, **(_describe_encoding(schema) if schema.encoding else {})}
    reading, dialect = schema.csv, schema.csv.dialect
    way: dict[str, Any] = {
        "Format": schema.format,
        "Delimiter": "" if dialect.widths else dialect.delimiter,
        "Quote": dialect.quote,
        "Header": reading.header,
        "HeaderIs": _how_sure(schema.guess),
        **_describe_encoding(schema),
        "SkippedLines": reading.skip_rows,
    }
    others = {
        "Widths": list(dialect.widths),
        "Escape": dialect.escape,
        "Comment": dialect.comment,
        "SpacesBehindDelimiters": dialect.pads,
        "DelimiterAtTheEnd": reading.surplus,
        "SkippedFooterLines": reading.skip_footer,
        "RepeatedHeader": reading.repeats,
    }
    return {**way, **{key: value for key, value in others.items() if value}}


def _describe_encoding(schema: FileSchema) -> dict[str, str]:
    return {"Encoding": schema.encoding, **({"EncodingIs": "guessed"} if schema.encoding_guessed else {})}


def _how_sure(guess: Header) -> str:
    if guess is Header.GIVEN:
        return "given"
    return "guessed" if guess in (Header.SURE, Header.NONE) else "guessed, not sure"


def _first_records(schema: FileSchema) -> dict[str, Any]:
    if schema.csv is None:
        return {}
    return {"ColumnNames": list(schema.columns), "FirstRecords": [list(row) for row in schema.first_records]}
