"""What the tests of operators start from."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ParamSpec, cast
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from mason.clients.response import Response
from mason.configurations.configuration import parse_configuration
from mason.configurations.valid_config import ValidConfig, validate_configuration
from mason.engines.execution.models.job import JobRecord
from mason.errors import Unsupported
from mason.operators.operator_response import OperatorResponse
from mason.operators.operator_tests.finding import Library
from mason.operators.runner import OperatorCall, prepare_operator
from mason.state.home import read_state
from mason.testing.contract import fails_with
from mason.testing.place import Place
from mason.util.environment import MasonEnvironment

P = ParamSpec("P")


class Operators:
    """The operators that come with Mason, on one configuration: `operators("table:get", database_name="shop", …)`."""

    def __init__(self, env: MasonEnvironment, config: ValidConfig) -> None:
        self.config = config
        self._env = env

    def __call__(self, name: str, **parameters: Any) -> OperatorResponse:
        """Run an operator and return what came of it; what goes wrong is raised."""
        operator = _LIBRARY.find(name)
        call = OperatorCall(namespace=operator.name.namespace, command=operator.name.command, base=parameters)
        return prepare_operator(self._env, read_state(self._env), self.config, operator, call, Response()).run()


_LIBRARY = Library([])


class OperatorFixtures:
    """The fixtures of the suite; a subclass has `configuration` and `base_path`."""

    @pytest.fixture
    def configuration(self) -> Mapping[str, Any]:
        raise NotImplementedError("A suite is given a configuration by a fixture `configuration` in the subclass.")

    @pytest.fixture
    def base_path(self) -> str:
        raise NotImplementedError("A suite is told where to write by a fixture `base_path` in the subclass.")

    @pytest.fixture
    def env(self, tmp_path: pathlib.Path) -> Iterator[MasonEnvironment]:
        """A home that goes with the test."""
        env = MasonEnvironment(tmp_path / "contract_home")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MASON_HOME", str(env.home))
            patch.delenv("MASON_STATE", raising=False)
            yield env

    @pytest.fixture
    def config(self, configuration: Mapping[str, Any], env: MasonEnvironment) -> ValidConfig:
        """The configuration, ready for use."""
        text = yaml.safe_dump({"id": "contract", **configuration})
        return validate_configuration(parse_configuration(text, name="contract.yaml", default_id="contract"), env)

    @pytest.fixture
    def operators(self, config: ValidConfig, env: MasonEnvironment) -> Operators:
        """The operators on that configuration."""
        return Operators(env, config)

    @pytest.fixture
    def place(self, operators: Operators, base_path: str) -> Place:
        """The place that `base_path` names."""
        storage = operators.config.storage.client
        return Place(storage.filesystem(), storage.path(base_path))

    @pytest.fixture
    def database(self, operators: Operators) -> str:
        """A database without tables, of a name that nobody else has."""
        name = f"contract_{uuid4().hex[:8]}"
        operators("database:create", database_name=name)
        return name

    @pytest.fixture
    def jobs(self, operators: Operators) -> list[str]:
        """The types of job that the execution engine has."""
        return list(operators.config.execution.client.job_types())


def needs_job(kind: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Mark a test as one of an operator that needs this type of job, and that it runs before anything else.

    On an engine that does not have it, the test turns into the demand that the operator says so.
    """

    def mark(test: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(test)
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            if kind in cast(list[str], kwargs["jobs"]):
                test(*args, **kwargs)
                return
            with fails_with(Unsupported, saying=kind):
                test(*args, **kwargs)

        return run

    return mark


def job_of(result: OperatorResponse) -> JobRecord:
    """Return the job that an operator ran."""
    assert isinstance(result.object, JobRecord)
    return result.object


def write_parquet(place: Place, name: str, rows: pa.Table) -> str:
    """Write a table as one file below a place and return its path as a user writes it."""
    stream = pa.BufferOutputStream()
    pq.write_table(rows, stream)
    return str(place.write(name, stream.getvalue().to_pybytes()))
