"""Any request at all, valid or not, over the whole specification; `scripts/fuzz_api.py` sends many more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from scripts.fuzz_api import TOKEN, Found, fuzz, prepare
from tests.api.support import Server, operator
from tests.conftest import Mason

SEED = 8
BROKEN = "^/broken/"
SOUND = "^/(?!broken/)"
SIZE = "parameters:\n  required:\n    - {name: size, type: integer, minimum: 1, maximum: 9}\n"


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that has, besides the examples, operators that do what none may."""
    root = tmp_path_factory.mktemp("fuzzed")
    prepare(root)
    broken = root / "broken"
    operator(broken, "broken", "bug", "raise KeyError(1)", swagger="paths:\n  /broken/bug:\n    get:\n")
    for command, answer in (("shape", '{"Errors": "none"}, 200'), ("taken", '{"Taken": True}, 200')):
        swagger = f"paths:\n  /broken/{command}:\n    post:\n"
        extra = f"\ndef api(*args, **kwargs): return {answer}\n"
        operator(broken, "broken", command, "pass", parameters=SIZE, swagger=swagger, extra=extra)
    env = MasonEnvironment(root / "home")
    register(env, open_state(env), read_definitions(broken, [OPERATORS]).valid, replace=False)
    server = Server(Mason(root / "work", root / "home"), variables={"MASON_TOKEN": TOKEN}).start()
    yield server
    server.kill()


def test_whatever_is_asked_the_answer_is_one_of_the_specification_and_never_a_5xx(fuzzed: Server) -> None:
    found = fuzz(fuzzed.url, TOKEN, examples=5, seed=SEED, only=SOUND, one_in=5)

    assert not found.failures, found.report()
    assert found.requests > 800
    assert {200, 400, 401, 404, 405, 415} <= set(found.statuses)


@pytest.fixture(scope="module")
def of_broken(fuzzed: Server) -> Found:
    return fuzz(fuzzed.url, TOKEN, examples=5, seed=SEED, only=BROKEN)


@pytest.mark.parametrize(
    ("operation", "check"),
    [
        ("GET /broken/bug", "not_a_server_error"),
        ("POST /broken/shape", "response_schema_conformance"),
        ("POST /broken/taken", "negative_data_rejection"),
    ],
)
def test_an_operation_that_breaks_a_promise_is_noticed(of_broken: Found, operation: str, check: str) -> None:
    assert (operation, check) in of_broken.failures


def test_a_server_that_asks_for_no_token_is_noticed(tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("open")
    prepare(root)
    server = Server(Mason(root / "work", root / "home")).start()
    try:
        found = fuzz(server.url, TOKEN, examples=1, seed=SEED, only="^/databases$")
    finally:
        server.kill()

    assert ("GET /databases", "ignored_auth") in found.failures
