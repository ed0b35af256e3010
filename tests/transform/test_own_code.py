"""An author's class over DataFrames: it runs in a process of its own, and what is wrong with it reaches nobody else."""

from __future__ import annotations

import base64
import os
import signal
import textwrap
import threading
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mason.clients.spark.runners.local import LocalRunner
from mason.clients.spark.settings import RunnerSettings
from mason.engines.storage.models.location import LOCAL
from mason.errors import MasonError
from mason.pipeline.sql.query import OwnCode, SqlQuery, SqlTable, fetch_rows
from mason.pipeline.types.evidence_json import encode_schema
from tests.cluster import Sparks
from tests.transform.conftest import CLASS, GIVEN, Shop

ORDERS = pa.table({"id": [1, 2, 3], "amount": [10.5, 3.0, 1.0], "day": [date(2026, 1, each) for each in (1, 2, 3)]})


@pytest.fixture(scope="module")
def runner(sparks: Sparks) -> Iterator[LocalRunner]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(sparks.runtime))
        runner = LocalRunner(RunnerSettings(warm="always"))
        yield runner
        runner.close()


@pytest.fixture
def orders(tmp_path: Path) -> SqlTable:
    file = tmp_path / "orders.parquet"
    pq.write_table(ORDERS, file)
    schema = encode_schema(ORDERS.schema)
    return SqlTable(name="orders", path=str(tmp_path), storage=LOCAL, files=[str(file)], schema=schema)


def code_of(body: str, files: Mapping[str, str] | None = None, digest: str = "1" * 64) -> OwnCode:
    """Return code whose `transform` has a body."""
    text = CLASS.format(command="Big", body=textwrap.indent(body, " " * 8))
    written = {"__init__.py": text, **(files or {})}
    return OwnCode(
        name="orders:big",
        class_name="OrdersBig",
        digest=digest,
        source="operators/orders/big",
        files={path: base64.b64encode(content.encode()).decode() for path, content in written.items()},
        declared=["orders", "since"],
        function="mason.operators.own_transform:transform_frames",
    )


def ask(runner: LocalRunner, orders: SqlTable, code: OwnCode, **parameters: Any) -> list[dict[str, Any]]:
    query = SqlQuery(statement="", tables=[orders], parameters=parameters, code=code)
    rows: list[dict[str, Any]] = fetch_rows(runner, query).to_pylist()
    return rows


def test_a_class_gets_frames_a_session_and_typed_parameters(runner: LocalRunner, orders: SqlTable) -> None:
    body = """\
    assert spark.range(2).count() == 2
    since = parameters.get_optional("since")
    big = F.udf(lambda amount: amount > 2, "boolean")
    return inputs["orders"].where(F.col("day") >= since).withColumn("big", big("amount")).select("id", "big")"""

    assert ask(runner, orders, code_of(body), since=date(2026, 1, 2)) == [
        {"id": 2, "big": True},
        {"id": 3, "big": False},
    ]


def test_files_of_the_same_name_in_two_operators_are_two_files_also_in_the_tasks(
    runner: LocalRunner, orders: SqlTable
) -> None:
    body = """\
    from . import rules
    told = F.udf(lambda amount: rules.tell(amount), "string")
    return inputs["orders"].where("id = 1").select(told("amount").alias("told"))"""
    files = [{"rules.py": f"def tell(amount):\n    return '{name} ' + str(amount)\n"} for name in ("one", "two")]

    said = [ask(runner, orders, code_of(body, each, str(n) * 64)) for n, each in enumerate(files)]

    assert said == [[{"told": "one 10.5"}], [{"told": "two 10.5"}]]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return None", "__init__.py: OrdersBig.transform returns nothing, and not a DataFrame."),
        ("return [1]", "__init__.py: OrdersBig.transform returns a list, and not a DataFrame."),
        (
            "from pyspark.sql.connect.session import SparkSession\nreturn SparkSession(spark.client._builder).range(1)",
            "__init__.py: OrdersBig.transform returns a DataFrame of another session",
        ),
        (
            "return inputs['orders'].select('id', F.col('amount').alias('ID'))",
            'the result has two columns called "ID"',
        ),
        (
            "return inputs['orders'].select(F.struct(F.lit(1).alias('a'), F.lit(2).alias('A')).alias('s'))",
            '"s" has two parts called "A".',
        ),
        ("return inputs['orders'].select(F.expr('interval 1 day').alias('i'))", '"i" is of type interval day'),
        ("return inputs['ordres']", "__init__.py:8: orders:big failed in its own code: LookupError: There is no input"),
        ("return inputs['orders'].select('nothing')", "nothing"),
        ("return spark.sparkContext.parallelize([1])", "__init__.py:8: orders:big failed in its own code: PySpark"),
        (
            "def shout(amount):\n    raise ValueError('too loud')\n"
            "return inputs['orders'].select(F.udf(shout, 'int')('amount').alias('x'))",
            "operators/orders/big/__init__.py:9: orders:big failed in its own code: ValueError: too loud",
        ),
        ("import os\nos.kill(os.getpid(), 9)", "it was killed, as a system does whose memory is full"),
    ],
)
def test_what_a_class_does_wrong_is_told_with_its_file_and_not_with_the_jvms_lines(
    runner: LocalRunner, orders: SqlTable, body: str, said: str
) -> None:
    with pytest.raises(MasonError) as caught:
        ask(runner, orders, code_of(body))

    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) < 6


def test_what_the_code_of_a_killed_process_has_started_keeps_nobody_waiting_and_ends(
    runner: LocalRunner, orders: SqlTable, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    body = f"""\
    import os, time
    child = os.fork()
    while child == 0:
        time.sleep(1)
    open({str(pid)!r}, 'w').write(str(child))
    os.kill(os.getpid(), 9)"""

    with pytest.raises(MasonError, match="it was killed"):
        ask(runner, orders, code_of(body))

    _wait_for(lambda: _is_gone(int(pid.read_text())))


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_line_without_an_end_takes_no_memory_of_masons(
    runner: LocalRunner, orders: SqlTable, caplog: pytest.LogCaptureFixture
) -> None:
    body = """\
    import sys
    for _ in range(64):
        sys.stdout.write('x' * 1_000_000)
    return inputs["orders"].select("id")"""
    with caplog.at_level("INFO", logger="mason.operator"):
        assert len(ask(runner, orders, code_of(body))) == 3

    (said,) = [
        each.getMessage() for each in caplog.records if each.name == "mason.operator" and "xxx" in each.msg % each.args
    ]
    assert len(said) <= 10_000


def test_three_thousand_columns_are_planned(runner: LocalRunner, orders: SqlTable) -> None:
    body = "return inputs['orders'].select(*[F.lit(n).alias(f'c{n}') for n in range(3000)])"
    query = SqlQuery(statement="", tables=[orders], code=code_of(body), analyses=True)

    assert len(fetch_rows(runner, query).schema) == 3000


def test_a_class_that_hangs_ends_when_its_job_is_given_up(
    runner: LocalRunner, orders: SqlTable, tmp_path: Path
) -> None:
    body = (
        f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\nwhile True:\n    time.sleep(1)"
    )
    events = runner.query(SqlQuery(statement="", tables=[orders], code=code_of(body)).to_bytes())

    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        next(events)
    events.close()  # type: ignore[attr-defined]

    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_what_is_printed_goes_to_the_log_and_stdout_stays_json(spark_shop: Shop) -> None:
    spark_shop.register(spark_shop.write_code("loud", "print('{ not JSON')\nreturn inputs['orders']"))

    result = spark_shop.run("loud")

    assert result.exit_code == 0, result.stderr
    record = result.json["Data"][0]
    assert any("{ not JSON" in line for line in record["Log"])
    assert record["RowsOut"] == 3


def test_a_frame_that_fails_in_the_middle_leaves_the_old_table_and_nothing_staged(spark_shop: Shop) -> None:
    body = """\
def check(number):
    if number == 2 and {fails}:
        raise ValueError('no twos')
    return number
return inputs['orders'].repartition(3).withColumn('order_id', F.udf(check, 'bigint')('order_id'))"""
    spark_shop.register(spark_shop.write_code("picky", body.format(fails=False)))
    spark_shop.made("picky")
    spark_shop.register(spark_shop.write_code("picky", body.format(fails=True)))

    error = spark_shop.failed("picky")

    assert error == "operators/orders/picky/__init__.py:10: orders:picky failed in its own code: ValueError: no twos"
    assert [row["order_id"] for row in spark_shop.rows()] == [1, 2, 3]
    assert spark_shop.leftovers() == []


def test_a_plan_calls_the_class_on_tables_without_rows_and_tells_the_columns(spark_shop: Shop) -> None:
    spark_shop.register(
        spark_shop.write_code(
            "plan", "return inputs['orders'].groupBy('customer_id').agg(F.sum('amount').alias('total'))"
        )
    )
    plan = spark_shop.run("plan", GIVEN, "--plan").json["Data"][1]
    assert [each["Name"] for each in plan["Columns"]] == ["customer_id", "total"]

    spark_shop.register(spark_shop.write_code("plan", "inputs['orders'].first().day\nreturn inputs['orders']"))
    told = spark_shop.run("plan", GIVEN, "--plan").json

    assert told["Errors"] == []
    assert (
        "operators/orders/plan/__init__.py:8: orders:plan failed in its own code" in told["Data"][1]["ColumnsUnknown"]
    )
    assert told["Warnings"][0].startswith("The columns of the result are not known before the run")
    assert not (spark_shop.folder / "out").exists()


def test_packages_that_are_missing_where_the_code_runs_are_named(spark_shop: Shop) -> None:
    more = "packages:\n  - pyarrow>=1\n  - no-such-package>=2\n  - pyspark>=99\n"
    spark_shop.register(spark_shop.write_code("needy", "return inputs['orders']", more))

    error = spark_shop.failed("needy")

    assert "orders:needy needs packages that the Python of the tasks" in error
    assert "no-such-package>=2, pyspark>=99 (" in error
    assert "pyarrow" not in error.partition("Install")[0]


def test_of_two_runs_into_one_table_at_once_one_is_published_whole(spark_shop: Shop) -> None:
    spark_shop.register(spark_shop.write_code("race", "return inputs['orders']"))
    ended: list[Any] = []

    def run() -> None:
        ended.append(spark_shop.run("race"))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    lost = [each for each in ended if each.exit_code]
    assert len(lost) < 2
    assert all("was changed by another job" in each.json["Errors"][0] for each in lost)
    assert len(spark_shop.rows()) == 3


def test_the_process_of_a_class_ends_with_the_command_that_was_killed(spark_shop: Shop, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    body = f"import os, time\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\nwhile True:\n    time.sleep(1)"
    spark_shop.register(spark_shop.write_code("slow", body))
    command = spark_shop.mason.start("operator", "orders", "slow", "-p", GIVEN)
    _wait_for(lambda: pid.exists() and pid.read_text() != "")

    command.send_signal(signal.SIGKILL)
    command.communicate()

    _wait_for(lambda: not Path(f"/proc/{pid.read_text()}").exists())
    assert not (spark_shop.folder / "out/made").exists()


def _wait_for(condition: Any) -> None:
    from tests.spark.conftest import eventually

    eventually(condition, 90)
