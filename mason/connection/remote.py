"""Mason at a server: calls are requests, and what takes long is followed as a job until it is over."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mason.connection.call_response import CallResponse, raise_errors_of
from mason.connection.connected_job import ConnectedJob
from mason.connection.connection import Connection
from mason.connection.operations import Operation, Operations, in_path
from mason.connection.operator_names import OperatorSignature
from mason.connection.progress import ProgressLine, progress_text
from mason.connection.rest import ACCEPTED, RestApi
from mason.errors import MasonError, Unsupported

if TYPE_CHECKING:
    import pyarrow as pa

    from mason.connection.frames import Rows

_FIRST_WAIT = 1
_WAIT = 20
"""How many seconds a request waits: the first not long, so that the job is known and can be watched or cancelled."""

_READ_WAIT = 60
"""How many seconds a GET waits. It cannot be asked again for its whole answer, as what has a key can."""


class RemoteConnection(Connection):
    """Operators, workflows and jobs of a server, as far as its API has them."""

    def __init__(self, api: RestApi, config: str, progress: bool | None) -> None:
        super().__init__(config, progress)
        self._api = api
        self._operations = Operations(api.specification)

    def close(self) -> None:
        self._api.close()

    def get_job(self, job_id: str) -> Mapping[str, Any]:
        return self._about_job("GET", f"/job/{in_path(job_id)}")

    def cancel_job(self, job_id: str) -> Mapping[str, Any]:
        return self._about_job("POST", f"/job/{in_path(job_id)}/cancel")

    def runs(self, name: str = "", limit: int = 100) -> CallResponse:
        return raise_errors_of(self._api.send("GET", "/runs", {"name": name, "limit": limit}))

    def run(self, run_id: str) -> CallResponse:
        return raise_errors_of(self._api.send("GET", f"/run/{in_path(run_id)}"))

    def configurations(self) -> CallResponse:
        return raise_errors_of(self._api.send("GET", "/configs"))

    def _about_job(self, method: str, path: str) -> Mapping[str, Any]:
        response = raise_errors_of(self._api.send_again(lambda: self._api.send(method, path)))
        record: Mapping[str, Any] = response.data[0]
        return record

    def _run_operator(
        self, namespace: str, command: str, values: Mapping[str, Any], config: str, plan: bool, line: ProgressLine
    ) -> CallResponse:
        _refuse_digest(command)
        operation = self._operations.find(f"{namespace}:{command}" if namespace else command, values)
        options = {**({"config_id": config} if config else {}), **({"plan": "true"} if plan else {})}
        return self._send_and_follow(operation.with_options(options), line)

    def _rows(self, statement: str, database: str, parameters: Mapping[str, Any], config: str) -> Rows:
        from mason.connection.remote_rows import RemoteRows  # takes Arrow, which calls without rows do without

        given = {"query_string": statement, "database_name": database, "parameters": dict(parameters) or None}
        return RemoteRows(self, given, config)

    def _save(
        self,
        rows: pa.RecordBatchReader,
        table: str,
        mode: str,
        keys: Sequence[str],
        config: str,
        line: ProgressLine,
    ) -> CallResponse:
        raise Unsupported(
            "A server does not take frames yet.", hint="Save the frame where the server reads files, and merge them."
        )

    def _describe_operators(self) -> Sequence[OperatorSignature]:
        return self._operations.describe()

    def _run_workflow(
        self,
        namespace: str,
        command: str,
        steps: Mapping[str, Any],
        config: str,
        asked: Mapping[str, Any],
        line: ProgressLine,
    ) -> CallResponse:
        _refuse_digest(command)
        path = f"/workflow/{in_path(namespace)}/{in_path(command)}"
        flags = {name: "true" if value is True else value for name, value in asked.items() if value}
        query = {**flags, **({"config_id": config} if config else {})}
        return self._send_and_follow(Operation(method="POST", path=path, query=query, body=dict(steps)), line)

    def _send_and_follow(self, operation: Operation, line: ProgressLine) -> CallResponse:
        """Send a request and wait for its answer, however long that takes; ctrl-C ends the job, too."""
        key = uuid.uuid4().hex if operation.method != "GET" else ""
        try:
            response = self._send(operation, key, _FIRST_WAIT if key else _READ_WAIT)
            while response.status == ACCEPTED:
                response = self._next(operation, key, response, line)
        except KeyboardInterrupt:
            if key:
                self._cancel(operation, key)
            raise
        return raise_errors_of(response)

    def _send(self, operation: Operation, key: str, wait: float) -> CallResponse:
        query = {**operation.query, "wait": wait}
        return self._api.send(operation.method, operation.path, query, operation.body, key=key, wait=wait)

    def _next(self, operation: Operation, key: str, accepted: CallResponse, line: ProgressLine) -> CallResponse:
        """Wait on. A request with the same key gets the whole answer, of which the job's record may keep less."""
        job = ConnectedJob(self, accepted.data[0])
        if not key:
            return job.result(progress=line.is_seen)
        if line.is_seen:
            line.show(progress_text(job.refresh().record))
        wait = _FIRST_WAIT if line.is_seen else _WAIT
        return self._api.send_again(lambda: self._send(operation, key, wait))

    def _cancel(self, operation: Operation, key: str) -> None:
        with suppress(MasonError):  # ctrl-C is what is raised
            accepted = self._send(operation, key, 0)
            if accepted.status == ACCEPTED:
                self.cancel_job(accepted.data[0]["JobID"])


def _refuse_digest(command: str) -> None:
    if "@" in command:
        raise Unsupported(
            f"A server runs the current version, not {command}.", hint="Older ones run in this process: mason.connect()"
        )
