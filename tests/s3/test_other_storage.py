"""Two storages in one configuration: what is written goes to the storage of what is read, or is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from mason.configurations.configuration import parse_configuration
from mason.configurations.saved import save_configurations
from mason.operators.definition_folder import read_definitions
from mason.operators.definition_kind import OPERATORS
from mason.operators.operator_spec import OperatorSpec
from mason.operators.registry import register
from mason.operators.runner import OperatorCall, plan_operator, respond, run_operator
from mason.state.home import open_state
from mason.util.environment import MasonEnvironment
from mason.util.yaml_file import parse_yaml
from tests.cli.support import configured, strict_json
from tests.conftest import EXAMPLES, Mason, write
from tests.seaweed import Seaweed

ROWS = "n,day\n1,2026-01-01\n2,2026-01-02\n"
OUTPUTS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("merge", "output_path"): {"input_path": "{}"},
    ("format", "output_path"): {"path": "{}", "format": "csv"},
    ("dedupe", "output_path"): {"path": "{}"},
    ("dedupe", "removed_path"): {"path": "{}"},
    ("explode", "output_path"): {"path": "{}"},
    ("summarize", "output_path"): {"path": "{}"},
    ("check", "failures_path"): {"path": "{}", "checks": "not_null n"},
    ("query", "output_path"): {"database_name": "shop", "query_string": "select n from orders"},
}
"""Each output and side path of an operator, with what else a call needs; `{}` stands for what is read."""
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
    asked = OperatorCall("table", command, given=list(parameters.items()), config_id="both")
    planned = respond(lambda response: plan_operator(env, asked, response))
    ran = respond(lambda response: run_operator(env, asked, response))
    return list(planned.response.errors), list(ran.response.errors)


@pytest.mark.parametrize(("command", "name"), OUTPUTS)
def test_an_output_in_another_storage_than_the_input_is_refused(
    operators: MasonEnvironment, seaweed: Seaweed, command: str, name: str
) -> None:
    bucket = seaweed.bucket()
    seaweed.client().put_object(Bucket=bucket, Key="in/a.csv", Body=ROWS.encode())
    reads_a_database = command == "query"
    given = {key: value.format(f"s3://{bucket}/in") for key, value in OUTPUTS[command, name].items()}
    # To S3, that would be a place in the bucket; on this machine nobody has such a folder.
    output = f"s3://{bucket}/out" if reads_a_database else f"/{bucket}/out"

    planned, ran = call(operators, seaweed, command, {**given, name: output})

    [told] = ran
    assert told.startswith(f'"{name}" ({output}) is in the storage {"s3" if reads_a_database else "local"}, but ')
    assert told.endswith(f", or read an input in {'s3' if reads_a_database else 'local'}.")
    assert planned == ran
    assert seaweed.keys(bucket) == ["in/a.csv"]
    assert not Path(f"/{bucket}").exists()


@pytest.mark.parametrize(("command", "name"), [each for each in OUTPUTS if each[0] != "query"])
def test_the_other_way_round_it_is_refused_too(
    operators: MasonEnvironment, seaweed: Seaweed, command: str, name: str
) -> None:
    bucket = seaweed.bucket()
    given = {key: value.format("shop/orders") for key, value in OUTPUTS[command, name].items()}

    _, ran = call(operators, seaweed, command, {**given, name: f"s3://{bucket}/out"})

    [told] = ran
    assert told.startswith(f'"{name}" (s3://{bucket}/out) is in the storage s3, but ')
    assert f"(file://{Path.cwd()}/shop/orders) is in local" in told
    assert seaweed.keys(bucket) == []


def test_a_path_without_a_scheme_belongs_to_the_first_storage(
    operators: MasonEnvironment, seaweed: Seaweed, tmp_path: Path
) -> None:
    bucket = seaweed.bucket()
    given = {"input_path": f"file://{tmp_path}/work/shop/orders", "output_path": f"{bucket}/out"}

    _, [told] = call(operators, seaweed, "merge", given, first="s3")

    assert f'"output_path" ({bucket}/out) is in the storage s3, but ' in told
    assert seaweed.keys(bucket) == []
    assert not (tmp_path / "work" / bucket).exists()


def test_with_its_scheme_an_output_in_the_storage_of_the_input_is_written(
    operators: MasonEnvironment, seaweed: Seaweed, tmp_path: Path
) -> None:
    bucket = seaweed.bucket()
    seaweed.client().put_object(Bucket=bucket, Key="in/a.csv", Body=ROWS.encode())

    far = {"input_path": f"s3://{bucket}/in", "output_path": f"s3://{bucket}/out"}
    near = {"input_path": "shop/orders", "output_path": f"{tmp_path}/out"}
    # Of no table at all: the answer goes wherever it is sent.
    alone = {"database_name": "shop", "query_string": "select 1 as n", "output_path": f"s3://{bucket}/one"}

    for command, given in (("merge", far), ("merge", near), ("query", alone)):
        assert call(operators, seaweed, command, given) == ([], [])
    assert {key.partition("/")[0] for key in seaweed.keys(bucket)} == {"in", "out", "one"}
    assert list((tmp_path / "out").glob("*.parquet"))


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


def test_a_workflow_whose_steps_do_so_is_refused_in_its_dry_run(mason: Mason, seaweed: Seaweed) -> None:
    bucket = seaweed.bucket()
    configured(mason.register_examples(), both(seaweed, "local", "s3"))
    write(mason.folder, {"ship/workflow.yaml": WORKFLOW, "shop/orders/a.csv": ROWS})
    assert mason("register", "ship").exit_code == 0
    steps = {
        "first": {"parameters": {"input_path": "shop/orders", "output_path": "shop/merged"}},
        "second": {"parameters": {"path": "shop/merged", "output_path": f"s3://{bucket}/out", "format": "csv"}},
    }
    write(mason.folder, {"p.yaml": yaml.safe_dump(steps)})

    dry = mason("workflow", "shop", "ship", "-f", "p.yaml")
    ran = mason("workflow", "shop", "ship", "-f", "p.yaml", "-r")

    for result in (dry, ran):
        assert result.exit_code == 1
        [told] = strict_json(result)["Errors"]
        assert told.startswith(f'second: "output_path" (s3://{bucket}/out) is in the storage s3, but ')
    assert seaweed.keys(bucket) == []
