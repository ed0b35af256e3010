"""Sends requests at random, valid and invalid ones, over the whole specification: `scripts/fuzz_api.py --examples 200`.

Without `--url` it starts a server of its own in a folder of its own. Never point it at a server that matters: it
deletes what it finds. It ends with 1, and names the requests, when a reply is a 5xx or is not what the specification
says, when a request is taken that the specification does not allow, or one that has no token.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis.engine import events, from_schema
from schemathesis.hooks import unregister

from mason.configurations.saved import read_configurations, save_configurations
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from mason.workflows.definition.registration import WORKFLOWS

TOKEN = "for-the-fuzzer"
_PHASES = ("coverage", "fuzzing")
_PROJECT = Path(__file__).parent.parent
_KEY = "Idempotency-Key"
_LEFT_OUT = {
    # Valid values name tables and files that are not there.
    "positive_data_acceptance": {"enabled": False},
}
_CONFIGURATION = """\
id: local
metastore_engine: local
storage_engine: local
scheduler_engine: local
execution_engine: local
clients:
  local:
    configuration:
      root: {root}
"""


@dataclass
class Found:
    """What came of it: how many requests had which status, and what was wrong, by operation and check."""

    statuses: Counter[int] = field(default_factory=Counter)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        return self.statuses.total()

    def note(self, event: Any) -> None:
        for each in event.recorder.interactions.values():
            if each.response is not None:
                self.statuses[each.response.status_code] += 1
        for case_id, checks in event.recorder.checks.items():
            for check in checks:
                if check.failure_info is not None:
                    shown = _shown(check.failure_info.failure, event.recorder.interactions[case_id])
                    self.failures.setdefault((event.label, check.name), shown)

    def report(self) -> str:
        return "\n\n".join(f"{label}: {check}\n{shown}" for (label, check), shown in sorted(self.failures.items()))


def fuzz(url: str, token: str, *, examples: int, seed: int, only: str | None = None, one_in: int = 1) -> Found:
    """Send requests to the server at a URL: the same ones for the same seed.

    Args:
        examples: how many requests of each operation are made at random.
        only: a pattern of the paths to try; all unless told.
        one_in: of the requests that are not at random (each value at its limits, and beyond), each how-manyth is sent.
    """
    schema = schemathesis.openapi.from_url(f"{url}/api/openapi.json", config=_config(token, examples, seed))
    numbers = itertools.count()

    @schema.hook
    def filter_case(context: Any, case: Any) -> bool:
        return case.meta.phase.name.value != "coverage" or next(numbers) % one_in == 0

    if only is not None:
        schema = schema.include(path_regex=only)
    found = Found()
    with _keys_are_used_once():
        for event in from_schema(schema).execute():
            if isinstance(event, events.ScenarioFinished):
                found.note(event)
            elif isinstance(event, events.FatalError | events.NonFatalError):
                found.failures[str(getattr(event, "label", "")), "the run"] = _problem(event)
    return found


def prepare(folder: Path) -> None:
    """Make a home and a working folder with two small tables, the examples and a configuration without Spark."""
    work = folder / "work"
    files = {
        "data/shop/orders.csv": "id,price\n1,2.5\n2,3.5\n3,1\n",
        "data/in/a.csv": "id,name\n1,saw\n",
        "data/in/b.csv": "name,id\naxe,2\n",
        "local.yaml": _CONFIGURATION.format(root=work / "data"),
    }
    for name, text in files.items():
        file = work / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    env = MasonEnvironment(folder / "home")
    save_configurations(env, read_configurations(work / "local.yaml").valid)
    examples = _PROJECT / "mason" / "examples"
    for path in (examples / "operators", examples / "workflows"):
        register(env, open_state(env), read_definitions(path, [OPERATORS, WORKFLOWS]).valid, replace=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=100, help="requests of each operation, besides the fixed ones")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--url", help="a server that runs already")
    parser.add_argument("--token", default=TOKEN)
    parser.add_argument("--only", help="a pattern of the paths to try")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, _server(Path(place), given.token, given.url) as url:
        return _report(fuzz(url, given.token, examples=given.examples, seed=given.seed, only=given.only), given.seed)


def _config(token: str, examples: int, seed: int) -> schemathesis.Config:
    return schemathesis.Config.from_dict(
        {
            "seed": seed,
            "auth": {"openapi": {"token": {"bearer": token}}},
            "generation": {"max-examples": examples, "database": "none", "no-shrink": True},
            "phases": {name: {"enabled": name in _PHASES} for name in ("examples", "coverage", "fuzzing", "stateful")},
            "checks": _LEFT_OUT,
            "continue-on-failure": True,
            "request-timeout": 30.0,
        }
    )


@contextmanager
def _keys_are_used_once() -> Iterator[None]:
    """Let no key be sent twice: else most answers would be that it was used for another request."""
    numbers = itertools.count()

    def before_call(context: Any, case: Any, kwargs: Any) -> None:
        key = (case.headers or {}).get(_KEY)
        if isinstance(key, str) and 1 <= len(key) < 190:
            case.headers[_KEY] = f"{key}-{next(numbers)}"

    schemathesis.hook(before_call)
    try:
        yield
    finally:
        unregister(before_call)


def _shown(failure: Any, interaction: Any) -> str:
    request, response = interaction.request, interaction.response
    body = request.body[:500] if request.body else b""
    answered = f"{response.status_code} {response.content[:300]!r}" if response else "no answer"
    return f"{failure}\n  {request.method} {request.uri[:1000]} {body!r}\n  {answered}"


def _problem(event: Any) -> str:
    return repr(getattr(event, "value", None) or getattr(event, "exception", None))


@contextmanager
def _server(folder: Path, token: str, running: str | None) -> Iterator[str]:
    if running:
        yield running
        return
    prepare(folder)
    log = folder / "server.log"
    with open(log, "w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "mason", "run", "--port", "0"],
            cwd=folder / "work",
            env={
                **os.environ,
                "MASON_HOME": str(folder / "home"),
                "MASON_TOKEN": token,
                "PYTHONPATH": str(_PROJECT),
            },
            stdout=out,
            stderr=out,
        )
    try:
        yield _url(process, log)
    finally:
        process.terminate()
        process.wait(60)
        for line in log.read_text().splitlines():
            if "Traceback (most recent call last)" in line:
                sys.stdout.write(f"{line}\n")


def _url(process: subprocess.Popen[bytes], log: Path) -> str:
    while process.poll() is None:
        found = re.search(r"Mason listens on (http://\S+)", log.read_text())
        if found:
            return found[1]
        time.sleep(0.05)
    raise SystemExit(log.read_text())


def _report(found: Found, seed: int) -> int:
    sys.stdout.write(f"{found.requests} requests with the seed {seed}: {dict(sorted(found.statuses.items()))}\n")
    if found.failures:
        sys.stdout.write(f"{found.report()}\n")
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
