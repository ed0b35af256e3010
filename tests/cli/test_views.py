"""What people see of results on a terminal, and what programs get in a pipe."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from typing import Any

import pytest

from mason.cli.views.blocks import Grid, Lines, Pairs, result_blocks
from mason.cli.views.drawing import draw_blocks
from mason.cli.views.rows import find_rows
from mason.util.view import View
from tests.cli.support import configured, operator_with, registered, strict_json
from tests.conftest import Mason, write
from tests.terminal import run_on_terminal
from tests.workflows.conftest import step, workflow_yaml

LOCAL = "id: 1\nmetastore_engine: local\nstorage_engine: local\nexecution_engine: local\nclients:\n  local: {}\n"
PREVIEW = ("operator", "table", "preview", "-p")


def terminal(mason: Mason, *arguments: str, columns: int = 100, **variables: str) -> tuple[list[str], int]:
    """Run a command on a terminal without colours, and return its lines and its exit code."""
    env = mason.environment({"TERM": "xterm", "NO_COLOR": "1", **variables})
    written, code = run_on_terminal([*mason.argv, *arguments], mason.folder, env, columns=columns)
    return written.splitlines(), code


@pytest.fixture
def shop(mason: Mason) -> Mason:
    """A folder with orders, and the operators."""
    write(
        mason.folder, {"shop/orders.csv": "id,item,price\n" + "".join(f"{n},saw,{n}.50\n" for n in range(1001, 1007))}
    )
    return mason.register_examples()


class TestTerminal:
    def test_a_preview_is_a_table_and_one_line_on_a_terminal(self, shop: Mason) -> None:
        lines, code = terminal(shop, *PREVIEW, "path:shop/orders.csv")

        assert code == 0
        assert lines[0].split() == ["id", "item", "price"]
        assert lines[3].split() == ["1001", "saw", "1001.50"]  # an id has no thousands separators
        assert lines[-1].startswith("6 rows · ")
        assert not any("{" in line or "+--" in line for line in lines)

    def test_a_query_of_six_rows_prints_no_more_than_fourteen_lines(self, shop: Mason) -> None:
        configured(shop, LOCAL)
        query = "query_string:SELECT * FROM orders ORDER BY id,database_name:shop"

        lines, code = terminal(shop, "operator", "table", "query", "-p", query)

        assert code == 0, lines
        assert len(lines) <= 14
        assert any(line.split() == ["1006", "saw", "1006.50"] for line in lines)
        assert lines[-1].startswith("job ") and " s · 6 in, 6 out" in lines[-1]

    def test_a_merge_says_what_happened_and_shows_the_columns(self, shop: Mason) -> None:
        configured(shop, LOCAL)

        lines, code = terminal(shop, "operator", "table", "merge", "-p", "input_path:shop,output_path:out")

        assert code == 0, lines
        assert sum("6 records in, 6 rows out" in line for line in lines) == 1
        assert [line.split() for line in lines if line.startswith("price")] == [["price", "decimal128(18,", "2)"]]
        assert len(lines) <= 12 and "{" not in "".join(lines)
        job = lines[-1].split()[1].rstrip("…")
        assert terminal(shop, "job", "get", job)[0][0].endswith(": succeeded.")

    def test_each_warning_is_printed_once(self, mason: Mason) -> None:
        body = 'resp.add_warning("Mind the gap.")\nresp.add_warning("Mind the gap.")\nresp.add_data({"Gap": 1})'
        registered(mason, operator_with(mason.folder / "defs", "demo", "warn", body=body))

        lines, _ = terminal(mason, "operator", "demo", "warn")

        assert sum("Mind the gap." in line for line in lines) == 1
        assert lines[-1].startswith("1 row · ")

    def test_no_more_than_fifty_rows_are_drawn_and_the_others_are_counted(self, shop: Mason) -> None:
        write(shop.folder, {"many.csv": "id\n" + "".join(f"{number}\n" for number in range(10_000))})
        call = (*PREVIEW, "path:many.csv,limit:10000")

        lines, _ = terminal(shop, *call)
        written = shop(*call, "-o", "csv").stdout

        assert lines[-2] == "… 9,950 more; -o csv for all"
        assert lines[-1].startswith("10,000 rows · ")
        assert len(lines) == 3 + 50 + 2
        assert len(written.splitlines()) == 10_001

    def test_a_terminal_of_twenty_columns_shows_what_has_room(self, shop: Mason) -> None:
        lines, code = terminal(shop, *PREVIEW, "path:shop/orders.csv", columns=20)
        listed, _ = terminal(shop, "operator", columns=20)

        assert code == 0
        assert max(map(len, [*lines, *listed])) <= 20
        assert lines[0].split()[0] == "id"

    def test_escape_sequences_and_changes_of_direction_are_shown_and_never_executed(self, shop: Mason) -> None:
        hostile = "\x1b]0;owned\x07\x1b[2J\x1b[31m", "evil\u202etxt.exe", "back\x08\x08\x7f\x9b2J", "zero\u200bwidth"
        rows = [{"id": number, "text\x1b[2J": text} for number, text in enumerate(hostile)]
        write(shop.folder, {"bad.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows)})

        lines, code = terminal(shop, *PREVIEW, "path:bad.jsonl")

        shown = "\n".join(lines)
        assert code == 0
        assert all(each.isprintable() for line in lines for each in line)
        assert r"\x1b]0;owned\x07\x1b[2J" in shown
        assert r"evil\u202etxt.exe" in shown
        assert r"\x08\x08\x7f\x9b2J" in shown
        assert r"zero\u200bwidth" in shown

    def test_names_and_types_that_data_bring_along_execute_nothing(self, shop: Mason) -> None:
        row = {"id": 1, "place": {"\x1b[2Jcity": "Oslo", "\u202etown": 2}}
        write(shop.folder, {"bad.jsonl": f"{json.dumps(row)}\n"})

        lines, code = terminal(shop, *PREVIEW, "path:bad.jsonl", columns=200)
        hostile = {"\x1b[2Jkey": 1, "Many": [{"a": 1}], "\x9b2Jlist": [{"\u202eb": 2}]}
        drawn = draw_blocks(result_blocks([hostile], None, 80), 80, coloured=False)

        assert code == 0
        assert all(each.isprintable() for line in (*lines, *drawn.splitlines()) for each in line)
        assert r"\x1b[2Jcity" in "\n".join(lines)
        assert r"\x1b[2Jkey" in drawn and r"\x9b2Jlist" in drawn

    def test_messages_on_a_terminal_execute_nothing(self, mason: Mason) -> None:
        body = 'resp.add_warning("\\x1b[2Jgone")\nresp.add_info("\\u202eback")\nresp.add_error("\\x9b2J")'
        registered(mason, operator_with(mason.folder / "defs", "demo", "bad", body=body))

        lines, code = terminal(mason, "operator", "demo", "bad")

        assert code == 1
        assert r"warning: \x1b[2Jgone" in lines
        assert r"\u202eback" in lines
        assert r"error: \x9b2J" in lines

    def test_rows_without_columns_are_counted(self, mason: Mason) -> None:
        lines = results(mason, '{"Columns": [], "Rows": [{}, {}, {}]}')

        assert lines[0] == "3 rows without columns."

    def test_three_thousand_columns_are_as_many_as_have_room(self, mason: Mason) -> None:
        made = '{"Rows": [{f"column_{n}": n for n in range(3000)} for _ in range(60)]}'

        lines = results(mason, made)

        assert max(map(len, lines)) <= 100
        assert lines[0].split()[:2] == ["column_0", "column_1"]
        assert "… and 2,990 columns more" in lines

    def test_a_failed_workflow_ends_with_how_to_resume_it(self, mason: Mason) -> None:
        operator_with(mason.folder / "defs", "demo", "fail", body='resp.add_error("It broke.")')
        write(mason.folder / "defs" / "flow", {"workflow.yaml": workflow_yaml([step("first", command="fail")])})
        registered(mason, mason.folder / "defs")

        lines, code = terminal(mason, "workflow", "demo", "flow", "-r")

        assert code == 1
        run = mason("workflow", "--runs", "-o", "json").json["Data"][0]["RunID"]
        assert lines[-1] == f"Resume: mason workflow --resume {run[:4]}"
        assert "{" not in "".join(lines)

    def test_what_is_not_wanted_by_a_reader_of_the_pipe_is_no_traceback(self, shop: Mason) -> None:
        write(shop.folder, {"many.csv": "id\n" + "".join(f"{number}\n" for number in range(10_000))})
        for form in ("table", "json", "csv", "ndjson"):
            call = [*shop.argv, *PREVIEW, "path:many.csv,limit:10000", "-o", form]
            reading, writing = os.pipe()
            os.close(reading)

            done = subprocess.run(
                call, stdout=writing, stderr=subprocess.PIPE, cwd=shop.folder, env=shop.environment(), check=False
            )

            os.close(writing)
            assert (done.returncode, done.stderr.decode().count("Traceback")) == (0, 0), form

    def test_no_color_leaves_the_table_plain_and_colours_are_for_terminals(self, shop: Mason) -> None:
        call = (*PREVIEW, "path:shop/orders.csv")

        assert "\x1b[1m" in "\n".join(terminal(shop, *call, NO_COLOR="")[0])
        assert "\x1b" not in "\n".join(terminal(shop, *call)[0])
        assert "\x1b" not in shop(*call, "-o", "table").stdout


def results(mason: Mason, data: str) -> list[str]:
    """Return what a terminal shows of an operator of somebody else's that answers with this."""
    registered(mason, operator_with(mason.folder / "defs", "demo", "give", body=f"resp.add_data({data})"))
    lines, code = terminal(mason, "operator", "demo", "give")
    assert code == 0, lines
    return lines


class TestForms:
    def test_a_pipe_gets_the_envelope_and_other_forms_where_they_are_asked_for(self, shop: Mason) -> None:
        call = (*PREVIEW, "path:shop/orders.csv,limit:2")

        envelope = strict_json(shop(*call))

        assert strict_json(shop(*call, "-o", "json")) == envelope
        assert (
            shop(*call, variables={"MASON_OUTPUT": "csv"}).stdout
            == "id,item,price\n1001,saw,1001.50\n1002,saw,1002.50\n"
        )
        assert shop(*call, "-o", "json", variables={"MASON_OUTPUT": "csv"}).json == envelope
        lines = [json.loads(line) for line in shop(*call, "-o", "ndjson").stdout.splitlines()]
        assert lines == envelope["Data"][0]["Rows"]
        assert shop(*call, "-o", "table").stdout.split()[:3] == ["id", "item", "price"]
        wrong = shop(*call, variables={"MASON_OUTPUT": "yaml"})
        assert (wrong.exit_code, wrong.stdout) == (2, "")

    def test_json_on_a_terminal_is_one_document_where_it_is_asked_for(self, shop: Mason) -> None:
        env = shop.environment({"TERM": "xterm"})
        call = [*shop.argv, *PREVIEW, "path:shop/orders.csv", "-o", "json", "-l", "error"]

        written, _ = run_on_terminal(call, shop.folder, env, columns=100)

        assert len(json.loads(written)["Data"][0]["Rows"]) == 6

    def test_csv_of_a_merge_is_refused_before_anything_is_written(self, shop: Mason) -> None:
        for form in ("csv", "ndjson"):
            done = shop("operator", "table", "merge", "-p", "input_path:shop,output_path:out", "-o", form)

            assert (done.exit_code, done.stdout) == (2, "")
            assert f"can be {form}" in done.stderr
        assert not (shop.folder / "out").exists()

    def test_csv_of_a_result_that_is_no_rows_ends_with_2(self, mason: Mason) -> None:
        registered(mason, operator_with(mason.folder / "defs", "demo", "give", body='resp.add_data({"a": {"b": [1]}})'))

        done = mason("operator", "demo", "give", "-o", "csv")

        assert (done.exit_code, done.stdout) == (2, "")

    def test_csv_of_a_call_that_fails_prints_no_rows_and_ends_with_1(self, shop: Mason) -> None:
        done = shop(*PREVIEW, "path:nowhere.csv", "-o", "csv")

        assert (done.exit_code, done.stdout) == (1, "")
        assert "error: " in done.stderr

    def test_csv_comes_back_as_it_was(self, mason: Mason) -> None:
        made: Any = [{"id": 1, "text": 'a,"b"\nc', "none": None}, {"id": 2, "text": "ä", "none": True}]
        registered(
            mason, operator_with(mason.folder / "defs", "demo", "give", body=f'resp.add_data({{"Rows": {made}}})')
        )

        written = mason("operator", "demo", "give", "-o", "csv").stdout

        assert list(csv.reader(io.StringIO(written))) == [
            ["id", "text", "none"],
            ["1", 'a,"b"\nc', ""],
            ["2", "ä", "true"],
        ]

    def test_lists_are_one_envelope_and_rows_like_everything_else(self, shop: Mason) -> None:
        for words in (
            ("operator",),
            ("config",),
            ("workflow",),
            ("token", "list"),
            ("registry", "history", "table:get"),
        ):
            envelope = strict_json(shop(*words, "-o", "json"))
            assert isinstance(envelope["Data"], list)
        listed = list(csv.DictReader(io.StringIO(shop("operator", "table", "-o", "csv").stdout)))
        merge = next(each for each in listed if each["Command"] == "merge")
        assert (merge["Namespace"], merge["Required"]) == ("table", '["input_path", "output_path"]')
        assert shop("operator").stdout.startswith("+--")  # into a pipe, as it always was
        assert strict_json(shop("workflow", "--runs", "--json"))["Data"] == []


class TestShapes:
    """What somebody else's operator gets without saying anything."""

    def test_a_list_of_flat_documents_is_a_table(self) -> None:
        rows = find_rows([{"a": 1, "b": "x"}, {"a": 2, "c": None}])

        assert rows is not None and list(rows.columns) == ["a", "b", "c"]

    def test_a_document_is_pairs_and_its_lists_are_tables(self) -> None:
        data = [{"Name": "orders", "Size": 3, "Schema": {"Kind": "csv", "Columns": [{"Name": "id", "Type": "int64"}]}}]

        pairs, grid = result_blocks(data, None, 80)

        assert isinstance(pairs, Pairs) and dict(pairs.values) == {"Name": "orders", "Size": "3", "Kind": "csv"}
        assert isinstance(grid, Grid) and grid.rows == [["id", "int64"]]

    def test_documents_of_one_kind_are_a_table_however_deep_they_are(self) -> None:
        (grid,) = result_blocks([{"a": {"b": 1}}, {"a": {"b": 2}}], None, 80)

        assert isinstance(grid, Grid) and grid.rows == [['{"b": 1}'], ['{"b": 2}']]

    def test_a_text_is_a_line_and_nothing_is_nothing(self) -> None:
        assert result_blocks(["done"], None, 80) == [Lines(["done"])]
        assert result_blocks([], None, 80) == []

    def test_a_view_says_which_keys_people_see(self) -> None:
        view = View(columns=("a",), parts={"b": ()})

        (grid,) = result_blocks([{"a": 1, "b": 2}, {"a": 3, "b": 4}], view, 80)
        (pairs,) = result_blocks([{"a": 1, "b": 2}], View(parts={"b": ()}), 80)

        assert isinstance(grid, Grid) and list(grid.headers) == ["a"]
        assert pairs == Pairs([("b", "2")])

    def test_nothing_in_a_document_is_executed_its_keys_included(self) -> None:
        hostile = "\x1b[2J\u202e"
        data = [{hostile: hostile, f"{hostile}a": [{hostile: hostile}], f"{hostile}b": [{"x": {hostile: hostile}}]}]

        drawn = draw_blocks(result_blocks(data, None, 80), 80, coloured=False)

        assert all(each.isprintable() or each == "\n" for each in drawn)
        assert drawn.count(r"\x1b[2J\u202e") == 6

    def test_wide_characters_keep_the_columns_in_line(self) -> None:
        (grid,) = result_blocks([{"name": "東京", "n": 1}, {"name": "ab", "n": 2}], None, 80)

        lines = draw_blocks([grid], 80, coloured=False).splitlines()

        assert [lines[2].index("1"), lines[3].index("2")] == [4, 6]
