"""Statements that try to get out of their tables: known tricks, put together at random and then bent a little."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

TABLES = {"orders": ("id", "name", "tags"), "people": ("id", "user")}

# What would read a file, open a connection, start a program, or tell of the machine.
_REACHES = (
    "reflect('java.lang.System', 'getenv', 'CANARY')",
    "java_method('java.lang.Runtime', 'getRuntime')",
    "try_reflect('java.lang.System', 'getProperty', 'user.dir')",
    "builtin.reflect('java.lang.System', 'getenv')",
    "`reflect`('java.lang.System', 'getenv', 'CANARY')",
    "from_xml('<a>1</a>', 'a int', map('rowValidationXSDPath', '{file}'))",
    "from_xml('<a>1</a>', 'a int', map('rowValidationXSDPath', 'http://127.0.0.1:{port}/x'))",
    "from_avro(X'00', '\"int\"', map('avroSchemaUrl', 'file://{file}'))",
    "from_protobuf(X'00', 'A', '{file}')",
    "schema_of_xml('<a/>', map('rowValidationXSDPath', '{file}'))",
    "xpath_string('<!DOCTYPE a [<!ENTITY x SYSTEM \"file://{file}\">]><a>&x;</a>', 'a')",
    "input_file_name()",
    "current_user",
    "user",
    "session_user()",
    "version()",
    "'${{env:CANARY}}'",
    "'${{system:user.dir}}'",
    "${{spark:spark.app.name}}",
    "@canary",
    "@@canary",
    "$1",
    "identifier('{file}')",
    "read_text('{file}')",
    "getenv('CANARY')",
    "system('touch {file}')",
    "hll_sketch_estimate(X'ffffffffffffffff')",
    "{{fn user()}}",
    "load_file('{file}')",
    "(select value from text.`{file}` limit 1)",
)
_PLACES = (
    "text.`{file}`",
    "csv.`{file}`",
    "json.`file://{file}`",
    "parquet.`{file}`",
    "binaryFile.`{file}`",
    "jdbc.`{file}`",
    "`{file}`",
    "'{file}'",
    "read_csv('{file}')",
    "read_files('{file}')",
    "glob('{file}')",
    "python_worker_logs()",
    "sql_keywords()",
    "identifier('text.`{file}`')",
    "spark_catalog.text.`{file}`",
    "orders timestamp as of '2026-01-01'",
    "orders version as of 1",
    "stream(orders)",
    "table(text('{file}'))",
    "orders tablesample (reflect('a','b') rows)",
    "(select transform(id) using 'id' as (x string) from orders)",
    "orders lateral view explode(tags) `e where reflect(1,2) -- ` as tag",
    "orders lateral view reflect('a', 'b') e as tag",
    "orders /*+ foo(`x */ union select reflect(1,2) -- `) */",
)
_HARMLESS = (
    "id",
    "name",
    "upper(name)",
    "'${{env:CANARY}}'",
    "'it''s -- no comment'",
    "'/* none */'",
    "'\\'; drop table orders; --'",
    "\"reflect('a','b')\"",
    "r'\\${{system:x}}'",
    "concat(name, '`', '{file}')",
    "size(tags)",
    "cast(id as string) || ' using ''id'''",
    "transform(tags, x -> x || 'transform(x) using ''id''')",
    "element_at(tags, 1)",
    "regexp_replace(name, '(.)', '$1$1')",
    "from_json('{{\"a\":1}}', 'a int').a",
    "get_json_object('{{\"a\":\"file://{file}\"}}', '$.a')",
    "parse_url('http://127.0.0.1:{port}/x', 'HOST')",
    "date_format(timestamp'2026-01-01 00:00:00', 'yyyy')",
    "interval 1 day 2 hours",
    "named_struct('text', '{file}').text",
    "decode(encode(name, 'utf-8'), 'utf-8')",
    "sha2(name, 256)",
    "case when id > 1 then '{file}' end",
    "count(*) over (partition by name)",
    "-id + 1.5D",
)
_NAMES = ("x", "`a b`", "`${{env:CANARY}}`", "`text.{file}`", "`-- x`", "`/* x`", "`a``b`", "`reflect('a')`")
_COMMENTS = (
    *("", "", "", " -- {file}\n", " /* ${{env:CANARY}} */ ", " /* /* nested */ */ ", " -- a \\\n"),
    "/*+ broadcast(orders) */",
)
_BEHIND = (
    "",
    "",
    "",
    " where id = 1",
    " where 1=0 -- ${{system:line.separator}} union all select {reach} from orders",
    " limit 1",
    "; select {reach}",
    "; set spark.sql.variable.substitute=true",
    " union all select {reach} from orders",
    " union all select '{file}' from orders",
    " where name = '\\' or {reach} --'",
    ' where name = "\\" or {reach} --"',
    " qualify {reach} = 1",
    " into outfile '{file}'",
    " for update",
    " order by {reach}",
    " group by all",
    " having {reach} is null",
)
_OTHERS = (
    "insert into orders select * from orders",
    "create table x using csv location '{file}' as select 1",
    "create temporary function f as 'java.lang.Runtime' using jar '{file}'",
    "add jar '{file}'",
    "set spark.sql.runSQLOnFiles=true",
    "execute immediate 'select {reach}'",
    "declare canary = {reach}",
    "from orders insert overwrite directory '{file}' select *",
    "explain select 1",
    "describe orders",
    "show tables",
    "cache table orders",
    "begin select 1; end",
    "call sys.x()",
    "from orders |> select {reach}",
    "table orders",
    "values ({reach})",
)
_WRAPPERS = (
    "{}",
    "{}",
    "{}",
    "select * from ({}) as q",
    "with text as ({}) select * from text",
    "with q as ({}) select count(*) as n from q",
    "({})",
    "select exists ({}) as e",
)
_BENT = "'\"`\\;-/*${}()[],.:@?\n\t\r\u00a0\u2028\x00 "


def attacks(count: int, seed: int, file: str, port: int) -> Iterator[str]:
    """Yield so many statements; the same ones for the same seed. `file` and `port` are what they try to reach."""
    chance = random.Random(seed)
    for _ in range(count):
        yield _bend(chance, _statement(chance, file, port))


def _statement(chance: random.Random, file: str, port: int) -> str:
    def filled(text: str) -> str:
        reach = chance.choice(_REACHES).format(file=file, port=port)
        return text.format(file=file, port=port, reach=reach)

    if chance.random() < 0.06:
        return filled(chance.choice(_OTHERS))
    hostile = chance.random() < 0.6
    values = [_value(chance, hostile) for _ in range(chance.randint(1, 3))]
    place = (
        chance.choice(_PLACES) if hostile and chance.random() < 0.3 else chance.choice(("orders", "orders", "people"))
    )
    columns = ", ".join(f"{value} as {_name(chance, number)}" for number, value in enumerate(values))
    behind = chance.choice(_BEHIND) if hostile else chance.choice(_BEHIND[:4])
    text = f"select{chance.choice(_COMMENTS)} {columns}{chance.choice(_COMMENTS)} from {place}{behind}"
    return chance.choice(_WRAPPERS).replace("{}", filled(text))


def _value(chance: random.Random, hostile: bool) -> str:
    if hostile and chance.random() < 0.4:
        return chance.choice(_REACHES)
    return chance.choice(_HARMLESS)


def _name(chance: random.Random, number: int) -> str:
    return chance.choice(_NAMES).replace("x", f"x{number}") if chance.random() < 0.5 else f"c{number}"


def _bend(chance: random.Random, text: str) -> str:
    """Most are left as they are: what is bent at random is mostly no SQL."""
    for _ in range(chance.choice((0, 0, 0, 0, 1, 2))):
        place = chance.randrange(len(text) + 1)
        what = chance.random()
        if what < 0.5:
            text = text[:place] + chance.choice(_BENT) + text[place:]
        elif what < 0.8:
            text = text[:place] + text[place + chance.randint(1, 4) :]
        else:
            text = text.swapcase()
    return text


def passing(statements: Sequence[str]) -> list[str]:
    """Return the statements that the checks let through, those that are alike but once."""
    import pyarrow as pa

    from mason.errors import MasonError
    from mason.pipeline.sql.rendering import render_for_spark
    from mason.pipeline.sql.statement import check_columns, parse_statement

    kinds = {"id": pa.int64(), "tags": pa.list_(pa.string())}
    schemas = {
        table: pa.schema([(name, kinds.get(name, pa.string())) for name in names]) for table, names in TABLES.items()
    }
    found: dict[str, None] = {}
    for text in statements:
        try:
            statement = parse_statement(text)
            if any(each.database or each.name.casefold() not in schemas for each in statement.tables):
                continue
            check_columns(statement, schemas)
            render_for_spark(text)
        except MasonError:
            continue
        found[text] = None
    return list(found)
