"""`mason operator`: listing, explaining, planning and running, with parameters as people type them."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import configured, install_package, operator_with, registered, strict_json, tree
from tests.conftest import PROJECT, Mason, write
from tests.definitions import write_operator

SHOW = "resp.add_data({name: [type(value).__name__, str(value)] for name, value in parameters.values.items()})"
LOCAL = "id: here\nmetastore_engine: local\nstorage_engine: local\n"


def shown(mason: Mason, *arguments: str) -> dict[str, Any]:
    """Run `new show`, which must succeed, and return the parameters that it got: name, type and text."""
    result = mason("operator", "new", "show", *arguments)
    assert result.exit_code == 0, result.stdout
    (data,) = strict_json(result)["Data"]
    got: dict[str, Any] = data
    return got


def errors(mason: Mason, *arguments: str) -> list[str]:
    """Run an operator that must fail, and return its errors."""
    result = mason("operator", *arguments)
    assert result.exit_code == 1, result.stdout
    told: list[str] = strict_json(result)["Errors"]
    assert told
    return told


@pytest.fixture
def show(mason: Mason, tmp_path: Path) -> Mason:
    """An operator that shows what it was given: `a` and `b` are text, `at` is an alias of `when`."""
    yaml = "  optional:\n    - a\n    - b\n    - query_string\n    - input_path\n    - {name: when, aliases: [at]}\n"
    operator_with(tmp_path / "src", "new", "show", parameters=yaml, body=SHOW)
    return registered(mason, tmp_path / "src")


class TestListing:
    def test_nothing_registered_says_how_to_register(self, mason: Mason) -> None:
        result = mason("operator")

        assert result.exit_code == 0
        assert result.stdout == 'No Operators Registered.  Register operators by running "mason register"\n'
        assert not mason.home.exists()

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

    def test_help_of_one_operator_prints_parameters_types_and_an_example(self, mason: Mason) -> None:
        mason.register_examples()

        text = mason("operator", "table", "infer", "--help").stdout

        rows = [line.split() for line in text.splitlines()]
        assert ["database_name", "string", "required"] in [row[:3] for row in rows]
        assert ["storage_path", "path", "required"] in [row[:3] for row in rows]
        assert ["read_headers", "boolean", "optional"] in [row[:3] for row in rows]
        assert ["read_all", "boolean", "false"] in [row[:3] for row in rows]
        assert "[alias: parse_headers]" in text
        assert "(csv, json, jsonl, parquet, orc, avro, msgpack)" in text
        assert '  mason operator table infer -p "database_name:' in text

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

    def test_an_unknown_operator_is_a_response_with_the_nearest_name(self, mason: Mason) -> None:
        mason.register_examples()

        assert errors(mason, "table", "gett") == ['Operator "table:gett" not found. Did you mean "table:get"?']
        for flag in ("--help", "--json-schema"):
            result = mason("operator", "table", "gett", flag)
            assert result.exit_code == 1
            assert 'Did you mean "table:get"?' in result.stderr


class TestResponse:
    def test_stdout_is_exactly_one_json_document_on_success(self, mason: Mason) -> None:
        mason.register_examples()
        write(mason.folder, {"shop/orders.csv": "id,who\n1,Ada\n"})

        result = mason("operator", "table", "get", "-p", "database_name:shop,table_name:orders")

        assert result.exit_code == 0
        document = strict_json(result)
        assert result.stdout == json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        assert document["Errors"] == []
        assert list(document["Data"][0])[:4] == ["Name", "CreatedAt", "CreatedBy", "DatabaseName"]
        assert document["Data"][0]["Schema"]["Columns"] == [
            {"Name": "id", "Type": "int64"},
            {"Name": "who", "Type": "string"},
        ]
        assert "| Operator Response  |" in result.stderr

    def test_a_failure_of_the_client_is_a_response(self, mason: Mason) -> None:
        mason.register_examples()
        write(mason.folder, {"shop/orders.csv": "id\n1\n"})

        told = errors(mason, "table", "get", "-p", "database_name:shop,table_name:order")
        assert told == ['Table "order" not found in database "shop". Did you mean "orders"?']
        assert errors(mason, "table", "list", "-p", "database_name:shops") == [
            'Database "shops" not found. Did you mean "shop"?'
        ]

    def test_a_crash_in_the_operators_code_is_a_response_with_the_traceback_on_stderr(
        self, mason: Mason, tmp_path: Path
    ) -> None:
        body = 'resp.add_info("began")\nresp.add_data({"part": 1})\nraise ValueError("the moon")'
        registered(mason, operator_with(tmp_path / "src", "new", "crash", body=body))

        result = mason("operator", "new", "crash")

        assert result.exit_code == 1
        document = strict_json(result)
        assert len(document["Errors"]) == 1
        assert "ValueError: the moon" in document["Errors"][0]
        assert (document["Info"], document["Data"]) == (["began"], [{"part": 1}])
        assert "Traceback" not in result.stdout
        assert "Traceback" in result.stderr
        assert 'raise ValueError("the moon")' in result.stderr

    @pytest.mark.parametrize(
        "body",
        ["return None", 'return "text"', "raise SystemExit(3)", "sys.exit(0)"],
    )
    def test_an_operator_that_ends_oddly_is_still_a_failed_response(
        self, mason: Mason, tmp_path: Path, body: str
    ) -> None:
        registered(mason, operator_with(tmp_path / "src", "new", "odd", body=body))

        result = mason("operator", "new", "odd")

        assert result.exit_code == 1
        assert strict_json(result)["Errors"]

    def test_what_an_operator_prints_does_not_get_between(self, mason: Mason, tmp_path: Path) -> None:
        body = 'print("printed")\nsys.stdout.write("written")\nos.system("echo shouted")\nos.write(1, b"low")'
        registered(mason, operator_with(tmp_path / "src", "new", "loud", body=body))

        result = mason("operator", "new", "loud")

        assert result.exit_code == 0
        strict_json(result)
        for word in ("printed", "written", "shouted", "low"):
            assert word in result.stderr

    def test_data_that_json_has_no_word_for_are_still_json(self, mason: Mason, tmp_path: Path) -> None:
        body = (
            "import datetime, decimal\n"
            'resp.add_data({"nan": float("nan"), "inf": float("inf"), "day": datetime.date(2026, 1, 31),\n'
            '               "exact": decimal.Decimal("1.10"), ("a", 1): "pair", "set": {1}, "bytes": b"x",\n'
            '               "path": "caf\\udce9", "umlaut": "ü"})'
        )
        registered(mason, operator_with(tmp_path / "src", "new", "odd", body=body))

        result = mason("operator", "new", "odd")

        assert result.exit_code == 0
        (data,) = strict_json(result)["Data"]
        assert data["day"] == "2026-01-31"
        assert data["exact"] in ("1.10", 1.1)
        assert data["umlaut"] == "ü"
        assert '"ü"' in result.stdout

    def test_a_file_whose_name_is_not_utf8_does_not_break_the_response(self, mason: Mason) -> None:
        mason.register_examples()
        (mason.folder / "shop").mkdir()
        with open(os.fsencode(mason.folder / "shop") + b"/caf\xe9.csv", "w") as file:
            file.write("a\n1\n")

        done = subprocess.run(
            [*mason.argv, "operator", "table", "list", "-p", "database_name:shop"],
            env=mason.environment(),
            cwd=mason.folder,
            capture_output=True,
            check=False,
        )

        assert done.returncode == 0, done.stderr
        (table,) = json.loads(done.stdout.decode("utf-8"))["Data"]
        assert table["Name"].startswith("caf")

    def test_errors_and_warnings_of_the_operator_reach_both_streams(self, mason: Mason, tmp_path: Path) -> None:
        body = 'resp.add_info("one")\nresp.add_warning("two")\nresp.add_error("three")'
        registered(mason, operator_with(tmp_path / "src", "new", "talk", body=body))

        result = mason("operator", "new", "talk")

        assert result.exit_code == 1
        document = strict_json(result)
        assert (document["Info"], document["Warnings"], document["Errors"]) == (["one"], ["two"], ["three"])
        assert result.stderr.splitlines()[:3] == ["one", "warning: two", "error: three"]

    def test_usage_errors_exit_2_and_print_nothing_on_stdout(self, mason: Mason) -> None:
        for arguments in (
            ["operator", "--nonsense"],
            ["operator", "a", "b", "c"],
            ["operator", "-l", "loud"],
            ["nope"],
        ):
            result = mason(*arguments)
            assert (result.exit_code, result.stdout) == (2, ""), arguments
            assert "Usage: mason" in result.stderr

    def test_ctrl_c_exits_130_with_a_response(self, mason: Mason, tmp_path: Path) -> None:
        body = 'resp.add_info("began")\nopen("began", "w")\ntime.sleep(60)'
        registered(mason, operator_with(tmp_path / "src", "new", "sleep", body=body))
        process = mason.start("operator", "new", "sleep")
        _wait_for(mason.folder / "began")

        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)

        assert process.returncode == 130
        document = json.loads(stdout)
        assert list(document) == ["Errors", "Info", "Warnings", "Data"]
        assert document["Errors"] == ["Interrupted."]
        assert document["Info"] == ["began"]
        assert "Traceback" not in stderr

    def test_a_reader_that_leaves_early_is_not_an_error(self, mason: Mason) -> None:
        mason.register_examples()
        command = f"set -o pipefail; {' '.join(mason.argv)} operator | head -1"

        done = subprocess.run(
            ["bash", "-c", command],
            env=mason.environment(),
            cwd=mason.folder,
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 0, done.stderr
        assert done.stderr == ""


class TestLogLevels:
    def test_levels_choose_what_is_said_on_stderr(self, mason: Mason, tmp_path: Path) -> None:
        mason.register_examples()
        body = 'resp.add_info("I")\nresp.add_warning("W")\nresp.add_error("E")\n'
        body += "config.metastore.client.list_databases(response=resp)"
        registered(mason, operator_with(tmp_path / "src", "new", "talk", body=body))
        expected = {
            "trace": ["I", "warning: W", "error: E"],
            "debug": ["I", "warning: W", "error: E"],
            "info": ["I", "warning: W", "error: E"],
            "warning": ["warning: W", "error: E"],
            "error": ["error: E"],
            "fatal": [],
        }

        for level, lines in expected.items():
            result = mason("operator", "new", "talk", "-l", level)
            said = [line for line in result.stderr.splitlines() if line in expected["info"]]
            assert said == lines, level
            assert strict_json(result)["Warnings"] == ["W"]
            took = "debug: LocalMetastoreClient.list_databases took" in result.stderr
            assert took == (level in ("trace", "debug")), level

    def test_the_level_may_be_written_in_capitals(self, show: Mason) -> None:
        assert show("operator", "new", "show", "-l", "WARNING").exit_code == 0


class TestParameterText:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("a:1", {"a": "1"}),
            ("a:1,b:2", {"a": "1", "b": "2"}),
            (" a : 1 , b : 2 ", {"a": "1", "b": "2"}),
            ("input_path:s3://b/a,b", {"input_path": "s3://b/a,b"}),
            ("input_path:s3://b/a,s3://c/d", {"input_path": "s3://b/a,s3://c/d"}),
            ("input_path:hdfs://host:8020/x,a:1", {"input_path": "hdfs://host:8020/x", "a": "1"}),
            (
                "query_string:select a, b from t where c in (1, 2),a:1",
                {"query_string": "select a, b from t where c in (1, 2)", "a": "1"},
            ),
            ("when:12:30:00", {"when": "12:30:00"}),
            ("when:2026-01-31T12:30:00,a:1", {"when": "2026-01-31T12:30:00", "a": "1"}),
            ('query_string:"select a, b: c",a:1', {"query_string": "select a, b: c", "a": "1"}),
            ("query_string:'select a, b: c',a:1", {"query_string": "select a, b: c", "a": "1"}),
            ('a:"say ""hi""",b:2', {"a": 'say "hi"', "b": "2"}),
            ("a:it's,b:2", {"a": "it's", "b": "2"}),
            ('a:say "hi" now', {"a": 'say "hi" now'}),
            ("a:{x},b:[1]", {"a": "{x}", "b": "[1]"}),
            ("a:,b:2", {"a": "", "b": "2"}),
            ("a:x,", {"a": "x,"}),
            ("a:ü€😀", {"a": "ü€😀"}),
            ("a:007", {"a": "007"}),
            ("at:noon", {"when": "noon"}),
        ],
    )
    def test_a_value_arrives_whole(self, show: Mason, text: str, expected: dict[str, str]) -> None:
        assert shown(show, "-p", text) == {name: ["str", value] for name, value in expected.items()}

    def test_p_can_be_repeated(self, show: Mason) -> None:
        assert shown(show, "-p", "a:1", "-p", "b:2,when:3") == {
            "a": ["str", "1"],
            "b": ["str", "2"],
            "when": ["str", "3"],
        }

    def test_an_unknown_name_is_an_error_with_the_nearest_one_and_the_hint_to_quote(self, show: Mason) -> None:
        (error,) = errors(show, "new", "show", "-p", "query_string:select a,quer_string:b")

        assert error.startswith('There is no parameter "quer_string". Did you mean "query_string"?')
        assert "put that value in quotes" in error

    @pytest.mark.parametrize("text", ["", "   ", "text", "s3://b/c", ":x", "1a:x", "=x"])
    def test_a_text_without_a_name_is_an_error(self, show: Mason, text: str) -> None:
        (error,) = errors(show, "new", "show", "-p", text)

        assert f'-p "{text}"' in error
        assert "name" in error

    def test_a_quote_that_is_not_closed_is_an_error(self, show: Mason) -> None:
        assert 'The value of "a" opens a "' in errors(show, "new", "show", "-p", 'a:"x,b:2')[0]


class TestParameterFiles:
    def test_yaml_and_json_files_are_read_and_p_overrides_them(self, show: Mason) -> None:
        files = {"p.yaml": "a: 007\nb: 1.10\nwhen: 12:30\n", "p.json": '{"a": "007", "b": 1.10, "at": "12:30"}\n'}
        write(show.folder, files)
        expected = {"a": ["str", "007"], "b": ["str", "1.10"], "when": ["str", "12:30"]}

        assert shown(show, "-f", "p.yaml") == expected
        assert shown(show, "-f", "p.json") == expected
        assert shown(show, "-f", "p.yaml", "-p", "b:2") == {**expected, "b": ["str", "2"]}
        assert shown(show, "-f", "p.yaml", "-p", "at:noon") == {**expected, "when": ["str", "noon"]}

    def test_words_that_yaml_would_change_stay_text(self, show: Mason) -> None:
        write(show.folder, {"p.yaml": "a: yes\nb: 0x1F\nwhen: 2026-01-31\nquery_string: 1e3\ninput_path: null\n"})

        got = shown(show, "-f", "p.yaml")

        assert {name: text for name, (_, text) in got.items()} == {
            "a": "yes",
            "b": "0x1F",
            "when": "2026-01-31",
            "query_string": "1e3",
        }

    def test_the_examples_parameter_file_works_from_any_folder(self, mason: Mason) -> None:
        mason.register_examples()
        configured(mason, f"{LOCAL}clients:\n  local:\n    configuration:\n      root: {PROJECT}/mason/examples/data\n")

        result = mason("operator", "table", "get", "-f", "mason/examples/parameters/table_get.yaml")

        assert result.exit_code == 0, result.stdout
        assert strict_json(result)["Data"][0]["Name"] == "acme"

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("a: 1\nb: }\n", "p.yaml:2: broken YAML"),
            ("- a\n", "must be a mapping of parameter names to values"),
            ("just text\n", "must be a mapping of parameter names to values"),
            ("a: 1\na: 2\n", "p.yaml:2: a: given twice (first on line 1)"),
            ("nope: 1\n", 'There is no parameter "nope".'),
            ("a: 1\nwhen: 2\nat: 3\n", 'The parameter "when" is given twice.'),
        ],
    )
    def test_a_bad_file_is_an_error_with_its_place(self, show: Mason, text: str, complaint: str) -> None:
        write(show.folder, {"p.yaml": text})

        assert complaint in errors(show, "new", "show", "-f", "p.yaml")[0]

    def test_a_file_that_is_not_there_is_an_error(self, show: Mason) -> None:
        assert "nowhere.yaml: cannot be read: No such file" in errors(show, "new", "show", "-f", "nowhere.yaml")[0]

    def test_an_empty_file_gives_no_parameters(self, show: Mason) -> None:
        write(show.folder, {"p.yaml": "# nothing yet\n"})

        assert shown(show, "-f", "p.yaml", "-p", "a:1") == {"a": ["str", "1"]}

    def test_c_with_a_file_gets_the_hint_to_use_f(self, show: Mason) -> None:
        write(show.folder, {"p.yaml": "a: 1\n"})

        (error,) = errors(show, "new", "show", "-c", "p.yaml")

        assert "-c takes the id of a configuration" in error
        assert "-f p.yaml" in error


TYPED = """\
  required:
    - {name: count, type: integer, minimum: 1, maximum: 10}
    - {name: day, type: date}
  optional:
    - {name: ratio, type: number, minimum: 0, maximum: 1}
    - {name: strict, type: boolean, default: true}
    - {name: at, type: timestamp}
    - {name: place, type: path, description: Where to look}
    - {name: words, type: list}
    - {name: mode, type: enum, choices: [fast, slow], default: fast}
    - {name: level, choices: [1, 2]}
    - {name: pin, type: secret}
    - {name: limit, type: integer, default: 100, aliases: [maximum_rows, max]}
"""


@pytest.fixture
def typed(mason: Mason, tmp_path: Path) -> Mason:
    operator_with(tmp_path / "src", "new", "show", parameters=TYPED, body=SHOW)
    return registered(mason, tmp_path / "src")


class TestTypedParameters:
    def test_each_value_has_the_type_that_the_operator_declared(self, typed: Mason) -> None:
        text = (
            "count:3,day:2026-01-31,ratio:0.25,strict:no,at:2026-01-31T12:30:00+01:00,place:s3://b/c,"
            "words:x,y,z,mode:slow,level:2,max:7"
        )

        assert shown(typed, "-p", text) == {
            "count": ["int", "3"],
            "day": ["date", "2026-01-31"],
            "ratio": ["float", "0.25"],
            "strict": ["bool", "False"],
            "at": ["datetime", "2026-01-31 12:30:00+01:00"],
            "place": ["str", "s3://b/c"],
            "words": ["list", "['x', 'y', 'z']"],
            "mode": ["str", "slow"],
            "level": ["str", "2"],
            "limit": ["int", "7"],
        }

    def test_a_file_gives_the_same_types(self, typed: Mason) -> None:
        text = "count: 3\nday: 2026-01-31\nratio: 1\nstrict: false\nwords: [007, b]\nlevel: 1\n"
        write(typed.folder, {"p.yaml": text})

        got = shown(typed, "-f", "p.yaml")

        assert got["count"] == ["int", "3"]
        assert got["day"] == ["date", "2026-01-31"]
        assert got["ratio"] == ["int", "1"]
        assert got["strict"] == ["bool", "False"]
        assert got["words"] == ["list", "['007', 'b']"]

    def test_defaults_are_typed_and_what_is_not_given_is_not_there(self, typed: Mason) -> None:
        assert shown(typed, "-p", "count:1,day:2026-01-31") == {
            "count": ["int", "1"],
            "day": ["date", "2026-01-31"],
            "strict": ["bool", "True"],
            "mode": ["str", "fast"],
            "limit": ["int", "100"],
        }

    def test_all_problems_are_reported_at_once(self, typed: Mason) -> None:
        text = "count:many,ratio:1.5,strict:perhaps,at:later,place:,mode:fats,limit:2.5,colour:red"

        told = errors(typed, "new", "show", "-p", text)

        assert sorted(told) == sorted(
            [
                'There is no parameter "colour". Known: count, day, ratio, strict, at, place, words, mode, level, pin, '
                "limit. If it belongs to the value before it, put that value in quotes.",
                'The parameter "count" must be a whole number, not "many".',
                'The parameter "day" is missing.',
                'The parameter "ratio" must be at most 1, not 1.5.',
                'The parameter "strict" must be true or false, not "perhaps".',
                'The parameter "at" must be a time such as 2026-01-31T12:30:00, not "later".',
                'The parameter "place" must be a path, and not an empty one.',
                'The parameter "mode" must be one of fast, slow, not "fats". Did you mean "fast"?',
                'The parameter "limit" must be a whole number, not "2.5".',
            ]
        )

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("count:0", '"count" must be at least 1, not 0'),
            ("count:11", '"count" must be at most 10, not 11'),
            ("count:1.0", '"count" must be a whole number'),
            ("count:", '"count" is missing'),
            ("ratio:nan", '"ratio" must be a number'),
            ("ratio:inf", '"ratio" must be'),
            ("ratio:1_0", '"ratio" must be a number'),
            ("level:3", '"level" must be one of 1, 2, not "3"'),
            ("day:31.01.2026", '"day" must be a date such as 2026-01-31'),
            ("day:2026-02-30", '"day" must be a date'),
        ],
    )
    def test_a_value_outside_its_type_is_refused(self, typed: Mason, text: str, complaint: str) -> None:
        given = dict(part.split(":", 1) for part in ("count:1,day:2026-01-31," + text).split(","))

        (error,) = errors(typed, "new", "show", "-p", ",".join(f"{name}:{value}" for name, value in given.items()))

        assert complaint in error

    def test_parameters_are_checked_before_any_client_is_touched(self, mason: Mason) -> None:
        schema = '{"type": "object"}'
        code = "raise RuntimeError('the client was touched')\n"
        files = {"metastore.py": code, "schema.json": schema}
        install_package(mason, "acme_for_mason", "mason.clients", {"acme": "acme_for_mason"}, files)
        mason.register_examples()
        configured(mason, "id: acme\nmetastore_engine: acme\n")

        told = errors(mason, "table", "get", "-p", "tabel_name:x")
        assert len(told) == 3
        assert not any("touched" in each for each in told)
        assert "touched" in errors(mason, "table", "get", "-p", "table_name:x,database_name:y")[0]

    def test_an_operator_without_parameters_says_so(self, mason: Mason, tmp_path: Path) -> None:
        registered(mason, operator_with(tmp_path / "src", "new", "bare"))

        assert "It takes none." in errors(mason, "new", "bare", "-p", "a:1")[0]
        assert "It takes no parameters." in mason("operator", "new", "bare", "--help").stdout


class TestSecrets:
    SECRET = "hunter2-and-more"

    def _everything(self, mason: Mason, *arguments: str) -> str:
        result = mason("operator", *arguments)
        strict_json(result)
        return result.stdout + result.stderr

    @pytest.mark.parametrize(
        "body",
        [
            'resp.add_info(f"the pin is {pin}")\nresp.add_warning(pin)\nresp.add_error(pin)',
            "raise ValueError(pin)",
            "raise KeyError(pin)",
            'resp.add_data({"pin": pin, "deep": [{"x": f"a {pin} b"}]})',
            'from mason.errors import NotFound\nraise NotFound(f"no {pin}")',
            "resp.add_info(repr([pin]))",
        ],
    )
    @pytest.mark.parametrize("secret", [SECRET, "quo'te\"back\\slash"], ids=["plain", "quoted"])
    def test_a_secret_parameter_is_never_printed(self, mason: Mason, tmp_path: Path, body: str, secret: str) -> None:
        yaml = "  required:\n    - {name: pin, type: secret}\n"
        body = f'pin = parameters.get_required("pin")\n{body}'
        registered(mason, operator_with(tmp_path / "src", "new", "secret", parameters=yaml, body=body))
        write(mason.folder, {"p.json": json.dumps({"pin": secret})})

        for flags in ([], ["--plan"], ["-l", "trace"]):
            said = self._everything(mason, "new", "secret", "-f", "p.json", *flags)
            for spelling in (secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]):
                assert spelling not in said

    def test_a_secret_is_not_printed_when_other_parameters_are_wrong(self, typed: Mason) -> None:
        for text in ("pin:{},count:x,colour:red", "pin:{},pin:{}", "=,pin:{}"):
            assert self.SECRET not in self._everything(typed, "new", "show", "-p", text.replace("{}", self.SECRET))

    def test_a_plan_shows_parameters_without_the_secret(self, typed: Mason) -> None:
        result = typed("operator", "new", "show", "-p", f"count:1,day:2026-01-31,pin:{self.SECRET}", "--plan")

        outline = strict_json(result)["Data"][0]
        assert outline["Parameters"]["pin"] == "REDACTED"
        assert outline["Parameters"]["count"] == 1
        assert outline["Operator"].startswith("new:show@sha256:")
        assert outline["Configuration"] == "local"
        assert outline["Clients"]["metastore"] == ["local"]

    def test_the_secrets_of_a_configuration_are_never_printed(self, mason: Mason, tmp_path: Path) -> None:
        configured(
            mason,
            "id: s\nmetastore_engine: local\nstorage_engine: [local, s3]\nclients:\n  s3:\n    configuration:\n"
            f'      secret_key: "{self.SECRET}"\n      session_token: "{{{{TOKEN}}}}"\n',
        )
        body = f'resp.add_info("{self.SECRET} and " + os.environ["TOKEN"])\nraise ValueError("{self.SECRET}")'
        registered(mason, operator_with(tmp_path / "src", "new", "leak", body=body))
        mason.variables["TOKEN"] = "from-the-environment"

        document = strict_json(mason("operator", "new", "leak"))

        assert document["Info"] == ["REDACTED and REDACTED"]
        assert self.SECRET not in document["Errors"][0]


class TestSupportedConfigurations:
    CONFIGS = (
        "id: one\nmetastore_engine: glue\nscheduler_engine: glue\nstorage_engine: s3\nexecution_engine: athena\n",
        "id: two\nmetastore_engine: s3\nexecution_engine: spark\n",
        "id: none\n",
        "id: both\nmetastore_engine: [local, s3]\nexecution_engine: spark\n",
    )
    BODY = "resp.add_data({role: list(config.engine(role).client_names) for role in ('metastore', 'execution')})"

    @pytest.fixture
    def four(self, mason: Mason) -> Mason:
        write(mason.folder / "configs", {f"{number}.yaml": text for number, text in enumerate(self.CONFIGS)})
        assert mason("config", str(mason.folder / "configs")).exit_code == 0
        return mason

    def test_a_set_of_clients_must_fit_as_a_whole_and_one_set_is_enough(self, four: Mason, tmp_path: Path) -> None:
        supported = '  - metastore: "s3"\n    execution: "spark"\n  - scheduler: ["glue", "airflow"]\n'
        operator_with(tmp_path / "src", "new", "pick", supported=supported, body=self.BODY)
        registered(four, tmp_path / "src")

        def data(config: str) -> Any:
            return strict_json(four("operator", "new", "pick", "-c", config))["Data"]

        assert data("one") == [{"metastore": ["glue"], "execution": ["athena"]}]
        assert data("two") == [{"metastore": ["s3"], "execution": ["spark"]}]
        assert data("both") == [{"metastore": ["s3"], "execution": ["spark"]}]
        for config, offer in (
            ("none", "metastore: nothing, execution: nothing, scheduler: nothing"),
            ("local", "metastore: local, execution: spark, scheduler: local"),
        ):
            assert errors(four, "new", "pick", "-c", config) == [
                f'new:pick does not accept the configuration "{config}", which has {offer}. '
                "It accepts metastore: s3 with execution: spark; or scheduler: glue or airflow."
            ]

    def test_a_refused_configuration_does_not_load_the_operators_code(self, four: Mason, tmp_path: Path) -> None:
        folder = operator_with(tmp_path / "src", "new", "pick", supported='  - metastore: "hive"\n')
        code = folder / "__init__.py"
        code.write_text(code.read_text() + f"\nopen({str(tmp_path / 'loaded')!r}, 'w')\n")
        registered(four, tmp_path / "src")

        assert "It accepts metastore: hive." in errors(four, "new", "pick")[0]
        assert not (tmp_path / "loaded").exists()


class TestPlan:
    @pytest.mark.parametrize(
        ("words", "parameters", "promise"),
        [
            (["table", "infer"], "database_name:shop,storage_path:shop/orders.csv", "Would save table"),
            (["table", "refresh"], "database_name:shop,table_name:orders", "Would save table"),
            (["table", "delete"], "database_name:shop,table_name:orders", "Would delete table"),
            (["database", "create"], "database_name:fresh", "Would create database"),
            (["database", "delete"], "database_name:empty", "Would delete database"),
        ],
    )
    def test_a_plan_writes_nothing(self, mason: Mason, words: list[str], parameters: str, promise: str) -> None:
        mason.register_examples()
        write(mason.folder, {"shop/orders.csv": "id\n1\n"})
        (mason.folder / "empty").mkdir()
        assert (
            mason("operator", "table", "infer", "-p", "database_name:shop,storage_path:shop/orders.csv").exit_code == 0
        )
        mason("operator", *words, "-p", parameters, "--plan")  # its code is compiled now
        before, home = tree(mason.folder), tree(mason.home)

        result = mason("operator", *words, "-p", parameters, "--plan")

        assert result.exit_code == 0, result.stdout
        assert any(promise in line for line in strict_json(result)["Info"])
        assert "| Operator Plan  |" in result.stderr
        assert tree(mason.folder) == before
        assert tree(mason.home) == home

        assert mason("operator", *words, "-p", parameters).exit_code == 0
        assert tree(mason.folder) != before

    @pytest.mark.parametrize(
        ("words", "parameters"),
        [
            (["table", "infer"], "database_name:nowhere,storage_path:shop/orders.csv"),
            (["table", "infer"], "database_name:shop,storage_path:nowhere"),
            (["table", "delete"], "database_name:shop,table_name:nothing"),
            (["database", "create"], "database_name:shop"),
            (["database", "create"], "database_name:../x"),
            (["database", "delete"], "database_name:shop"),
            (["database", "delete"], "database_name:misc"),
            (["database", "delete"], "database_name:nowhere"),
        ],
    )
    def test_a_plan_promises_nothing_that_the_run_would_refuse(
        self, mason: Mason, words: list[str], parameters: str
    ) -> None:
        mason.register_examples()
        write(mason.folder, {"shop/orders.csv": "id\n1\n", "misc/notes": "no table, but not empty\n"})

        planned, ran = (errors(mason, *words, "-p", parameters, *flag) for flag in (["--plan"], []))

        assert planned and ran

    def test_an_operator_without_a_plan_is_not_run(self, mason: Mason, tmp_path: Path) -> None:
        registered(mason, operator_with(tmp_path / "src", "new", "make", body='open("made", "w")'))

        result = mason("operator", "new", "make", "--plan")

        assert result.exit_code == 0
        assert not (mason.folder / "made").exists()


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


HEAVY = ("pyspark", "pyarrow", "pandas", "boto3", "flask", "numpy")


class TestHeavyImports:
    def _imported(self, mason: Mason, *arguments: str) -> list[str]:
        """Run a command and return which of the heavy packages it imported."""
        told = mason.folder.parent / "modules.json"
        told.unlink(missing_ok=True)
        tell = f"json.dump(list(sys.modules), open({str(told)!r}, 'w'))"
        script = f"import atexit, json, sys\natexit.register(lambda: {tell})\n"
        watch = write(mason.folder.parent / "watch", {"sitecustomize.py": script})
        path = f"{watch}{os.pathsep}{PROJECT}"
        result = mason(*arguments, variables={"PYTHONPATH": path})
        assert result.exit_code == 0, result.stdout + result.stderr
        modules = json.loads(told.read_text())
        assert "mason.cli.main" in modules
        return [name for name in HEAVY if name in modules]

    def test_what_need_not_be_heavy_is_light(self, mason: Mason) -> None:
        for arguments in (
            ["--help"],
            ["--version"],
            ["register", "mason/examples/operators"],
            ["config", "mason/examples/configs"],
            ["config"],
            ["config", "-s", "3"],
            ["operator"],
            ["operator", "table"],
            ["operator", "table", "get", "--help"],
            ["operator", "table", "get", "--json-schema"],
            ["workflow"],
            ["registry", "history", "table:get"],
            ["completion", "bash"],
        ):
            assert self._imported(mason, *arguments) == [], arguments

    def test_the_check_sees_a_heavy_import_where_there_is_one(self, mason: Mason) -> None:
        mason.register_examples()
        write(mason.folder, {"shop/orders.csv": "id\n1\n"})

        imported = self._imported(mason, "operator", "table", "get", "-p", "database_name:shop,table_name:orders")

        assert "pyarrow" in imported
        assert "pyspark" not in imported


def on_a_terminal(mason: Mason, *arguments: str, columns: int = 80, **variables: str) -> str:
    """Run a command on a terminal of some width and return all that it wrote there."""
    import fcntl
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [*mason.argv, *arguments],
        env=mason.environment({"TERM": "xterm", **variables}),
        cwd=mason.folder,
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    written = b""
    while select.select([leader], [], [], 60)[0]:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the terminal is closed when its last user leaves
            break
        if not part:
            break
        written += part
    os.close(leader)
    process.wait(timeout=60)
    return written.decode().replace("\r\n", "\n")


class TestTerminal:
    def test_colours_are_for_terminals_only_and_no_color_is_honoured(self, mason: Mason) -> None:
        wrong: Sequence[str] = ("config", "-s", "nope")

        assert "\x1b[" in on_a_terminal(mason, *wrong)
        assert "\x1b" not in on_a_terminal(mason, *wrong, NO_COLOR="1")
        assert "\x1b" not in on_a_terminal(mason, *wrong, TERM="dumb")
        piped = mason(*wrong, variables={"TERM": "xterm"})
        assert "\x1b" not in piped.stdout + piped.stderr

    def test_a_listing_fits_the_terminal_and_is_whole_in_a_pipe(self, mason: Mason) -> None:
        mason.register_examples()

        narrow = on_a_terminal(mason, "operator", "table", columns=110)

        table = narrow.split("\n\n", 1)[1].splitlines()
        assert max(map(len, table)) <= 110
        assert "'read_all'" in narrow
        assert max(map(len, mason("operator").stdout.splitlines())) > 110


def _wait_for(file: Path) -> None:
    for _ in range(600):
        if file.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{file} did not appear")
