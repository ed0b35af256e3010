"""The operators that no engine is needed for, as a user has them: their plans say what they then do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.test_terminal import on_a_terminal
from tests.conftest import Mason, write

HERE = "metastore_engine: local\nstorage_engine: local\nexecution_engine: local\n"


@pytest.fixture
def shop(mason: Mason) -> Mason:
    """A table with two versions: one row, then two more columns and three rows."""
    write(mason.folder, {"here.yaml": HERE, "one/a.csv": "id\n1\n", "two/b.csv": "id,name,n\n2,x,1\n3,y,\n"})
    mason.register_examples()
    assert mason("config", "here.yaml").exit_code == 0
    for source, mode in (("one", "replace"), ("two", "append")):
        made = mason("operator", "table", "merge", "-p", f"input_path:{source},output_path:table,mode:{mode}")
        assert made.exit_code == 0, made.stderr
    return mason


def told(shop: Mason, command: str, parameters: str, *options: str) -> list[dict[str, Any]]:
    result = shop("operator", "table", command, *options, "-p", parameters)
    assert result.exit_code == 0, result.stderr
    data: list[dict[str, Any]] = result.json["Data"]
    return data


def test_a_plan_says_what_the_run_then_does(shop: Mason) -> None:
    def both(command: str, parameters: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        *_, planned = told(shop, command, parameters, "--plan")
        return planned, told(shop, command, parameters)

    planned, shown = both("preview", "path:table,limit:2,columns:name")
    assert (planned["RowsShown"], planned["Columns"]) == (len(shown[0]["Rows"]), shown[0]["Columns"])
    planned, versions = both("history", "path:table")
    assert planned["Versions"] == len(versions) == 2
    assert versions[0]["SchemaChanges"] == ["name string added", "n int64 added"]
    planned, (now,) = both("rollback", "path:table,to:1")
    assert (now["Number"], now["Rows"]) == (3, 1)
    assert [planned[name] for name in ("Rows", "Files", "Bytes")] == [now[name] for name in ("Rows", "Files", "Bytes")]
    nothing = shop("operator", "table", "vacuum", "-p", "path:table")
    assert nothing.json["Info"] == [
        "0 versions removed, 0 bytes freed.",
        "2 former versions stay (2, 1): the newest (keep: 1), and those replaced less than 7 days ago.",
    ]
    planned, (removed,) = both("vacuum", "path:table,keep:0,older_than_days:0")
    assert len(removed["Removed"]) == 2
    assert {name: planned[name] for name in removed} == removed


@pytest.mark.parametrize(("days", "told"), [("1e18", "at most 36500"), ("-1", "at least 0"), ("nan", "a number")])
def test_days_beyond_all_measure_are_refused(shop: Mason, days: str, told: str) -> None:
    refused = shop("operator", "table", "vacuum", "-p", f"path:table,older_than_days:{days}")
    assert refused.exit_code == 1
    (error,) = refused.json["Errors"]
    assert error.startswith(f'The parameter "older_than_days" must be {told}')


def test_who_looks_at_a_terminal_sees_the_versions_as_a_table(shop: Mason) -> None:
    (newest, oldest) = told(shop, "history", "path:table")

    drawn = on_a_terminal(shop, "operator", "table", "history", "-p", "path:table", NO_COLOR="1")

    lines = drawn.splitlines()
    (start,) = [number for number, line in enumerate(lines) if line.startswith("version  commit")]
    assert lines[start + 2].split()[:2] == ["2", newest["Commit"][:8]]
    assert lines[start + 3 : start + 5] == ["  name string added", "  n int64 added"]
    assert lines[start + 5].split()[:2] == ["1", oldest["Commit"][:8]]


def test_a_statement_that_no_parser_knows_is_told_of_in_masons_words_alone(shop: Mason) -> None:
    refused = shop("operator", "table", "query", "-p", "database_name:one,query_string:show tables")

    assert refused.exit_code == 1
    assert refused.stderr.startswith("error: query:1:1: A query reads, and this statement does something else.")


def test_one_former_version_that_stays_is_told_by_its_number(shop: Mason) -> None:
    vacuum = shop("operator", "table", "vacuum", "-p", "path:table")

    assert vacuum.json["Info"][1] == (
        "1 former version stays (1): the newest (keep: 1), and those replaced less than 7 days ago."
    )


def test_what_was_at_the_output_before_is_among_the_warnings_of_the_response(shop: Mason) -> None:
    mine = shop.folder / "new" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine")

    merged = shop("operator", "table", "merge", "-p", "input_path:one,output_path:new")

    (warning,) = [each for each in merged.json["Warnings"] if "before is kept" in each]
    assert warning.startswith("What was at ")
    assert merged.stderr.count("before is kept") == 1
