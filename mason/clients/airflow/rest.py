"""Airflow's REST API, as far as Mason needs it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import httpx

from mason.errors import ClientFailed, Conflict, Forbidden, MasonError

T = TypeVar("T")
_PAGE = 100
_TIMEOUT = 30.0
_PATIENCE = 30.0
_LONGEST_DETAIL = 500
_FAILED = 500
_WAITS = (0.2, 0.4, 0.8, 1.6)
_REPEATABLE = ("GET", "PATCH", "DELETE")


class AirflowApi:
    """One Airflow, as one user sees it. What is not there is None; all else that goes wrong is raised.

    Raises, from every method:
        ClientFailed: Airflow cannot be reached, or failed.
        Forbidden: it does not let this user in, or do this.
    """

    def __init__(self, url: str, username: str, password: str) -> None:
        self.url = url.rstrip("/")
        self._user = {"username": username, "password": password}
        # A client is never closed, so it keeps no connection open between calls.
        closing = httpx.Limits(max_keepalive_connections=0)
        self._http = httpx.Client(base_url=self.url, timeout=_TIMEOUT, limits=closing)
        self._token = ""

    def log_in(self) -> None:
        """Get a token; whatever is wrong with address, user or password is found here."""
        answer = self._send("POST", "/auth/token", json=self._user)
        if answer.status_code in (401, 403):
            raise Forbidden(
                f'Airflow at {self.url} does not let the user "{self._user["username"]}" in.',
                hint="Check `username` and `password` of the client airflow.",
            )
        if answer.status_code == 404:
            raise ClientFailed(
                f"{self.url} is no Airflow 3: it gives no tokens.", hint="Check `url` of the client airflow."
            )
        self._token = str(self._read_answer(self._check_answer(answer), lambda said: said["access_token"]))

    def dags(self, tag: str) -> Iterator[Mapping[str, Any]]:
        """Yield the DAGs with a tag whose files are there."""
        offset = 0
        while True:
            wanted = {"tags": tag, "limit": _PAGE, "offset": offset, "order_by": "dag_id"}
            found = self._read_answer(self._call("GET", "/dags", params=wanted), lambda said: list(said["dags"]))
            yield from found
            offset += len(found)
            if len(found) < _PAGE:
                return

    def dag(self, dag_id: str) -> Mapping[str, Any] | None:
        """Return a DAG; one whose file is gone is not there."""
        found = self.find_dag(dag_id)
        return found if found and not found.get("is_stale") else None

    def find_dag(self, dag_id: str) -> Mapping[str, Any] | None:
        """Return a DAG, also one whose file is gone, of which Airflow keeps the history."""
        answer = self._call("GET", f"/dags/{dag_id}", may_miss=True)
        return None if answer.status_code == 404 else self._read_answer(answer, dict)

    def pause(self, dag_id: str, *, paused: bool) -> None:
        self._call("PATCH", f"/dags/{dag_id}", may_miss=True, json={"is_paused": paused})

    def delete_dag(self, dag_id: str) -> bool:
        """Delete a DAG with its history, and say whether it was there."""
        return self._call("DELETE", f"/dags/{dag_id}", may_miss=True).status_code != 404

    def import_errors(self, file_name: str) -> list[Mapping[str, Any]]:
        """Return what went wrong with the files of that name."""
        wanted = {"limit": _PAGE, "order_by": "-timestamp"}
        answer = self._call("GET", "/importErrors", params=wanted)
        found = self._read_answer(
            answer, lambda said: [(str(each["filename"]), each) for each in said["import_errors"]]
        )
        return [error for name, error in found if name.rpartition("/")[2] == file_name]

    def start_run(self, dag_id: str, run_id: str) -> None:
        self._call("POST", f"/dags/{dag_id}/dagRuns", json={"dag_run_id": run_id, "logical_date": None, "conf": {}})

    def scheduler_runs(self) -> bool:
        """Say whether Airflow's scheduler has given a sign of life of late."""
        answer = self._call("GET", "/monitor/health")
        return self._read_answer(answer, lambda said: bool(said["scheduler"]["status"] == "healthy"))

    def active_runs(self, dag_id: str) -> list[str]:
        """Return the runs of a DAG that wait or go on."""
        wanted = {"state": ["queued", "running"], "limit": _PAGE}
        answer = self._call("GET", f"/dags/{dag_id}/dagRuns", may_miss=True, params=wanted)
        if answer.status_code == 404:
            return []
        return self._read_answer(answer, lambda said: [str(each["dag_run_id"]) for each in said["dag_runs"]])

    def run_state(self, dag_id: str, run_id: str) -> str:
        """Return the state of a run, or nothing when it is not there."""
        answer = self._call("GET", f"/dags/{dag_id}/dagRuns/{run_id}", may_miss=True)
        return "" if answer.status_code == 404 else self._read_answer(answer, lambda said: str(said["state"]))

    def task_states(self, dag_id: str, run_id: str) -> dict[str, str]:
        """Return the state of each task of a run; nothing for one that has none yet."""
        states: dict[str, str] = {}
        while True:
            wanted = {"limit": _PAGE, "offset": len(states)}
            path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances"
            answer = self._call("GET", path, may_miss=True, params=wanted)
            if answer.status_code == 404:
                return states
            found = self._read_answer(
                answer, lambda said: [(each["task_id"], each["state"]) for each in said["task_instances"]]
            )
            states |= {task: state or "" for task, state in found}
            if len(found) < _PAGE:
                return states

    def task_log(self, dag_id: str, run_id: str, task_id: str) -> list[Mapping[str, Any]]:
        """Return the lines of the last attempt of a task, each with its `event`; none where there is no log."""
        path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}"
        task = self._call("GET", path, may_miss=True)
        if task.status_code == 404:
            return []
        attempt = self._read_answer(task, lambda said: int(said["try_number"]))
        answer = self._call("GET", f"{path}/logs/{attempt}", may_miss=True)
        if answer.status_code == 404:
            return []
        return self._read_answer(answer, lambda said: [each for each in said["content"] if isinstance(each, Mapping)])

    def patiently(self, call: Callable[[], T]) -> T:
        """Call until Airflow can be reached, for a while: a restart of it does not end what waits for it."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                return call()
            except ClientFailed:
                if time.monotonic() > end:
                    raise
                time.sleep(1)

    def _call(self, method: str, path: str, *, may_miss: bool = False, **more: Any) -> httpx.Response:
        if not self._token:
            self.log_in()
        answer = self._send(method, f"/api/v2{path}", headers=self._headers(), **more)
        if answer.status_code in (401, 403):  # so Airflow says that a token has expired, too
            self.log_in()
            answer = self._send(method, f"/api/v2{path}", headers=self._headers(), **more)
        for wait in _WAITS if method in _REPEATABLE else ():
            if answer.status_code < _FAILED:
                break
            time.sleep(wait)  # its database was locked: what changes nothing when it is done twice is asked again
            answer = self._send(method, f"/api/v2{path}", headers=self._headers(), **more)
        return answer if may_miss and answer.status_code == 404 else self._check_answer(answer)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}

    def _send(self, method: str, path: str, **more: Any) -> httpx.Response:
        try:
            return self._http.request(method, path, **more)
        except httpx.HTTPError as error:
            raise ClientFailed(
                f"Airflow at {self.url} cannot be reached: {str(error) or type(error).__name__}.",
                hint="Does its api-server run, and is `url` of the client airflow right?",
            ) from error

    def _read_answer(self, answer: httpx.Response, read: Callable[[Any], T]) -> T:
        """Read what an answer says; the page of a proxy, or what has another shape, is no answer of Airflow's."""
        try:
            return read(answer.json())
        except (ValueError, KeyError, TypeError) as error:
            raise ClientFailed(
                f"{self.url} answers {_describe_question(answer)} with something that is not Airflow's: {error!r}.",
                hint="Is `url` of the client airflow right, and is it an Airflow 3?",
            ) from error

    def _check_answer(self, answer: httpx.Response) -> httpx.Response:
        if answer.is_success:
            return answer
        kinds: dict[int, type[MasonError]] = {403: Forbidden, 409: Conflict}
        kind = kinds.get(answer.status_code, ClientFailed)
        raise kind(
            f"Airflow at {self.url} answers {_describe_question(answer)} with {answer.status_code}: {_detail(answer)}."
        )


def _describe_question(answer: httpx.Response) -> str:
    return f"{answer.request.method} {answer.request.url.path}"


def _detail(answer: httpx.Response) -> str:
    try:
        said = answer.json().get("detail")
    except (ValueError, AttributeError):
        said = None
    return str(said or answer.text or answer.reason_phrase)[:_LONGEST_DETAIL].rstrip(".")
