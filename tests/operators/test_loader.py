"""From a registration to an instance of its author's class."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mason.operators.definition_folder import read_definitions
from mason.operators.definition_kind import OPERATORS
from mason.operators.loader import load_definition
from mason.operators.registry import find_operator, register
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from tests.api.support import operator


def test_an_operator_that_many_threads_load_at_once_is_whole_for_each(env: MasonEnvironment, tmp_path: Path) -> None:
    folder = operator(tmp_path / "slow", "slow", "one", "pass")
    code = folder / "__init__.py"
    code.write_text(f"import time\n\ntime.sleep(0.2)\n{code.read_text()}")
    store = open_state(env)
    register(env, store, read_definitions(folder, [OPERATORS]).valid, replace=False)
    found = find_operator(store, "slow", "one")

    with ThreadPoolExecutor(8) as threads:
        loaded = list(threads.map(lambda _: load_definition(env, store, found), range(8)))

    assert {type(each).__name__ for each in loaded} == {"SlowOne"}
    assert len({type(each) for each in loaded}) == 1
