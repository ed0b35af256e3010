"""The same call is the same through every door: its status, its errors, its warnings and its data."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mason
from mason.connection.connection import Connection
from mason.errors import MasonError
from tests.api.support import Server
from tests.conftest import Mason

ROLES = ("Errors", "Warnings", "Data")
OF_ONE_CALL = re.compile("JobID|RunID|Log|.*At|.*Seconds.*")
"""What no two calls have in common: ids, times, and the log, whose lines have times."""

PATHS = {
    "table:get": ("GET", "/api/table/{table_name}"),
    "table:list": ("GET", "/api/tables"),
    "table:partitions": ("GET", "/api/table/{table_name}/partitions"),
    "table:preview": ("POST", "/api/table/preview"),
    "table:query": ("POST", "/api/table/query"),
    "table:merge": ("POST", "/api/table/merge"),
    "database:get": ("GET", "/api/database/{database_name}"),
    "job:get": ("GET", "/api/job/{job_id}"),
    "job:cancel": ("POST", "/api/job/{job_id}/cancel"),
    "schedule:list": ("GET", "/api/schedules"),
    "test:fail": ("POST", "/api/test/fail"),
    "test:abroad": ("GET", "/api/test/abroad"),
}


@dataclass(frozen=True)
class Asked:
    """One call, as each door can be given it."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    config: str = "files"
    plan: bool = False
    steps: Mapping[str, Any] | None = None
    """Of a workflow: the parameters of its steps."""

    @property
    def words(self) -> tuple[str, str]:
        namespace, _, command = self.name.partition(":")
        return namespace, command


@dataclass(frozen=True)
class Told:
    """What a door says: whether all went well, and the document without what no two calls have in common."""

    is_good: bool
    document: Mapping[str, Any]


@dataclass
class Doors:
    """One home behind four doors."""

    home: Mason
    server: Server
    here: Connection
    there: Connection

    def ask(self, asked: Asked) -> dict[str, tuple[Told, int | None]]:
        """Return what each door says, with the HTTP status of those that have one."""
        return {
            "command": (self._command(asked), None),
            "request": self._request(asked),
            "here": self._connected(self.here, asked),
            "there": self._connected(self.there, asked),
        }

    def _command(self, asked: Asked) -> Told:
        words = [*asked.words, "-c", asked.config]
        if asked.steps is not None:
            file = self.home.folder / "steps.json"
            file.write_text(json.dumps(asked.steps))
            done = self.home("workflow", *words, "-f", str(file))
        else:
            file = self.home.folder / "values.json"
            file.write_text(json.dumps(asked.values))
            done = self.home("operator", *words, "-f", str(file), *(["--plan"] if asked.plan else []))
        assert done.exit_code in (0, 1), done.stderr
        # Each door names where a word was given: a command the file and its line.
        text = done.stdout.replace(f"(in {file})", "(in the request)").replace(f"{file}:1:", "the body:")
        return Told(done.exit_code == 0, _comparable(json.loads(text)))

    def _request(self, asked: Asked) -> tuple[Told, int]:
        query: dict[str, Any] = {"config_id": asked.config, "wait": 60}
        if asked.plan:
            query["plan"] = "true"
        if asked.steps is not None:
            reply = self.server.post("/api/workflow/{}/{}".format(*asked.words), params=query, json=asked.steps)
        else:
            method, path = PATHS[asked.name]
            in_path = {name: value for name, value in asked.values.items() if f"{{{name}}}" in path}
            rest = {name: value for name, value in asked.values.items() if name not in in_path}
            body = {"json": rest} if method == "POST" else {}
            query |= rest if method == "GET" else {}
            reply = self.server.request(method, path.format(**in_path), params=query, **body)
        return Told(reply.status_code < 400, _comparable(reply.json())), reply.status_code

    def _connected(self, connection: Connection, asked: Asked) -> tuple[Told, int]:
        try:
            if asked.steps is not None:
                response = connection.workflow(*asked.words, asked.steps, config=asked.config)
            else:
                response = connection.operator(*asked.words, asked.values, config=asked.config, plan=asked.plan)
        except MasonError as error:
            assert error.record is not None, error
            response = error.record
        return Told(response.status < 400, _comparable(response.to_dict())), response.status


def _comparable(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is compared. A server says paths as they are below the root of the configuration."""
    errors = [each.replace(f"{Path.cwd()}/data/", "") for each in document["Errors"]]
    return {role: _without_what_differs({**document, "Errors": errors}[role]) for role in ROLES}


def _without_what_differs(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_what_differs(each) for key, each in value.items() if not OF_ONE_CALL.fullmatch(key)}
    return [_without_what_differs(each) for each in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def doors(home: Mason, server: Server) -> Iterator[Doors]:
    with _in_home(home), mason.connect(server.url) as there:
        yield Doors(home, server, mason.connect(), there)


@contextmanager
def _in_home(home: Mason) -> Iterator[None]:
    """Be where the commands and the server are, since `mason.connect()` is Mason where one is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MASON_HOME", str(home.home))
        patch.delenv("MASON_CONFIG", raising=False)
        patch.chdir(home.folder)
        assert os.environ["MASON_HOME"]
        yield


TABLES = st.sampled_from(["orders", "typed", "order", "no table"])
DATABASES = st.sampled_from(["shop", "shp"])
CONFIGURATIONS = st.sampled_from(["files", "files", "files", "filse"])
LIMITS = st.sampled_from([1, 2, 1000, 0, 2.5])
QUERIES = st.sampled_from(
    ["SELECT * FROM orders", "SELECT id, price FROM typed WHERE id > 1", "SELEC 1", "SELECT x FROM orders"]
)


def _asked(name: str, values: Mapping[str, st.SearchStrategy[Any]], plan: bool = False) -> st.SearchStrategy[Asked]:
    plans = st.booleans() if plan else st.just(False)
    return st.builds(Asked, st.just(name), st.fixed_dictionaries(dict(values)), CONFIGURATIONS, plans)


OPERATORS = st.one_of(
    _asked("table:get", {"table_name": TABLES, "database_name": DATABASES}, plan=True),
    _asked("table:list", {"database_name": DATABASES}),
    _asked("table:partitions", {"table_name": TABLES, "database_name": DATABASES}),
    _asked("table:preview", {"table_name": TABLES, "database_name": DATABASES, "limit": LIMITS}),
    _asked("table:query", {"query_string": QUERIES, "database_name": DATABASES}, plan=True),
    _asked("database:get", {"database_name": DATABASES}),
    _asked("job:get", {"job_id": st.sampled_from(["none", "0" * 16])}),
    _asked("job:cancel", {"job_id": st.sampled_from(["none", "0" * 16])}),
    _asked("schedule:list", {}),
    _asked("test:abroad", {}),
)
STEPS = st.one_of(
    st.fixed_dictionaries({"database_name": DATABASES, "storage_path": st.sampled_from(["in", "nowhere"])}),
    st.fixed_dictionaries({"database_name": DATABASES}),
)
WORKFLOWS = st.builds(
    lambda parameters, step, config: Asked(
        "table:infer", config=config, steps={step: {"config_id": "files", "parameters": parameters}}
    ),
    STEPS,
    st.sampled_from(["step_1", "step_1", "step_9"]),
    CONFIGURATIONS,
)


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(OPERATORS, OPERATORS, WORKFLOWS))
def test_the_same_call_is_the_same_through_every_door(doors: Doors, asked: Asked) -> None:
    told = doors.ask(asked)

    first, status = told["request"]
    for door, (said, its_status) in told.items():
        assert said == first, (door, asked)
        assert its_status in (None, status), (door, asked)


@pytest.mark.parametrize(
    "asked",
    [
        Asked("table:merge", {"input_path": "in", "output_path": "nowhere/planned"}, plan=True),
        Asked("table:merge", {"input_path": "gone", "output_path": "merged"}),
        Asked("table:get", {"table_name": "orders", "database_name": "shop", "colour": "red"}),
        Asked("table:preview", {"limit": "many"}),
    ],
    ids=str,
)
def test_what_goes_wrong_and_what_is_planned_is_the_same_through_every_door(doors: Doors, asked: Asked) -> None:
    told = doors.ask(asked)

    first, status = told["here"]
    assert {door: said for door, (said, _) in told.items()} == dict.fromkeys(told, first)
    assert {its_status for _, its_status in told.values()} == {None, status}


ABOUT: Mapping[str, tuple[str, Callable[[Connection], Any]]] = {
    "configurations": ("/api/configs", lambda m: m.configurations()),
    "runs": ("/api/runs", lambda m: m.runs()),
    "a run that there is not": ("/api/run/none", lambda m: m.run("none")),
    "a job that there is not": ("/api/job/none", lambda m: m.job("none")),
}


@pytest.mark.parametrize("what", ABOUT)
def test_what_is_listed_and_described_is_the_same_here_there_and_in_a_request(doors: Doors, what: str) -> None:
    path, ask = ABOUT[what]
    reply = doors.server.get(path)

    for connection in (doors.here, doors.there):
        try:
            response = ask(connection)
        except MasonError as error:
            response = error.record
        assert (response.status, _comparable(response.to_dict())) == (reply.status_code, _comparable(reply.json()))
