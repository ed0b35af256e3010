"""Databases and tables of the `local` client, through the command line, on real files."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.support import configured, strict_json, tree
from tests.conftest import EXAMPLES, Mason, write


@pytest.fixture
def shop(mason: Mason) -> Mason:
    """The example operators, and a database `shop` with one CSV table and one Parquet table."""
    write(mason.folder, {"shop/orders.csv": "id,name,price,day\n01,Ada,12.50,2026-01-05\n02,Grace,7,2026-01-06\n"})
    (mason.folder / "shop" / "events").mkdir()
    schema = pa.schema(
        [pa.field("crane", pa.string()), pa.field("n", pa.int32(), nullable=False), pa.field("day", pa.date32())]
    )
    pq.write_table(
        pa.table({"crane": ["x"], "n": [1], "day": [0]}, schema), mason.folder / "shop" / "events" / "1.parquet"
    )
    return mason.register_examples()


def run(mason: Mason, *words: str, **parameters: str) -> dict[str, Any]:
    """Run an operator that must succeed and return its response."""
    result = mason("operator", *words, "-p", ",".join(f"{name}:{value}" for name, value in parameters.items()))
    assert result.exit_code == 0, result.stdout
    return strict_json(result)


def fail(mason: Mason, *words: str, **parameters: str) -> str:
    """Run an operator that must fail and return its only error."""
    result = mason("operator", *words, "-p", ",".join(f"{name}:{value}" for name, value in parameters.items()))
    assert result.exit_code == 1, result.stdout
    (error,) = strict_json(result)["Errors"]
    return str(error)


def rooted(mason: Mason, root: Path | str) -> Mason:
    """Make a configuration current whose databases are below that root."""
    roles = "metastore_engine: local\nstorage_engine: local\n"
    return configured(mason, f"id: r\n{roles}clients: {{local: {{configuration: {{root: {root}}}}}}}\n")


def table(mason: Mason, name: str, database: str = "shop") -> dict[str, Any]:
    (found,) = run(mason, "table", "get", database_name=database, table_name=name)["Data"]
    return dict(found)


def columns(found: dict[str, Any]) -> dict[str, str]:
    return {each["Name"]: each["Type"] for each in found["Schema"]["Columns"]}


class TestTables:
    def test_a_found_file_prints_with_the_keys_of_the_seeds(self, shop: Mason) -> None:
        found = table(shop, "orders")

        assert list(found) == ["Name", "CreatedAt", "CreatedBy", "DatabaseName", "Path", "Schema"]
        assert found["Name"] == "orders"
        assert found["CreatedBy"] == "mason"
        assert found["DatabaseName"] == "shop"
        assert found["Path"] == str(shop.folder / "shop" / "orders.csv")
        assert found["Schema"]["SchemaType"] == "csv"
        assert columns(found) == {"id": "string", "name": "string", "price": "decimal128(18, 2)", "day": "date32[day]"}

    def test_parquet_prints_its_own_words_spelled_as_they_are_public(self, shop: Mason) -> None:
        found = table(shop, "events")

        assert found["Schema"]["SchemaType"] == "parquet"
        assert [each.pop("LogicalType") for each in found["Schema"]["Columns"]] == ["string", "int32", "date32[day]"]
        assert found["Schema"]["Columns"] == [
            {"Name": "crane", "Type": "BYTE_ARRAY", "ConvertedType": "UTF8", "RepititionType": "OPTIONAL"},
            {"Name": "n", "Type": "INT32", "ConvertedType": "NONE", "RepititionType": "REQUIRED"},
            {"Name": "day", "Type": "INT32", "ConvertedType": "DATE", "RepititionType": "OPTIONAL"},
        ]

    def test_tables_are_listed_without_hidden_files(self, shop: Mason) -> None:
        write(
            shop.folder / "shop", {".hidden.csv": "a\n1\n", "_tmp.csv": "a\n1\n", "_log/x.csv": "a\n1\n", "notes": "x"}
        )

        listed = run(shop, "table", "list", database_name="shop")["Data"]

        assert [each["Name"] for each in listed] == ["events", "orders"]
        assert all("Schema" not in each for each in listed)

    def test_names_that_are_not_there_are_errors_with_the_nearest_one(self, shop: Mason) -> None:
        assert fail(shop, "table", "get", database_name="shop", table_name="oders") == (
            'Table "oders" not found in database "shop". Did you mean "orders"?'
        )
        assert fail(shop, "table", "list", database_name="shp") == 'Database "shp" not found. Did you mean "shop"?'
        for words in (["table", "delete"], ["table", "refresh"], ["table", "partitions"]):
            assert "not found" in fail(shop, *words, database_name="shop", table_name="nothing")

    @pytest.mark.parametrize("name", ["../secret", "/etc", "..", "a/../../secret"])
    def test_no_name_leads_out_of_the_root(self, shop: Mason, name: str) -> None:
        write(shop.folder.parent, {"secret/x.csv": "a\n1\n"})
        outside = tree(shop.folder.parent / "secret")

        for words in (["database", "get"], ["database", "create"], ["database", "delete"], ["table", "list"]):
            assert "cannot be a database" in fail(shop, *words, database_name=name)
        assert "cannot be a table" in fail(shop, "table", "get", database_name="shop", table_name="../../secret/x.csv")
        assert "cannot be a table" in fail(
            shop, "table", "delete", database_name="shop", table_name="../../secret/x.csv"
        )
        assert tree(shop.folder.parent / "secret") == outside

    def test_an_old_parameter_name_still_works(self, shop: Mason) -> None:
        assert run(shop, "table", "get", bucket_name="shop", table_name="orders")["Data"][0]["Name"] == "orders"

    def test_files_that_disagree_are_reported_as_data(self, shop: Mason) -> None:
        write(shop.folder / "shop", {"parts/a.csv": "id,size\n1,5\n", "parts/b.csv": "id,size\n2,large\n"})

        response = run(shop, "table", "get", database_name="shop", table_name="parts")

        (found,) = response["Data"]
        assert found["SchemaConflicts"] == [
            {
                "Column": "size",
                "Found": [{"File": "a.csv", "Type": "int64"}, {"File": "b.csv", "Type": "string"}],
                "Chosen": "string",
            }
        ]
        assert any("a.csv" in each and "b.csv" in each and '"size"' in each for each in response["Warnings"])

    def test_metadata_answer_without_a_jvm(self, shop: Mason) -> None:
        home, started = shop.folder.parent / "java", shop.folder.parent / "started"
        write(home, {"release": 'JAVA_VERSION="17.0.1"\n', "bin/java": f"#!/bin/sh\n: > '{started}'\n"})
        (home / "bin" / "java").chmod(0o755)
        shop.variables |= {"PATH": str(home / "bin"), "JAVA_HOME": str(home)}
        began = time.monotonic()

        table(shop, "orders")

        assert time.monotonic() - began < 30
        assert not started.exists()
        subprocess.run(["java"], env=shop.environment(), check=True)
        assert started.exists(), "which is how one would have been noticed"

    def test_a_table_that_cannot_be_read_is_an_error_that_names_the_file(self, shop: Mason) -> None:
        whole = (shop.folder / "shop" / "events" / "1.parquet").read_bytes()
        (shop.folder / "shop" / "cut.parquet").write_bytes(whole[: len(whole) // 2])
        (shop.folder / "shop" / "noise.parquet").write_bytes(bytes(range(256)) * 4)
        write(shop.folder / "shop", {"empty.csv": ""})

        for name in ("cut", "noise"):
            assert f"{name}.parquet" in fail(shop, "table", "get", database_name="shop", table_name=name)
        assert "empty" in fail(shop, "table", "get", database_name="shop", table_name="empty")

    def test_a_table_without_rows_is_a_table_by_its_name_too(self, shop: Mason) -> None:
        roles = "metastore_engine: local\nstorage_engine: local\nexecution_engine: local\n"
        configured(shop, f"id: here\n{roles}clients: {{local: {{configuration: {{root: .}}}}}}\n")
        nothing = {"query_string": "select * from orders where id is null", "output_path": "shop/none"}
        run(shop, "table", "query", database_name="shop", **nothing)

        listed = run(shop, "table", "list", database_name="shop")["Data"]
        assert [each["Name"] for each in listed] == ["events", "none", "orders"]
        assert columns(table(shop, "none")) == columns(table(shop, "orders"))
        asked = run(shop, "table", "query", database_name="shop", query_string="select count(*) as n from none")
        assert asked["Data"][0]["Rows"] == [{"n": 0}]
        assert run(shop, "table", "preview", database_name="shop", table_name="none")["Data"][0]["Rows"] == []

    def test_text_that_calls_itself_parquet_does_not_pass_without_a_word(self, shop: Mason) -> None:
        write(shop.folder / "shop", {"broken.parquet": "this is not parquet"})

        response = strict_json(shop("operator", "table", "get", "-p", "database_name:shop,table_name:broken"))

        assert any("broken.parquet" in each for each in [*response["Errors"], *response["Warnings"]])


class TestInfer:
    def test_an_inferred_table_is_saved_and_wins_over_what_is_found(self, shop: Mason) -> None:
        response = run(
            shop, "table", "infer", database_name="shop", storage_path="shop/orders.csv", read_headers="false"
        )
        assert any('Saved table "orders" in database "shop"' in each for each in response["Info"])
        assert any(each.startswith("Looked at 3 rows of 1 file") for each in response["Info"])

        found = table(shop, "orders")

        assert list(columns(found)) == ["col_0", "col_1", "col_2", "col_3"]
        assert found["CreatedAt"] != ""
        (listed,) = [
            each for each in run(shop, "table", "list", database_name="shop")["Data"] if each["Name"] == "orders"
        ]
        assert listed["CreatedAt"] == found["CreatedAt"]

    def test_data_may_lie_outside_the_database_and_the_table_have_any_name(self, shop: Mason, tmp_path: Path) -> None:
        write(tmp_path / "lake", {"x.tsv": "a\tb\n1\t2\n"})

        run(shop, "table", "infer", database_name="shop", storage_path=str(tmp_path / "lake"), table_name="my lake!")

        found = table(shop, "my lake!")
        assert found["Path"] == str(tmp_path / "lake")
        assert columns(found) == {"a": "int64", "b": "int64"}

    def test_without_a_name_the_last_part_of_the_path_is_it(self, shop: Mason, tmp_path: Path) -> None:
        write(tmp_path / "lake", {"rows.v2.csv.txt": "a,b\n1,2\n", "folder/x.csv": "a\n1\n"})

        for path, name in ((tmp_path / "lake" / "folder", "folder"), (f"{tmp_path}/lake/folder/", "folder")):
            (saved,) = run(shop, "table", "infer", database_name="shop", storage_path=str(path))["Data"]
            assert saved["Name"] == name

    def test_options_reach_the_reader(self, shop: Mason) -> None:
        write(shop.folder / "shop", {"odd.txt": "a~b\n1~-\n2~3\n"})

        (saved,) = run(
            shop,
            "table",
            "infer",
            database_name="shop",
            storage_path="shop/odd.txt",
            input_format="csv",
            delimiter="~",
            nulls="-",
            parse_headers="true",
            read_all="true",
        )["Data"]

        assert columns(saved) == {"a": "int64", "b": "int64"}

    def test_an_inferred_table_needs_a_database_and_data(self, shop: Mason) -> None:
        before = tree(shop.folder)

        assert 'Database "nowhere" not found' in fail(
            shop, "table", "infer", database_name="nowhere", storage_path="shop/orders.csv"
        )
        assert "shop/nothing" in fail(shop, "table", "infer", database_name="shop", storage_path="shop/nothing")
        assert "s3://" in fail(shop, "table", "infer", database_name="shop", storage_path="s3://bucket/x")
        assert tree(shop.folder) == before

    def test_the_examples_data_are_inferred_with_their_troubles(self, mason: Mason) -> None:
        mason.register_examples()
        shutil.copytree(EXAMPLES / "data", mason.folder / "data")
        rooted(mason, "data")

        acme = table(mason, "acme", "suppliers")
        assert columns(acme)["sku"] == "string"
        assert set(columns(acme)) == {"sku", "name", "price", "in_stock", "updated", "note", "currency"}
        borealis = run(mason, "table", "get", database_name="suppliers", table_name="borealis")
        assert borealis["Warnings"]
        assert columns(table(mason, "cobalt", "suppliers"))["size"].startswith("struct<")

    def test_a_sample_says_so_and_read_all_reads_everything(self, shop: Mason) -> None:
        rows = "".join(f"{number}\n" for number in range(200_000))
        write(shop.folder / "shop", {"long.csv": f"n\n{rows}late text\n"})

        sampled = run(shop, "table", "infer", database_name="shop", storage_path="shop/long.csv")
        everything = run(shop, "table", "infer", database_name="shop", storage_path="shop/long.csv", read_all="true")

        assert any("read_all: true reads everything" in each for each in sampled["Info"])
        assert columns(everything["Data"][0]) == {"n": "string"}
        assert any("200,001 rows" in each and "everything" in each for each in everything["Info"])


class TestRefresh:
    def test_a_refresh_notices_a_new_column_and_reads_as_before(self, shop: Mason) -> None:
        write(shop.folder / "shop", {"parts/a.csv": "id|size\n1|5\n"})
        run(shop, "table", "infer", database_name="shop", storage_path="shop/parts", delimiter="|")
        write(shop.folder / "shop", {"parts/b.csv": "id|size|colour\n2|6|red\n"})
        assert list(columns(table(shop, "parts"))) == ["id", "size"]

        response = run(shop, "table", "refresh", database_name="shop", table_name="parts")

        assert any('Refreshed table "parts"' in each for each in response["Info"])
        assert columns(table(shop, "parts")) == {"id": "int64", "size": "int64", "colour": "string"}

    def test_a_refresh_of_data_that_are_gone_leaves_what_is_known(self, shop: Mason) -> None:
        run(shop, "table", "infer", database_name="shop", storage_path="shop/orders.csv")
        (shop.folder / "shop" / "orders.csv").unlink()

        assert "orders.csv" in fail(shop, "table", "refresh", database_name="shop", table_name="orders")
        response = run(shop, "table", "get", database_name="shop", table_name="orders")
        assert any("no longer at" in each for each in response["Warnings"])
        assert "price" in columns(response["Data"][0])


class TestDelete:
    def test_data_of_the_database_go_to_the_trash_and_the_answer_says_where(self, shop: Mason) -> None:
        run(shop, "table", "infer", database_name="shop", storage_path="shop/orders.csv")
        content = (shop.folder / "shop" / "orders.csv").read_bytes()

        response = run(shop, "table", "delete", database_name="shop", table_name="orders")

        (told,) = [each for each in response["Info"] if "are now in" in each]
        place = Path(told.split("are now in ")[1].split(";")[0])
        assert place.read_bytes() == content
        assert not (shop.folder / "shop" / "orders.csv").exists()
        assert [each["Name"] for each in run(shop, "table", "list", database_name="shop")["Data"]] == ["events"]
        assert "not found" in fail(shop, "table", "get", database_name="shop", table_name="orders")

    def test_a_folder_of_files_goes_as_a_whole(self, shop: Mason) -> None:
        run(shop, "table", "delete", database_name="shop", table_name="events")

        assert not (shop.folder / "shop" / "events").exists()
        assert list((shop.folder / "shop" / ".mason" / "trash").rglob("1.parquet"))

    def test_data_elsewhere_are_not_touched(self, shop: Mason, tmp_path: Path) -> None:
        write(tmp_path / "lake", {"x.csv": "a\n1\n"})
        run(shop, "table", "infer", database_name="shop", storage_path=str(tmp_path / "lake"), table_name="lake")
        before = tree(tmp_path / "lake")

        run(shop, "table", "delete", database_name="shop", table_name="lake")

        assert tree(tmp_path / "lake") == before
        assert "not found" in fail(shop, "table", "get", database_name="shop", table_name="lake")

    def test_deleting_one_of_two_names_for_the_same_data_is_not_a_surprise(self, shop: Mason) -> None:
        run(shop, "table", "infer", database_name="shop", storage_path="shop/orders.csv", table_name="second")

        run(shop, "table", "delete", database_name="shop", table_name="second")

        names = [each["Name"] for each in run(shop, "table", "list", database_name="shop")["Data"]]
        assert names == ["events", "orders"]
        assert (shop.folder / "shop" / "orders.csv").exists()


class TestPartitions:
    def test_hive_folders_are_partitions_and_columns(self, shop: Mason) -> None:
        files = {f"sales/year={year}/month={month}/a.csv": "n\n1\n" for year in (2025, 2026) for month in ("01", "02")}
        write(shop.folder / "shop", files)

        found = table(shop, "sales")
        partitions = run(shop, "table", "partitions", database_name="shop", table_name="sales")["Data"]

        assert columns(found) == {"n": "int64", "year": "int64", "month": "string"}
        assert found["PartitionKeys"] == ["year", "month"]
        assert [each["Values"] for each in partitions] == [
            {"year": year, "month": month} for year in ("2025", "2026") for month in ("01", "02")
        ]
        assert partitions[0]["Path"] == str(shop.folder / "shop" / "sales" / "year=2025" / "month=01")

    def test_a_table_without_partitions_has_none(self, shop: Mason) -> None:
        assert run(shop, "table", "partitions", database_name="shop", table_name="orders")["Data"] == []


class TestDatabases:
    def test_databases_are_created_listed_and_deleted(self, shop: Mason) -> None:
        (created,) = run(shop, "database", "create", database_name="fresh")["Data"]
        assert created == {"Name": "fresh", "Path": str(shop.folder / "fresh")}
        result = shop("operator", "database", "list")
        assert [each["Name"] for each in strict_json(result)["Data"]] == ["fresh", "shop"]
        assert run(shop, "database", "get", database_name="fresh")["Data"] == [created]

        run(shop, "database", "delete", database_name="fresh")

        assert not (shop.folder / "fresh").exists()
        assert 'Database "fresh" not found' in fail(shop, "database", "get", database_name="fresh")

    def test_a_database_that_is_there_is_not_created_again(self, shop: Mason) -> None:
        before = tree(shop.folder)

        assert 'Database "shop" exists already' in fail(shop, "database", "create", database_name="shop")
        assert tree(shop.folder) == before

    def test_a_database_with_anything_in_it_is_not_deleted(self, shop: Mason) -> None:
        write(shop.folder, {"misc/notes": "text"})
        before = tree(shop.folder)

        assert fail(shop, "database", "delete", database_name="shop").startswith(
            'Database "shop" is not empty: events, orders.'
        )
        assert 'Database "misc" is not empty: notes.' in fail(shop, "database", "delete", database_name="misc")
        assert tree(shop.folder) == before

    def test_deleted_tables_keep_a_database_until_their_trash_is_removed(self, shop: Mason) -> None:
        run(shop, "table", "delete", database_name="shop", table_name="orders")
        run(shop, "table", "delete", database_name="shop", table_name="events")

        told = fail(shop, "database", "delete", database_name="shop")
        trash = shop.folder / "shop" / ".mason" / "trash"
        assert str(trash) in told
        shutil.rmtree(trash)
        run(shop, "database", "delete", database_name="shop")
        assert not (shop.folder / "shop").exists()

    def test_the_root_decides_where_databases_are(self, shop: Mason, tmp_path: Path) -> None:
        rooted(shop, tmp_path / "r")
        write(tmp_path / "r", {"db/t.jsonl": '{"a": 1}\n'})

        assert columns(table(shop, "t", "db")) == {"a": "int64"}
        assert fail(shop, "table", "list", database_name="shop").startswith('Database "shop" not found.')

    def test_a_root_that_is_not_there_is_an_error_that_names_it(self, shop: Mason, tmp_path: Path) -> None:
        rooted(shop, tmp_path / "gone")

        result = shop("operator", "database", "list")

        assert result.exit_code == 1
        assert f"{tmp_path}/gone" in strict_json(result)["Errors"][0]
        assert "Traceback" not in result.stderr


def test_a_saved_entry_that_was_damaged_is_an_error_that_names_it(shop: Mason) -> None:
    run(shop, "table", "infer", database_name="shop", storage_path="shop/orders.csv")
    entry = shop.folder / "shop" / ".mason" / "orders.json"
    document = json.loads(entry.read_bytes())

    for damage in ("{", "[]", json.dumps({**document, "ArrowSchema": "!"}), json.dumps({"Name": "orders"})):
        entry.write_text(damage)
        assert str(entry) in fail(shop, "table", "get", database_name="shop", table_name="orders")


def test_links_in_a_database_are_followed_as_the_file_system_does(shop: Mason, tmp_path: Path) -> None:
    write(tmp_path / "lake", {"x.csv": "a\n1\n"})
    (shop.folder / "shop" / "linked.csv").symlink_to(tmp_path / "lake" / "x.csv")

    assert columns(table(shop, "linked")) == {"a": "int64"}
    run(shop, "table", "delete", database_name="shop", table_name="linked")
    assert (tmp_path / "lake" / "x.csv").read_text() == "a\n1\n"
