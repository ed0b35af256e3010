"""Files of others in a table's folder, as a user meets them: what is refused, and the two ways out."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conftest import Mason, write

HERE = "metastore_engine: local\nstorage_engine: local\nexecution_engine: local\n"
COMMANDS = {
    "merge": "input_path:shop/raw,output_path:shop/table",
    "merge append": "input_path:shop/raw,output_path:shop/table,mode:append",
    "merge in place": "input_path:shop/table,output_path:shop/table",
    "dedupe": "path:shop/table",
    "dedupe removed": "path:shop/other,removed_path:shop/table",
    "query": 'database_name:shop,query_string:"select * from other",output_path:shop/table',
    "query csv": 'database_name:shop,query_string:"select * from other",output_path:shop/table,format:csv',
    "format": "path:shop/other,output_path:shop/table,format:jsonl",
    "summarize": "path:shop/other,output_path:shop/table",
    "check": "path:shop/other,checks:not_null id,failures_path:shop/table",
    "quarantine": "path:shop/table,action:replay,file:bad.jsonl",
    "rollback": "path:shop/table,to:1",
}


@pytest.fixture
def shop(mason: Mason) -> Mason:
    """A table of two versions and a quarantine, in which somebody else has put a data file and a note."""
    write(mason.folder, {"here.yaml": HERE, "shop/raw/a.csv": "id,n\n1,1\n2,2\n3\n4,4\n"})
    mason.register_examples()
    assert mason("config", "here.yaml").exit_code == 0
    for output in ("table", "table", "other"):
        made = mason("operator", "table", "merge", "-p", f"input_path:shop/raw,output_path:shop/{output}")
        assert made.exit_code == 0, made.stderr
    exported = mason("operator", "table", "quarantine", "-p", "path:shop/table,action:export,file:bad.jsonl")
    assert exported.exit_code == 0, exported.stderr
    bad = mason.folder / "bad.jsonl"
    bad.write_text(bad.read_text().replace('"Raw": "3', '"Raw": "3,3'))
    pq.write_table(pa.table({"id": [100], "n": [7]}), mason.folder / "shop" / "table" / "theirs.parquet")
    (mason.folder / "shop" / "table" / "_SUCCESS").touch()
    return mason


def content(shop: Mason) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in (shop.folder / "shop" / "table").rglob("*") if file.is_file()}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_commits_to_a_table_is_refused_or_leaves_them_with_a_warning(shop: Mason, command: str) -> None:
    before = content(shop)
    operator, given = command.partition(" ")[0], COMMANDS[command]

    for plan in (["--plan"], []) if operator == "rollback" else ([],):  # the others run what they have planned
        refused = shop("operator", "table", operator, *plan, "-p", given)

        assert refused.exit_code == 1
        (error,) = refused.json["Errors"]
        assert "shop/table holds 1 data file that Mason did not write: theirs.parquet. " in error
        assert "foreign:keep" in error and "foreign:adopt" in error and "table merge" in error
        assert content(shop) == before

    kept = shop("operator", "table", operator, "-p", f"{given},foreign:keep")

    assert kept.exit_code == 0, kept.stderr
    (warning,) = [each for each in kept.json["Warnings"] if "Mason did not write" in each]
    assert warning.endswith("stays there, uncounted: theirs.parquet.")
    table = shop.folder / "shop" / "table"
    assert pq.read_table(table / "theirs.parquet").num_rows == 1 and (table / "_SUCCESS").exists()
    history = shop("operator", "table", "history", "-p", "path:shop/table")
    assert history.json["Data"][0]["Number"] == 3


def test_only_a_merge_adopts(shop: Mason) -> None:
    refused = shop("operator", "table", "dedupe", "-p", "path:shop/table,foreign:adopt")
    assert refused.exit_code == 1 and '"foreign" must be one of refuse, keep' in refused.json["Errors"][0]

    adopted = shop("operator", "table", "merge", "-p", f"{COMMANDS['merge append']},foreign:adopt")

    assert adopted.exit_code == 0, adopted.stderr
    (record,) = adopted.json["Data"]
    assert (record["RowsIn"], record["Adopted"]) == (5, ["theirs.parquet"])
    assert "theirs.parquet: Mason did not write it; its rows become rows of the table." in adopted.json["Warnings"]


def test_a_vacuum_says_what_it_leaves(shop: Mason) -> None:
    adopted = shop("operator", "table", "merge", "-p", f"{COMMANDS['merge append']},foreign:adopt")
    assert adopted.exit_code == 0, adopted.stderr

    removed = shop("operator", "table", "vacuum", "-p", "path:shop/table,keep:0,older_than_days:0")

    assert removed.exit_code == 0, removed.stderr
    (left,) = (shop.folder / "shop/.mason/tables/table/kept").glob("*/theirs.parquet.kept")
    told = f"What Mason did not write is left of a former version, and stays in {left.parent}."
    assert removed.json["Warnings"] == [told]


def test_a_rollback_says_what_others_have_written_over(shop: Mason) -> None:
    (shop.folder / "shop" / "table" / "theirs.parquet").unlink()
    (file,) = (shop.folder / "shop" / "table").glob("part-*.parquet")
    file.write_bytes(b"theirs")
    refused = shop("operator", "table", "merge", "-p", COMMANDS["merge"])
    assert refused.exit_code == 1 and f"written over 1 file of the table: {file.name} (6 bytes" in refused.stderr

    back = shop("operator", "table", "rollback", "-p", "path:shop/table,to:1")

    assert back.exit_code == 0, back.stderr
    (warning,) = back.json["Warnings"]
    assert f"{file.name} (6 bytes instead of " in warning and "no vacuum removes it" in warning
    (kept,) = (shop.folder / "shop/.mason/tables/table/kept").glob(f"*/{file.name}.kept")
    assert kept.read_bytes() == b"theirs"
