"""What an explode will read, and which tables it will write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from mason.engines.storage.models.location import Location
from mason.errors import BadPath
from mason.pipeline.jobs.explode.job import ExplodeJob
from mason.pipeline.jobs.explode.json_text import find_texts, is_worth_it, type_of_evidence
from mason.pipeline.jobs.explode.shape import FlatTable, Form, Path, describe_path, flat_tables
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.reading.preview import preview_table
from mason.pipeline.reading.request import ReadOptions, choose_columns
from mason.pipeline.reading.scan import Scan, plan_scan
from mason.pipeline.reading.view import TableView
from mason.pipeline.storage.address import open_filesystem
from mason.pipeline.tables.commit import open_table
from mason.pipeline.tables.foreign_files import list_names
from mason.pipeline.tables.room import OWN_FOLDER
from mason.pipeline.types.column_types import NOTHING, Evidence, merge
from mason.pipeline.work.output_place import check_output, overlap
from mason.pipeline.work.record_parts import describe_columns, where_given

SAMPLE = 1_000
MOST_TABLES = 500


@dataclass(frozen=True)
class ExplodePlan:
    """The scan, and what it showed of texts that hold JSON."""

    job: ExplodeJob
    scan: Scan
    texts: Mapping[Path, Evidence]

    @property
    def form(self) -> Form:
        held = {path: type_of_evidence(seen) for path, seen in self.texts.items() if is_worth_it(seen)}
        return Form(self.job.name, self.job.separator, self.job.columns, held)

    @property
    def tables(self) -> Sequence[FlatTable]:
        return flat_tables(self.scan.schema, self.form)

    @property
    def warnings(self) -> Iterator[str]:
        yield from self.scan.warnings
        yield from self.warnings_of_form

    @property
    def warnings_of_form(self) -> Iterator[str]:
        """What is odd about the tables that come out."""
        tables = self.tables
        for table in tables:
            for name, wanted in table.renamed.items():
                yield f'Table "{table.name}" has two columns "{wanted}": one of them is called "{name}".'
        for name in self.job.columns:
            if not pa.types.is_nested(self.scan.schema.field(name).type) and (name,) not in self.form.texts:
                yield f'Column "{name}" has nothing to be taken apart: it stays as it is.'
        if not self.job.columns and len(tables) == 1 and tables[0].schema.equals(self.scan.schema):
            yield f"Nothing in {self.job.path} is nested: it is the same table again."

    def widen_with(self, seen: Mapping[Path, Evidence]) -> ExplodePlan:
        """Return the plan with what texts turned out to hold."""
        texts = {path: merge(self.texts[path], seen.get(path, NOTHING)) for path in self.texts}
        return replace(self, texts=texts)

    def to_dict(self) -> dict[str, Any]:
        document = self.scan.to_dict()
        rows = [document.get("RowsIn")] + [None] * (len(self.tables) - 1)
        tables = [table_dict(table, self.job.output) for table in self.tables]
        document["Tables"] = [
            table if count is None else {**table, "Rows": count} for table, count in zip(tables, rows, strict=True)
        ]
        document["JsonTexts"] = list(map(describe_path, self.form.texts))
        return {**document, **where_given({"Output": str(self.job.output or "")})}


def table_dict(table: FlatTable, output: Location | None) -> dict[str, Any]:
    """Return a flat table as the user sees it."""
    return {
        "Name": table.name,
        **where_given({"Path": str(output.child(table.folder)) if output else ""}),
        "Columns": describe_columns(table.schema),
    }


def plan_explode(job: ExplodeJob) -> ExplodePlan:
    """Look at the table, and for JSON into its texts.

    Raises:
        PathNotFound, NoData: there is nothing to be taken apart.
        NoSuchColumn: a column that was named is not there.
        PlanRefused: it would be more tables than a task can write at once.
        BadPath: the output lies inside the input, or the other way round.
    """
    _check_places(job)
    # Rows that are shown without a run must have been looked at, or they need not fit.
    looked_at = SAMPLE if job.output else max(SAMPLE, job.limit)
    scan = plan_scan(job.path, options=None if job.output else ReadOptions(sample=looked_at))
    named = choose_columns(scan.schema, job.columns)
    plan = ExplodePlan(job, scan, find_texts(named, sample_rows(scan, named.names, looked_at)))
    if len(plan.tables) > MOST_TABLES:
        raise PlanRefused(
            [f"{job.path} has {len(plan.tables) - 1:,} lists, and each would be a table: {MOST_TABLES} are the most."],
            hint='Name the columns to be taken apart ("columns"); the others stay as they are.',
        )
    return plan


def sample_rows(scan: Scan, columns: Iterable[str], limit: int) -> Sequence[dict[str, Any]]:
    """Return the first rows of a table."""
    filesystem = open_filesystem(scan.location.storage)
    return preview_table(filesystem, TableView(scan.plan, scan.commit), limit, list(columns)).rows


def _check_places(job: ExplodeJob) -> None:
    if job.output is None:
        return
    if overlap(job.path, job.output):
        raise BadPath(
            f"The output {job.output} and the input {job.path} lie one in the other.",
            hint="Give the tables a folder of their own.",
        )
    check_output([], job.output, job.foreign)
    _check_database(job.output, job.foreign)


def _check_database(output: Location, foreign: str) -> None:
    """See that nothing is where the tables are going to be but what an explode has put there.

    Raises:
        BadPath: there is.
    """
    table = open_table(output, foreign)
    current = table.current()
    if current and not current.child_folders:
        raise BadPath(f"{output} is a table already.", hint="Give the tables a folder of their own.")
    found = table.strangers()
    tables = current.child_folders if current else ()
    folders = (f"{OWN_FOLDER}/", *(f"{each}/" for each in tables))  # entries of a catalog may be there
    others = [name for name in (*found.data, *found.others) if not name.startswith(folders)]
    if others:
        raise BadPath(
            f"{output} becomes a folder with a table in each of its folders, and holds other things: "
            f"{list_names(others)}.",
            hint="Give the tables a folder of their own.",
        )
