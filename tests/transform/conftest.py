"""A small shop with orders and customers, and operators of one's own over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import Sparks, configuration
from tests.conftest import Mason, Result, write

TABLES = """\
parameters:
  required:
    - {name: orders, type: table, access: read}
    - {name: customers, type: table, access: read}
    - {name: output, type: table, access: write}
"""
OPTIONAL = """\
  optional:
    - {name: since, type: date}
    - {name: country, type: string}
"""
CLASS = """\
from pyspark.sql import functions as F

from mason.operators.spark_operator import SparkOperator


class Orders{command}(SparkOperator):
    def transform(self, spark, inputs, parameters):
{body}
"""
FILES = {
    "shop/orders.csv": "order_id,customer_id,day,amount\n1,7,2026-01-01,10.5\n2,8,2026-01-03,3\n3,7,2026-02-01,1\n",
    "shop/customers.csv": "customer_id,country\n7,NL\n8,DE\n",
}
GIVEN = "orders:shop.orders,customers:shop.customers,output:out/made"


@dataclass(frozen=True)
class Shop:
    """Writes operators, registers them and runs them."""

    mason: Mason

    @property
    def folder(self) -> Path:
        return self.mason.folder

    def write_sql(self, command: str, statement: str, more: str = "") -> Path:
        """Write an operator of a statement, and return its folder."""
        yaml = f"type: operator\nnamespace: orders\ncommand: {command}\n{TABLES}{OPTIONAL}{more}"
        files = {"operator.yaml": yaml, "transform.sql": statement}
        return write(self.folder / "operators" / "orders" / command, files)

    def write_code(self, command: str, body: str, more: str = "", files: Mapping[str, str] | None = None) -> Path:
        """Write an operator of a class whose `transform` has a body, and return its folder."""
        yaml = f"type: operator\nnamespace: orders\ncommand: {command}\n{TABLES}{OPTIONAL}{more}"
        lines = "\n".join(f"        {line}" for line in body.splitlines())
        code = CLASS.format(command=command.capitalize(), body=lines)
        written = {"operator.yaml": yaml, "__init__.py": code, **(files or {})}
        return write(self.folder / "operators" / "orders" / command, written)

    def register(self, folder: Path) -> Result:
        """Register an operator, in the place of another where there is one."""
        return self.mason("register", "-f", str(folder.relative_to(self.folder)))

    def run(self, command: str, parameters: str = GIVEN, *flags: str) -> Result:
        """Run an operator."""
        return self.mason("operator", "orders", command, "-p", parameters, *flags)

    def made(self, command: str, parameters: str = GIVEN) -> dict[str, Any]:
        """Run an operator that must succeed, and return what its record says."""
        result = self.run(command, parameters)
        assert result.exit_code == 0, result.stderr
        record: dict[str, Any] = result.json["Data"][0]
        return record

    def failed(self, command: str, parameters: str = GIVEN) -> str:
        """Run an operator that must fail, and return its one error."""
        result = self.run(command, parameters)
        assert result.exit_code == 1, result.stdout
        (error,) = result.json["Errors"]
        return str(error)

    def rows(self, path: str = "out/made") -> list[dict[str, Any]]:
        """Return the rows of a table, in the order of their first column."""
        import pyarrow.parquet as pq

        from mason.engines.storage.models.location import Location
        from mason.pipeline.tables.commit import open_table

        commit = open_table(Location(str(self.folder / path))).current()
        assert commit
        rows = [row for each in commit.files for row in self._rows_of(pq, path, each.path)]
        return sorted(rows, key=lambda row: str(next(iter(row.values()))))

    def _rows_of(self, pq: Any, path: str, file: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = pq.ParquetFile(self.folder / path / file).read().to_pylist()
        folders = dict(part.split("=", 1) for part in file.split("/")[:-1])
        return [{**row, **folders} for row in rows]

    def leftovers(self) -> list[str]:
        """What lies in the folder of the tables and is neither a table nor Mason's record of one."""
        return [each.name for each in (self.folder / "out").glob(".mason/staging*/*")]


@pytest.fixture
def shop(mason: Mason) -> Shop:
    """The shop, with the engine that needs no Spark."""
    return open_shop(mason, configuration({}))


@pytest.fixture
def spark_shop(mason: Mason, sparks: Sparks) -> Shop:
    """The shop on the warm Spark that these tests share."""
    mason.variables["XDG_RUNTIME_DIR"] = str(sparks.runtime)
    return open_shop(mason, configuration(sparks.runners["warm"]))


def open_shop(mason: Mason, text: str, files: Mapping[str, str] | None = None) -> Shop:
    """Return a shop whose jobs run by a configuration, which is the current one from now on."""
    write(mason.folder, {**(FILES if files is None else files), "one.yaml": text})
    assert mason("config", "one.yaml").exit_code == 0
    assert mason("config", "-s", yaml.safe_load(text).get("id", "one")).exit_code == 0
    return Shop(mason)
