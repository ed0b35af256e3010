"""Tables that are asked, and what must come of it, written out in full.

Nothing of what is expected here was computed by Mason: it is what a person reads in the tables, in the types that Spark
gives. Times have milliseconds, since there are engines that know no more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

_ORDERS = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("country", pa.string()),
        ("price", pa.decimal128(10, 2)),
        ("weight", pa.float64()),
        ("share", pa.float32()),
        ("pieces", pa.int32()),
        ("paid", pa.bool_()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us")),
        ("seen", pa.timestamp("us", "UTC")),
        ("raw", pa.binary()),
        ("tags", pa.list_(pa.string())),
        ("place", pa.struct([("city", pa.string()), ("floor", pa.int64())])),
        ("marks", pa.map_(pa.string(), pa.int64())),
    ]
)


def _order(number: int, **values: Any) -> dict[str, Any]:
    """An order; columns that are not named are null."""
    return {**dict.fromkeys(_ORDERS.names), "id": number, **values}


ORDERS: Sequence[dict[str, Any]] = [
    _order(
        1,
        name="Ann",
        country="DE",
        price=Decimal("10.50"),
        weight=1.5,
        share=0.25,
        pieces=3,
        paid=True,
        day=date(2026, 1, 1),
        at=datetime(2026, 1, 1, 10, 20, 30, 250_000),
        seen=datetime(2026, 1, 1, 9, 20, 30, tzinfo=UTC),
        raw=b"\x00\xff",
        tags=["a", None],
        place={"city": "Wien", "floor": 3},
        marks=[("x", 1), ("y", None)],
    ),
    _order(2, name="", country="FR", price=Decimal("3.00"), weight=math.inf, paid=False, day=date(2026, 1, 2), raw=b""),
    _order(
        3,
        name='say "hi", it\'s\n\\two lines',
        country="DE",
        weight=-0.125,
        share=0.5,
        pieces=-4,
        day=date(1969, 12, 31),
        at=datetime(1969, 12, 31, 23, 59, 59, 999_000),
        seen=datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC),
        tags=[],
        place={"city": None, "floor": None},
        marks=[],
    ),
    _order(4, name="Zoë 🙂", price=Decimal("7.25"), pieces=0, tags=["null", "", 'q"q'], place={"city": "", "floor": 0}),
    _order(5, country="", price=Decimal("-0.01"), paid=True, day=date(9999, 12, 31)),
]

TABLES: Mapping[str, pa.Table] = {
    "orders": pa.Table.from_pylist(list(ORDERS), _ORDERS),
    "numbers": pa.table({"n": pa.array(range(1, 1001), pa.int64())}),
}
"""The tables, by the names that the statements have for them."""


@dataclass(frozen=True, kw_only=True)
class GoldenAnswer:
    """A statement of Spark SQL and its answer."""

    name: str
    statement: str
    types: Mapping[str, str]
    rows: Sequence[dict[str, Any]]
    parameters: Mapping[str, Any] = field(default_factory=dict)


def _answer(name: str, statement: str, types: str, *rows: tuple[Any, ...], **parameters: Any) -> GoldenAnswer:
    declared = dict(each.rsplit(" ", 1) for each in types.split("; "))
    known = {column: _TYPES[kind] for column, kind in declared.items()}
    return GoldenAnswer(
        name=name,
        statement=statement,
        types=known,
        rows=[dict(zip(known, row, strict=True)) for row in rows],
        parameters=parameters,
    )


_TYPES = {
    "bigint": "int64",
    "int": "int32",
    "double": "double",
    "string": "string",
    "boolean": "bool",
    "date": "date32[day]",
    "timestamp_ntz": "timestamp[us]",
    "timestamp": "timestamp[us, tz=UTC]",
    "strings": "list<item: string>",
    "decimal(2,1)": "decimal128(2, 1)",
    "decimal(10,2)": "decimal128(10, 2)",
    "decimal(14,6)": "decimal128(14, 6)",
    "decimal(20,2)": "decimal128(20, 2)",
}

ANSWERS: Sequence[GoldenAnswer] = [
    GoldenAnswer(
        name="every type and its nulls",
        statement="select * from orders order by id",
        types={
            **{each.name: str(each.type) for each in _ORDERS},
            "tags": "list<item: string>",
        },
        rows=ORDERS,
    ),
    _answer(
        "groups with their sums and means",
        "select country, count(*) as n, count(price) as priced, sum(price) as s, avg(price) as a, max(day) as d"
        " from orders group by country order by country",
        "country string; n bigint; priced bigint; s decimal(20,2); a decimal(14,6); d date",
        (None, 1, 1, Decimal("7.25"), Decimal("7.250000"), None),
        ("", 1, 1, Decimal("-0.01"), Decimal("-0.010000"), date(9999, 12, 31)),
        ("DE", 2, 1, Decimal("10.50"), Decimal("10.500000"), date(2026, 1, 1)),
        ("FR", 1, 1, Decimal("3.00"), Decimal("3.000000"), date(2026, 1, 2)),
    ),
    _answer(
        "sums of decimals over a window and of some rows",
        "select id, sum(price) over (partition by country order by id) as w from orders where price is not null"
        " union all select 0 as id, sum(price) filter (where paid) as w from orders order by id",
        "id bigint; w decimal(20,2)",
        *[(0, Decimal("10.49")), (1, Decimal("10.50")), (2, Decimal("3.00"))],
        *[(4, Decimal("7.25")), (5, Decimal("-0.01"))],
    ),
    _answer(
        "sums and means of integers and of short floating points",
        "select sum(id) as i, avg(id) as a, sum(pieces) as p, sum(share) as s, avg(share) as m from orders",
        "i bigint; a double; p bigint; s double; m double",
        (15, 3.0, -1, 0.75, 0.375),
    ),
    _answer(
        "aggregates of nothing",
        "select count(*) as n, sum(price) as s, avg(id) as a, max(name) as m from orders where id > 100",
        "n bigint; s decimal(20,2); a double; m string",
        (0, None, None, None),
    ),
    _answer(
        "nulls come first",
        "select id from orders order by price, id",
        "id bigint",
        *[(3,), (5,), (2,), (4,), (1,)],
    ),
    _answer(
        "and last when it is the other way round",
        "select id from orders order by price desc, id",
        "id bigint",
        *[(1,), (4,), (2,), (5,), (3,)],
    ),
    _answer(
        "an empty text is no null",
        "select count(country) as n, count(distinct country) as d, min(country) as m from orders",
        "n bigint; d bigint; m string",
        (4, 3, ""),
    ),
    _answer(
        "integers divide into doubles",
        "select id / 2 as half, pieces / id as per, id % 2 as odd from orders where id in (1, 3) order by id",
        "half double; per double; odd bigint",
        (0.5, 3.0, 1),
        (1.5, -4 / 3, 1),
    ),
    _answer(
        "a text is compared as what it is compared with",
        "select id from orders where day > '2026-01-01' and id = '2'",
        "id bigint",
        (2,),
    ),
    _answer(
        "between texts and among them",
        "select id from orders where day between '2026-01-01' and '2026-01-02' and day in ('2026-01-02', '2026-01-03')",
        "id bigint",
        (2,),
    ),
    _answer(
        "moments, with a zone and without",
        "select max(at) as a, min(at) as b, max(seen) as s from orders where at > '1960-01-01 00:00:00'",
        "a timestamp_ntz; b timestamp_ntz; s timestamp",
        (
            datetime(2026, 1, 1, 10, 20, 30, 250_000),
            datetime(1969, 12, 31, 23, 59, 59, 999_000),
            datetime(2026, 1, 1, 9, 20, 30, tzinfo=UTC),
        ),
    ),
    _answer(
        "a join with itself, a window, a name for each",
        "with known as (select id, country from orders where country is not null)"
        " select a.id, b.country, cast(row_number() over (partition by b.country order by a.id desc) as bigint) as r"
        " from known a join known b using (id) order by a.id",
        "id bigint; country string; r bigint",
        *[(1, "DE", 2), (2, "FR", 1), (3, "DE", 1), (5, "", 1)],
    ),
    _answer(
        "two answers in one",
        "select id, name from orders where id = 1 union all select 9 as id, 'nine' as name order by id",
        "id bigint; name string",
        *[(1, "Ann"), (9, "nine")],
    ),
    _answer(
        "subqueries",
        "select id from orders o where price = (select max(price) from orders)"
        " or exists (select 1 from orders p where p.id = o.id and p.country = 'FR') order by id",
        "id bigint",
        *[(1,), (2,)],
    ),
    _answer(
        "functions of texts and of nulls",
        "select upper(name) as u, cast(length(name) as bigint) as n, coalesce(country, '-') as c,"
        " substring(name, 2, 2) as s, concat(name, '!') as w,"
        " case when paid then 'yes' when not paid then 'no' end as p"
        " from orders where id in (1, 4) order by id",
        "u string; n bigint; c string; s string; w string; p string",
        ("ANN", 3, "DE", "nn", "Ann!", "yes"),
        ("ZOË 🙂", 5, "-", "oë", "Zoë 🙂!", None),
    ),
    _answer(
        "values that stand in the statement",
        "select 1 as i, 10000000000 as b, 1.5 as d, 'a;b -- c' as t, \"q'q\" as u, true as y, date '2026-02-03' as d1",
        "i int; b bigint; d decimal(2,1); t string; u string; y boolean; d1 date",
        (1, 10_000_000_000, Decimal("1.5"), "a;b -- c", "q'q", True, date(2026, 2, 3)),
    ),
    _answer(
        "rows that stand in the statement",
        "values (1, 'a'), (2, null)",
        "col1 int; col2 string",
        *[(1, "a"), (2, None)],
    ),
    _answer(
        "values that are given",
        "select id, :t as t, :b as b from orders where country = :c and day >= :since",
        "id bigint; t string; b boolean",
        (1, "x'\"`\\ :c", True),
        t="x'\"`\\ :c",
        b=True,
        c="DE",
        since="2026-01-01",
    ),
    _answer(
        "what is given changes nothing of the statement",
        "select id from orders where country = :c",
        "id bigint",
        c="DE' or '1'='1",
    ),
    _answer(
        "any name of a column",
        "select id as `two words`, id as `Größe`, id as `select` from orders where id = 1",
        "two words bigint; Größe bigint; select bigint",
        (1, 1, 1),
    ),
    _answer(
        "a column without a name",
        "select count(*), max(day), id + 1 from orders where id = 1 group by id",
        "COUNT(*) bigint; MAX(day) date; id + 1 bigint",
        (1, date(2026, 1, 1), 2),
    ),
    _answer(
        "no rows, but columns",
        "select id, price, tags from orders where 1 = 0",
        "id bigint; price decimal(10,2); tags strings",
    ),
    _answer(
        "lists, and what is in them",
        "select id, tags, place.city as city from orders where place is not null order by id",
        "id bigint; tags strings; city string",
        *[(1, ["a", None], "Wien"), (3, [], None), (4, ["null", "", 'q"q'], "")],
    ),
    _answer(
        "some rows after others",
        "select n from numbers where n % 250 = 0 order by n desc limit 2 offset 1",
        "n bigint",
        *[(750,), (500,)],
    ),
]
