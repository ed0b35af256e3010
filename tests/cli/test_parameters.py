"""Parameters as people type them: `-p`, `-f`, their types, and secrets that stay secret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import configured, errors, install_package, operator_with, registered, strict_json
from tests.conftest import PROJECT, Mason, write

SHOW = "resp.add_data({name: [type(value).__name__, str(value)] for name, value in parameters.values.items()})"
LOCAL = "id: here\nmetastore_engine: local\nstorage_engine: local\n"


def shown(mason: Mason, *arguments: str) -> dict[str, Any]:
    """Run `new show`, which must succeed, and return the parameters that it got: name, type and text."""
    result = mason("operator", "new", "show", *arguments)
    assert result.exit_code == 0, result.stdout
    (data,) = strict_json(result)["Data"]
    got: dict[str, Any] = data
    return got


@pytest.fixture
def show(mason: Mason, tmp_path: Path) -> Mason:
    """An operator that shows what it was given: `a` and `b` are text, `at` is an alias of `when`."""
    yaml = "  optional:\n    - a\n    - b\n    - query_string\n    - input_path\n    - {name: when, aliases: [at]}\n"
    operator_with(tmp_path / "src", "new", "show", parameters=yaml, body=SHOW)
    return registered(mason, tmp_path / "src")


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
            ("a=1", {"a": "1"}),
            (" a = 1 , b = 2 ", {"a": "1", "b": "2"}),
            ("a=x:y,b=2", {"a": "x:y", "b": "2"}),
            ('query_string="select a, b=1",a=2', {"query_string": "select a, b=1", "a": "2"}),
            ("query_string:select a, b=1", {"query_string": "select a, b=1"}),
            ("input_path=s3://b/a,c:d", {"input_path": "s3://b/a,c:d"}),
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
            ("nope: 1\n", 'There is no parameter "nope" (in p.yaml).'),
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
