from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mason.clients.local.execution import LocalExecutionClient
from mason.clients.response import Response
from mason.engines.execution.models.job import JobStatus
from mason.engines.storage.models.location import Location
from mason.errors import BadPath, Conflict, InvalidParameters, PathNotFound
from mason.operators.operator_response import OperatorResponse
from mason.operators.runner import respond
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.check.job import CheckJob, CheckOutcome
from mason.pipeline.jobs.check.reading import read_checks
from mason.pipeline.jobs.check.sink import CheckSink
from mason.pipeline.jobs.check.work import CheckWork
from mason.pipeline.reading.request import OwnName
from mason.pipeline.tables.folder import TableFolder
from mason.pipeline.work.row_sums import RowsLost
from mason.pipeline.work.tasks import TaskRunner
from tests.sql.conftest import Database
from tests.sql.test_dedupe import rows_of

ORDERS = (
    "id,sku,customer,price,day\n1,00501,7,10.5,2026-01-01\n2,00502,8,,2026-01-03\n2,5,9,-1,\n,00504,,99,2026-01-02\n"
)
NOON = "2026-01-04T12:00:00+00:00"


def planned(path: Path, *checks: Any, **more: Any) -> CheckWork:
    held, options = read_checks(checks), {name: str(value) for name, value in more.items()}
    references = {each.references: Location(each.references) for each in held if each.references}
    failures = {"failures": Location(options.pop("failures"))} if "failures" in options else {}
    job = CheckJob(path=Location(str(path)), checks=held, references=references, **failures, **options)  # type: ignore[arg-type]
    return CheckWork.plan(job.to_job())


def checked(runner: TaskRunner, path: Path, *checks: Any, **more: Any) -> CheckOutcome:
    return planned(path, *checks, **more).run(runner, "checked", lambda *_: None)


def failing(runner: TaskRunner, path: Path, *checks: Any, **more: Any) -> list[int | None]:
    """How many rows fail each check."""
    return [each.found.get("RowsFailed") for each in checked(runner, path, *checks, **more).verdicts]


def statuses(result: CheckOutcome) -> list[str]:
    return [each.status for each in result.verdicts]


def refused(path: Path, *checks: Any, **more: Any) -> list[str]:
    with pytest.raises(InvalidParameters) as raised:
        planned(path, *checks, **more)
    return list(raised.value.messages)


def test_every_check_in_one_pass_on_every_engine(database: Database) -> None:
    path = database.given("t", ORDERS)
    customers = database.given("c", "id\n7\n8\n")
    result = checked(
        database.runner,
        path,
        "not_null id",
        "unique id",
        "accepted_values sku values=00501|00502",
        "range price min=0 max=50",
        "row_count min=5",
        "freshness day max_age=36h",
        "regular_expression sku pattern=[0-9]{5}",
        f"foreign_key customer references={customers} referenced_columns=id",
        as_of=NOON,
    )
    assert [each.found for each in result.verdicts] == [
        {"RowsFailed": 1},
        {"RowsFailed": 2},
        {"RowsFailed": 2},
        {"RowsFailed": 2},
        {"Rows": 4},
        {"Newest": "2026-01-03T00:00:00+00:00", "AsOf": NOON},
        {"RowsFailed": 1},
        {"RowsFailed": 1},
    ]
    assert statuses(result) == [*["failed"] * 5, "passed", "failed", "failed"]
    assert (result.rows_in, result.totals.failed, result.quarantined) == (4, 3, 0)
    assert result.to_dict()["RowsPassed"] == 1


def test_rows_that_fail_are_saved_with_the_checks_that_they_fail(database: Database, tmp_path: Path) -> None:
    path = database.given("t", ORDERS)
    checks = ["unique id", "regular_expression sku pattern=[0-9]{5}", "range price min=0", "row_count max=1"]
    result = checked(database.runner, path, *checks, failures=tmp_path / "failed")
    saved = [(row["id"], row["sku"], row["failed_checks"]) for row in rows_of(tmp_path / "failed")]
    assert saved == [(2, "00502", ["unique id"]), (2, "5", checks[:3])]
    assert result.totals.failed == 2
    assert [row["sku"] for row in rows_of(path)] == ["00501", "00502", "5", "00504"]


def test_no_row_that_fails_leaves_an_empty_table_where_others_were(here: Database, tmp_path: Path) -> None:
    path = here.given("t", ORDERS)
    checked(here.runner, path, "not_null id", failures=tmp_path / "failed")
    result = checked(here.runner, path, "not_null sku", failures=tmp_path / "failed")
    assert result.commit is not None
    assert rows_of(tmp_path / "failed") == []
    assert result.summary == f"1 check of 4 rows: 1 passed. 0 rows saved: {tmp_path / 'failed'}"


def test_files_that_are_no_table_are_checked_as_they_are(database: Database, tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.csv").write_text("id,name\n1,a\n1,b\n2\n")
    (tmp_path / "raw" / "b.jsonl").write_text('{"id": 1, "name": null}\n{"id": 3, "name": "d"}\n')
    result = checked(database.runner, tmp_path / "raw", "unique id", "not_null name")
    assert [each.found["RowsFailed"] for each in result.verdicts] == [3, 1]
    assert (result.rows_in, result.totals.rows, result.quarantined) == (5, 4, 1)
    assert "1 record could not be read" in next(iter(result.warnings))


def test_a_record_that_is_no_row_is_told_and_not_saved(here: Database, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,name\n1,a\n2\n,b\n")
    result = checked(here.runner, tmp_path / "a.csv", "not_null id", failures=tmp_path / "failed")
    assert (result.rows_in, result.totals.rows, result.totals.failed, result.quarantined) == (3, 2, 1, 1)
    assert not list((tmp_path / "failed").rglob("*.jsonl"))


class TestNulls:
    """As in SQL, what is compared with null is unknown, and only what is false fails."""

    def test_a_null_fails_not_null_and_nothing_else(self, database: Database) -> None:
        path = database.given("t", pa.table({"n": pa.array([None, None], pa.int64()), "s": pa.nulls(2, pa.string())}))
        keys = database.given("k", pa.table({"n": [1]}))
        checks = [
            "not_null n",
            "unique n",
            "accepted_values n values=1",
            "range n min=1",
            "regular_expression s pattern=x",
            f"foreign_key n references={keys}",
        ]
        assert failing(database.runner, path, *checks) == [2, 0, 0, 0, 0, 0]

    def test_a_key_of_several_columns_with_a_null_in_it_is_like_no_other(self, database: Database) -> None:
        table = pa.table({"a": [1, 1, 1, 1], "b": pa.array(["x", "x", None, None])})
        path = database.given("t", table)
        keys = database.given("k", pa.table({"a": [1], "b": ["y"]}))
        assert failing(database.runner, path, "unique a b", f"foreign_key a b references={keys}") == [2, 2]

    def test_not_null_of_several_columns_fails_where_one_is_null(self, here: Database) -> None:
        path = here.given("t", pa.table({"a": [1, None, None], "b": [1, 1, None]}))
        assert failing(here.runner, path, "not_null a b") == [2]

    def test_a_table_of_nulls_is_not_fresh(self, here: Database) -> None:
        path = here.given("t", pa.table({"d": pa.nulls(2, pa.date32())}))
        result = checked(here.runner, path, "freshness d max_age=1d")
        assert list(result.errors) == ["freshness d max_age=1d: there is no value that could be new."]


def test_nan_lies_in_no_range_and_is_a_value_like_any_other(database: Database) -> None:
    path = database.given("t", pa.table({"x": [math.nan, -0.0, 0.0, math.nan, math.inf, None]}))
    checks = ["not_null x", "unique x", "range x min=-1", "range x max=1", "accepted_values x values=nan|0"]
    assert failing(database.runner, path, *checks) == [1, 4, 2, 3, 1]


def test_an_empty_table_fails_only_what_is_said_of_the_table(database: Database, tmp_path: Path) -> None:
    database.given("t", ORDERS)
    database.ask("select * from t where id = 99", output=str(tmp_path / "empty"))
    checks = ["not_null id", "unique id", "range price min=0", "row_count max=0", "row_count min=1"]
    result = checked(database.runner, tmp_path / "empty", *checks, "freshness day max_age=1d")
    assert statuses(result) == ["passed", "passed", "passed", "passed", "failed", "failed"]
    assert "row_count min=1: there are 0 rows, not at least 1." in result.errors


def test_a_foreign_key_into_an_empty_table_fails_wherever_there_is_a_key(database: Database, tmp_path: Path) -> None:
    path = database.given("t", ORDERS)
    database.ask("select * from t where id = 99", output=str(tmp_path / "empty"))
    assert failing(database.runner, path, f"foreign_key id references={tmp_path / 'empty'}") == [3]


def test_keys_of_two_types_of_number_are_compared_as_numbers(database: Database) -> None:
    path = database.given("t", pa.table({"k": pa.array([1, 2, 3], pa.int32())}))
    keys = database.given("k", pa.table({"k": pa.array([Decimal("1.00"), Decimal("2.50")])}))
    assert failing(database.runner, path, f"foreign_key k references={keys}") == [2]


def test_any_name_of_a_column_can_be_checked(database: Database) -> None:
    names = ["select", "a.b", 'quo"te', "back`tick", "Ü😀", "a=b", "sp ace", "_mason_checked", "_mason_here_0", "t"]
    path = database.given("t", pa.table({name: [1, 1, None] for name in names}))
    asked: list[Mapping[str, Any]] = [
        {"check": "not_null", "columns": names},
        {"check": "unique", "columns": names},
        {"check": "foreign_key", "columns": names, "references": str(path)},
        *({"check": "range", "column": name, "max": 0} for name in names),
    ]
    assert failing(database.runner, path, *asked) == [1, 2, 0, *[2] * len(names)]


def test_a_column_that_is_called_as_masons_own_is_refused_by_its_name(here: Database) -> None:
    path = here.given("t", pa.table({"id": [1, 1], "_mason_row": [0, 0]}))
    assert failing(here.runner, path, "not_null id") == [0]
    with pytest.raises(OwnName, match='Column "_mason_row" is called as one that Mason adds'):
        failing(here.runner, path, "unique id")


@pytest.mark.parametrize(
    ("values", "checks", "expected"),
    [
        (pa.array([1, 2, 3], pa.int8()), ["range x min=1.5 max=2.5", "accepted_values x values=1|3"], [2, 1]),
        (pa.array([1, 2**63 - 1]), ["range x max=9223372036854775806"], [1]),
        (pa.array([Decimal("1.10"), Decimal("2.00")]), ["range x min=1.105", "accepted_values x values=1.1|2"], [1, 0]),
        (pa.array([0.1, 0.3]), ["range x min=0.1 max=0.2", "accepted_values x values=0.1"], [1, 1]),
        (pa.array([True, False, None]), ["accepted_values x values=TRUE"], [1]),
        (
            pa.array([date(2026, 1, 1), date(2026, 2, 1)]),
            ["range x min=2026-01-15", "accepted_values x values=2026-02-01"],
            [1, 1],
        ),
        (pa.array([datetime(2026, 1, 1, 12)]), ["range x min=2026-01-01T12:00:00", "range x max=2026-01-01"], [0, 1]),
        (
            pa.array([datetime(2026, 1, 1, 12, tzinfo=UTC)]),
            ["range x min=2026-01-01T13:00:00+01:00", "range x max=2026-01-01T11:59"],
            [0, 1],
        ),
        (pa.array(["", "a", "ä"]), ["regular_expression x pattern=.", "accepted_values x values=a|ä"], [1, 1]),
        (
            pa.array(["ab", "a\nb", "ba"]),
            ["regular_expression x pattern=a(?s:.)?b", "regular_expression x pattern=^a.*$"],
            [1, 2],
        ),
        (pa.array(["DE", "de"]), ["regular_expression x pattern=(?i)de", "regular_expression x pattern=DE|FR"], [0, 1]),
    ],
    ids=str,
)
def test_values_and_limits_are_of_the_type_of_the_column(
    here: Database, values: pa.Array, checks: Sequence[str], expected: Sequence[int]
) -> None:
    path = here.given("t", pa.table({"x": values}))
    assert failing(here.runner, path, *checks) == expected


@pytest.mark.parametrize(
    ("age", "holds"),
    [("36h", True), ("35h", False), ("2 days", True), ("1d", False), ("1w", True), ("2160m", True), ("999999w", True)],
)
def test_the_newest_moment_may_be_so_old(here: Database, age: str, holds: bool) -> None:
    path = here.given("t", pa.table({"d": [date(2026, 1, 1), date(2026, 1, 3)]}))
    asked = {"check": "freshness", "column": "d", "max_age": age}
    assert checked(here.runner, path, asked, as_of=NOON).verdicts[0].holds is holds


@pytest.mark.parametrize(
    "moment", [datetime(2026, 1, 4, 11), datetime(2026, 1, 4, 11, tzinfo=UTC), datetime(2100, 1, 1)], ids=str
)
def test_clocks_without_a_zone_are_utc_and_the_future_is_fresh(here: Database, moment: datetime) -> None:
    path = here.given("t", pa.table({"at": [moment]}))
    assert checked(here.runner, path, "freshness at max_age=1h", as_of=NOON).verdicts[0].holds
    assert (
        moment.year == 2100 or not checked(here.runner, path, "freshness at max_age=59m", as_of=NOON).verdicts[0].holds
    )


def test_a_check_that_warns_does_not_fail_the_job(here: Database) -> None:
    path = here.given("t", ORDERS)
    result = checked(here.runner, path, "unique id on_failure=warn", "not_null sku")
    assert statuses(result) == ["warned", "passed"]
    assert list(result.errors) == []
    assert list(result.warnings) == ["unique id: 2 of 4 rows fail, such as id 2."]
    assert result.summary == "2 checks of 4 rows: 1 passed, 1 warned."


def test_samples_are_the_first_rows_that_fail_and_no_more_than_wanted(here: Database) -> None:
    path = here.given("t", pa.table({"x": range(10_000), "y": ["a"] * 10_000, "wide": ["b"] * 10_000}))
    work = planned(path, "range x max=4990", "accepted_values y values=a")
    result = CheckWork(CheckJob(path=work.job.path, checks=work.job.checks, samples=2), work.scan, {}, work.as_of).run(
        here.runner, "few", lambda *_: None
    )
    assert result.verdicts[0].samples == [{"x": 4991, "y": "a"}, {"x": 4992, "y": "a"}]
    assert result.preview["Checks"][0]["Samples"] == result.verdicts[0].samples
    assert "Samples" not in result.to_dict()["Checks"][0]


def test_a_plan_says_what_the_run_then_asks(here: Database, tmp_path: Path) -> None:
    path, keys = here.given("t", ORDERS), here.given("k", "id\n1\n2\n")
    checks = ["unique id", "range price min=0 on_failure=warn", f"foreign_key id references={keys}", "row_count min=4"]
    work = planned(path, *checks, failures=tmp_path / "failed")
    plan = work.to_dict()
    assert not (tmp_path / "failed").exists()
    assert (plan["RowsIn"], plan["References"]) == (4, [str(keys)])
    done = work.run(here.runner, "run", lambda *_: None).to_dict()
    for promised, came in zip(plan.pop("Checks"), done["Checks"], strict=True):
        assert {name: came[name] for name in promised} == promised
    assert {name: done[name] for name in plan} == plan
    assert done["RowsIn"] == done["RowsPassed"] + done["RowsFailed"] + done["RowsQuarantined"]


def test_only_the_columns_that_are_looked_at_are_read(here: Database, tmp_path: Path) -> None:
    path = here.given("t", ORDERS)
    assert planned(path, "not_null price", "unique id").scan.columns == ("id", "price")
    assert planned(path, "row_count min=1").scan.columns == ("id",)
    assert planned(path, "not_null id", failures=tmp_path / "failed").scan.columns == ()


def test_the_picture_shows_each_check_and_rows_that_fail(here: Database) -> None:
    path = here.given("t", ORDERS)
    result = checked(here.runner, path, "not_null sku", "unique id", "range price min=0 on_failure=warn")
    assert result.picture(60) == [
        "✓ not_null sku",
        "✗ unique id  2 of 4 rows fail, such as id 2.",
        "    id 2, sku 00502, price null",
        "    id 2, sku 5, price -1.0",
        "! range price min=0  1 of 4 rows fails, such as price -1.0.",
        "    id 2, sku 5, price -1.0",
    ]
    assert all(len(line) <= 20 for line in result.picture(20))


class TestBadInput:
    @pytest.fixture
    def path(self, here: Database) -> Path:
        table = {"id": [1], "price": [1.5], "name": ["x"], "day": [date(2026, 1, 1)], "nested": [{"a": 1}]}
        maps = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))
        folder = here.root / "raw"
        folder.mkdir()
        pq.write_table(pa.table({**table, "m": maps}), folder / "a.parquet")
        return folder

    @pytest.mark.parametrize(
        ("check", "problem"),
        [
            ("not_null idd", 'There is no column "idd". Did you mean "id"?'),
            ("not_nul id", 'there is no check "not_nul". Did you mean "not_null"?'),
            ("", "which check? Checks: not_null, unique"),
            ("not_null", "not_null needs a column."),
            ("range id price min=1", "range takes one column."),
            ("row_count id min=1", "row_count takes no column."),
            ("range price", "range needs min or max."),
            ("range price min=a", '"a" is not a number, and "price" is double.'),
            ("range price min=nan", "NaN is not a limit"),
            ("range price min=2 max=1", "no value lies between min 2 and max 1."),
            ("range id max=99999999999999999999", 'is not a limit of "id", which is int64.'),
            ("range name min=1", '"name" is text, and a range is one of numbers, days or times.'),
            ("range day min=yesterday", '"yesterday" is not a value of "day", which is date32[day].'),
            ("accepted_values id values=1|x", '"x" is not a value of "id", which is int64.'),
            ("accepted_values nested values=1", '"1" is not a value of "nested"'),
            ("accepted_values id", "accepted_values needs values."),
            ("accepted_values id value=1", 'accepted_values takes no "value". Did you mean "values"?'),
            ("row_count min=few", 'min must be a number of rows, not "few".'),
            ("row_count min=3 max=2", "min 3 is more than max 2."),
            ("row_count min=" + "9" * 5000, "min must be a number of rows, not "),
            ("freshness day max_age=999999999w", 'max_age "999999999w" is longer than any time.'),
            ("range price min=1 min=2", "min is given twice: range price min=1 min=2"),
            ("not_null id columns=name", "columns are given twice: not_null id columns=name"),
            ("freshness day max_age=soon", 'max_age "soon" is not a time. Say it as 90m, 36h, 2d or 1w.'),
            ("freshness price max_age=1d", '"price" is double, and freshness is asked of days or times.'),
            ("regular_expression price pattern=x", '"price" is double, and a regular expression is asked of text.'),
            ("regular_expression name pattern=ab(c", '"ab(c" cannot be understood at character 3: missing ), '),
            ("regular_expression name pattern=a[0-", "at character 2: unterminated character set."),
            ("regular_expression name pattern=a(?=b)", "at character 2: invalid perl operator: (?="),
            ("unique m", '"m" holds maps, and maps cannot be compared.'),
            ("foreign_key id", "foreign_key needs references."),
            ("foreign_key id references=x referenced_columns=a|b", "referenced_columns must be as many as"),
            ("not_null id on_failure=stop", 'on_failure must be block or warn, not "stop".'),
            ("not_null 'id", "a quote is opened and not closed"),
            (7, 'it must be a text such as "not_null id", or a mapping'),
            ({"column": "id"}, "which check?"),
            ({"check": "not_null", "column": "id", "columns": ["id"]}, "it has a column and columns: give one"),
            (
                {"check": "accepted_values", "column": "id", "values": [1, None]},
                "null is not allowed here; use the not_null check",
            ),
            ({"check": "accepted_values", "column": "id", "values": [[1]]}, "[1] is not a plain value."),
        ],
        ids=str,
    )
    def test_a_check_that_cannot_be_asked_says_why(self, path: Path, check: Any, problem: str) -> None:
        (message,) = refused(path, check)
        assert problem in message

    def test_all_problems_are_told_at_once(self, path: Path) -> None:
        assert len(refused(path, "not_null a", "unique b", "range name min=1", "not_null id")) == 3
        assert len(refused(path, "not_nul a", "range id", 3)) == 3
        assert refused(path, "not_null id", "not_null id") == ['The check "not_null id" is there twice.']
        assert refused(path)[0].startswith("There is no check.")

    def test_a_foreign_key_needs_a_table_a_column_and_a_type_that_fits(self, here: Database, path: Path) -> None:
        keys = here.given("k", pa.table({"k": ["1"]}))
        (column,) = refused(path, f"foreign_key id references={keys}")
        (kind,) = refused(path, f"foreign_key id references={keys} referenced_columns=k")
        assert column.endswith(f'There is no column "id" in {keys}. Columns: k.')
        assert kind.endswith('"id" is int64 and "k" is text: no value could be in both.')
        with pytest.raises(PathNotFound):
            planned(path, f"foreign_key id references={here.root / 'nowhere'}")

    def test_rows_are_not_saved_where_they_are_read(self, here: Database, path: Path) -> None:
        for failures in (path, path / "below", path.parent):
            with pytest.raises(BadPath, match="both must be apart"):
                planned(path, "not_null id", failures=failures)
        table = here.given("t", pa.table({"failed_checks": [1]}))
        with pytest.raises(BadPath, match='has a column "failed_checks" already'):
            planned(table, "not_null failed_checks", failures=here.root / "out")

    def test_a_column_that_is_text_beyond_the_sample_cannot_be_in_a_range(self, here: Database, tmp_path: Path) -> None:
        lines = "\n".join(map(str, range(200_000)))
        (tmp_path / "long.csv").write_text(f"x\n{lines}\nmany\n")
        work = planned(tmp_path / "long.csv", "range x min=0")
        with pytest.raises(InvalidParameters, match='"x" is text, and a range'):
            work.run(here.runner, "wider", lambda *_: None)


class TestFaults:
    def test_a_row_that_is_dropped_on_the_way_fails_the_job(
        self, here: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = here.given("t", ORDERS)
        write = CheckSink.write
        monkeypatch.setattr(CheckSink, "write", lambda self, rows: write(self, rows.slice(1)))
        with pytest.raises(RowsLost, match="4 rows were read, and 3 were checked"):
            checked(here.runner, path, "not_null id")

    def test_a_duplicate_that_is_not_met_again_fails_the_job(
        self, here: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = here.given("t", ORDERS)
        begin_rows_at = CheckSink.begin_rows_at
        monkeypatch.setattr(CheckSink, "begin_rows_at", lambda self, file, first: begin_rows_at(self, file, first + 2))
        with pytest.raises(RowsLost, match="2 rows fail by their keys, and 1 were met"):
            checked(here.runner, path, "unique id")

    def test_a_row_that_is_not_saved_fails_the_job_and_leaves_the_rows_of_before(
        self, here: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = here.given("t", ORDERS)
        checked(here.runner, path, "not_null id", failures=tmp_path / "failed")
        named = CheckSink._add_names_of_checks
        monkeypatch.setattr(
            CheckSink, "_add_names_of_checks", lambda self, rows, fails: named(self, rows, fails).slice(1)
        )
        with pytest.raises(RowsLost, match="2 rows fail, but 1 were written"):
            checked(here.runner, path, "unique id", failures=tmp_path / "failed")
        assert [row["sku"] for row in rows_of(tmp_path / "failed")] == ["00504"]

    def test_of_two_jobs_into_one_table_of_failures_one_wins_and_the_other_says_so(
        self, here: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = here.given("t", ORDERS)
        late = planned(path, "not_null id", failures=tmp_path / "failed")
        publish = TableFolder.publish

        def overtaken(self: TableFolder, *arguments: Any, **more: Any) -> Any:
            monkeypatch.setattr(TableFolder, "publish", publish)
            early = planned(path, "unique id", failures=tmp_path / "failed")
            early.run(here.runner, "early", lambda *_: None)
            return publish(self, *arguments, **more)

        monkeypatch.setattr(TableFolder, "publish", overtaken)
        with pytest.raises(Conflict):
            late.run(here.runner, "late", lambda *_: None)
        assert len(rows_of(tmp_path / "failed")) == 2


class TestResponse:
    """What who asked gets to see, in a home of its own."""

    @pytest.fixture(autouse=True)
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MASON_HOME", str(tmp_path / "home"))

    def respond(self, path: Path, *checks: str) -> OperatorResponse:
        client = LocalExecutionClient({})

        def work(response: Response) -> OperatorResponse:
            plan, _ = client.plan_job(
                CheckJob(path=Location(str(path)), checks=read_checks(checks)).to_job(), response=response
            )
            record, _ = client.run_job(plan, response=response)
            return OperatorResponse(response, record)

        return respond(work)

    def test_a_check_that_blocks_gives_errors_and_the_data_all_the_same(self, here: Database) -> None:
        result = self.respond(here.given("t", ORDERS), "unique id", "not_null id on_failure=warn")

        said = result.to_dict()
        assert (result.response.status, said["Errors"]) == (422, ["unique id: 2 of 4 rows fail, such as id 2."])
        assert said["Warnings"] == ["not_null id: 1 of 4 rows fails."]
        (data,) = said["Data"]
        assert [each["Status"] for each in data["Checks"]] == ["failed", "warned"]
        assert data["Checks"][0]["Samples"] == [{"id": 2}, {"id": 2}]
        assert OperatorResponse(result.response).to_dict()["Data"] == [data]
        assert result.object.picture(80)[0] == "✗ unique id  2 of 4 rows fail, such as id 2."

    def test_the_record_of_the_job_says_failed_and_why_and_keeps_no_rows(self, here: Database) -> None:
        result = self.respond(here.given("t", ORDERS), "unique id", "row_count max=1")

        record, _ = LocalExecutionClient({}).get_job(result.object.id, response=Response())
        assert record.status is JobStatus.FAILED
        assert record.details["Error"].splitlines() == list(result.response.errors)
        assert record.details["RowsFailed"] == 2
        assert "Samples" not in record.details["Checks"][0]

    def test_checks_that_hold_give_neither_errors_nor_warnings(self, here: Database) -> None:
        said = self.respond(here.given("t", ORDERS), "not_null sku", "row_count min=1").to_dict()

        assert (said["Errors"], said["Warnings"]) == ([], [])
        assert said["Info"] == ["2 checks of 4 rows: 2 passed."]
        assert said["Data"][0]["Status"] == "succeeded"


@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([1, 2, 3, None]), st.sampled_from(["a", "b", "ab", None])), min_size=5),
    st.sets(st.sampled_from([1, 2, 3])),
)
def test_what_fails_is_what_python_says(rows: list[tuple[int | None, str | None]], known: set[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Database(Path(folder), InProcessRunner())
        numbers, texts = [row[0] for row in rows], [row[1] for row in rows]
        path = here.given("t", pa.table({"k": pa.array(numbers, pa.int64()), "s": pa.array(texts, pa.string())}))
        keys = here.given("known", pa.table({"k": pa.array([*known, None], pa.int64())}))
        found = failing(
            here.runner,
            path,
            "not_null k",
            "unique k s",
            "range k min=2",
            "regular_expression s pattern=a.?",
            f"foreign_key k references={keys}",
            failures=Path(folder) / "failed",
        )
        saved = rows_of(Path(folder) / "failed")
    whole = [row for row in rows if None not in row]
    wrong = [
        [
            row[0] is None,
            whole.count(row) > 1,
            row[0] is not None and row[0] < 2,
            row[1] == "b",
            row[0] is not None and row[0] not in known,
        ]
        for row in rows
    ]
    assert found == [sum(column) for column in zip(*wrong, strict=True)]
    assert [(row["k"], row["s"], len(row["failed_checks"])) for row in saved] == [
        (*row, sum(each)) for row, each in zip(rows, wrong, strict=True) if any(each)
    ]
