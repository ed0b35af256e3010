"""Numbers of JSON keep their digits until a type is chosen, in lines and in documents, on the fast way and the slow."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from mason.pipeline.formats.json.parse import parse_lines
from mason.pipeline.formats.json.values import load
from tests.merge.conftest import Merge

LONG = "12345678901234567.89"


def lines(*values: str) -> str:
    return "".join(f'{{"n": {value}}}\n' for value in values)


def document(*values: str) -> str:
    return "[" + ", ".join(f'{{"n": {value}}}' for value in values) + "]"


@pytest.mark.parametrize(("name", "text"), [("a.jsonl", lines), ("a.json", document)])
@pytest.mark.parametrize("schema", ["", "n decimal(20,2)"])
def test_a_number_with_more_digits_than_a_double_holds_keeps_them(
    merge: Merge, name: str, text: Any, schema: str
) -> None:
    merge.given(name, text("1.5", LONG, "-0.25", "7"))

    assert merge.rows(schema=schema) == [{"n": Decimal(each)} for each in ("1.5", LONG, "-0.25", "7")]


@pytest.mark.parametrize(("name", "text"), [("a.jsonl", lines), ("a.json", document)])
@pytest.mark.parametrize("whole", ["9007199254740993", "-9223372036854775808", "12345678901234567890"])
def test_an_integer_beyond_doubles_beside_a_fraction_is_a_decimal(
    merge: Merge, name: str, text: Any, whole: str
) -> None:
    merge.given(name, text(whole, "0.5"))

    assert merge.rows() == [{"n": Decimal(whole)}, {"n": Decimal("0.5")}]


def test_long_numbers_inside_something_nested_keep_their_digits(merge: Merge) -> None:
    merge.given("a.jsonl", f'{{"o": {{"n": [{LONG}, 0.5]}}}}\n{{"o": {{"n": [9007199254740993]}}}}\n')

    assert merge.rows() == [
        {"o": {"n": [Decimal(LONG), Decimal("0.50")]}},
        {"o": {"n": [Decimal("9007199254740993.00")]}},
    ]


def test_long_numbers_are_written_as_they_are_where_they_become_text(merge: Merge) -> None:
    merge.given("a.jsonl", f'{{"n": {LONG}, "o": {{"n": {LONG}}}}}\n{{"n": "x", "o": "x"}}\n')

    assert merge.rows() == [{"n": LONG, "o": f'{{"n": {LONG}}}'}, {"n": "x", "o": "x"}]


@pytest.mark.parametrize("number", [LONG, "1.0000000000000000001", "90071992547409.93", "12345678901234567.0"])
def test_a_long_number_beyond_the_sample_is_seen_by_the_fast_parser(merge: Merge, number: str) -> None:
    """The sample ends before it, and a double would take it without a word."""
    merge.given("a.jsonl", lines(*["0.5"] * 30_000, number))

    merge.run(sample=100)

    assert merge.table().column("n")[-1].as_py() == Decimal(number)


@pytest.mark.parametrize(
    "number", ["1.0000000000000000001", "90071992547409.93", "-90071992547409.93", "0.1234567890123456789"]
)
@pytest.mark.parametrize("around", ["{}", "[0.5, {}]", '{{"x": {}}}'])
def test_the_fast_parser_leaves_digits_that_a_double_loses_to_json(number: str, around: str) -> None:
    kind = {"{}": pa.float64(), "[0.5, {}]": pa.list_(pa.float64())}.get(around, pa.struct({"x": pa.float64()}))
    for before in ("", " ", "\t"):
        text = lines(*[around.format("0.25")] * 50, before + around.format(number))
        assert parse_lines(text.encode(), {"n": kind}) is None


def test_the_fast_parser_reads_what_doubles_hold(merge: Merge) -> None:
    """All that a writer of doubles writes: the shortest text, or 17 digits, which more than one is written with."""
    dice = random.Random(17)
    numbers = [dice.random() * 10.0 ** dice.randrange(-25, 25) for _ in range(2_000)]
    small = [each for each in numbers if abs(each) < 2**53]
    texts = [*map(repr, small), *(f"{each:.17g}" for each in small), *(f"{each:.15f}" for each in small if each < 1)]
    texts += ["4.9E-324", "0.30000000000000004", "1.50000000000000000000", "0.000000000000000000000000000"]
    kept = [each for each in texts if isinstance(load(f'{{"n": {each}}}')["n"], float)]

    parsed = parse_lines(lines(*kept).encode(), {"n": pa.float64()})

    assert len(kept) > 2 * len(small)
    assert parsed is not None
    assert parsed.columns["n"].values.to_pylist() == list(map(float, kept))


def test_long_digits_in_texts_do_not_keep_the_fast_parser_away() -> None:
    text = 'tel 12345678901234567890, 0.1234567890123456789, 5 \\" 0.1234567890123456789, 12345678901234567.89'
    content = f'{{"id": "12345678901234567.8901", "n": 0.5, "t": "{text}"}}\n' * 100

    kinds = {"id": pa.string(), "n": pa.float64(), "t": pa.string()}
    assert parse_lines(content.encode(), kinds) is not None


def test_what_is_no_object_in_a_document_is_set_aside_with_its_digits(merge: Merge) -> None:
    merge.given("a.json", f'[{{"n": 1}}, {LONG}, {{"n": {LONG}}}]')

    result = merge.run(most_bad_share=1)

    assert (result.rows_out, result.quarantined) == (2, 1)
    assert merge.rejects()[0].raw == LONG


def test_a_given_double_or_integer_takes_the_number_that_was_asked_for(merge: Merge) -> None:
    merge.given("a.jsonl", f'{{"d": {LONG}, "i": 12345678901234567.0}}\n{{"d": 1, "i": {LONG}}}\n')

    result = merge.run(schema="d double, i bigint", most_bad_share=1)

    assert merge.table().to_pylist() == [{"d": float(LONG), "i": 12345678901234567}]
    assert result.quarantined == 1


def test_numbers_are_the_same_on_both_ways(merge: Merge) -> None:
    """Every value that the fast parser lets pass is the number that stands in the text."""
    dice = random.Random(4)
    for _ in range(1_000):
        digits = "".join(dice.choice("0123456789") for _ in range(dice.randrange(1, 22)))
        point = dice.randrange(len(digits) + 1)
        number = f"{int(digits[:point] or 0)}.{digits[point:] or 0}"
        parsed = parse_lines(lines("0.5", number, "0.25").encode(), {"n": pa.float64()})
        careful = load(f'{{"n": {number}}}')["n"]
        decimals = len(number.partition(".")[2])
        holds = f"{float(number):.{decimals}f}" == number or Decimal(repr(float(number))) == Decimal(number)
        assert isinstance(careful, float) == holds
        if parsed is not None:
            assert parsed.columns["n"].values.to_pylist() == [0.5, careful, 0.25]
            assert isinstance(careful, float)
        assert json.loads(number) == float(careful)


def test_numbers_beyond_all_doubles_are_too_large_or_zero_however_many_digits_they_have(merge: Merge) -> None:
    """Written out, some of them would fill the memory."""
    digits = "1.234567890123456789012"
    merge.given("a.jsonl", lines("0.5", f"{digits}e400", f"{digits}e999999999", f"{digits}e-999999999", "1e-400"))

    result = merge.run(most_bad_share=1)

    assert merge.table().to_pylist() == [{"n": 0.5}, {"n": 0.0}, {"n": 0.0}]
    assert [each.reason for each in merge.rejects()] == [
        f"the number {digits}e400 is too large",
        f"the number {digits}e999999999 is too large",
    ]
    assert result.quarantined == 2


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ('{"id": 2, "w": 1e400}', "the number 1e400 is too large"),
        ('{"id": 2, "id": 3}', 'the key "id" occurs more than once'),
        ('{"id": 2, "t": "\\ud800"}', "half of a surrogate pair stands in it, which is not a character"),
    ],
    ids=["too large", "twice", "half a character"],
)
@pytest.mark.parametrize("layout", ["[{good},\n{bad}, {more}]", "{good}\n\n {bad}\n{more}"], ids=["array", "values"])
def test_an_element_that_no_table_can_hold_is_set_aside_alone(merge: Merge, layout: str, bad: str, reason: str) -> None:
    good, more = '{\n"id": 1}', ", ".join(f'{{"id": {number}}}' for number in range(3, 30))
    merge.given("a.json", layout.replace("{good}", good).replace("{bad}", bad).replace("{more}", more))

    result = merge.run()

    assert (result.rows_in, result.rows_out) == (29, 28)
    assert [(each.record, each.reason, each.raw) for each in merge.rejects()] == [(2, reason, bad)]
    assert f"a.json: record 2 cannot be read: {reason}." in result.plan.warnings


def test_half_a_character_in_a_name_is_foreseen_and_set_aside(merge: Merge) -> None:
    merge.given("a.json", '[{"\\ud800": 1}, {"a": 2}, {"a": 3}, {"\\ud83d\\ude00": 4}, {"a": 5}]')

    result = merge.run()

    reason = "half of a surrogate pair stands in it, which is not a character"
    assert result.plan.warnings == [f"a.json: record 1 cannot be read: {reason}."]
    assert [(each.record, each.reason) for each in merge.rejects()] == [(1, reason)]
    assert merge.table().column_names == ["a", "😀"]
