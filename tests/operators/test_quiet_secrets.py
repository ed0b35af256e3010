"""A secret that an operator is given is nowhere in what it prints, logs, warns of or answers, on whichever way."""

from __future__ import annotations

import io
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.state.home import open_state
from mason.state.models import RecordKind
from mason.util.environment import MasonEnvironment
from mason.util.redaction import Redactor, hide_secrets
from mason.workflows.definition.registration import WORKFLOWS
from tests.api.support import Server, operator
from tests.conftest import Mason, write

SECRET = "not-to-be-told"
BLAB = """\
import logging, sys, threading, warnings
word = parameters.get_required("password")
print("printed", word)
print("printed to stderr", word, file=sys.stderr)
sys.stdout.writelines(["line ", word, "\\n"])
logging.getLogger("of.the.author").warning("logged %s", word)
logging.getLogger("mason.of.the.author").warning("logged by mason %s", word)
try:
    raise ValueError("raised " + word)
except ValueError:
    logging.getLogger("of.the.author").exception("logged with a traceback")
warnings.warn("warned of " + word)
thread = threading.Thread(target=lambda: print("printed elsewhere", word))
thread.start()
thread.join()
resp.add_warning("told " + word)
resp.add_data({"Hosts": {word: {"up": True}, "other": word}, "All": {word}})"""
SHELL = """\
import os, subprocess
word = parameters.get_required("password")
said = "echo child $WORD; echo child to stderr $WORD >&2"
subprocess.run(["sh", "-c", said], env={**os.environ, "WORD": word}, check=True)
os.write(1, f"past Python {word}\\n".encode())"""
SECRETS = "parameters:\n  required:\n    - {name: password, type: secret}\n"
OWN_API = """

def api(*args, **kwargs):
    print("printed by api", args[0]["password"])
    return {"Length": len(args[0]["password"])}
"""

WORKFLOW = """
from mason.workflows.workflow_definition import WorkflowDefinition


class TestBlabs(WorkflowDefinition):
    def step(self, current, next):
        print("printed by the workflow", current.step.parameters["password"])
        return next
"""
STEPS = """
type: workflow
namespace: test
command: blabs
dag:
  - {id: step_1, type: operator, namespace: test, command: blab}
  - {id: step_2, type: operator, namespace: test, command: blab, dependencies: [step_1]}
"""


@pytest.fixture
def blabbing(tmp_path: Path) -> Mason:
    mason = Mason(tmp_path / "work", tmp_path / "home")
    swagger = "paths:\n  /test/{name}:\n    post:\n"
    operators = tmp_path / "operators"
    operator(operators, "test", "blab", BLAB, parameters=SECRETS, swagger=swagger.format(name="blab"))
    own = {"parameters": SECRETS, "swagger": swagger.format(name="own"), "extra": OWN_API}
    operator(operators, "test", "own", "pass", **own)
    write(operators / "workflow", {"workflow.yaml": STEPS, "__init__.py": WORKFLOW})
    mason.folder.mkdir()
    env = MasonEnvironment(mason.home)
    register(env, open_state(env), read_definitions(operators, [OPERATORS, WORKFLOWS]).valid, replace=False)
    return mason


@pytest.fixture
def server(blabbing: Mason) -> Iterator[Server]:
    running = Server(blabbing).start()
    yield running
    running.kill()


def test_a_command_tells_no_secret(blabbing: Mason) -> None:
    result = blabbing("operator", "test", "blab", "-p", f"password:{SECRET}")

    assert result.exit_code == 0, result.stderr
    assert SECRET not in result.stdout + result.stderr
    for way in ("printed", "printed to stderr", "line", "logged", "logged by mason", "printed elsewhere", "told"):
        assert f"{way} REDACTED" in result.stderr
    assert "warned of REDACTED" in result.stderr
    assert "ValueError: raised REDACTED" in result.stderr
    assert result.json["Data"] == [{"Hosts": {"REDACTED": {"up": True}, "other": "REDACTED"}, "All": ["REDACTED"]}]


def test_a_server_tells_no_secret(server: Server) -> None:
    reply = server.post("/api/test/blab?config_id=local", json={"password": SECRET})
    (job,) = open_state(MasonEnvironment(server.mason.home)).list_records(RecordKind.CALL)
    log = server.get(f"/api/job/{job.id}/log")
    own = server.post("/api/test/own?config_id=local", json={"password": SECRET})
    steps = {f"step_{number}": {"parameters": {"password": SECRET}} for number in (1, 2)}
    workflow = server.post("/api/workflow/test/blabs?run_now=true&config_id=local", json=steps)
    server.stop()

    assert (reply.status_code, own.status_code, workflow.status_code) == (200, 200, 200), workflow.text
    assert SECRET not in reply.text + log.text + own.text + workflow.text + server.log_text()
    assert "printed by the workflow REDACTED" in server.log_text()
    assert "logged by mason REDACTED" in log.text
    assert reply.json()["Data"][0]["Hosts"] == {"REDACTED": {"up": True}, "other": "REDACTED"}
    for way in ("printed REDACTED", "warned of REDACTED", "logged REDACTED", "printed by api REDACTED"):
        assert way in server.log_text()


def test_a_server_tells_no_secret_that_a_child_process_or_a_library_in_c_prints(tmp_path: Path) -> None:
    mason = Mason(tmp_path / "work", tmp_path / "home")
    swagger = "paths:\n  /test/shell:\n    post:\n"
    operator(tmp_path / "operators", "test", "shell", SHELL, parameters=SECRETS, swagger=swagger)
    mason.folder.mkdir()
    env = MasonEnvironment(mason.home)
    register(env, open_state(env), read_definitions(tmp_path / "operators", [OPERATORS]).valid, replace=False)
    server = Server(mason).start()
    try:
        reply = server.post("/api/test/shell?config_id=local", json={"password": SECRET})
    finally:
        server.stop()

    assert reply.status_code == 200, reply.text
    assert SECRET not in reply.text + server.log_text()
    for way in ("child", "child to stderr", "past Python"):
        assert f"{way} REDACTED" in server.log_text()


def test_two_keys_that_are_secrets_stay_two_keys() -> None:
    redactor = Redactor(["first-secret", "second-secret"])

    shown = redactor.redact_data({"first-secret": 1, "second-secret": 2, "a": b"a first-secret"})

    assert shown == {"REDACTED": 1, "REDACTED 2": 2, "a": "REDACTED"}


def test_streams_and_logging_are_what_they_were_when_nobody_runs_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, factory = io.StringIO(), logging.getLogRecordFactory()
    monkeypatch.setattr(sys, "stdout", stream)
    inside, done = threading.Event(), threading.Event()

    def run_meanwhile() -> None:
        with hide_secrets(Redactor(["second"])):
            inside.set()
            done.wait(10)

    other = threading.Thread(target=run_meanwhile)
    with hide_secrets(Redactor(["first"])):
        other.start()
        inside.wait(10)
    sys.stdout.write("first second\n")
    assert stream.getvalue() == "first REDACTED\n"
    done.set()
    other.join()

    assert sys.stdout is stream
    assert logging.getLogRecordFactory() is factory
