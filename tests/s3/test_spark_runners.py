"""Spark's processes have no keys in their environment, and reach the store all the same: they find them in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import PROJECT, Mason, write
from tests.seaweed import REGION, Seaweed

pytestmark = pytest.mark.timeout(900)

RUNNERS: dict[str, dict[str, Any]] = {
    "in process": {"type": "local", "warm": "never"},
    "submit": {"type": "submit", "master": "local[2]"},
}


@pytest.mark.parametrize("name", RUNNERS)
def test_a_merge_and_a_query_find_the_keys_of_the_environment_on_every_runner(
    tmp_path: Path, seaweed: Seaweed, name: str
) -> None:
    bucket = seaweed.bucket()
    seaweed.client().put_object(Bucket=bucket, Key="raw/a.csv", Body=b"id,price\n1,2.50\n2,3.50\n")
    (tmp_path / "runtime").mkdir(mode=0o700)
    variables = {
        **seaweed.environment(),
        "MASON_RUNTIME_DIR": str(tmp_path / "runtime"),
        "XDG_CACHE_HOME": str(PROJECT / ".cache"),  # what S3 takes is fetched once
    }
    mason = Mason(tmp_path / "work", tmp_path / "home", variables)
    write(mason.folder / "configs", {"spark.yaml": configuration(seaweed, RUNNERS[name])})
    assert mason("config", "configs").exit_code == 0
    mason.register_examples()

    merged = run(mason, "merge", {"input_path": f"s3://{bucket}/raw", "output_path": f"s3://{bucket}/prices"})
    asked = run(mason, "query", {"database_name": bucket, "query_string": "select sum(price) as s from prices"})

    assert merged["RowsOut"] == 2
    assert asked["Rows"] == [{"s": "6.00"}]


def configuration(seaweed: Seaweed, runner: Mapping[str, Any]) -> str:
    """The configuration says nothing of keys: they are in the environment."""
    s3 = {"endpoint": seaweed.endpoint, "aws_region": REGION}
    clients = {"s3": {"configuration": s3}, "spark": {"configuration": {"runner": dict(runner)}}}
    return yaml.safe_dump({"metastore_engine": "s3", "execution_engine": "spark", "clients": clients})


def run(mason: Mason, command: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    given = [part for name, value in parameters.items() for part in ("-p", f"{name}:{value}")]
    process = mason.start("operator", "table", command, "-c", "spark", *given)
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr + stdout
    answer: dict[str, Any] = json.loads(stdout)["Data"][0]
    return answer
