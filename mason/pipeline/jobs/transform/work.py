"""A transformation as a job of an engine: planned by its tables and its text, staged, counted, checked, published."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from mason.engines.execution.models.job import Job
from mason.engines.storage.models.location import Location
from mason.errors import BadPath, MasonError, UnsupportedConfiguration
from mason.pipeline.jobs.query.inputs import TableInput, prepare_table
from mason.pipeline.jobs.table_output import TableOutput
from mason.pipeline.jobs.transform.failures import BadTransform, OwnCodeFailed, told_in_file
from mason.pipeline.jobs.transform.job import CodeFolder, TransformJob
from mason.pipeline.jobs.transform.outcome import TransformOutcome
from mason.pipeline.jobs.transform.packages import KERNEL as PACKAGES_KERNEL
from mason.pipeline.jobs.transform.publishing import NewVersion, check_columns_of
from mason.pipeline.reading.scan import Scan, plan_scan
from mason.pipeline.reading.tasks.sinks import table_spec
from mason.pipeline.sql.engine_types import sql_schema
from mason.pipeline.sql.own_statement import find_column_problems, list_tables_read
from mason.pipeline.sql.query import Output, OwnCode, SqlQuery, SqlTable, fetch_rows, write_counted
from mason.pipeline.sql.statement import Statement, read_statement
from mason.pipeline.tables.commit import open_table
from mason.pipeline.tables.versions import find_version
from mason.pipeline.types.evidence_json import encode_schema
from mason.pipeline.types.python_values import from_typed
from mason.pipeline.work.base import Progress, Work
from mason.pipeline.work.output_place import check_output, is_same_place, overlap
from mason.pipeline.work.record_parts import Column, describe_columns, where_given
from mason.pipeline.work.tasks import TaskRunner, running
from mason.util.words import counted

SQL_FILE = "transform.sql"


@dataclass(frozen=True, kw_only=True)
class TransformWork(Work):
    """A transformation that is planned, with its tables at hand."""

    job: TransformJob
    inputs: Sequence[TableInput]
    statement: Statement | None = None
    code: OwnCode | None = None
    columns: pa.Schema | None = None
    """The columns of the result, once an engine has told them."""
    unknown: str = ""
    """Why nobody knows them before the run."""

    @classmethod
    def plan(cls, job: Job) -> TransformWork:
        """Look at the tables, and at the text where there is one; no code of the author's runs.

        Raises:
            BadTransform: the statement names what is not there, with every place in its file.
            BadPath: a table that is written is read as well, or lies inside of one that is.
            NotFound: a version of a table is not there any more.
        """
        asked = TransformJob.of(job)
        for name, place in asked.places.items():
            if is_same_place(place, asked.output):
                said = f'The table that is written, {asked.output}, is the one that is read as "{name}".'
                raise BadPath(said, hint="Give the output a place of its own.")
        check_output([*asked.places.values(), *asked.references.values()], asked.output)
        if asked.failures:
            _check_failures(asked, asked.failures)
        statement = read_statement(asked.statement) if asked.statement else None
        wanted = asked.places
        if statement:
            read = list_tables_read(statement)
            wanted = {name: place for name, place in wanted.items() if name.casefold() in read}
        scans = {name: _scan(asked, name, place) for name, place in wanted.items()}
        if statement:
            _check_statement(asked, statement, {name: scan.schema for name, scan in scans.items()})
        return cls(
            job=asked,
            inputs=[TableInput(name, scan) for name, scan in scans.items()],
            statement=statement,
            code=_read_code(asked, asked.code) if asked.code else None,
        )

    def check_here(self) -> None:
        """Check that this process gives the answer that Spark would give.

        Raises:
            UnsupportedConfiguration: the code works with DataFrames.
            BadQuery: the statement has a part of which this process cannot promise that.
        """
        if self.statement is None:
            said = f"{self.job.name} works with DataFrames, which are Spark's."
            raise UnsupportedConfiguration(said, hint="Use a configuration with execution_engine: spark.")
        from mason.pipeline.sql.local.translation import translate_statement  # of no use to those who ask Spark

        schemas = {each.name: sql_schema(each.scan.schema) for each in self.inputs}
        with told_in_file(self.file):
            translate_statement(self.statement.text, self._values, schemas)

    def analyse(self, runner: TaskRunner) -> TransformWork:
        """Return the plan with the columns of the result, as the engine finds them on tables without rows."""
        tables = [_without_rows(each.name, each.scan) for each in self.inputs]
        try:
            with told_in_file(self.file):
                found = fetch_rows(runner, replace(self._query(tables), analyses=True)).schema
        except OwnCodeFailed as error:
            return replace(self, unknown=str(error))
        check_columns_of(found, self.job, open_table(self.job.output).current())
        return replace(self, columns=found)

    @property
    def file(self) -> str:
        """The file of the statement; "" where there is none."""
        return f"{self.job.source}/{SQL_FILE}" if self.statement else ""

    @property
    def amounts(self) -> Sequence[str]:
        files = sum(len(each.scan.plan.files) for each in self.inputs)
        return [counted(len(self.inputs), "table"), counted(files, "file"), f"{sum(self.task_bytes):,} bytes"]

    @property
    def warnings(self) -> Iterable[str]:
        yield from (f"{each.name}: {warning}" for each in self.inputs for warning in each.scan.warnings)
        if self.unknown:
            yield f"The columns of the result are not known before the run, since on tables without rows {self.unknown}"

    @property
    def task_bytes(self) -> Sequence[int]:
        return [each.scan.input_bytes for each in self.inputs]

    @property
    def output_columns(self) -> Sequence[Column]:
        return list(self.columns) if self.columns is not None and self.job.mode == "replace" else ()

    def to_dict(self) -> dict[str, Any]:
        job = self.job
        document: dict[str, Any] = {
            "Operator": job.name,
            "Tables": [_describe_input(each) for each in self.inputs],
            "FilesRead": sum(len(each.scan.plan.files) for each in self.inputs),
            "BytesRead": sum(self.task_bytes),
            "Output": str(job.output),
            "Mode": str(job.mode),
        }
        given = {
            "PartitionBy": list(job.partition_by),
            "Checks": [each.to_dict() for each in job.checks],
            "Failures": str(job.failures or ""),
            "Columns": describe_columns(self.columns) if self.columns is not None else [],
            "ColumnsUnknown": self.unknown,
        }
        return {**document, **where_given(given)}

    def run(self, runner: TaskRunner, job_id: str, progress: Progress) -> TransformOutcome:
        """Have the rows made and written aside, hold them against the counts and the checks, and publish them.

        Raises:
            RowsLost: the files do not hold the rows that were handed over.
            BadTransform, OwnCodeFailed: the code or its result cannot be used.
            Conflict: another job committed to the table meanwhile.
        """
        job = self.job
        self._check_packages(runner)
        output = TableOutput.of(job.output)
        with ExitStack() as stack:
            ready = [
                prepare_table(each, runner, f"{job_id}i{number}", progress, stack, job.output)
                for number, each in enumerate(self.inputs)
            ]
            query = self._query([each.sql_table() for each in ready])
            staged = stack.enter_context(output.stage(job_id))
            target = Output(table_spec(job.partition_by), staged.location, job_id)
            with told_in_file(self.file):
                written = write_counted(runner, replace(query, output=target, observes=True))
                schema = next((piece.schema for piece in written.pieces if piece.schema), "")
                schema = schema or encode_schema(fetch_rows(runner, replace(query, analyses=True)).schema)
            version = NewVersion(job=job, work=self, staged=staged, written=written, schema=schema)
            return version.publish(ready, runner, progress)

    def details(self) -> Mapping[str, Any]:
        """Return what the commit keeps of how it was made."""
        versions = {each.name: each.scan.commit.id for each in self.inputs if each.scan.commit}
        return {"transform": {"operator": self.job.name, "digest": self.job.digest, "inputs": versions}}

    @property
    def _values(self) -> Mapping[str, Any]:
        """The values that the statement leaves open; one that was not given is null."""
        values: Mapping[str, Any] = from_typed(dict(self.job.parameters))
        if self.statement is None:
            return values
        return {name: values.get(name) for name in self.statement.parameters}

    def _query(self, tables: Sequence[SqlTable]) -> SqlQuery:
        return SqlQuery(
            statement=self.statement.text if self.statement else "",
            tables=tables,
            parameters=self._values,
            names=self.statement.names if self.statement else None,
            code=self.code,
        )

    def _check_packages(self, runner: TaskRunner) -> None:
        """See that the packages that the code needs are there where its tasks run."""
        if not self.code or not self.code.packages:
            return
        task = json.dumps({"name": self.job.name, "packages": list(self.code.packages)}).encode()
        with running(runner, PACKAGES_KERNEL, [task]) as events:
            for _ in events:
                pass


def _check_failures(job: TransformJob, failures: Location) -> None:
    """See that the rows that fail are written apart from all that is read, and from the table itself."""
    for place in (job.output, *job.places.values(), *job.references.values()):
        if overlap(place, failures):
            raise BadPath(f"failures_path: {failures} would replace rows that are read, or the table: {place}.")
    check_output([], failures)


def _check_statement(job: TransformJob, statement: Statement, schemas: Mapping[str, pa.Schema]) -> None:
    file = f"{job.source}/{SQL_FILE}"
    known = {name.casefold() for name in schemas}
    problems = [
        f'{file}: it reads "{each}", and the parameter is not given.'
        for each in list_tables_read(statement)
        if each not in known
    ]
    problems = problems or find_column_problems(statement, file, schemas)
    if problems:
        raise BadTransform(problems)


def _scan(job: TransformJob, name: str, place: Location) -> Scan:
    """Look at a table: its newest version, or the one that is meant, whose files may have been moved aside."""
    version = job.versions.get(name, "")
    if not version:
        return plan_scan(place)
    found = find_version(place, version)
    return plan_scan(place.beside(found.folder or place.path), commit=found.commit)


def _without_rows(name: str, scan: Scan) -> SqlTable:
    place, schema = scan.location, encode_schema(sql_schema(scan.schema))
    return SqlTable(name=name, path=place.path, storage=place.storage, files=[], schema=schema)


def _describe_input(table: TableInput) -> dict[str, Any]:
    commit = table.scan.commit
    version = {"Version": commit.number, "Commit": commit.id} if commit else {}
    document = {name: value for name, value in table.to_dict().items() if name != "Columns"}
    return {**document, **version}


def _read_code(job: TransformJob, code: CodeFolder) -> OwnCode:
    folder = Path(code.path)
    files = {each.relative_to(folder): each for each in sorted(folder.rglob("*")) if each.is_file()}
    content = {
        name.as_posix(): base64.b64encode(file.read_bytes()).decode()
        for name, file in files.items()
        if name.parts[0] != "tests" and not any(part.startswith((".", "__pycache__")) for part in name.parts)
    }
    if "__init__.py" not in content:
        raise MasonError(f"The code of {job.name} is gone: {folder} has no __init__.py.")
    return OwnCode(
        name=job.name,
        class_name=code.class_name,
        digest=job.digest,
        source=job.source,
        files=content,
        packages=list(code.packages),
        declared=list(job.declared),
        function=code.function,
    )
