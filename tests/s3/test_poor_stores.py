"""A store that leaves out what Mason goes by is named as such, with what it leaves out: nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mason.configurations.configuration import parse_configuration
from mason.configurations.saved import save_configurations
from mason.operators.diagnosis import diagnose
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.operators.runner import OperatorCall, respond, run_operator
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from tests.conftest import EXAMPLES
from tests.s3.proxy import Proxy
from tests.seaweed import Seaweed

CALLS = {
    "infer a file": ("infer", {"storage_path": "{}/in/a.csv", "database_name": "{}"}),
    "infer a folder": ("infer", {"storage_path": "{}/in", "database_name": "{}"}),
    "merge": ("merge", {"input_path": "{}/in", "output_path": "{}/out"}),
    "preview": ("preview", {"path": "{}/in/a.csv"}),
    "append": ("merge", {"input_path": "{}/in", "output_path": "{}/table", "mode": "append"}),
    "vacuum": ("vacuum", {"path": "{}/table"}),
    "query": ("query", {"database_name": "{}", "query_string": "select * from table"}),
}
WITHOUT = {("infer a file", "ETag"), ("infer a folder", "ETag"), ("preview", "Last-Modified")}
WITHOUT |= {("infer a file", "Last-Modified"), ("infer a folder", "Last-Modified")}
"""What can be done all the same."""


@pytest.fixture
def operators(env: MasonEnvironment, seaweed: Seaweed, proxy: Proxy) -> MasonEnvironment:
    found = read_definitions(EXAMPLES / "operators" / "table", [OPERATORS])
    register(env, open_state(env), found.valid, replace=True)
    s3 = seaweed.configuration(endpoint=proxy.endpoint)
    roles = {"metastore_engine": "s3", "storage_engine": "s3", "execution_engine": "local"}
    text = yaml.safe_dump({"id": "poor", **roles, "clients": {"s3": {"configuration": s3}}})
    save_configurations(env, [(Path("poor.yaml"), parse_configuration(text, name="poor.yaml", default_id="poor"))])
    return env


def call(env: MasonEnvironment, bucket: str, command: str, parameters: dict[str, str]) -> list[str]:
    given = [(name, value.format(bucket)) for name, value in parameters.items()]
    done = respond(
        lambda response: run_operator(env, OperatorCall(namespace="table", command=command, given=given), response)
    )
    return list(done.response.errors)


@pytest.mark.parametrize("hidden", ["ETag", "Last-Modified"])
@pytest.mark.parametrize("what", CALLS)
def test_a_store_without_tags_or_times_is_told_of_in_one_sentence(
    operators: MasonEnvironment, seaweed: Seaweed, proxy: Proxy, what: str, hidden: str
) -> None:
    bucket = seaweed.bucket()
    seaweed.client().put_object(Bucket=bucket, Key="in/a.csv", Body=b"n\n1\n2\n")
    assert not call(operators, bucket, "merge", {"input_path": "{}/in", "output_path": "{}/table"})
    before = seaweed.keys(bucket)
    proxy.hides = (hidden,)

    told = call(operators, bucket, *CALLS[what])

    if (what, hidden) in WITHOUT:
        assert told == []
        return
    [sentence] = told
    assert f"says no {hidden} of" in sentence and proxy.endpoint in sentence
    assert f"s3://{bucket}" in sentence
    assert [key for key in seaweed.keys(bucket) if "/commits/" in key] == [key for key in before if "/commits/" in key]


@pytest.mark.parametrize("what", CALLS)
def test_a_store_without_either_is_told_of_too(
    operators: MasonEnvironment, seaweed: Seaweed, proxy: Proxy, what: str
) -> None:
    bucket = seaweed.bucket()
    seaweed.client().put_object(Bucket=bucket, Key="in/a.csv", Body=b"n\n1\n2\n")
    assert not call(operators, bucket, "merge", {"input_path": "{}/in", "output_path": "{}/table"})
    proxy.hides = ("ETag", "Last-Modified")

    told = call(operators, bucket, *CALLS[what])

    assert len(told) == (0 if (what, "ETag") in WITHOUT else 1)
    assert all("The store" in each and "ETag" in each for each in told)


def test_doctor_says_so_of_a_place(operators: MasonEnvironment, seaweed: Seaweed, proxy: Proxy) -> None:
    bucket = seaweed.bucket()
    proxy.hides = ("ETag",)

    found = [
        each.message for each in diagnose(operators, "poor", [f"s3://{bucket}/x"]) if each.subject.startswith("s3:")
    ]

    [message] = found
    assert message.startswith(
        f"it cannot be written to: The store at {proxy.endpoint} says no ETag of s3://{bucket}/x/"
    )
