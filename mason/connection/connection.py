"""What Python code asks of Mason, wherever that is: its parameters take the form that a request has."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mason.connection.call_response import CallResponse
from mason.connection.connected_job import ConnectedJob
from mason.connection.operator_names import OperatorNames, OperatorSignature
from mason.connection.progress import ProgressLine, progress_line
from mason.errors import BadInput
from mason.util.json_text import json_value

if TYPE_CHECKING:
    import pyarrow as pa

    from mason.connection.frames import Rows


def values_as_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values as JSON has them; None is as good as nothing."""
    return {name: _plain(value) for name, value in values.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each) for each in value]
    return json_value(value)


class Connection(ABC):
    """Mason, in this process or at a server; `mason.connect` makes one.

    What a call gives is its response. Whatever goes wrong is raised, as an error of the tree in `mason.errors` with the
    words that the command line prints, and the response as its `record`.
    """

    def __init__(self, config: str, progress: bool | None) -> None:
        self._config = config
        self._progress = progress

    def operator(
        self,
        namespace: str,
        command: str,
        /,
        *given: Mapping[str, Any],
        config: str = "",
        plan: bool = False,
        progress: bool | None = None,
        **parameters: Any,
    ) -> CallResponse:
        """Run an operator and return its response: `m.operator("table", "merge", input_path="in", output_path="out")`.

        Args:
            given: parameters as mappings, for those whose names are taken here; what is named overrides them.
            config: the configuration to use.
            plan: say what the run would do, and write nothing.
            progress: whether to tell how far it is.

        Raises:
            MasonError: what the command line would say.
        """
        values = values_as_json({name: value for each in (*given, parameters) for name, value in each.items()})
        with self._line(progress) as line:
            return self._run_operator(namespace, command, values, config or self._config, plan, line)

    def workflow(
        self,
        namespace: str,
        command: str,
        /,
        steps: Mapping[str, Any] | None = None,
        *,
        run: bool = False,
        deploy: bool = False,
        schedule_name: str = "",
        config: str = "",
        progress: bool | None = None,
    ) -> CallResponse:
        """Plan a workflow, run it, or hand it to its scheduler.

        Args:
            steps: what a file of parameters has: `{"step_1": {"config_id": …, "parameters": {…}}}`.
            run: run it now.
            deploy: hand it to the scheduler, to be run when it is due.

        Raises:
            MasonError: what the command line would say; of a run whose steps failed, why.
        """
        asked = {"run_now": run, "deploy": deploy, "schedule_name": schedule_name}
        with self._line(progress) as line:
            return self._run_workflow(
                namespace, command, values_as_json(steps or {}), config or self._config, asked, line
            )

    def sql(
        self, statement: str, /, *, database: str = "", parameters: Mapping[str, Any] | None = None, config: str = ""
    ) -> Rows:
        """Return the rows of a statement of Spark SQL: `m.sql("select * from shop.orders").to_pandas()`.

        Tables of several databases can be joined. The statement is asked when its rows are.

        Args:
            database: that of the tables that the statement names without one.
            parameters: values for what it leaves open, as in `:since`.
            config: the configuration to use.
        """
        return self._rows(statement, database, dict(parameters or {}), config or self._config)

    def table(self, name: str, /, *, columns: Sequence[str] = (), config: str = "") -> Rows:
        """Return the rows of a table: `m.table("shop.orders").to_arrow()`.

        Args:
            columns: those that are wanted; all by default.

        Raises:
            BadInput: the name is not that of a database and a table.
        """
        database, _, table = name.rpartition(".")
        if not database or not table:
            raise BadInput(f'"{name}" names no table.', hint='Write it as "database.table".')
        from mason.pipeline.sql.query import quote_identifier  # takes Arrow, which calls without rows do without

        wanted = ", ".join(map(quote_identifier, columns)) or "*"
        source = quote_identifier(table)
        return self.sql(f"SELECT {wanted} FROM {source}", database=database, config=config)  # noqa: S608 (names are quoted)

    def save(
        self,
        frame: Any,
        table: str,
        /,
        *,
        mode: str = "replace",
        keys: Sequence[str] = (),
        config: str = "",
        progress: bool | None = None,
    ) -> CallResponse:
        """Make the rows of a frame a table, in one commit: `m.save(frame, "shop.orders")`.

        Args:
            frame: of Arrow, pandas, Polars or Spark.
            table: `database.table`, or a path or URL.
            mode: what becomes of rows that are there: `replace`, `append` or `replace_partitions`.

        Raises:
            BadInput: it is not a frame, or has a column of a type that no table holds.
        """
        from mason.connection.frames import arrow_reader  # takes Arrow, which calls without rows do without

        with self._line(progress) as line:
            return self._save(arrow_reader(frame), table, mode, keys, config or self._config, line)

    @property
    def operators(self) -> OperatorNames:
        """The operators as functions: `m.operators.table.merge(input_path="in", output_path="out")`."""
        return OperatorNames(self, self._describe_operators())

    def job(self, job_id: str) -> ConnectedJob:
        """Return a job, whoever runs it.

        Raises:
            NotFound: there is no such job.
        """
        return ConnectedJob(self, self.get_job(job_id))

    def jobs(self, **filters: Any) -> CallResponse:
        """Return the newest jobs; the filters are the parameters of the operator `job list`, such as `status`."""
        return self.operator("job", "list", **filters)

    @abstractmethod
    def get_job(self, job_id: str) -> Mapping[str, Any]:
        """Return what is known of a job."""

    @abstractmethod
    def cancel_job(self, job_id: str) -> Mapping[str, Any]:
        """Ask for the end of a job, and return what is known of it then."""

    @abstractmethod
    def runs(self, name: str = "", limit: int = 100) -> CallResponse:
        """Return the newest runs of workflows, or of one: `table:daily`."""

    @abstractmethod
    def run(self, run_id: str) -> CallResponse:
        """Return a run with its steps."""

    @abstractmethod
    def configurations(self) -> CallResponse:
        """Return the configurations that can be used, without their secrets."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what the connection holds; `with mason.connect() as m:` does so."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _line(self, wanted: bool | None) -> ProgressLine:
        return progress_line(self._progress if wanted is None else wanted)

    @abstractmethod
    def _run_operator(
        self, namespace: str, command: str, values: Mapping[str, Any], config: str, plan: bool, line: ProgressLine
    ) -> CallResponse:
        """Run or plan an operator; `values` are such as JSON has."""

    @abstractmethod
    def _rows(self, statement: str, database: str, parameters: Mapping[str, Any], config: str) -> Rows:
        """Return the rows of a statement, not yet asked for."""

    @abstractmethod
    def _save(
        self,
        rows: pa.RecordBatchReader,
        table: str,
        mode: str,
        keys: Sequence[str],
        config: str,
        line: ProgressLine,
    ) -> CallResponse:
        """Make rows a table."""

    @abstractmethod
    def _describe_operators(self) -> Sequence[OperatorSignature]:
        """Return the operators that can be called, with their parameters."""

    @abstractmethod
    def _run_workflow(
        self,
        namespace: str,
        command: str,
        steps: Mapping[str, Any],
        config: str,
        asked: Mapping[str, Any],
        line: ProgressLine,
    ) -> CallResponse:
        """Plan, run or deploy a workflow; `asked` is what the API's query would say."""
