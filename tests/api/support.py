"""A server as a user starts it, and operators that do what the tests need."""

from __future__ import annotations

import json
import re
import signal
import ssl
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from mason.api.processes.outcome import Outcome
from mason.api.server.calls.call import Call
from mason.configurations.saved import read_configurations, save_configurations
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.pipeline.driving.handover import Handover
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from mason.workflows.definition.registration import WORKFLOWS
from tests.conftest import EXAMPLES, Mason, write

_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # reading those of the machine takes longer than a request

CONFIGURATION = """
id: files
metastore_engine: local
storage_engine: local
scheduler_engine: local
execution_engine: local
clients:
  local:
    configuration:
      root: {root}
"""

WORKFLOW = """
from mason.workflows.workflow_definition import WorkflowDefinition


class TestSecrets(WorkflowDefinition):
    pass
"""

CLASS = """
import time

from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse


class {name}(OperatorDefinition):
    def run(self, env, config, parameters, resp):
{body}
        return OperatorResponse(resp)
"""


@dataclass
class CallsInThreads:
    """Answers the calls of a queue in its own threads, and notes which came."""

    ran: list[str] = field(default_factory=list)

    def start(self) -> None:
        """There is nothing to prepare."""

    def run(self, call: Call, _: Handover) -> Outcome:
        self.ran.append(call.id)
        return Outcome(({"Errors": [], "Info": [], "Warnings": [], "Data": []}, 200))

    def cancel(self, must_end: Callable[[str, str], bool]) -> None:
        """What is over at once needs no end."""

    def close(self) -> None:
        """Nothing is left running."""


@dataclass
class Server:
    """A running `mason run`, with a client that speaks to it."""

    mason: Mason
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    process: subprocess.Popen[str] | None = None
    log_file: Path = Path()
    certificates: ssl.SSLContext = _NO_CERTIFICATES
    client: httpx.Client | None = None

    def start(self) -> Server:
        self.log_file = self.mason.home.parent / "server.log"
        begin = len(self.log_text()) if self.log_file.exists() else 0
        with open(self.log_file, "a") as log:
            self.process = subprocess.Popen(
                [*self.mason.argv, "run", "--port", "0", *self.arguments],
                cwd=self.mason.folder,
                env=self.mason.environment(self.variables),
                stdout=log,
                stderr=log,
                text=True,
            )
        self.url = self._find_url(begin)
        self.client = httpx.Client(base_url=self.url, timeout=60, verify=self.certificates, trust_env=False)
        self._wait_until_ready()
        return self

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        assert self.client is not None
        return self.client.request(method, path, **options)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)

    def log_text(self) -> str:
        return self.log_file.read_text(encoding="utf-8")

    def log_lines(self) -> list[dict[str, Any]]:
        lines = self.log_text().splitlines(keepends=True)  # the last may not be whole yet
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]

    def wait_for_log(self, text: str) -> None:
        until(lambda: text in self.log_text(), f"the log says {text!r}")

    def job(self, job_id: str) -> dict[str, Any]:
        reply = self.get(f"/api/job/{job_id}")
        assert reply.status_code == 200, reply.text
        job: dict[str, Any] = reply.json()["Data"][0]
        return job

    def wait_for_job(self, job_id: str, *statuses: str) -> dict[str, Any]:
        wanted = statuses or ("succeeded",)
        until(lambda: self.job(job_id)["Status"] in wanted, f"the job {job_id} is {' or '.join(wanted)}")
        return self.job(job_id)

    def stop(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.stopped()

    def stopped(self) -> int:
        """Return how it ended that was asked to stop."""
        assert self.process is not None
        code = self.process.wait(60)
        self._hang_up()
        return code

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(30)
        self._hang_up()

    def _hang_up(self) -> None:
        if self.client is not None:
            self.client.close()

    def _find_url(self, begin: int) -> str:
        found: list[str] = []

        def look() -> bool:
            found[:] = re.findall(r"Mason listens on (https?://\S+)", self.log_text()[begin:])
            assert self.process is not None
            assert self.process.poll() is None, self.log_text()
            return bool(found)

        until(look, "the server says where it listens")
        return found[-1]

    def _wait_until_ready(self) -> None:
        def look() -> bool:
            try:
                return self.get("/healthz").status_code == 200
            except httpx.TransportError:
                return False

        until(look, "the server answers")


def until(is_so: Any, what: str, seconds: float = 60.0) -> None:
    """Wait for something that will happen by itself; it fails the test when it does not."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"not in {seconds:g} seconds: {what}"
        time.sleep(0.02)


def operator(
    root: Path, namespace: str, command: str, body: str, *, parameters: str = "", swagger: str = "", extra: str = ""
) -> Path:
    """Write an operator whose `run` has these lines, and return its folder."""
    name = "".join(word.capitalize() for word in f"{namespace}_{command}".split("_"))
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    definition = f"type: operator\nnamespace: {namespace}\ncommand: {command}\ndescription: For a test\n{parameters}"
    files = {"operator.yaml": definition, "__init__.py": CLASS.format(name=name, body=lines) + extra}
    if swagger:
        files["swagger.yml"] = swagger
    return write(root / namespace / command, files)


def test_operators(root: Path) -> Path:
    """Write the operators that the tests of the server call."""
    operator(
        root,
        "test",
        "sleep",
        'time.sleep(parameters.get_required("seconds"))\n'
        'file = parameters.get_optional("note")\n'
        'if file:\n    open(file, "a").write(parameters.get_optional("word") + "\\n")\n'
        'resp.add_data({"Slept": parameters.get_required("seconds")})',
        parameters="parameters:\n  required:\n    - {name: seconds, type: number}\n"
        "  optional:\n    - {name: note}\n    - {name: word, default: once}\n",
        swagger="paths:\n  /test/sleep:\n    post:\n    get:\n",
    )
    operator(
        root,
        "test",
        "until",
        'import pathlib\nbegan, note = parameters.get_optional("began"), parameters.get_optional("note")\n'
        "if began:\n    pathlib.Path(began).touch()\n"
        'while not pathlib.Path(parameters.get_required("file")).exists():\n    time.sleep(0.01)\n'
        'if note:\n    open(note, "a").write(parameters.get_optional("word") + "\\n")\n'
        'resp.add_data({"Found": parameters.get_required("file")})',
        parameters="parameters:\n  required: [file]\n"
        "  optional:\n    - {name: began}\n    - {name: note}\n    - {name: word, default: once}\n",
        swagger="paths:\n  /test/until:\n    post:\n    get:\n",
    )
    operator(
        root,
        "test",
        "fail",
        'raise KeyError("/etc/a-path-of-this-machine")',
        swagger="paths:\n  /test/fail:\n    post:\n    get:\n",
    )
    operator(
        root,
        "test",
        "hidden",
        'resp.add_data({"Word": len(parameters.get_required("password"))})\n'
        'resp.add_info("The password is " + parameters.get_required("password"))',
        parameters="parameters:\n  required:\n    - {name: password, type: secret}\n",
        swagger="paths:\n  /test/hidden:\n    post:\n",
    )
    operator(
        root,
        "test",
        "blurt",
        'import logging\nword = parameters.get_required("password")\n'
        'logging.getLogger("mason.blurt").warning("it is %s", word)\n'
        'raise RuntimeError("it is " + word)',
        parameters="parameters:\n  required:\n    - {name: password, type: secret}\n",
        swagger="paths:\n  /test/blurt:\n    post:\n",
    )
    operator(
        root,
        "test",
        "abroad",
        'resp.add_info("Nobody is there.")',
        parameters="supported_configurations:\n  - metastore: glue\n",
        swagger="paths:\n  /test/abroad:\n    post:\n    get:\n",
    )
    operator(root, "test", "unseen", 'resp.add_info("Nobody calls this through the API.")')
    commands = {"step_1": "hidden", "step_2": "blurt"}
    steps = [f"  - {{id: {step}, type: operator, namespace: test, command: {each}}}" for step, each in commands.items()]
    lines = ["type: workflow", "namespace: test", "command: secrets", "dag:", *steps]
    write(root / "workflow", {"workflow.yaml": "\n".join(lines), "__init__.py": WORKFLOW})
    return root


test_operators.__test__ = False  # type: ignore[attr-defined]


def prepared(folder: Path, home: Path, state: str = "") -> Mason:
    """Return the command line with the examples and the tests' operators registered, and two small tables."""
    folder.mkdir(parents=True, exist_ok=True)
    mason = Mason(folder, home, {"MASON_STATE": state} if state else {})
    write(
        folder,
        {
            "data/shop/orders.csv": "id,price\n1,2.5\n2,3.5\n3,1\n",
            "data/in/a.csv": "id,name\n1,saw\n",
            "data/in/b.csv": "name,id\naxe,2\n",
            "files.yaml": CONFIGURATION.format(root=folder / "data"),
        },
    )
    env = MasonEnvironment(home, state=state)
    save_configurations(env, read_configurations(folder / "files.yaml").valid)
    for path in (EXAMPLES / "operators", EXAMPLES / "workflows", test_operators(folder / "operators")):
        register(env, open_state(env), read_definitions(path, [OPERATORS, WORKFLOWS]).valid, replace=False)
    return mason


def children_of(pid: int) -> list[int]:
    """All that a process has started, and what these have."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
