"""One emulated AWS for all tests here, and a proxy before it that says what the emulator cannot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from mason.clients.glue.metastore import GlueMetastoreClient
from mason.clients.response import Response
from mason.configurations.configuration import parse_configuration
from mason.configurations.saved import save_configurations
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.operators.runner import OperatorCall, plan_operator, respond, run_operator
from mason.state.home import open_state
from mason.testing.contract import answer
from mason.util.environment import MasonEnvironment
from tests.aws import ROLE, Moto, forget_user, running_moto
from tests.conftest import EXAMPLES
from tests.glue.proxy import AwsProxy, running_aws_proxy


@pytest.fixture(scope="session")
def moto() -> Iterator[Moto]:
    with running_moto() as server:
        yield server


@pytest.fixture(autouse=True)
def nothing_of_this_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials come from the test, never from whoever runs it."""
    forget_user(tmp_path, monkeypatch)


@pytest.fixture(scope="session")
def proxy_server(moto: Moto) -> Iterator[AwsProxy]:
    with running_aws_proxy(moto.endpoint) as running:
        yield running


@pytest.fixture
def proxy(proxy_server: AwsProxy) -> AwsProxy:
    """The proxy as it was in the beginning: a new one would cost each test a new client of boto3."""
    proxy_server.reset()
    return proxy_server


@pytest.fixture
def client(moto: Moto) -> GlueMetastoreClient:
    return GlueMetastoreClient(moto.configuration())


@pytest.fixture
def through(moto: Moto, proxy: AwsProxy) -> GlueMetastoreClient:
    """The same, through the proxy."""
    return GlueMetastoreClient(moto.configuration(endpoint=proxy.endpoint))


@pytest.fixture
def database(client: GlueMetastoreClient) -> str:
    name = f"db_{uuid4().hex[:8]}"
    answer(client.create_database, name)
    return name


@dataclass(frozen=True)
class Operators:
    """The operators of tables, run in this process with glue and s3."""

    env: MasonEnvironment

    def __call__(self, command: str, *, plan: bool = False, **parameters: str) -> Response:
        call = OperatorCall(namespace="table", command=command, given=list(parameters.items()))
        act = plan_operator if plan else run_operator
        done = respond(lambda response: act(self.env, call, response))
        assert not done.response.errors
        return _said(done.to_dict())


def _said(document: dict[str, Any]) -> Response:
    said = Response()
    for add, key in ((said.add_info, "Info"), (said.add_warning, "Warnings"), (said.add_data, "Data")):
        for each in document[key]:
            add(each)
    return said


@pytest.fixture
def operators(moto: Moto, env: MasonEnvironment) -> Operators:
    glue, s3 = json.dumps(moto.configuration(aws_role_arn=ROLE)), json.dumps(moto.configuration())
    text = (
        "id: aws\nmetastore_engine: glue\nscheduler_engine: glue\nstorage_engine: s3\n"
        f"clients:\n  glue:\n    configuration: {glue}\n  s3:\n    configuration: {s3}\n"
    )
    save_configurations(env, [(Path("aws.yaml"), parse_configuration(text, name="aws.yaml", default_id="aws"))])
    found = read_definitions(EXAMPLES / "operators" / "table", [OPERATORS])
    register(env, open_state(env), found.valid, replace=True)
    return Operators(env)
