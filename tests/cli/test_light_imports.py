"""Nothing heavy is imported before it is used."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.conftest import PROJECT, Mason, write
from tests.transform.conftest import Shop

HEAVY = ("pyspark", "rich", "pyarrow", "pandas", "boto3", "flask", "numpy", "openlineage", "httpx")


class TestHeavyImports:
    def _imported(self, mason: Mason, *arguments: str) -> list[str]:
        """Run a command and return which of the heavy packages it imported."""
        told = mason.folder.parent / "modules.json"
        told.unlink(missing_ok=True)
        tell = f"json.dump(list(sys.modules), open({str(told)!r}, 'w'))"
        script = f"import atexit, json, sys\natexit.register(lambda: {tell})\n"
        watch = write(mason.folder.parent / "watch", {"sitecustomize.py": script})
        path = f"{watch}{os.pathsep}{PROJECT}"
        result = mason(*arguments, variables={"PYTHONPATH": path})
        assert result.exit_code == 0, result.stdout + result.stderr
        modules = json.loads(told.read_text())
        assert "mason.cli.main" in modules
        return [name for name in HEAVY if name in modules]

    def test_what_need_not_be_heavy_is_light(self, mason: Mason) -> None:
        for arguments in (
            ["--help"],
            ["--version"],
            ["register", "mason/examples/operators"],
            ["config", "mason/examples/configs"],
            ["config"],
            ["config", "-s", "3"],
            ["operator"],
            ["operator", "table"],
            ["operator", "table", "get", "--help"],
            ["operator", "table", "get", "--json-schema"],
            ["workflow"],
            ["registry", "history", "table:get"],
            ["completion", "bash"],
        ):
            assert self._imported(mason, *arguments) == [], arguments

    def test_an_operator_over_dataframes_is_registered_and_listed_without_spark(self, mason: Mason) -> None:
        folder = Shop(mason).write_code("big", "return inputs['orders']")

        for arguments in (["register", str(folder)], ["operator", "orders", "big", "--help"]):
            assert self._imported(mason, *arguments) == [], arguments

    def test_the_check_sees_a_heavy_import_where_there_is_one(self, mason: Mason) -> None:
        mason.register_examples()
        write(mason.folder, {"shop/orders.csv": "id\n1\n"})

        imported = self._imported(mason, "operator", "table", "get", "-p", "database_name:shop,table_name:orders")

        assert "pyarrow" in imported
        assert "pyspark" not in imported
        assert "openlineage" not in imported

    def test_a_preview_needs_neither_spark_nor_pandas(self, mason: Mason) -> None:
        mason.register_examples()
        csv, lines = "id,at\n1,2026-01-01\n", '{"id": 1, "tags": ["a"]}\n'
        write(mason.folder, {"orders.csv": csv, "orders.jsonl": lines})

        for file in ("orders.csv", "orders.jsonl"):
            imported = self._imported(mason, "operator", "table", "preview", "-p", f"path:{file}")
            assert imported == ["pyarrow", "numpy"]


def test_importing_mason_imports_next_to_nothing() -> None:
    script = "import sys; before = set(sys.modules); import mason; print(sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, check=True, env={**os.environ}
    )

    assert done.stdout.strip() == "['__future__', 'mason']"
