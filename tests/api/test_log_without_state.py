"""What is logged while the state store is away: a job goes on, and no line is shown that may hold a secret."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mason.api.server.calls.call import Call
from mason.api.server.calls.claims import LOG, RunningRecord
from mason.api.server.calls.execution import Execution
from mason.api.server.json_log import JsonLines
from mason.api.server.requests import REQUEST, RequestInfo
from mason.configurations.configuration import parse_configuration
from mason.configurations.saved import save_configurations
from mason.errors import StateFailed
from mason.operators.registration.catalogue import LiveCatalogue
from mason.pipeline.driving.job_log import JobLog
from mason.state.home import open_state
from mason.state.models import Kind, RecordKind
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment

CONFIGURATION = """
id: keeper
storage_engine: s3
clients: {s3: {configuration: {aws_region: us-east-1, access_key: AKIA, secret_key: hunter22}}}
"""
CALL = Call(kind=Kind.OPERATOR, namespace="table", command="query", config_id="keeper", id="call")


@pytest.fixture
def store(env: MasonEnvironment) -> Iterator[StateStore]:
    found = open_state(env)
    yield found
    found.close()


@pytest.fixture
def execution(env: MasonEnvironment, store: StateStore) -> Execution:
    configuration = parse_configuration(CONFIGURATION, name="keeper.yaml", default_id="")
    save_configurations(env, [(Path("keeper.yaml"), configuration)])
    return Execution(env, LiveCatalogue(env, store))


@pytest.fixture
def log(execution: Execution) -> Iterator[JobLog]:
    """What a call logs, on its way to the record of its job and to the log of the server."""
    lines = JsonLines()
    LOG.addHandler(lines)
    before = REQUEST.set(RequestInfo(id="asked", redact=lambda text: execution.redact_for(CALL, text)))
    log = JobLog(lambda text: execution.log_as_seen(CALL, text))
    yield log
    log.close()
    REQUEST.reset(before)
    LOG.removeHandler(lines)


def take_away(monkeypatch: pytest.MonkeyPatch, store: StateStore, *verbs: str) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StateFailed("The database cannot be reached.")

    for verb in verbs:
        monkeypatch.setattr(type(store), verb, fail)
    time.sleep(0.02)  # what was looked up just now is not looked up again


def test_a_call_that_an_engine_has_accepted_goes_on_while_the_store_is_away(
    execution: Execution, store: StateStore, log: JobLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = store.add_record(RecordKind.CALL, "call", "running", CALL.to_document())
    assert execution.redact_for(CALL, "hunter22") == "REDACTED"
    take_away(monkeypatch, store, "get_changes", "update_record")

    RunningRecord(store, record).keep("query-1", {})
    LOG.warning("It is hunter22.")

    said = " ".join(log.lines())
    assert "does not say that an engine has it: The database cannot be reached." in said
    assert "It is REDACTED." in said


def test_a_line_of_which_nobody_can_tell_what_is_secret_is_left_out(
    store: StateStore, log: JobLog, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    take_away(monkeypatch, store, "get_changes")

    def fail(*_: object) -> None:
        raise StateFailed("The database cannot be reached.")

    monkeypatch.setattr("mason.operators.registration.catalogue.find_configuration", fail)

    LOG.warning("It is %s.", "hunter22")

    told = capsys.readouterr().err
    assert log.lines() == []
    assert "hunter22" not in told
    assert "A line is left out: it may hold a secret (StateFailed)." in told
