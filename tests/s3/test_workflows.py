"""Workflows whose tables lie in an object store: what is unchanged there is known again by the store's own tags."""

from __future__ import annotations

import pytest
import yaml

from tests.cli.support import configured, strict_json
from tests.conftest import Mason
from tests.seaweed import Seaweed

WORKFLOW = """\
type: workflow
namespace: table
command: twice
name: twice
dag:
  - {id: merge, type: operator, namespace: table, command: merge}
  - {id: summarize, type: operator, namespace: table, command: summarize, dependencies: [merge]}
supported_schedulers: [local]
"""


@pytest.fixture
def stored(mason: Mason, seaweed: Seaweed) -> str:
    """A bucket with the input of a workflow, which is registered."""
    bucket = seaweed.bucket()
    roles = {"metastore_engine": "s3", "storage_engine": "s3", "execution_engine": "local", "scheduler_engine": "local"}
    clients = {"s3": {"configuration": seaweed.configuration()}}
    configured(mason.register_examples(), yaml.safe_dump({"id": "stored", **roles, "clients": clients}))
    (mason.folder / "twice").mkdir()
    (mason.folder / "twice" / "workflow.yaml").write_text(WORKFLOW)
    assert mason("register", "twice").exit_code == 0
    merge = {"input_path": f"s3://{bucket}/in", "output_path": f"{bucket}/out"}
    steps = {"merge": {"parameters": merge}, "summarize": {"parameters": {"path": f"{bucket}/out"}}}
    (mason.folder / "p.yaml").write_text(yaml.safe_dump(steps))
    seaweed.client().put_object(Bucket=bucket, Key="in/a.csv", Body=b"n\n1\n2\n")
    return bucket


def run(mason: Mason, *flags: str) -> tuple[str, list[str]]:
    result = mason("workflow", "table", "twice", "-f", "p.yaml", *flags)
    assert result.exit_code == 0, result.stdout + result.stderr
    said = strict_json(result)
    return said["Data"][0]["RunID"], said["Info"]


def test_a_run_is_resumed_with_what_is_unchanged_in_the_store(mason: Mason, seaweed: Seaweed, stored: str) -> None:
    first, _ = run(mason, "-r")

    second, said = run(mason, "-r", "--resume", first)

    assert [f"{step}: reused from run {first}." for step in ("merge", "summarize")] == [
        each for each in said if "reused" in each
    ]
    seaweed.client().put_object(Bucket=stored, Key="in/a.csv", Body=b"n\n1\n3\n")  # of the same size
    _, said = run(mason, "-r", "--resume", second)
    assert "merge: runs again, since the files that it reads were changed." in said
    for key in seaweed.keys(stored):
        if key.startswith("out/"):
            seaweed.client().delete_object(Bucket=stored, Key=key)
    _, said = run(mason, "-r", "--resume", second)
    assert any(each.startswith("merge: runs again") for each in said)


def test_a_resume_notices_what_others_did_to_a_table_between_two_steps(
    mason: Mason, seaweed: Seaweed, stored: str
) -> None:
    first, _ = run(mason, "-r")
    seaweed.client().put_object(Bucket=stored, Key="late/b.csv", Body=b"n\n3\n")
    where = f"input_path:s3://{stored}/late,output_path:{stored}/out,mode:append"
    assert mason("operator", "table", "merge", "-p", where).exit_code == 0

    second, said = run(mason, "-r", "--resume", first)

    assert f"merge: reused from run {first}." in said
    assert "summarize: runs again, since the files that it reads were changed." in said
    lost = [key for key in seaweed.keys(stored) if key.startswith("out/") and key.endswith(".parquet")]
    for key in lost:
        seaweed.client().delete_object(Bucket=stored, Key=key)
    _, said = run(mason, "-r", "--resume", second)
    assert "merge: runs again, since what it wrote is not there any more." in said


def test_a_plan_is_refused_when_an_object_was_replaced(mason: Mason, seaweed: Seaweed, stored: str) -> None:
    saved = mason("workflow", "table", "twice", "-f", "p.yaml", "--save", "plan.json")
    assert saved.exit_code == 0, saved.stderr
    seaweed.client().put_object(Bucket=stored, Key="in/a.csv", Body=b"n\n1\n3\n")

    refused = mason("workflow", "table", "twice", "-f", "p.yaml", "-r", "--from-plan", "plan.json")

    assert refused.exit_code == 1
    assert strict_json(refused)["Errors"][0] == f"plan.json: merge: its input s3://{stored}/in has another content"
    assert not [key for key in seaweed.keys(stored) if key.startswith("out/")]


def test_a_page_of_this_machine_is_no_object_of_the_store(mason: Mason, stored: str) -> None:
    steps = yaml.safe_load((mason.folder / "p.yaml").read_text())
    steps["summarize"]["parameters"]["html"] = "page.html"
    (mason.folder / "p.yaml").write_text(yaml.safe_dump(steps))

    planned = strict_json(mason("workflow", "table", "twice", "-f", "p.yaml"))
    first, _ = run(mason, "-r")
    _, said = run(mason, "-r", "--resume", first)

    assert f"summarize: reads s3://{stored}/out and writes {mason.folder}/page.html." in planned["Info"]
    assert f"summarize: reused from run {first}." in said
    (mason.folder / "page.html").unlink()
    _, said = run(mason, "-r", "--resume", first)
    assert any(each.startswith("summarize: runs again") for each in said)
