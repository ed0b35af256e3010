"""`table diff` as a job: what it is asked, what it would read, and what it found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Annotated, Any

import pyarrow as pa

from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.diff.schemas import SchemaDiff, schema_diff
from mason.pipeline.jobs.query.inputs import ReadyTable, TableInput, prepare_table
from mason.pipeline.reading.preview import Preview
from mason.pipeline.reading.request import choose_columns, refuse_own_names
from mason.pipeline.reading.scan import Scan, plan_scan
from mason.pipeline.reading.tasks.sinks import table_spec
from mason.pipeline.sql.query import Output, SqlQuery, SqlTable, fetch_rows, quote_identifier, write_rows
from mason.pipeline.storage.scratch import scratch_folder
from mason.pipeline.tables.versions import find_version
from mason.pipeline.types.evidence_json import encode_schema
from mason.pipeline.types.python_values import python_rows
from mason.pipeline.work.base import Outcome, Progress, Work
from mason.pipeline.work.request import INPUT, OPTIONS, JobRequest
from mason.pipeline.work.row_sums import RowsLost
from mason.pipeline.work.tasks import TaskRunner
from mason.util.words import counted

_BEFORE, _AFTER, _DIFFERENCE = "_mason_before", "_mason_after", "_mason_difference"
_MORE = "_mason_more"
"""How many times more a row is in the table after than in the one before; less than none if it is the other way."""
_CAME, _WENT = "_mason_came", "_mason_went"
_SO_FAR, _OTHERS = "_mason_so_far", "_mason_others"
"""Of the rows of a key: those that came, or went, up to this one; and all that went the other way."""
_BEFORE_IT = f"{_SO_FAR} - {_CAME} - {_WENT}"
_OWN_COLUMNS = {_MORE, _CAME, _WENT, _SO_FAR, _OTHERS}


@dataclass(frozen=True)
class DiffOptions:
    """Versions of the tables, by number or commit; the newest by default. Rows of one key are one row, changed."""

    version: str = ""
    other_version: str = ""
    keys: Sequence[str] = ()
    limit: int = 5


@dataclass(frozen=True)
class DiffJob(JobRequest):
    """Hold two tables against each other: the one at a path, before, and the other, after."""

    type = "diff"
    path: Annotated[Location, INPUT]
    other: Annotated[Location, INPUT]
    options: Annotated[DiffOptions, OPTIONS] = field(default_factory=DiffOptions)


@dataclass(frozen=True)
class DiffWork(Work):
    """A diff that is planned."""

    job: DiffJob
    before: TableInput
    after: TableInput
    schemas: SchemaDiff

    @classmethod
    def plan(cls, job: Job) -> DiffWork:
        """Look at both tables.

        Raises:
            NotFound, VersionGone: there is no such version.
            NothingToCompare: they have no column in common.
            NoSuchColumn: a key is not a column of both.
            OwnName: a column is called as one that counts the rows.
        """
        diff = DiffJob.of(job)
        before = _scan(diff.path, diff.options.version)
        after = _scan(diff.other, diff.options.other_version)
        schemas = schema_diff(before.schema, after.schema)
        refuse_own_names(pa.schema([schemas.before.field(name) for name in schemas.compared]), _OWN_COLUMNS)
        choose_columns(pa.schema([schemas.before.field(name) for name in schemas.compared]), diff.options.keys)
        inputs = (TableInput(_BEFORE, before, schemas.compared), TableInput(_AFTER, after, schemas.compared))
        return cls(diff, *inputs, schemas)

    @property
    def amounts(self) -> Sequence[str]:
        return ["2 tables", f"{sum(self.task_bytes):,} bytes"]

    @property
    def warnings(self) -> Iterable[str]:
        yield from self.before.scan.warnings
        yield from self.after.scan.warnings
        for name in self.schemas.not_compared:
            yield f'Column "{name}" is not compared: its values cannot be held against each other.'

    @property
    def task_bytes(self) -> Sequence[int]:
        return [self.before.scan.input_bytes, self.after.scan.input_bytes]

    def to_dict(self) -> dict[str, Any]:
        return {
            "Before": _describe_table(self.before),
            "After": _describe_table(self.after),
            "Keys": list(self.job.options.keys),
            "Schema": self.schemas.to_dict(),
            "Compared": list(self.schemas.compared),
        }

    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> DiffResult:
        """Find what differs: one pass over both tables, and then only over what it found.

        Raises:
            RowsLost: the rows before, with those added and without those removed, are not the rows after.
        """
        with ExitStack() as stack:
            before = prepare_table(self.before, runner, job_id, progress, stack)
            after = prepare_table(self.after, runner, f"{job_id}a", progress, stack)
            scratch = stack.enter_context(scratch_folder(self.job.path))
            difference = self._find(before, after, runner, job_id, scratch)
            (counts,) = self._ask(runner, difference, self._counts())
            result = DiffResult(
                work=self, before=before, after=after, counts=counts, samples=self._samples(runner, difference)
            )
        _check(result)
        return result

    def _find(
        self, before: ReadyTable, after: ReadyTable, runner: TaskRunner, job_id: str, scratch: Location
    ) -> SqlTable:
        """Write the rows that one table has more often than the other, and how many times more."""
        columns = ", ".join(map(quote_identifier, self.schemas.compared))
        statement = f"""
            SELECT {columns}, SUM({_MORE}) AS {_MORE} FROM (
                SELECT {self.schemas.select_columns(self.schemas.before)}, CAST(-1 AS BIGINT) AS {_MORE} FROM {_BEFORE}
                UNION ALL
                SELECT {self.schemas.select_columns(self.schemas.after)}, CAST(1 AS BIGINT) AS {_MORE} FROM {_AFTER}
            ) GROUP BY {columns} HAVING SUM({_MORE}) <> 0"""  # noqa: S608 (all names are quoted)
        tables = [before.sql_table(), after.sql_table()]
        query = SqlQuery(statement=statement, tables=tables, output=Output(table_spec(), scratch, job_id))
        files = [f"{scratch.path}/{path}" for piece in write_rows(runner, query) for path in piece.files]
        fields = [(name, self.schemas.common_type(name)) for name in self.schemas.compared]
        schema = encode_schema(pa.schema([*fields, (_MORE, pa.int64())]))
        return SqlTable(name=_DIFFERENCE, path=scratch.path, storage=scratch.storage, files=files, schema=schema)

    def _counts(self) -> str:
        added, removed = f"greatest({_MORE}, 0)", f"greatest(-{_MORE}, 0)"
        rows = f"SELECT {added} AS a, {removed} AS r FROM {_DIFFERENCE}"  # noqa: S608
        if self.job.options.keys:
            keys = ", ".join(map(quote_identifier, self.job.options.keys))
            rows = f"SELECT SUM({added}) AS a, SUM({removed}) AS r FROM {_DIFFERENCE} GROUP BY {keys}"  # noqa: S608
        changed = "SUM(least(a, r))" if self.job.options.keys else "CAST(0 AS BIGINT)"
        counts = {"added": "SUM(a)", "removed": "SUM(r)", "changed": changed}
        columns = ", ".join(f"CAST(COALESCE({value}, 0) AS BIGINT) AS {name}" for name, value in counts.items())
        return f"SELECT {columns} FROM ({rows})"  # noqa: S608

    def _samples(self, runner: TaskRunner, difference: SqlTable) -> Mapping[str, Sequence[Any]]:
        """Return some rows of each kind, always the same ones."""
        limit, keys = self.job.options.limit, self.job.options.keys
        if not limit:
            return {"Added": [], "Removed": [], **({"Changed": []} if keys else {})}
        order = ", ".join(map(quote_identifier, [*keys, *self.schemas.compared]))
        if not keys:
            return {
                kind: _without_count(self._ask(runner, difference, _rows_where(f"{_MORE} {sign} 0", order, limit)))
                for kind, sign in (("Added", ">"), ("Removed", "<"))
            }
        kinds = {
            "Added": f"{_MORE} > 0 AND {_SO_FAR} > {_OTHERS}",
            "Removed": f"{_MORE} < 0 AND {_SO_FAR} > {_OTHERS}",
            "Changed": f"{_BEFORE_IT} < {_OTHERS}",
        }
        # So many rows of each side come before one: of the first 2 * limit in this order, the first `limit` are paired.
        in_pairs = ", ".join([*map(quote_identifier, keys), _BEFORE_IT])
        orders = {"Added": order, "Removed": order, "Changed": in_pairs}
        rows = {
            kind: self._ask(
                runner, difference, _rows_where(condition, orders[kind], 2 * limit, f"({self._query_with_pairs()})")
            )
            for kind, condition in kinds.items()
        }
        return {
            "Added": _without_count(rows["Added"])[:limit],
            "Removed": _without_count(rows["Removed"])[:limit],
            "Changed": _changes(rows["Changed"], keys, limit)[:limit],
        }

    def _query_with_pairs(self) -> str:
        """The difference, with what says how many rows of a key that came have one that went to be paired with."""
        keys = ", ".join(map(quote_identifier, self.job.options.keys))
        rows = ", ".join(map(quote_identifier, self.schemas.compared))
        ways = f"SELECT *, greatest({_MORE}, 0) AS {_CAME}, greatest(-{_MORE}, 0) AS {_WENT} FROM {_DIFFERENCE}"  # noqa: S608
        way = f"PARTITION BY {keys}, {_MORE} > 0 ORDER BY {rows} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
        came, went = (f"SUM({column}) OVER (PARTITION BY {keys})" for column in (_CAME, _WENT))
        so_far = f"SUM({_CAME}) OVER ({way}) + SUM({_WENT}) OVER ({way})"
        others = f"CASE WHEN {_MORE} > 0 THEN {went} ELSE {came} END"
        return f"SELECT *, {so_far} AS {_SO_FAR}, {others} AS {_OTHERS} FROM ({ways})"  # noqa: S608

    def _ask(self, runner: TaskRunner, difference: SqlTable, statement: str) -> list[dict[str, Any]]:
        return python_rows(fetch_rows(runner, SqlQuery(statement=statement, tables=[difference])))


@dataclass(frozen=True, kw_only=True)
class DiffResult(Outcome):
    """How two tables differ."""

    work: DiffWork
    before: ReadyTable
    after: ReadyTable
    counts: Mapping[str, int]
    samples: Mapping[str, Sequence[Any]]

    @property
    def added(self) -> int:
        return self.counts["added"] - self.counts["changed"]

    @property
    def removed(self) -> int:
        return self.counts["removed"] - self.counts["changed"]

    @property
    def changed(self) -> int:
        return self.counts["changed"]

    @property
    def same(self) -> int:
        return self.before.rows - self.counts["removed"]

    @property
    def summary(self) -> str:
        changed = f", {self.changed:,} changed" if self.work.job.options.keys else ""
        return f"{counted(self.same, 'row')} the same, {self.added:,} added, {self.removed:,} removed{changed}."

    @property
    def warnings(self) -> Iterable[str]:
        return [*self.before.warnings, *self.after.warnings]

    @property
    def preview(self) -> Mapping[str, Any]:
        """Some rows, which are shown and not kept."""
        return {"Samples": self.samples}

    def picture(self, width: int) -> list[str]:
        """Return some of the rows, with what became of them."""
        schemas = self.work.schemas
        lines = [f"+ {name} {schemas.after.field(name).type}" for name in schemas.added]
        lines += [f"- {name} {schemas.before.field(name).type}" for name in schemas.removed]
        lines += [
            f"~ {name} {schemas.before.field(name).type} → {schemas.after.field(name).type}" for name in schemas.changed
        ]
        rows = [{"": "+", **row} for row in self.samples["Added"]]
        rows += [{"": "-", **row} for row in self.samples["Removed"]]
        for change in self.samples.get("Changed", ()):
            rows += [{"": "~ -", **change["Before"]}, {"": "~ +", **change["After"]}]
        fields = [pa.field("", pa.string()), *(schemas.before.field(name) for name in schemas.compared)]
        return [*lines, *(Preview(pa.schema(fields), rows).picture(width) if rows else [])]

    def to_dict(self) -> dict[str, Any]:
        document = {
            **self.work.to_dict(),
            "RowsIn": self.before.rows + self.after.rows,
            "RowsBefore": self.before.rows,
            "RowsAfter": self.after.rows,
            "RowsSame": self.same,
            "RowsAdded": self.added,
            "RowsRemoved": self.removed,
        }
        return {**document, "RowsChanged": self.changed} if self.work.job.options.keys else document


def _check(result: DiffResult) -> None:
    expected = result.before.rows + result.counts["added"] - result.counts["removed"]
    if expected != result.after.rows:
        raise RowsLost(
            f"{result.before.rows:,} rows before, {result.counts['added']:,} added and {result.counts['removed']:,} "
            f"removed do not make the {result.after.rows:,} rows after.",
            hint="This is a defect of Mason: please report it.",
        )


def _scan(place: Location, version: str) -> Scan:
    if not version:
        return plan_scan(place)
    found = find_version(place, version)
    return plan_scan(place, commit=found.commit)


def _describe_table(table: TableInput) -> dict[str, Any]:
    return {name: value for name, value in table.to_dict().items() if name not in ("Name", "Columns")}


def _rows_where(condition: str, order: str, limit: int, source: str = _DIFFERENCE) -> str:
    return f"SELECT * FROM {source} WHERE {condition} ORDER BY {order}, {_MORE} LIMIT {limit}"  # noqa: S608


def _without_count(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in _OWN_COLUMNS} for row in rows]


def _changes(rows: Sequence[Mapping[str, Any]], keys: Sequence[str], limit: int) -> list[dict[str, Any]]:
    """Pair the rows of each key: one that went, and one that came; of a row that is there several times, each."""
    found: dict[str, tuple[list[Any], list[Any]]] = {}
    for row, plain in zip(rows, _without_count(rows), strict=True):
        before, after = found.setdefault(repr([_as_grouped(row[key]) for key in keys]), ([], []))
        side = after if row[_MORE] > 0 else before
        side += [plain] * min(abs(row[_MORE]), limit)
    return [
        {"Key": {key: before[key] for key in keys}, "Before": before, "After": after}
        for befores, afters in found.values()
        for before, after in zip(befores, afters, strict=False)
    ]


def _as_grouped(value: Any) -> Any:
    """A value of a key as SQL groups it: -0.0 is 0.0."""
    if isinstance(value, Mapping):
        return {name: _as_grouped(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_as_grouped(each) for each in value]
    return value + 0.0 if isinstance(value, float) else value
