"""Nested records become flat tables."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pyarrow as pa
import pytest

from mason.engines.storage.models.location import Location
from mason.errors import BadPath, Conflict, NoData
from mason.pipeline.jobs.explode import plan as planning
from mason.pipeline.jobs.explode import sink
from mason.pipeline.jobs.merge.outcome import TooManyBadRecords
from mason.pipeline.reading.plan import inspection, read_plan
from mason.pipeline.reading.plan.inspection import PlanRefused
from mason.pipeline.reading.request import NoSuchColumn
from mason.pipeline.reading.scan import plan_scan
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.tables.rejects import read_quarantine
from mason.pipeline.tables.versions import list_versions, roll_back
from mason.pipeline.work.row_sums import RowsLost
from tests.explode.conftest import Explode, read_table

ORDERS = [
    {
        "id": 1,
        "address": {"city": "Bern", "geo": {"lat": 46.9}},
        "items": [{"sku": "a", "tags": ["x", "y"]}, {"sku": "b", "tags": []}],
    },
    {"id": 2, "address": None, "items": []},
    {"id": 3, "address": {}, "items": None},
    {"id": 4, "items": [{"sku": "c", "tags": None}, None]},
]


def test_structs_become_columns_and_lists_become_tables_with_key_and_position(explode: Explode) -> None:
    explode.given(ORDERS)

    assert explode.tables() == {
        "orders": [
            {"orders_id": 0, "id": 1, "address_city": "Bern", "address_geo_lat": 46.9, "items_count": 2},
            {"orders_id": 1, "id": 2, "address_city": None, "address_geo_lat": None, "items_count": 0},
            {"orders_id": 2, "id": 3, "address_city": None, "address_geo_lat": None, "items_count": None},
            {"orders_id": 3, "id": 4, "address_city": None, "address_geo_lat": None, "items_count": 2},
        ],
        "orders_items": [
            {"orders_id": 0, "position": 0, "sku": "a", "tags_count": 2},
            {"orders_id": 0, "position": 1, "sku": "b", "tags_count": 0},
            {"orders_id": 3, "position": 0, "sku": "c", "tags_count": None},
            {"orders_id": 3, "position": 1, "sku": None, "tags_count": None},
        ],
        "orders_items_tags": [
            {"orders_id": 0, "items_position": 0, "position": 0, "value": "x"},
            {"orders_id": 0, "items_position": 0, "position": 1, "value": "y"},
        ],
    }


def test_a_list_of_lists_gets_a_table_for_each_level(explode: Explode) -> None:
    explode.given([{"m": [[1, 2], [], None, [3]]}, {"m": None}, {"m": [[]]}])

    tables = explode.tables()

    assert [row["m_count"] for row in tables["orders"]] == [4, None, 1]
    assert [(row["orders_id"], row["position"], row["value_count"]) for row in tables["orders_m"]] == [
        (0, 0, 2),
        (0, 1, 0),
        (0, 2, None),
        (0, 3, 1),
        (2, 0, 0),
    ]
    assert tables["orders_m_value"] == [
        {"orders_id": 0, "m_position": 0, "position": 0, "value": 1},
        {"orders_id": 0, "m_position": 0, "position": 1, "value": 2},
        {"orders_id": 0, "m_position": 3, "position": 0, "value": 3},
    ]


def test_maps_become_rows_of_key_and_value(explode: Explode) -> None:
    kind = pa.map_(pa.string(), pa.list_(pa.int64()))
    explode.given(pa.table({"m": pa.array([[("a", [1, 2]), ("b", None)], None, []], kind)}), "a.parquet")

    tables = explode.tables()

    assert tables["orders"] == [{"orders_id": n, "m_count": count} for n, count in enumerate([2, None, 0])]
    assert tables["orders_m"] == [
        {"orders_id": 0, "position": 0, "key": "a", "value_count": 2},
        {"orders_id": 0, "position": 1, "key": "b", "value_count": None},
    ]
    assert [row["value"] for row in tables["orders_m_value"]] == [1, 2]


def test_only_the_columns_that_are_named_are_taken_apart(explode: Explode) -> None:
    explode.given(ORDERS)

    tables = explode.tables(columns=("address",))

    assert tables.keys() == {"orders"}
    assert list(tables["orders"][0]) == ["id", "address_city", "address_geo_lat", "items"]
    assert tables["orders"][0]["items"] == ORDERS[0]["items"]


def test_the_separator_is_the_users(explode: Explode) -> None:
    explode.given(ORDERS)

    tables = explode.tables(separator=".")

    assert list(tables) == ["orders", "orders.items", "orders.items.tags"]
    assert list(tables["orders"][0]) == ["orders.id", "id", "address.city", "address.geo.lat", "items.count"]


def test_types_are_those_that_hold_the_values_of_all_files(explode: Explode) -> None:
    explode.given([{"a": {"n": 1}, "l": [1]}], "a.jsonl")
    explode.given([{"a": {"n": 1.5, "more": True}, "l": ["x"]}], "b.jsonl")

    tables = explode.tables()

    assert tables["orders"] == [
        {"orders_id": 0, "a_n": 1.0, "a_more": None, "l_count": 1},
        {"orders_id": 1, "a_n": 1.5, "a_more": True, "l_count": 1},
    ]
    assert [row["value"] for row in tables["orders_l"]] == ["1", "x"]


def test_a_list_that_shows_only_beyond_the_sample_is_a_table_too(explode: Explode) -> None:
    explode.given([*[{"id": number} for number in range(5_000)], {"id": 5_000, "l": [{"x": 1}, {"x": 2}]}])

    tables = explode.tables()

    assert [row["orders_id"] for row in tables["orders"]] == list(range(5_001))
    assert tables["orders_l"] == [{"orders_id": 5_000, "position": n, "x": n + 1} for n in range(2)]


# Nothing is lost


def test_a_row_that_is_dropped_on_its_way_into_a_table_fails_the_job(
    explode: Explode, monkeypatch: pytest.MonkeyPatch
) -> None:
    explode.given(ORDERS)
    explode.run()
    before = read_table(explode.output / "orders")
    for table in ("orders", "orders_items", "orders_items_tags"):
        with monkeypatch.context() as patched:
            patched.setattr(sink, "unnest", dropping(table))
            with pytest.raises(RowsLost, match=f'Table "{table}" should have'):
                explode.run()
    assert read_table(explode.output / "orders").equals(before)
    assert list(explode.root.glob(".mason/tables/out/staging/*")) == []


def dropping(table: str) -> Any:
    def unnest(tables: Any, *given: Any) -> Any:
        for number, rows in original(tables, *given):
            yield number, rows.slice(1) if tables[number].name == table else rows

    original = sink.unnest
    return unnest


def test_records_in_are_rows_out_and_quarantined_ones(explode: Explode) -> None:
    explode.given("".join(f'{{"a": [{n}]}}\n' for n in range(40)) + "broken\n" + '{"a": [40]}\n')

    result = explode.run()

    assert (result.rows_in, result.tables[0].rows, result.quarantined) == (42, 41, 1)
    (reject,) = read_quarantine(Location(str(explode.output)))
    assert (reject.record, reject.raw) == (41, "broken")
    assert [row["orders_id"] for row in explode.table("orders_a").to_pylist()] == list(range(41))


def test_a_file_of_which_most_is_bad_fails_the_job(explode: Explode) -> None:
    explode.given('{"a": [1]}\n' + "broken\n" * 50)

    with pytest.raises(TooManyBadRecords, match="50 of 51 records do not fit.*merge them into a table first"):
        explode.run()
    assert not explode.output.exists()


# The key of a row


@pytest.mark.parametrize("how", ["plain", "gzip", "array", "blank lines", "bad lines", "csv", "parquet"])
def test_a_row_has_the_same_key_however_many_tasks_there_are(
    explode: Explode, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    rows = [{"n": number, "l": list(range(number % 3))} for number in range(3_000)]
    write_as(explode, how, rows)
    keys = {}
    for size in (1 << 30, 2_000):
        monkeypatch.setattr(read_plan, "SMALLEST_TASK", size)
        monkeypatch.setattr(read_plan, "TASK_BYTES", size)
        monkeypatch.setattr(inspection, "CUT_LINES_BYTES", size)
        monkeypatch.setattr(inspection, "CUT_BYTES", size)
        plan = explode.plan()
        keys[len(plan.scan.task_bytes)] = [
            {each.flat.name: read_table(explode.output / each.flat.folder) for each in explode.run_plan(plan).tables}
        ]

    one, many = sorted(keys)
    assert one == 1 and many > 1
    assert keys[one] == keys[many]
    (tables,) = keys[one]
    assert tables["orders"]["orders_id"].to_pylist() == list(range(3_000))
    numbers = dict(zip(tables["orders"]["orders_id"].to_pylist(), tables["orders"]["n"].to_pylist(), strict=True))
    assert [numbers[row["orders_id"]] % 3 > row["position"] for row in tables["orders_l"].to_pylist()] == [True] * 3_000


def write_as(explode: Explode, how: str, rows: list[dict[str, Any]]) -> None:
    """Three files of the same rows in some form."""
    for number in range(3):
        part = rows[number * 1_000 : (number + 1) * 1_000]
        lines = [json.dumps(row) for row in part]
        if how == "gzip":
            file = explode.given("", f"{number}.jsonl.gz")
            file.write_bytes(gzip.compress("\n".join(lines).encode()))
        elif how == "array":
            explode.given(json.dumps(part), f"{number}.json")
        elif how == "blank lines":
            explode.given("\n\n \n".join(lines) + "\n\n", f"{number}.jsonl")
        elif how == "bad lines":
            explode.given("\n".join([*lines[:500], "[1]", *lines[500:]]), f"{number}.jsonl")
        elif how == "csv":
            texts = [f'{row["n"]},"{json.dumps(row["l"])}"' for row in part]
            explode.given("n,l\n" + "\n".join(texts) + "\n", f"{number}.csv")
        elif how == "parquet":
            explode.given(pa.Table.from_pylist(part), f"{number}.parquet")
        else:
            explode.given("\n".join(lines), f"{number}.jsonl")


def test_records_that_were_counted_right_are_read_once(explode: Explode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_plan, "SMALLEST_TASK", 1_000)
    rows = [{"n": number, "l": [number]} for number in range(300)]
    write = {"plain": [json.dumps(row) for row in rows], "bad": [*(json.dumps(row) for row in rows[:100]), "[1]"]}
    counts = {}
    for how, lines in write.items():
        explode.given("\n".join(lines), "0.jsonl")
        explode.given("\n".join(map(json.dumps, rows)), "1.jsonl")
        counting = CountingRunner(explode.runner)
        counts[how] = counting
        Explode(explode.root, counting, explode.jobs).run()
    assert {how: each.rounds for how, each in counts.items()} == {"plain": 1, "bad": 2}


class CountingRunner:
    def __init__(self, runner: Any) -> None:
        self._runner, self.rounds = runner, 0

    def run(self, kernel: str, tasks: Any) -> Any:
        self.rounds += 1
        return self._runner.run(kernel, tasks)


# The plan


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_plan_says_what_the_run_does(explode: Explode, form: str) -> None:
    if form == "parquet":
        explode.given(pa.Table.from_pylist(ORDERS), "a.parquet")
    else:
        explode.given(ORDERS)
    plan = explode.plan()

    planned = plan.to_dict()
    done = explode.run_plan(plan).to_dict()

    assert planned["Output"] == done["Output"] == str(explode.output)
    assert planned["Inputs"] == [str(explode.root / "orders" / f"a.{form}")]
    same = ("Name", "Path", "Columns")
    assert [{key: each[key] for key in same} for each in planned["Tables"]] == [
        {key: each[key] for key in same} for each in done["Tables"]
    ]
    for each in done["Tables"]:
        schema = read_table(explode.output / each["Name"]).schema
        assert each["Columns"] == [{"Name": name, "Type": str(schema.field(name).type)} for name in schema.names]
        assert each["Path"] == str(explode.output / each["Name"])
    assert planned["Tables"][0].get("Rows") == (4 if form == "parquet" else None)
    assert [each["Rows"] for each in done["Tables"]] == [4, 4, 2]
    assert planned["Tasks"] == 1


def test_a_column_that_is_not_there_is_refused_with_the_nearest(explode: Explode) -> None:
    explode.given(ORDERS)

    with pytest.raises(NoSuchColumn, match='no column "item".*Did you mean "items"'):
        explode.plan(columns=("item",))


def test_an_output_in_the_input_is_refused(explode: Explode) -> None:
    explode.given(ORDERS)
    for output in ("orders", "orders/flat", ""):
        explode_into = Explode(explode.root)
        with pytest.raises(BadPath, match="lie one in the other"):
            planning.plan_explode(
                planning.ExplodeJob(
                    path=Location(str(explode.root / "orders")),
                    name="o",
                    output=Location(str(explode_into.root / output)),
                )
            )


def test_more_lists_than_a_task_can_write_are_refused(explode: Explode) -> None:
    explode.given([{f"l{number}": [1] for number in range(600)}])

    with pytest.raises(PlanRefused, match="has 600 lists, and each would be a table: 500 are the most"):
        explode.plan()
    assert len(explode.tables(columns=("l1",))) == 2


# What is already flat, or nothing at all


def test_a_table_without_anything_nested_is_the_same_table_again_and_told_so(explode: Explode) -> None:
    explode.given([{"a": 1, "b": "x"}, {"a": None, "b": ""}])
    plan = explode.plan()

    assert [each for each in plan.warnings if "nested" in each] == [
        f"Nothing in {explode.root / 'orders'} is nested: it is the same table again."
    ]
    assert explode.tables() == {"orders": [{"a": 1, "b": "x"}, {"a": None, "b": ""}]}


def test_a_column_with_nothing_in_it_is_told_and_nothing_is_said_of_the_others(explode: Explode) -> None:
    explode.given(ORDERS)

    assert list(explode.plan(columns=("id",)).warnings) == [
        'Column "id" has nothing to be taken apart: it stays as it is.'
    ]


def test_a_table_without_rows_has_its_tables_without_rows(explode: Explode) -> None:
    kind = pa.struct([("l", pa.list_(pa.int64()))])
    explode.given(pa.table({"a": pa.array([], kind)}), "a.parquet")

    assert explode.tables() == {"orders": [], "orders_a_l": []}
    assert read_table(explode.output / "orders").schema.names == ["orders_id", "a_l_count"]
    assert list(explode.table("orders_a_l").schema.types) == [pa.int64(), pa.int32(), pa.int64()]
    plan_scan(Location(str(explode.output / "orders_a_l")))


def test_files_without_anything_in_them_are_told(explode: Explode) -> None:
    explode.given("")

    with pytest.raises(NoData, match="empty"):
        explode.plan()


def test_columns_of_nulls_only_stay_and_so_do_lists_of_nulls(explode: Explode) -> None:
    explode.given([{"a": None, "l": [None, None], "s": {"x": None}, "e": []}])

    tables = explode.tables()

    assert tables["orders"] == [{"orders_id": 0, "a": None, "l_count": 2, "s_x": None, "e_count": 0}]
    assert tables["orders_l"] == [{"orders_id": 0, "position": n, "value": None} for n in range(2)]
    assert tables["orders_e"] == []


def test_a_struct_without_fields_is_text_and_nothing_is_made_of_it(explode: Explode) -> None:
    explode.given([{"id": 1, "s": {}}, {"id": 2, "s": None}, {"id": 3, "s": {}}])

    assert explode.tables() == {"orders": [{"id": n, "s": "{}" if n != 2 else None} for n in (1, 2, 3)]}


# The commit


def test_the_output_itself_reads_as_the_table_of_the_records(explode: Explode) -> None:
    explode.given(ORDERS)
    explode.run()

    scan = plan_scan(Location(str(explode.output)))

    assert scan.rows == 4 and scan.schema.equals(explode.table("orders").schema)
    commit = TableFolder(str(explode.output)).current()
    assert commit is not None
    assert {name: each["rows"] for name, each in commit.details["tables"].items()} == {
        "orders": 4,
        "orders_items": 4,
        "orders_items_tags": 2,
    }
    for name, each in commit.details["tables"].items():
        own = TableFolder(str(explode.output / each["folder"])).current()
        assert own is not None and (own.id, own.schema, own.rows) == (commit.id, each["schema"], each["rows"]), name


def test_a_second_explode_replaces_all_tables_at_once_and_the_first_can_be_had_back(explode: Explode) -> None:
    explode.given(ORDERS)
    explode.run()
    explode.given([{"id": 9, "other": ["z"]}])
    explode.run()
    assert sorted(each.name for each in explode.output.glob("[!.]*")) == ["orders", "orders_other"]
    assert [each.commit.number for each in list_versions(Location(str(explode.output)))] == [2, 1]

    roll_back(Location(str(explode.output)), "1", "back")

    assert sorted(each.name for each in explode.output.glob("[!.]*")) == [
        "orders",
        "orders_items",
        "orders_items_tags",
    ]
    assert explode.table("orders_items").num_rows == 4 and explode.table("orders")["id"].to_pylist() == [1, 2, 3, 4]


def test_of_two_explodes_into_one_output_one_wins_and_the_other_says_so(explode: Explode) -> None:
    explode.given(ORDERS)
    second = Explode(explode.root, jobs=iter([100]))

    class Meanwhile:
        def run(self, kernel: str, tasks: Any) -> Any:
            second.run()
            return Explode(explode.root).runner.run(kernel, tasks)

    with pytest.raises(Conflict, match="changed by another job"):
        Explode(explode.root, Meanwhile()).run()
    commit = TableFolder(str(explode.output)).current()
    assert commit is not None and commit.job == "job100"


def test_a_flat_table_can_be_exploded_from_its_commit(explode: Explode) -> None:
    explode.given(ORDERS)
    explode.run(columns=("items",))
    job = planning.ExplodeJob(
        path=Location(str(explode.output / "orders")), name="again", output=Location(str(explode.root / "second"))
    )

    explode.run_plan(planning.plan_explode(job))

    assert read_table(explode.root / "second" / "again").schema.names == [
        "orders_id",
        "id",
        "address_city",
        "address_geo_lat",
        "items_count",
    ]
