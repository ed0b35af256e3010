"""The code of an operator, when several threads want it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.loader import load_operator
from mason.operators.registration.registry import find_operator, register
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from tests.conftest import write

SLOW = """
import time

time.sleep(0.3)

from mason.operators.operator_definition import OperatorDefinition


class SlowWord(OperatorDefinition):
    def run(self, env, config, parameters, resp):
        return resp
"""


def test_threads_that_want_the_same_code_at_once_all_get_the_whole_of_it(env: MasonEnvironment, tmp_path: Path) -> None:
    definition = "type: operator\nnamespace: slow\ncommand: word\ndescription: Slow\n"
    folder = write(tmp_path / "word", {"operator.yaml": definition, "__init__.py": SLOW})
    store = open_state(env)
    reading = read_definitions(folder, [OPERATORS])
    assert not reading.problems
    register(env, store, reading.valid, replace=False)
    found = find_operator(store, "slow", "word")

    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(lambda _: load_operator(env, store, found), range(8)))

    assert {type(each).__name__ for each in loaded} == {"SlowWord"}
    assert len({type(each) for each in loaded}) == 1
