"""The datasets of a job: what it reads and writes, under the names that OpenLineage has for files and objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import locations_in

_INPUTS = ("path", "other", "references", "tables")
_COLUMNS_OF_INPUT = ("dedupe",)
"""Jobs whose columns are all those of what they read; others name the ones that they look at."""

_NO_COLUMNS_OF_OUTPUT = ("check", "diff", "summarize")
"""Jobs whose columns, as their records have them, are not those of what they write."""


@dataclass(frozen=True, kw_only=True)
class DatasetFacts:
    """A dataset, with what is known of it."""

    namespace: str
    name: str
    columns: Sequence[tuple[str, str]] = ()
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None


def inputs_of(job: Job, details: Mapping[str, Any], text: Callable[[str], str] = str) -> list[DatasetFacts]:
    """Return what a job reads; `details` are those of its plan or its record, `text` takes secrets out."""
    paths = [str(place) for word in _INPUTS for place in locations_in(job.inputs.get(word))]
    columns = _columns(details.get("Columns")) if job.type in _COLUMNS_OF_INPUT and len(paths) == 1 else ()
    statistics = {"Rows": details.get("RowsIn"), "Bytes": details.get("InputBytes")} if len(paths) == 1 else {}
    tables = {each["Path"]: each for each in details.get("Tables", ()) if isinstance(each, Mapping) and "Path" in each}
    return [_facts(path, text, columns, {**statistics, **tables.get(path, {})}) for path in dict.fromkeys(paths)]


def outputs_of(job: Job, details: Mapping[str, Any], text: Callable[[str], str] = str) -> list[DatasetFacts]:
    """Return what a job writes, with the numbers of its record where it has one."""
    output = job.output
    if output is None:
        return []
    if job.type == "explode" and details.get("Tables"):  # one commit, several tables
        tables = [each for each in details["Tables"] if "Path" in each]
        return [_facts(each["Path"], text, _columns(each.get("Columns")), each) for each in tables]
    columns = () if job.type in _NO_COLUMNS_OF_OUTPUT else _columns(details.get("Columns"))
    rows = details.get("RowsFailed" if job.type == "check" else "RowsOut")
    statistics = {"Rows": rows, "Bytes": details.get("Bytes"), "Files": details.get("Files")}
    found = [_facts(str(output), text, columns, statistics)]
    removed = locations_in(job.outputs.get("removed"))
    return found + [_facts(str(each), text, columns, {"Rows": details.get("RowsRemoved")}) for each in removed]


def dataset_name(place: str) -> tuple[str, str]:
    """Return the namespace and the name of what lies at a place, which is named by its URL; on a disk, by its path."""
    scheme, found, rest = place.partition("://")
    if not found or scheme == "file":
        return "file", rest if found else place
    bucket, _, key = rest.strip("/").partition("/")
    return f"{scheme}://{bucket}", key or "/"


def _facts(
    path: str, text: Callable[[str], str], columns: Sequence[tuple[str, str]], statistics: Mapping[str, Any]
) -> DatasetFacts:
    namespace, name = dataset_name(path)
    fields = [(text(column), kind) for column, kind in columns]
    rows, size, files = (_count(statistics.get(word)) for word in ("Rows", "Bytes", "Files"))
    return DatasetFacts(namespace=text(namespace), name=text(name), columns=fields, rows=rows, bytes=size, files=files)


def _count(value: Any) -> int | None:
    if isinstance(value, list):
        return len(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _columns(value: Any) -> Sequence[tuple[str, str]]:
    if not isinstance(value, list) or not all(isinstance(each, Mapping) and "Type" in each for each in value):
        return ()
    return [(str(each["Name"]), str(each["Type"])) for each in value]
