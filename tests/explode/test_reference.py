"""Whatever the records: the tables are those that a plain program makes of them, one value at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from mason.pipeline.jobs.explode.shape import Form, flat_tables
from mason.pipeline.jobs.explode.unnest import Tally, unnest

NAMES = st.sampled_from(["a", "b", "c d"])


def types(depth: int = 3) -> st.SearchStrategy[pa.DataType]:
    scalars = st.sampled_from([pa.int64(), pa.string(), pa.bool_()])
    return st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.builds(pa.list_, inner),
            st.dictionaries(NAMES, inner, min_size=1, max_size=3).map(lambda fields: pa.struct(list(fields.items()))),
        ),
        max_leaves=6,
    )


def values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    if pa.types.is_list(kind):
        inner: st.SearchStrategy[Any] = st.lists(values(kind.value_type), max_size=3)
    elif pa.types.is_struct(kind):
        inner = st.fixed_dictionaries({field.name: values(field.type) for field in kind})
    else:
        inner = {pa.int64(): st.integers(-9, 9), pa.string(): st.text(max_size=3), pa.bool_(): st.booleans()}[kind]
    return st.none() | inner


@st.composite
def batches(draw: st.DrawFn) -> pa.RecordBatch:
    fields = draw(st.dictionaries(NAMES, types(), min_size=1, max_size=3))
    schema = pa.schema(list(fields.items()))
    rows = draw(st.lists(st.fixed_dictionaries({name: values(kind) for name, kind in fields.items()}), max_size=6))
    batch = pa.RecordBatch.from_pylist(rows, schema)
    start = draw(st.integers(0, len(rows)))
    return batch.slice(start, draw(st.integers(0, len(rows) - start)))


def expected(
    kind: pa.DataType, value: Any, table: str, key: tuple[int, ...], name: str
) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """Return the columns that a value gives its row, and the rows that it gives other tables."""
    if pa.types.is_struct(kind):
        row: dict[str, Any] = {}
        others: list[tuple[str, Any]] = []
        for field in kind:
            inner = None if value is None else value[field.name]
            columns, below = expected(field.type, inner, table, key, f"{name}/{field.name}" if name else field.name)
            row |= columns
            others += below
        return row, others
    if not pa.types.is_list(kind):
        return {name: value}, []
    rows = []
    for position, element in enumerate(value or []):
        inside = "" if pa.types.is_struct(kind.value_type) else "value"
        columns, below = expected(kind.value_type, element, f"{table}/{name}", (*key, position), inside)
        rows += [(f"{table}/{name}", ((*key, position), columns)), *below]
    return {f"{name}/count": None if value is None else len(value)}, rows


def reference(batch: pa.RecordBatch, first: int) -> Iterator[tuple[str, Any]]:
    kind = pa.struct(list(batch.schema))
    for number, record in enumerate(batch.to_pylist(), first):
        columns, below = expected(kind, record, "t", (number,), "")
        yield "t", ((number,), columns)
        yield from below


@settings(max_examples=300, deadline=None)
@given(batches(), st.integers(0, 2**40))
def test_the_tables_are_what_a_plain_program_makes_of_the_records(batch: pa.RecordBatch, first: int) -> None:
    tables = flat_tables(batch.schema, Form("t", "/"))
    tally = Tally()
    found: dict[str, list[Any]] = {}
    for number, rows in unnest(tables, batch, first, tally):
        rows.validate(full=True)
        for row in rows.to_pylist():
            found.setdefault(tables[number].name, []).append(as_reference(row, tables[number].keys))

    wanted: dict[str, list[Any]] = {}
    for name, row in reference(batch, first):
        wanted.setdefault(name, []).append(row if tables[0].keys else ((), row[1]))

    assert found == wanted
    assert {tables[number].name: count for number, count in tally.elements.items() if count} == {
        name: len(rows) for name, rows in wanted.items() if name != "t"
    }


def as_reference(row: dict[str, Any], keys: Sequence[str]) -> Any:
    return tuple(row[key] for key in keys), {name: value for name, value in row.items() if name not in keys}
