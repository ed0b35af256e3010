"""`mason operator`: listing, explaining and running."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.cli.support import errors, operator_with, registered, strict_json
from tests.conftest import Mason, write
from tests.definitions import write_operator

SHOW = "resp.add_data({name: [type(value).__name__, str(value)] for name, value in parameters.values.items()})"


class TestListing:
    def test_nothing_registered_says_how_to_register(self, mason: Mason) -> None:
        result = mason("operator")

        assert result.exit_code == 0
        first, _, rest = result.stdout.partition("\n")
        assert first == 'No Operators Registered.  Register operators by running "mason register"'
        assert rest.startswith("\nCome with Mason:\n")
        assert not mason.home.exists()

    def test_who_runs_one_that_is_not_there_is_told_the_nearest(self, mason: Mason) -> None:
        (error,) = errors(mason, "table", "marge", "-p", "input_path:in,output_path:out")

        assert error == 'Operator "table:marge" not found. Did you mean "table:merge"?'

    def test_all_operators_are_listed_as_in_the_seeds(self, mason: Mason) -> None:
        mason.register_examples()

        lines = mason("operator").stdout.splitlines()

        title = f"| Available Operator Methods: {mason.home}/registered_operators/  |"
        assert lines[:4] == ["+" + "-" * (len(title) - 2) + "+", title, "+" + "-" * (len(title) - 2) + "+", ""]
        assert lines[4].split() == ["namespace", "command", "description", "parameters"]
        assert set(lines[5]) == {"-", " "}
        names = [tuple(line.split()[:2]) for line in lines[6:]]
        assert names == sorted(names)
        assert ("table", "get") in names
        (get,) = [line for line in lines if line.startswith("table      get ")]
        assert get.endswith("{'required': ['database_name', 'table_name'], 'optional': []}")
        assert "Get metastore table contents" in get

    def test_a_namespace_is_listed_alone(self, mason: Mason) -> None:
        mason.register_examples()

        lines = mason("operator", "database").stdout.splitlines()

        assert f"| Available database Methods: {mason.home}/registered_operators/  |" in lines
        assert [line.split()[1] for line in lines[6:]] == ["create", "delete", "get", "list"]

    def test_an_unknown_namespace_is_an_error_with_the_nearest_one(self, mason: Mason) -> None:
        mason.register_examples()

        result = mason("operator", "tabel")

        assert result.exit_code == 1
        assert 'There is no namespace or operator "tabel". Did you mean "table"?' in result.stderr

    def test_a_run_of_something_unknown_is_a_response_even_without_a_namespace(self, mason: Mason) -> None:
        mason.register_examples()

        assert "tidy" in errors(mason, "tidy", "-p", "a:1")[0]
        assert "tidy" in errors(mason, "tidy", "--plan")[0]

    def test_parameters_for_a_namespace_are_not_dropped_silently(self, mason: Mason) -> None:
        mason.register_examples()

        result = mason("operator", "table", "-p", "database_name:shop")

        assert result.exit_code in (1, 2)
        assert "table" in result.stderr

    def test_help_of_one_operator_prints_parameters_types_and_an_example(self, mason: Mason) -> None:
        mason.register_examples()

        preview = mason("operator", "table", "preview", "--help").stdout
        assert [line.split()[2:4] for line in preview.splitlines() if line.startswith(("path ", "table_name "))] == [
            ["one", "of"],
            ["one", "of"],
        ]
        assert "\nOne of these: path; or database_name and table_name.\n" in preview
        assert 'mason operator table preview -p "path:' in preview
        text = mason("operator", "table", "infer", "--help").stdout

        rows = [line.split() for line in text.splitlines()]
        assert ["database_name", "string", "required"] in [row[:3] for row in rows]
        assert ["storage_path", "path", "required"] in [row[:3] for row in rows]
        assert ["read_headers", "boolean", "optional"] in [row[:3] for row in rows]
        assert ["read_all", "boolean", "false"] in [row[:3] for row in rows]
        assert "[alias: parse_headers]" in text
        assert "(csv, json, jsonl, parquet, orc, avro, msgpack, xlsx)" in text
        assert '  mason operator table infer -p "database_name:' in text

    def test_the_example_of_the_help_does_not_replace_what_it_reads(self, mason: Mason) -> None:
        mason.register_examples()

        text = mason("operator", "table", "merge", "-h").stdout

        assert text.endswith('mason operator table merge -p "input_path:data/in,output_path:data/out"\n')

    def test_the_example_of_the_help_can_be_pasted(self, mason: Mason, tmp_path: Path) -> None:
        yaml = "  required:\n"
        for kind in ("string", "integer", "number", "boolean", "date", "timestamp", "path", "list", "secret"):
            yaml += f"    - {{name: the_{kind}, type: {kind}}}\n"
        yaml += "    - {name: the_enum, choices: [one, two]}\n    - {name: the_limit, type: integer, minimum: 20}\n"
        operator_with(tmp_path / "src", "new", "show", parameters=yaml, body=SHOW)
        registered(mason, tmp_path / "src")
        example = mason("operator", "new", "show", "-h").stdout.splitlines()[-1].strip()

        command = example.replace("mason ", f"{' '.join(mason.argv)} ", 1)
        done = subprocess.run(
            ["bash", "-c", command],
            env=mason.environment(),
            cwd=mason.folder,
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 0, done.stdout
        assert len(json.loads(done.stdout)["Data"][0]) == 11

    def test_parameters_are_printed_as_json_schema(self, mason: Mason) -> None:
        from jsonschema import Draft202012Validator

        mason.register_examples()

        schema = json.loads(mason("operator", "table", "infer", "--json-schema").stdout)

        Draft202012Validator.check_schema(schema)
        valid = Draft202012Validator(schema).is_valid
        assert valid({"database_name": "a", "storage_path": "b", "read_all": True})
        assert not valid({"database_name": "a"})
        assert not valid({"database_name": "a", "storage_path": "b", "read_all": "maybe"})
        assert not valid({"database_name": "a", "storage_path": "b", "other": 1})
        assert schema["properties"]["read_all"]["default"] is False

    def test_the_checks_of_a_table_are_described_one_by_one(self, mason: Mason) -> None:
        from jsonschema import Draft202012Validator

        mason.register_examples()

        schema = json.loads(mason("operator", "table", "check", "--json-schema").stdout)

        valid = Draft202012Validator(schema).is_valid
        assert valid({"checks": ["not_null id", {"check": "range", "column": "price", "min": 0}]})
        assert not valid({"checks": [{"check": "range", "column": "price"}]})

    def test_an_unknown_operator_is_a_response_with_the_nearest_name(self, mason: Mason) -> None:
        mason.register_examples()

        assert errors(mason, "table", "gett") == ['Operator "table:gett" not found. Did you mean "table:get"?']
        for flag in ("--help", "--json-schema"):
            result = mason("operator", "table", "gett", flag)
            assert result.exit_code == 1
            assert 'Did you mean "table:get"?' in result.stderr


SEED_TABLE_GET = """\
from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.api import operator_api as OperatorApi
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.parameters.validated_parameters import ValidatedParameters
from mason.util.environment import MasonEnvironment

def api(*args, **kwargs): return OperatorApi.get("table", "get", *args, **kwargs)

class TableGet(OperatorDefinition):
    def run(self, env: MasonEnvironment, config: ValidConfig, parameters: ValidatedParameters, resp: Response) -> OperatorResponse:
        database_name: str = parameters.get_required("database_name")
        table_name: str = parameters.get_required("table_name")

        table, response = config.metastore.client.get_table(database_name, table_name, response=resp)
        return OperatorResponse(response, table)
"""  # noqa: E501
SEED_TABLE_GET_YAML = """\
type: "operator"
namespace: "table"
command: "get"
description:  "Get metastore table contents"
parameters:
  required:
    - database_name
    - table_name
"""
SEED_SCHEDULE_DELETE_YAML = """\
type: "operator"
namespace: "schedule"
command: "delete"
description:  "Delete schedule"
parameters:
  required:
    - schedule_name
supported_configurations:
  - scheduler: "glue"
"""
SEED_TABLE_MERGE_YAML = """\
type: "operator"
namespace: "table"
command: "merge"
description:  "Merge metastore tables"
parameters:
  required:
    - output_path
    - input_path
  optional:
    - extract_paths
    - repartition_keys
    - parse_headers
supported_configurations:
  - metastore: "s3"
    execution: "spark"
"""


class TestSeeds:
    def test_the_printed_operator_registers_and_runs_unchanged(self, mason: Mason, tmp_path: Path) -> None:
        write(tmp_path / "src" / "table" / "get", {"operator.yaml": SEED_TABLE_GET_YAML, "__init__.py": SEED_TABLE_GET})
        registered(mason, tmp_path / "src")
        write(mason.folder, {"shop/orders.csv": "id\n1\n"})

        result = mason("operator", "table", "get", "-p", "database_name:shop,table_name:orders")

        assert result.exit_code == 0, result.stdout
        (table,) = strict_json(result)["Data"]
        assert table["Name"] == "orders"
        assert table["Schema"] == {"SchemaType": "csv", "Columns": [{"Name": "id", "Type": "int64"}]}

    def test_the_printed_definitions_are_valid_and_accept_what_the_seeds_say(
        self, mason: Mason, tmp_path: Path
    ) -> None:
        for command, yaml in (("delete", SEED_SCHEDULE_DELETE_YAML), ("merge", SEED_TABLE_MERGE_YAML)):
            namespace = "schedule" if command == "delete" else "table"
            folder = write_operator(tmp_path / "src", namespace, command)
            write(folder, {"operator.yaml": yaml})
        registered(mason, tmp_path / "src")
        assert mason("config", "mason/examples/configs/").exit_code == 0
        mason.variables |= {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "MASON_GLUE_ROLE_ARN": "c"}

        listing = mason("operator").stdout
        assert "{'required': ['output_path', 'input_path'], 'optional': ['extract_paths', " in listing
        schedule = ["operator", "schedule", "delete", "-p", "schedule_name:x", "-c"]
        merge = ["operator", "table", "merge", "-p", "output_path:x,input_path:y", "-c"]
        assert [mason(*schedule, each).exit_code for each in "123"] == [0, 1, 1]
        assert [mason(*merge, each).exit_code for each in "123"] == [1, 0, 1]
