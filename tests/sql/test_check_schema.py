"""The JSON Schema of checks says what can be asked, no more and no less."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mason.errors import InvalidParameters
from mason.parameters.definition import CHECKS, ParameterDefinition
from mason.pipeline.jobs.check.checks import KINDS
from mason.pipeline.jobs.check.reading import AGE_UNITS, read_checks

DEFINITION = ParameterDefinition(name="checks", required=True, type="list", elements=CHECKS)
SCHEMA = DEFINITION.to_json_schema()
GIVEN = {
    "column": ["id", 7],
    "columns": [["id"], ["id", "day"]],
    "values": [["a", 1, True], "a", [], [None], [["a"]], ""],
    "min": [0, "3", 1.5, "few"],
    "max": [10, "12"],
    "max_age": [*(f"2{unit}" for unit in AGE_UNITS), "1.5 h", "soon", "3 moons", ""],
    "pattern": ["a+", ""],
    "references": ["other", ""],
    "referenced_columns": [["id"], "id"],
    "on_failure": ["block", "warn", "stop"],
    "name": ["mine"],
    "colum": ["id"],
}
"""Values for each word, such as fit and such as do not; the first is one that fits."""


def is_read(check: Any) -> bool:
    try:
        read_checks([check])
    except InvalidParameters:
        return False
    return True


def plain(kind: str) -> dict[str, Any]:
    """Return a check of a kind with all that it needs."""
    wanted = KINDS[kind]
    columns = {} if wanted.columns == "none" else {"column": "id"}
    return {"check": kind, **columns, **{name: GIVEN[name][0] for name in (*wanted.required, *wanted.least_one)}}


def variants(kind: str) -> list[dict[str, Any]]:
    """Return checks of a kind that differ from a plain one in a word: it is left out, added, or has another value."""
    whole = plain(kind)
    without = [{name: value for name, value in whole.items() if name != left} for left in whole]
    other = [{**whole, word: value} for word, values in GIVEN.items() for value in values]
    several = [
        {**{name: value for name, value in whole.items() if name != "column"}, "columns": each}
        for each in (*GIVEN["columns"], [])
        if "column" in whole
    ]
    return [whole, *without, *other, *several]


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert [each.get("title") for each in SCHEMA["items"]["anyOf"][1:]] == list(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_what_fits_the_schema_is_read_and_what_does_not_is_refused(kind: str) -> None:
    fits = Draft202012Validator(SCHEMA).is_valid
    disagreed = [each for each in variants(kind) if fits([each]) != is_read(each)]

    assert fits([plain(kind)])
    assert disagreed == []


@pytest.mark.parametrize("given", ["not_null id", {"check": "not_nul", "column": "id"}, {"column": "id"}, 7, None])
def test_a_text_fits_and_a_mapping_of_no_kind_does_not(given: Any) -> None:
    assert Draft202012Validator(SCHEMA).is_valid([given]) is is_read(given)
