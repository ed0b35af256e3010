"""Operators of a `transform.sql` and nothing else: checked when they are registered, planned, run, published."""

from __future__ import annotations

import pytest

from tests.cli.support import registered
from tests.cluster import configuration
from tests.conftest import EXAMPLES, write
from tests.transform.conftest import GIVEN, Shop

ENRICHED = """\
SELECT o.order_id, o.day, c.country
FROM orders o LEFT JOIN customers c USING (customer_id)
WHERE (:since IS NULL OR o.day >= :since) AND (:country IS NULL OR c.country = :country)
"""
CHECKS = "checks:\n  - not_null order_id\n  - unique order_id\n"


@pytest.fixture
def enriching(shop: Shop) -> Shop:
    assert shop.register(shop.write_sql("enrich", ENRICHED, CHECKS)).exit_code == 0
    return shop


def test_a_statement_makes_a_table_of_those_that_its_operator_declares(enriching: Shop) -> None:
    record = enriching.made("enrich")

    assert [row["country"] for row in enriching.rows()] == ["NL", "DE", "NL"]
    assert (record["JobType"], record["RowsRead"], record["RowsIn"], record["RowsOut"]) == ("transform", 5, 3, 3)
    assert [each["Status"] for each in record["Checks"]] == ["passed", "passed"]
    assert record["Inputs"]["tables"] == {
        name: str(enriching.folder / f"shop/{name}.csv") for name in ("orders", "customers")
    }


def test_parameters_of_a_statement_are_bound_with_their_types(enriching: Shop) -> None:
    enriching.made("enrich", f"{GIVEN},since:2026-01-02")

    assert [row["order_id"] for row in enriching.rows()] == [2, 3]


def test_a_parameter_that_looks_like_sql_is_a_value_and_nothing_else(enriching: Shop) -> None:
    enriching.made("enrich")
    attack = "NL' OR '1'='1"

    record = enriching.made("enrich", f'{GIVEN},country:"{attack}",allow_empty:true')

    assert record["RowsOut"] == 0


def test_what_is_wrong_with_a_statement_is_told_all_at_once_with_line_and_column(shop: Shop) -> None:
    folder = shop.write_sql("enrich", "SELECT *\nFROM ordes\nWHERE day > :sinc\n")

    told = shop.register(folder).stderr

    assert 'transform.sql:2:6: operator.yaml declares no table "ordes" that is read. Did you mean "orders"?' in told
    assert 'transform.sql:3:13: operator.yaml declares no parameter "sinc". Did you mean "since"?' in told
    assert "Nothing was registered." in told


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DROP TABLE orders", "transform.sql:1:1: A query reads, and this statement does something else."),
        ("CREATE TABLE x AS SELECT 1", "transform.sql:1:1: A query reads, and this statement does something else."),
        ("INSERT INTO orders SELECT 1", "transform.sql:1:1: A query reads, and this statement does something else."),
        ("SELECT 1 AS a;\nSELECT 2 AS b", "transform.sql:2:1: A query is one statement, and here begins another."),
        ("SELECT 'a", "transform.sql:1:8: The query cannot be understood: a quote or a comment is opened"),
        ("SELECT * FROM shop.orders", '"shop.orders" is not a parameter'),
    ],
)
def test_a_statement_that_does_not_read_its_tables_once_is_refused_when_it_is_registered(
    shop: Shop, statement: str, said: str
) -> None:
    told = shop.register(shop.write_sql("enrich", statement))

    assert told.exit_code == 1
    assert said in told.stderr


def test_columns_that_no_table_has_are_told_all_at_once_before_anything_runs(shop: Shop) -> None:
    shop.register(shop.write_sql("enrich", "SELECT o.contry,\n  amuont\nFROM orders o, customers c"))

    result = shop.run("enrich")

    first, second = result.json["Errors"]
    assert first.startswith(
        'operators/orders/enrich/transform.sql:2:3: There is no column "amuont". Did you mean "amount"?'
    )
    assert second.startswith('operators/orders/enrich/transform.sql:1:10: o has no column "contry".')
    assert not (shop.folder / "out").exists()


def test_a_plan_tells_the_columns_and_what_changes_and_writes_nothing(enriching: Shop) -> None:
    enriching.made("enrich")
    enriching.register(enriching.write_sql("enrich", "SELECT order_id, cast(amount AS double) AS amount FROM orders"))

    plan = enriching.run("enrich", GIVEN, "--plan").json["Data"][1]

    assert plan["Columns"] == [{"Name": "order_id", "Type": "int64"}, {"Name": "amount", "Type": "double"}]
    assert plan["SchemaChanges"] == ["amount double added", "day date32[day] removed", "country string removed"]
    assert [each["Name"] for each in plan["Tables"]] == ["orders"]
    assert list(enriching.rows()[0]) == ["order_id", "day", "country"]


def test_a_check_that_blocks_leaves_the_old_table_and_keeps_the_rows_that_fail(enriching: Shop) -> None:
    enriching.made("enrich")
    before = enriching.rows()
    doubled = "SELECT order_id, day, country FROM orders, customers"
    enriching.register(enriching.write_sql("enrich", doubled, CHECKS))

    result = enriching.run("enrich", f"{GIVEN},failures_path:failed,checks:not_null country on_failure=warn")

    assert result.exit_code == 1
    assert result.json["Errors"] == ["unique order_id: 6 of 6 rows fail, such as order_id 1."]
    assert enriching.rows() == before
    record = result.json["Data"][0]
    assert [each["Status"] for each in record["Checks"]] == ["passed", "failed", "passed"]
    assert len(record["Checks"][1]["Samples"]) == 6
    assert len(enriching.rows("failed")) == 6
    assert "Commit" not in record


def test_no_rows_replace_those_of_a_table_only_if_that_is_said_to_be_right(enriching: Shop) -> None:
    enriching.made("enrich")

    error = enriching.failed("enrich", f"{GIVEN},since:2030-01-01")

    assert error == (
        f"orders:enrich made no rows, and {enriching.folder}/out/made has 3, which would be gone. "
        "Say allow_empty:true if that is right."
    )
    assert len(enriching.rows()) == 3
    enriching.made("enrich", f"{GIVEN},since:2030-01-01,allow_empty:true")
    assert enriching.rows() == []


def test_rows_are_added_or_replace_the_partitions_that_they_are_of(enriching: Shop) -> None:
    divided = f"{GIVEN},partition_by:country"
    enriching.made("enrich", divided)

    enriching.made("enrich", f"{divided},mode:append,country:DE")
    assert [row["country"] for row in enriching.rows()] == ["NL", "DE", "DE", "NL"]

    enriching.made("enrich", f"{divided},mode:replace_partitions,country:DE")
    assert [row["country"] for row in enriching.rows()] == ["NL", "DE", "NL"]


def test_rows_with_other_columns_are_not_added_to_a_table(enriching: Shop) -> None:
    enriching.made("enrich")
    enriching.register(enriching.write_sql("enrich", "SELECT order_id, day FROM orders"))

    error = enriching.failed("enrich", f"{GIVEN},mode:append")

    assert "has other columns than the rows that are to be added: country string removed." in error
    assert len(enriching.rows()) == 3


def test_a_table_is_written_into_its_database_and_known_there(enriching: Shop) -> None:
    enriching.made("enrich", "orders:shop.orders,customers:shop/customers.csv,output:shop.enriched")

    assert len(enriching.rows("shop/enriched")) == 3
    enriching.mason.register_examples()
    found = enriching.mason("operator", "table", "get", "-p", "database_name:shop,table_name:enriched")
    assert found.exit_code == 0, found.stderr


def test_a_former_version_of_a_table_is_read_by_its_number(enriching: Shop) -> None:
    enriching.made("enrich")
    enriching.made("enrich", f"{GIVEN},country:DE")
    enriching.register(enriching.write_sql("count", "SELECT count(*) AS orders FROM orders"))
    of = "orders:out/made{},customers:shop.customers,output:out/count"

    enriching.made("count", of.format(" VERSION AS OF 1"))
    assert enriching.rows("out/count") == [{"orders": 3}]
    enriching.made("count", of.format(""))
    assert enriching.rows("out/count") == [{"orders": 1}]
    assert 'Version "9" not found' in enriching.failed("count", of.format(" VERSION AS OF 9"))


def test_an_input_that_is_the_output_is_refused(enriching: Shop) -> None:
    enriching.made("enrich")

    error = enriching.failed("enrich", "orders:out/made,customers:shop.customers,output:out/made")

    assert error == (
        f'The table that is written, {enriching.folder}/out/made, is the one that is read as "orders". '
        "Give the output a place of its own."
    )


@pytest.mark.parametrize("failures", ["keys", "keys/below", "out/made", "shop/orders.csv"])
def test_rows_that_fail_replace_no_table_that_is_read_or_written(enriching: Shop, failures: str) -> None:
    write(enriching.folder, {"keys/keys.csv": "order_id\n1\n"})
    enriching.mason("operator", "table", "merge", "-p", "input_path:keys,output_path:keys")

    said = enriching.failed("enrich", f"{GIVEN},failures_path:{failures},checks:foreign_key order_id references=keys")

    assert said.startswith("failures_path: ") and "would replace rows that are read, or the table" in said
    assert (enriching.folder / "keys").is_dir() and not (enriching.folder / "out/made").exists()


@pytest.mark.parametrize(
    ("column", "check", "said"),
    [
        ("failed_checks", "not_null country", 'The table has a column "failed_checks" already'),
        ("_mason_file", "unique order_id", "is called as one that Mason adds"),
    ],
)
def test_a_column_called_as_one_of_a_checks_own_is_refused_before_the_checks_run(
    enriching: Shop, column: str, check: str, said: str
) -> None:
    statement = f"SELECT order_id, country, 1 AS {column} FROM orders JOIN customers USING (customer_id)"
    enriching.register(enriching.write_sql("enrich", statement))

    assert said in enriching.failed("enrich", f"{GIVEN},failures_path:failed,checks:{check}")
    assert not (enriching.folder / "failed").exists() and enriching.leftovers() == []


def test_parameters_that_mason_takes_care_of_are_checked(enriching: Shop) -> None:
    assert enriching.failed("enrich", f"{GIVEN},mode:upsert,keys:order_id").startswith("mode: upsert is not there yet")
    assert enriching.failed("enrich", f"{GIVEN},mode:replace_partitions").startswith(
        "mode: replace_partitions needs partition_by"
    )
    assert "must be one of replace, append, replace_partitions, upsert" in enriching.failed("enrich", f"{GIVEN},mode:x")
    assert 'must be a table, as database.table or as a path with a "/" in it, not "orders"' in enriching.failed(
        "enrich", "orders:orders,customers:shop.customers,output:out/made"
    )


@pytest.mark.parametrize(
    ("yaml", "said"),
    [
        ("  required: [{name: orders, type: table}]\n", "needs one table to write"),
        (
            "  required: [{name: a, type: table, access: write}, {name: b, type: table, access: write}]\n",
            "can write one",
        ),
        (
            "  required: [{name: a, type: table, access: write}, mode]\n",
            '"mode" is a parameter that every operator has',
        ),
        ("  required: [{name: a, type: table, access: write}, {name: b, access: read}]\n", "only a table is read"),
        ("  required: [{name: a, type: table, access: write}]\nchecks: [not_nul a]\n", 'there is no check "not_nul"'),
        ("  required: [{name: a, type: table, access: write}]\npackages: ['!!']\n", '"!!" is not a requirement'),
    ],
)
def test_a_definition_that_cannot_be_a_transformation_is_refused_with_its_line(
    shop: Shop, yaml: str, said: str
) -> None:
    text = f"type: operator\nnamespace: orders\ncommand: odd\nparameters:\n{yaml}"
    folder = write(shop.folder / "operators/orders/odd", {"operator.yaml": text, "transform.sql": "SELECT 1 AS a"})

    told = shop.register(folder)

    assert told.exit_code == 1
    assert "operator.yaml:" in told.stderr
    assert said in told.stderr


def test_a_class_and_a_statement_in_one_folder_are_refused(shop: Shop) -> None:
    folder = shop.write_code("both", "return inputs['orders']", files={"transform.sql": "SELECT * FROM orders"})

    assert "stands beside a class in __init__.py" in shop.register(folder).stderr


def test_a_written_table_needs_an_operator_that_makes_rows(shop: Shop) -> None:
    folder = shop.write_sql("plain", "SELECT 1 AS a")
    (folder / "transform.sql").unlink()
    code = "from mason.operators.operator_definition import DataOperator\n\n\nclass OrdersPlain(DataOperator):\n"
    write(folder, {"__init__.py": f"{code}    def job(self, config, parameters):\n        ...\n"})

    assert "needs a transform.sql or a SparkOperator" in shop.register(folder).stderr


def test_a_file_of_the_folder_that_is_imported_as_if_it_were_a_package_is_refused(shop: Shop) -> None:
    files = {"rules.py": "LIMIT = 5\n"}
    folder = shop.write_code("big", "import rules\nreturn inputs['orders']", files=files)

    assert "rules: is a file of this folder. Write: from . import rules" in shop.register(folder).stderr


def test_dataframes_need_spark_and_the_message_says_so(shop: Shop) -> None:
    shop.register(shop.write_code("big", "return inputs['orders']"))

    assert "It accepts execution: spark." in shop.failed("big")


def test_a_statement_of_an_author_may_call_what_no_caller_may(enriching: Shop) -> None:
    folder = enriching.write_sql("stamp", "SELECT order_id, version() AS made_by FROM orders")

    assert enriching.register(folder).exit_code == 0
    # This engine refuses by name what only Spark can answer; a caller's query would have been refused before.
    assert "stamp/transform.sql:1:18: The local engine cannot guarantee Spark's result" in enriching.failed("stamp")


def test_a_folder_is_run_as_it_is_without_being_registered(shop: Shop) -> None:
    shop.write_sql("enrich", ENRICHED, CHECKS)

    def run(*flags: str) -> list[str]:
        result = shop.mason("operator", "./operators/orders/enrich", "-p", GIVEN, *flags)
        return [*result.json["Errors"], *result.json["Info"]]

    assert run() == [f"3 rows: {shop.folder}/out/made. 2 checks of 3 rows: 2 passed."]
    shop.write_sql("enrich", "SELECT order_id FROM orders WHERE amount > 2", CHECKS)
    assert run() == [f"2 rows: {shop.folder}/out/made. 2 checks of 2 rows: 2 passed."]
    assert "Available" not in shop.mason("operator").stdout  # nothing was registered
    shop.write_sql("enrich", "SELECT order_id FROM ordes", CHECKS)
    assert 'transform.sql:1:22: operator.yaml declares no table "ordes"' in run()[0]


TESTED = """\
name: Orders get the country of their customer
given:
  files:
    in/orders.csv: |
      order_id,customer_id,day,amount
      1,7,2026-01-01,5
      2,9,2026-01-02,6
    in/customers.jsonl:
      - {customer_id: 7, country: NL}
parameters: {orders: in/orders.csv, customers: in/customers.jsonl, output: out/made, since: 2026-01-02}
expect:
  table: out/made
  rows:
    - {order_id: 2, day: 2026-01-02}
  schema: {order_id: int64, day: date, country: string}
  data: {RowsOut: 1, Checks: [{Status: passed}, {Status: passed}]}
"""
FAILING = """\
name: An order that is there twice is not published
given:
  files:
    in/orders.csv: "order_id,customer_id,day,amount\\n1,7,2026-01-01,5\\n1,9,2026-01-02,6\\n"
    in/customers.csv: "customer_id,country\\n7,NL\\n"
parameters: {orders: in/orders.csv, customers: in/customers.csv, output: out/made}
expect:
  errors: ["unique order_id: 2 of 2 rows fail"]
"""


def test_tests_of_a_statement_give_tables_and_expect_rows_columns_and_failed_checks(shop: Shop) -> None:
    folder = shop.write_sql("enrich", ENRICHED, CHECKS)
    write(folder, {"tests/enriches.yaml": TESTED, "tests/refuses.yaml": FAILING})

    result = shop.mason("test", "operators", "--on", "local")

    assert result.exit_code == 0, result.stderr
    assert "1 operator, 2 tests on local: all passed." in result.stderr


def test_a_test_that_no_configuration_could_run_has_failed(shop: Shop) -> None:
    folder = shop.write_sql("stamp", "SELECT order_id, version() AS made_by FROM orders")
    write(folder, {"tests/enriches.yaml": TESTED})

    result = shop.mason("test", "operators", "--on", "local")

    assert result.exit_code == 1
    assert "The local engine cannot guarantee Spark's result" in result.stderr


def test_a_workflow_plans_runs_and_resumes_a_transformation_as_any_other_step(enriching: Shop) -> None:
    mason = registered(enriching.mason, EXAMPLES / "operators")
    steps = "dag:\n  - {id: merge, type: operator, namespace: table, command: merge}\n"
    steps += "  - {id: enrich, type: operator, namespace: orders, command: enrich, dependencies: [merge]}\n"
    given = "merge: {parameters: {input_path: shop/orders.csv, output_path: made/orders}}\n"
    given += "enrich: {parameters: {orders: made/orders, customers: shop.customers, output: made/enriched}}\n"
    write(
        enriching.folder,
        {
            "night/workflow.yaml": f"type: workflow\nnamespace: shop\ncommand: night\n{steps}",
            "given.yaml": given,
            "here.yaml": f"id: here\nscheduler_engine: local\n{configuration({})}",
        },
    )
    for arguments in (("config", "here.yaml"), ("config", "-s", "here"), ("register", "night")):
        assert mason(*arguments).exit_code == 0

    plan = mason("workflow", "shop", "night", "-f", "given.yaml")
    run = mason("workflow", "shop", "night", "-f", "given.yaml", "-r")
    again = mason("workflow", "--resume", run.json["Data"][0]["RunID"])

    assert 'enrich: It is planned when "merge" has made what it reads.' in plan.stderr
    assert run.exit_code == 0, run.stderr
    assert len(enriching.rows("made/enriched")) == 3
    assert "enrich: reused from run" in again.stderr
