"""An error in somebody's code is called that, with their file and line; one of Mason's is not taken for theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import configured, errors, install_package, operator_with, registered, strict_json
from tests.conftest import Mason, write
from tests.definitions import OPERATOR_YAML

LOCAL = "id: files\nmetastore_engine: local\nclients:\n  local:\n    configuration: {{root: {root}}}\n"


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("1 / 0", 11, "ZeroDivisionError: division by zero"),
        ('import json\njson.loads("{")', 12, "JSONDecodeError: Expecting property name"),
        ("sys.exit(3)", 11, "SystemExit: 3"),
        ('config.metastore.client.get_table("shop", response=resp)', 11, "TypeError: "),
        ('config.metastore.client.list_tables("shop")', 11, "TypeError: list_tables needs the response"),
        ('parameters.get_required("tabel")', 11, 'LookupError: operator.yaml declares no parameter "tabel". '),
        ("config.metastore.clients", 11, "AttributeError: 'Engine' object has no attribute 'clients'"),
    ],
)
def test_an_error_in_an_operator_is_called_its_own_with_the_line_of_its_author(
    mason: Mason, tmp_path: Path, body: str, line: int, said: str
) -> None:
    (mason.folder / "shop").mkdir(parents=True)
    folder = operator_with(tmp_path / "src", "new", "one", body=body)
    registered(configured(mason, LOCAL.format(root=mason.folder)), folder)

    (told,) = errors(mason, "new", "one")

    assert told.startswith(f"{folder}/__init__.py:{line}: new:one failed in its own code: {said}")


def test_the_line_is_that_of_the_file_beside_it_where_that_failed(mason: Mason, tmp_path: Path) -> None:
    folder = operator_with(tmp_path / "src", "new", "one", body="from . import rules\nrules.check()")
    write(folder, {"rules.py": "def check():\n    raise KeyError('wood')\n"})
    registered(mason, folder)

    assert errors(mason, "new", "one") == [f"{folder}/rules.py:2: new:one failed in its own code: KeyError: 'wood'"]


def test_an_operator_that_cannot_be_imported_is_told_with_the_line_of_the_import(mason: Mason, tmp_path: Path) -> None:
    folder = operator_with(tmp_path / "src", "new", "one")
    file = folder / "__init__.py"
    file.write_text(f"import package_that_nobody_has\n{file.read_text()}")
    registered(mason, folder)

    assert errors(mason, "new", "one") == [
        f"{file}:1: new:one failed in its own code: ModuleNotFoundError: No module named 'package_that_nobody_has'"
    ]


def test_an_object_that_cannot_be_shown_is_an_error_of_its_author_and_the_answer_is_still_json(
    mason: Mason, tmp_path: Path
) -> None:
    yaml = OPERATOR_YAML.format(namespace="new", command="one", description="x")
    code = """\
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse


class Odd:
    def to_dict(self):
        return {"Size": self.size}


class NewOne(OperatorDefinition):
    def run(self, env, config, parameters, resp):
        return OperatorResponse(resp, Odd())
"""
    folder = write(tmp_path / "src", {"operator.yaml": yaml, "__init__.py": code})
    registered(mason, folder)

    result = mason("operator", "new", "one")

    assert result.exit_code == 1
    (told,) = strict_json(result)["Errors"]
    assert told.startswith(f"{folder}/__init__.py:7: new:one failed in its own code: AttributeError: ")


CLIENT = """\
from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.role import unsupported, verb


class WoodMetastoreClient(MetastoreClient):
    def __init__(self, configuration):
        pass

    @verb
    def list_databases(self, *, response):
        return {}["wood"]

    get_database = create_database = delete_database = list_tables = unsupported("no")
    get_table = save_table = delete_table = list_partitions = unsupported("no")
"""


def test_an_error_in_the_client_of_another_package_is_called_the_client_s(mason: Mason, tmp_path: Path) -> None:
    files = {"schema.json": '{"type": "object"}', "metastore.py": CLIENT}
    package = install_package(mason, "mason_wood", "mason.clients", {"wood": "mason_wood"}, files)
    configured(mason, "id: wood\nmetastore_engine: wood\n")
    body = "config.metastore.client.list_databases(response=resp)"
    registered(mason, operator_with(tmp_path / "src", "new", "one", body=body))

    assert errors(mason, "new", "one") == [
        f"{package}/metastore.py:11: The client \"wood\" failed in its own code: KeyError: 'wood'"
    ]


def test_an_error_of_mason_s_own_is_not_called_the_author_s_but_says_who_called(mason: Mason, tmp_path: Path) -> None:
    folder = operator_with(tmp_path / "src", "new", "one", body="resp.redactor.learn([object()])")
    registered(mason, folder)

    (told,) = errors(mason, "new", "one")

    assert told.startswith("This should not have happened: ")
    assert told.endswith(f"(in Mason, called by {folder}/__init__.py:11)")
