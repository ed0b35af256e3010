"""Two storages in one configuration: each path goes to the storage of its scheme, also within one job."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from mason.configurations.configuration import parse_configuration
from mason.configurations.saved import save_configurations
from mason.engines.storage.models.location import Location
from mason.operators.operator_spec import OperatorSpec
from mason.operators.registration.definition_folder import read_definitions
from mason.operators.registration.definition_kind import OPERATORS
from mason.operators.registration.registry import register
from mason.operators.runner import OperatorCall, plan_operator, respond, run_operator
from mason.pipeline.tables.rejects import read_quarantine
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from mason.util.yaml_file import parse_yaml
from tests.cli.support import configured, strict_json
from tests.conftest import EXAMPLES, Mason, write
from tests.seaweed import Seaweed

ROWS = "n,day\n1,2026-01-01\n2,2026-01-02\n2,2026-01-02\n"
OUTPUTS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("merge", "output_path"): {"input_path": "{}"},
    ("format", "output_path"): {"path": "{}", "format": "csv"},
    ("dedupe", "output_path"): {"path": "{}"},
    ("dedupe", "removed_path"): {"path": "{}"},
    ("explode", "output_path"): {"path": "{}"},
    ("summarize", "output_path"): {"path": "{}"},
    ("check", "failures_path"): {"path": "{}", "checks": "range n max=1 on_failure=warn"},
    ("query", "output_path"): {"database_name": "shop", "query_string": "select n from orders"},
}
"""Each output and side path of an operator, with what else a call needs; `{}` stands for what is read."""
ROWS_WRITTEN = {
    ("merge", "output_path"): 3,
    ("query", "output_path"): 3,
    ("dedupe", "output_path"): 2,
    ("dedupe", "removed_path"): 1,
    ("check", "failures_path"): 2,
}
INPUTS = {"path", "input_path", "storage_path", "other_path"}
ON_THIS_MACHINE = {("summarize", "html")}
"""A page is a file of this machine, whatever is read: see `local_file`."""


def both(seaweed: Seaweed, first: str, second: str) -> str:
    roles = {"metastore_engine": "local", "execution_engine": "local", "scheduler_engine": "local"}
    clients = {"s3": {"configuration": seaweed.configuration()}}
    return yaml.safe_dump({"id": "both", **roles, "storage_engine": [first, second], "clients": clients})


@pytest.fixture
def operators(env: MasonEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MasonEnvironment:
    found = read_definitions(EXAMPLES / "operators" / "table", [OPERATORS])
    register(env, open_state(env), found.valid, replace=True)
    write(tmp_path / "work", {"shop/orders/a.csv": ROWS})
    monkeypatch.chdir(tmp_path / "work")
    return env


def call(
    env: MasonEnvironment, seaweed: Seaweed, command: str, parameters: Mapping[str, str], *, first: str = "local"
) -> tuple[list[str], list[str]]:
    """Plan and run an operator with two storages, and return the errors of both."""
    second = "s3" if first == "local" else "local"
    configuration = parse_configuration(both(seaweed, first, second), name="both.yaml", default_id="both")
    save_configurations(env, [(Path("both.yaml"), configuration)])
    asked = OperatorCall(namespace="table", command=command, given=list(parameters.items()), config_id="both")
    planned = respond(lambda response: plan_operator(env, asked, response))
    ran = respond(lambda response: run_operator(env, asked, response))
    return list(planned.response.errors), list(ran.response.errors)


def rows_at(seaweed: Seaweed, bucket: str, place: Path | str) -> int:
    """How many rows the Parquet files at a place hold: of a folder of this machine, or below a prefix of the bucket."""
    if isinstance(place, Path):
        return sum(pq.read_metadata(file).num_rows for file in place.rglob("part-*.parquet"))
    keys = [key for key in seaweed.keys(bucket) if key.startswith(f"{place}/part-")]
    bodies = [seaweed.client().get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys]
    return sum(pq.read_metadata(io.BytesIO(body)).num_rows for body in bodies)


@pytest.mark.parametrize(("command", "name"), OUTPUTS)
def test_a_table_of_this_machine_is_written_to_s3(
    operators: MasonEnvironment, seaweed: Seaweed, tmp_path: Path, command: str, name: str
) -> None:
    bucket = seaweed.bucket()
    assert call(operators, seaweed, "merge", {"input_path": "shop/orders", "output_path": "shop/orders"}) == ([], [])
    given = {key: value.format("shop/orders") for key, value in OUTPUTS[command, name].items()}

    assert call(operators, seaweed, command, {**given, name: f"s3://{bucket}/out"}) == ([], [])

    written = [key for key in seaweed.keys(bucket) if key.startswith("out/")]
    assert written, "the output is in the bucket"
    assert not (tmp_path / "work" / "s3:").exists() and not (tmp_path / "work" / bucket).exists()
    if (command, name) in ROWS_WRITTEN:
        assert rows_at(seaweed, bucket, "out") == ROWS_WRITTEN[command, name]


@pytest.mark.parametrize(("command", "name"), [each for each in OUTPUTS if each[0] != "query"])
def test_a_table_of_s3_is_written_to_this_machine(
    operators: MasonEnvironment, seaweed: Seaweed, tmp_path: Path, command: str, name: str
) -> None:
    bucket = seaweed.bucket()
    seaweed.client().put_object(Bucket=bucket, Key="raw/a.csv", Body=ROWS.encode())
    far = {"input_path": f"s3://{bucket}/raw", "output_path": f"s3://{bucket}/in"}
    assert call(operators, seaweed, "merge", far) == ([], [])
    before = seaweed.keys(bucket)
    given = {key: value.format(f"s3://{bucket}/in") for key, value in OUTPUTS[command, name].items()}
    if (command, name) == ("dedupe", "removed_path"):
        given["output_path"] = f"{tmp_path}/once"

    assert call(operators, seaweed, command, {**given, name: f"{tmp_path}/out"}) == ([], [])

    assert [each for each in (tmp_path / "out").rglob("*") if each.is_file()]
    assert seaweed.keys(bucket) == before, "the input is as it was, and nothing is left beside it"
    if (command, name) in ROWS_WRITTEN:
        assert rows_at(seaweed, bucket, tmp_path / "out") == ROWS_WRITTEN[command, name]


def test_a_query_and_a_diff_read_tables_of_both(operators: MasonEnvironment, seaweed: Seaweed) -> None:
    bucket = seaweed.bucket()
    far = {"input_path": "shop/orders", "output_path": f"s3://{bucket}/far"}
    assert call(operators, seaweed, "merge", far) == ([], [])

    given = {"path": "shop/orders", "other_path": f"s3://{bucket}/far", "keys": "n"}
    assert call(operators, seaweed, "diff", given) == ([], [])


def test_bad_records_of_s3_are_numbered_in_their_file_and_kept_beside_the_output(
    operators: MasonEnvironment, seaweed: Seaweed, tmp_path: Path
) -> None:
    bucket = seaweed.bucket()
    seaweed.client().put_object(Bucket=bucket, Key="raw/a.csv", Body=b"n,day\n1,2026-01-01\n2\n3,2026-01-03\n")

    given = {"input_path": f"s3://{bucket}/raw", "output_path": f"{tmp_path}/out"}
    assert call(operators, seaweed, "merge", given) == ([], [])

    [reject] = read_quarantine(Location(f"{tmp_path}/out"))
    assert (reject.record, reject.raw.strip()) == (3, "2")
    assert rows_at(seaweed, bucket, tmp_path / "out") == 2


def test_a_merge_appends_to_a_table_in_the_other_storage_and_widens_it(
    operators: MasonEnvironment, seaweed: Seaweed, tmp_path: Path
) -> None:
    bucket, output = seaweed.bucket(), {}
    seaweed.client().put_object(Bucket=bucket, Key="raw/b.csv", Body=b"n,day\n3.5,2026-01-03\n")
    output = {"output_path": f"{tmp_path}/out"}
    assert call(operators, seaweed, "merge", {"input_path": "shop/orders", **output}) == ([], [])

    added = {"input_path": f"s3://{bucket}/raw", **output, "mode": "append"}
    assert call(operators, seaweed, "merge", added) == ([], [])

    assert rows_at(seaweed, bucket, tmp_path / "out") == 4
    assert str(pq.read_table(tmp_path / "out", columns=["n"])["n"].type) != "int64", "3.5 is not a whole number"


def test_a_path_without_a_scheme_belongs_to_the_first_storage(
    operators: MasonEnvironment, seaweed: Seaweed, tmp_path: Path
) -> None:
    bucket = seaweed.bucket()
    given = {"input_path": f"file://{tmp_path}/work/shop/orders", "output_path": f"{bucket}/out"}

    assert call(operators, seaweed, "merge", given, first="s3") == ([], [])

    assert rows_at(seaweed, bucket, "out") == 3
    assert not (tmp_path / "work" / bucket).exists()


def test_the_page_of_a_summary_of_s3_is_a_file_of_this_machine(
    operators: MasonEnvironment, seaweed: Seaweed, tmp_path: Path
) -> None:
    bucket = seaweed.bucket()
    seaweed.client().put_object(Bucket=bucket, Key="in/a.csv", Body=ROWS.encode())

    given = {"path": f"s3://{bucket}/in", "html": f"{tmp_path}/page.html"}
    assert call(operators, seaweed, "summarize", given) == ([], [])

    assert "<html" in (tmp_path / "page.html").read_text()
    assert seaweed.keys(bucket) == ["in/a.csv"]


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("summarize", {"path": "shop/orders", "html": "s3://pages/page.html"}),
        ("quarantine", {"path": "shop/orders", "action": "export", "file": "s3://pages/bad.csv"}),
    ],
)
def test_a_file_of_this_machine_is_not_taken_for_a_folder_called_s3(
    operators: MasonEnvironment, seaweed: Seaweed, command: str, given: Mapping[str, str]
) -> None:
    _, [told] = call(operators, seaweed, command, given)

    name = "html" if command == "summarize" else "file"
    assert given[name] in told and "is not a file on this machine" in told
    assert [each.name for each in Path.cwd().iterdir()] == ["shop"]


def test_no_operator_has_an_output_that_these_tests_do_not_know() -> None:
    known = {*OUTPUTS, *ON_THIS_MACHINE}
    for file in (EXAMPLES / "operators" / "table").glob("*/operator.yaml"):
        spec = OperatorSpec.of(parse_yaml(file.read_text(), name=str(file)).value)
        paths = {each.name for each in spec.parameters.all if each.type == "path"}
        assert {(file.parent.name, name) for name in paths - INPUTS} <= known, file


WORKFLOW = """\
type: workflow
namespace: shop
command: ship
name: ship
dag:
  - {id: first, type: operator, namespace: table, command: merge}
  - {id: second, type: operator, namespace: table, command: format, dependencies: [first]}
supported_schedulers: [local]
"""


def test_a_workflow_brings_a_table_to_s3_and_resumes_by_what_is_there(mason: Mason, seaweed: Seaweed) -> None:
    bucket = seaweed.bucket()
    configured(mason.register_examples(), both(seaweed, "local", "s3"))
    write(mason.folder, {"ship/workflow.yaml": WORKFLOW, "shop/orders/a.csv": ROWS})
    assert mason("register", "ship").exit_code == 0
    steps = {
        "first": {"parameters": {"input_path": "shop/orders", "output_path": f"s3://{bucket}/merged"}},
        "second": {"parameters": {"path": f"s3://{bucket}/merged", "output_path": "shop/out", "format": "csv"}},
    }
    write(mason.folder, {"p.yaml": yaml.safe_dump(steps)})

    dry = mason("workflow", "shop", "ship", "-f", "p.yaml")
    ran = mason("workflow", "shop", "ship", "-f", "p.yaml", "-r")
    run_id = strict_json(ran)["Data"][0]["RunID"]
    again = mason("workflow", "--resume", run_id)

    assert (dry.exit_code, ran.exit_code, again.exit_code) == (0, 0, 0), (dry.stderr, ran.stderr, again.stderr)
    assert rows_at(seaweed, bucket, "merged") == 3
    assert list((mason.folder / "shop" / "out").glob("*.csv"))
