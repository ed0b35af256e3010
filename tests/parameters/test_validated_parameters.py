"""Parameters are checked as a whole, and arrive as what the operator declared."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from mason.errors import InvalidParameters
from mason.parameters.definition import ParameterDefinitions
from mason.parameters.validated_parameters import read_parameter_file, validate_parameters


def define(*optional: Any, required: list[Any] | None = None) -> ParameterDefinitions:
    return ParameterDefinitions.of({"required": required or [], "optional": list(optional)})


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("string", "007", "007"),
        ("integer", "-12", -12),
        ("number", "1.5", 1.5),
        ("number", "3", 3),
        ("boolean", "True", True),
        ("boolean", "no", False),
        ("date", "2026-02-28", date(2026, 2, 28)),
        ("timestamp", "2026-02-28T12:30:00", datetime(2026, 2, 28, 12, 30)),
        ("path", "s3://b/a,b", "s3://b/a,b"),
        ("list", "a, b,c", ["a", "b", "c"]),
        ("list", "[a, b]", ["a", "b"]),
        ("list", ["a", "b"], ["a", "b"]),
        ("list", '"a,b", c', ["a,b", "c"]),
        ("list", 'n/a, ""', ["n/a", '""']),
        ("list", '""', ['""']),
        ("secret", "hush", "hush"),
    ],
)
def test_a_text_becomes_a_value_of_its_type(kind: str, text: Any, value: Any) -> None:
    parameters = validate_parameters(define({"name": "p", "type": kind}), [("p", text)])

    assert parameters.get_optional("p") == value


@pytest.mark.parametrize(
    ("definition", "text", "message"),
    [
        ({"type": "integer"}, "1.5", "must be a whole number"),
        ({"type": "number"}, "x", "must be a number"),
        ({"type": "boolean"}, "maybe", "must be true or false"),
        ({"type": "date"}, "2026-02-30", "must be a date"),
        ({"type": "timestamp"}, "noon", "must be a time"),
        ({"type": "path"}, "a\0b", "must be a path"),
        ({"type": "integer", "minimum": 1}, "0", "must be at least 1"),
        ({"type": "integer", "maximum": 9}, "10", "must be at most 9"),
        ({"choices": ["widen", "fail"]}, "widden", 'must be one of widen, fail, not "widden". Did you mean "widen"?'),
        ({"type": "integer"}, {"a": 1}, "must be of type integer"),
        ({"type": "string"}, {"a": 1}, "must be of type string"),
        ({"type": "integer"}, "9223372036854775808", "must be a whole number of 64 bits"),
        ({"type": "integer"}, "9" * 5000, "must be a whole number of 64 bits"),
        ({"type": "number"}, "9" * 5000, "must be a number that a computer can hold"),
        ({"type": "number"}, "1e999", "must be a number that a computer can hold"),
        ({"type": "list"}, "a\rb,c", "must be a list such as a,b"),
        ({"type": "list"}, [{"a": 1}], "must be a list of texts"),
        ({"type": "list"}, [["a"]], "must be a list of texts"),
        ({"type": "list", "elements": "mappings"}, [["a"]], "must be a list of texts"),
        ({"type": "path"}, "a\ud800", "has half a character in it"),
        ({"type": "string"}, "a\udcff", "or a byte that is not UTF-8"),
        ({"type": "list"}, ["a", "\udfff"], "has half a character in it"),
        ({"type": "list", "elements": "mappings"}, [{"a": {"\ud800": 1}}], "has half a character in it"),
        ({"type": "map"}, {"a": "\ud800"}, "has half a character in it"),
        (
            {"type": "map"},
            '{"a":' * 1_100 + "1" + "}" * 1_100,
            "must be of type map, and is nested too deep to be read",
        ),
        ({"type": "map"}, '{"a":' * 100_000, "must be of type map, and is nested too deep to be read"),
        ({"type": "map"}, '{"a": "\\ud800"}', "has half a character in it"),
        ({"type": "secret"}, "\ud800", "has half a character in it"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_what_would(
    definition: dict[str, Any], text: Any, message: str
) -> None:
    with pytest.raises(InvalidParameters) as caught:
        validate_parameters(define({"name": "p", **definition}), [("p", text)])

    assert message in str(caught.value) and '"p"' in str(caught.value)


def test_a_list_may_hold_mappings_where_its_author_says_so() -> None:
    definitions = define({"name": "p", "type": "list", "elements": "mappings"})

    assert validate_parameters(definitions, [("p", [{"a": 1}, "b"])]).get_optional("p") == [{"a": 1}, "b"]


def test_a_secret_of_the_wrong_type_is_not_shown() -> None:
    with pytest.raises(InvalidParameters) as caught:
        validate_parameters(define({"name": "p", "type": "secret"}), [("p", ["hush"])])

    assert "hush" not in str(caught.value)


def test_all_problems_are_reported_at_once() -> None:
    definitions = define({"name": "limit", "type": "integer"}, required=["database_name", "table_name"])

    with pytest.raises(InvalidParameters) as caught:
        validate_parameters(definitions, [("limit", "x"), ("tabel_name", "t"), ("limit", "2")])

    messages = "\n".join(caught.value.messages)
    assert len(caught.value.messages) == 5
    for part in ('"limit" is given twice', '"limit" must be', '"database_name" is missing', '"table_name" is missing'):
        assert part in messages
    assert 'no parameter "tabel_name". Did you mean "table_name"?' in messages and "in quotes" in messages


def test_an_alias_is_the_parameter() -> None:
    definitions = define({"name": "database_name", "aliases": ["bucket_name"]})

    assert validate_parameters(definitions, [("bucket_name", "b")]).get_required("database_name") == "b"
    with pytest.raises(InvalidParameters, match="given twice"):
        validate_parameters(definitions, [("bucket_name", "b"), ("database_name", "b")])


def test_a_default_holds_until_something_is_given() -> None:
    definitions = define({"name": "limit", "type": "integer", "default": 10})

    assert validate_parameters(definitions, []).get_optional("limit") == 10
    assert validate_parameters(definitions, [("limit", "3")]).get_optional("limit") == 3


def test_what_is_given_overrides_the_file(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("a: 007\nb: two\n")

    parameters = validate_parameters(define("a", "b"), [("b", "2")], read_parameter_file(file))

    assert parameters.values == {"a": "007", "b": "2"}


@pytest.mark.parametrize("text", ["- a\n", "just text", "a: 1\na: 2\n", "a: [1\n"])
def test_a_file_that_is_no_mapping_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(text)

    with pytest.raises(InvalidParameters, match=r"p\.yaml:\d"):
        read_parameter_file(file)


def test_a_missing_required_parameter_is_an_error_also_when_it_is_empty() -> None:
    with pytest.raises(InvalidParameters, match='"a" is missing'):
        validate_parameters(define(required=["a"]), [("a", "")])


@pytest.mark.parametrize(
    ("text", "value"),
    [("9223372036854775807", 2**63 - 1), ("9223372036854775808", float(2**63)), ("-1" + "0" * 30, -1e30)],
)
def test_a_number_may_be_larger_than_any_whole_number_that_is_one(text: str, value: float) -> None:
    definitions = ParameterDefinitions.of({"required": [{"name": "p", "type": "number"}]})

    found = validate_parameters(definitions, [("p", text)]).get_required("p")

    assert (found, type(found)) == (value, type(value))


def test_the_schema_asks_for_a_required_parameter_by_one_of_its_names() -> None:
    from jsonschema import Draft202012Validator

    definitions = ParameterDefinitions.of({"required": [{"name": "base", "aliases": ["bucket"]}, "table"]})
    valid = Draft202012Validator(definitions.to_json_schema("x")).is_valid

    assert valid({"base": "shop", "table": "orders"})
    assert valid({"bucket": "shop", "table": "orders"})
    assert not valid({"table": "orders"})
    assert not valid({"base": "shop"})


def test_a_parameter_that_is_not_declared_is_the_authors_mistake_and_not_the_callers() -> None:
    found = validate_parameters(
        define({"name": "limit", "type": "integer"}, required=["table_name"]), [("table_name", "t")]
    )

    with pytest.raises(
        LookupError, match=r'^operator.yaml declares no parameter "tabel_name"\. Did you mean "table_name"'
    ):
        found.get_required("tabel_name")
    with pytest.raises(InvalidParameters, match='"limit" is missing'):
        found.get_required("limit")
