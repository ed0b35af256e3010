"""What a definition imports from Mason and from its own folder, looked at when it is registered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mason import __version__
from tests.cli.support import registered
from tests.conftest import EXAMPLES, Mason, write
from tests.definitions import OPERATOR_CODE, OPERATOR_YAML, write_operator

SOUND = OPERATOR_CODE.format(class_name="NewOne", body="pass")


def write_code(root: Path, imports: str, **others: str) -> Path:
    """Write an operator `new:one` that begins with these imports, and more files."""
    yaml = OPERATOR_YAML.format(namespace="new", command="one", description="x")
    files = {name.replace("__", "/") + ".py": text for name, text in others.items()}
    return write(root / "new" / "one", {"operator.yaml": yaml, "__init__.py": f"{imports}\n{SOUND}", **files})


def complaints(mason: Mason, folder: Path) -> list[str]:
    """Register what must be refused, and return what is said against it."""
    result = mason("register", str(folder))
    assert result.exit_code == 1, result.stderr
    *found, last = re.findall(r"^error: (.*)$", result.stderr, re.MULTILINE)
    assert last == "Nothing was registered."
    return found


@pytest.mark.parametrize(
    ("imports", "complaint"),
    [
        (
            "from mason.clients.responce import Response",
            '1: mason.clients.responce: Mason {version} has no such module. Did you mean "mason.clients.response"?',
        ),
        (
            "import os\nimport mason.operator.base",
            "2: mason.operator.base: Mason {version} has no such module.",
        ),
        (
            "from mason.clients.response import Respons",
            "1: mason.clients.response.Respons: Mason {version} has no Respons in mason.clients.response. "
            'Did you mean "Response"?',
        ),
        (
            "from mason.operators import (\n    runner,\n    OperatorDefinition,\n)",
            "3: mason.operators.OperatorDefinition: Mason {version} has no OperatorDefinition in mason.operators. "
            "Write: from mason.operators.operator_definition import OperatorDefinition",
        ),
        (
            "def late():\n    from mason.errors import Missing",
            "2: mason.errors.Missing: Mason {version} has no ",
        ),
        ("from . import rules", "1: . import rules: there is no rules in it."),
        ("from .rules import limit", "1: .rules: there is no such module in the folder that is registered"),
        ("from .. import other", "1: ..: leads out of the folder that is registered"),
    ],
)
def test_an_import_of_what_is_not_there_is_refused_with_its_line(
    mason: Mason, tmp_path: Path, imports: str, complaint: str
) -> None:
    folder = write_code(tmp_path / "src", imports)

    (told,) = complaints(mason, folder)

    assert told.startswith(f"{folder}/__init__.py:{complaint.format(version=__version__)}")


def test_every_wrong_import_of_every_file_is_told_at_once(mason: Mason, tmp_path: Path) -> None:
    folder = write_code(
        tmp_path / "src",
        "from .rules import limit, top\nfrom mason.errors import BadInput, Bad",
        rules="from mason.engines.metastore.models.table import Tabel\ntop = 1\n",
    )

    told = complaints(mason, folder)

    assert [each.partition(": ")[0] for each in told] == [
        f"{folder}/__init__.py:1",
        f"{folder}/__init__.py:2",
        f"{folder}/rules.py:1",
    ]


def test_a_file_beside_it_that_is_not_python_is_told_where_it_is_imported(mason: Mason, tmp_path: Path) -> None:
    folder = write_code(
        tmp_path / "src", "from .rules import limit", rules="limit = 1\ntop = = 2\n", draft="= nobody's"
    )

    assert complaints(mason, folder) == [f"{folder}/__init__.py:1: .rules: is not Python: invalid syntax (line 2)"]


def test_what_is_there_may_be_imported_however_it_is_written(mason: Mason, tmp_path: Path) -> None:
    imports = """
from __future__ import annotations
import mason, mason.errors, mason.clients.spark.runners as runners
import package_that_nobody_has.mason.nothing
from typing import TYPE_CHECKING
from mason import __version__, connect, errors
from mason.api import operator_api as OperatorApi
from mason.clients.engines import metastore
from mason.clients.engines.role import Role, LOG, P
from mason.errors import *
from mason.operators.operator_definition import replace
from . import rules
from .rules import down, limit, top as most, first, second
from .deep.down import depth
from .rules import *
try:
    from mason.operators.spark_operator import SparkOperator
except ImportError:
    SparkOperator = None
if TYPE_CHECKING:
    from mason.nothing import Nothing
"""
    rules = "from .deep import down\nif down:\n    limit: int = 1\ntop = 2\nfirst, (second, *rest) = 1, (2, 3)\n"
    folder = write_code(tmp_path / "src", imports, rules=rules, deep__down="from .. import rules\ndepth = 3\n")

    registered(mason, folder)


def test_the_imports_of_what_comes_with_mason_are_found(mason: Mason) -> None:
    registered(mason, EXAMPLES / "operators")
    registered(mason, EXAMPLES / "workflows")


def test_a_workflow_is_looked_at_as_well(mason: Mason, tmp_path: Path) -> None:
    dag = "dag:\n  - {id: a, type: operator, namespace: new, command: one}\n"
    yaml = f"type: workflow\nnamespace: new\ncommand: flow\n{dag}"
    code = "from mason.workflows import WorkflowDefinition\n\n\nclass NewFlow(WorkflowDefinition):\n    pass\n"
    write_operator(tmp_path / "src", "new", "one")
    folder = write(tmp_path / "src" / "flow", {"workflow.yaml": yaml, "__init__.py": code})

    told = complaints(mason, tmp_path / "src")

    assert told[0].startswith(f"{folder}/__init__.py:1: mason.workflows.WorkflowDefinition: ")
    assert "Write: from mason.workflows.workflow_definition import WorkflowDefinition" in told[0]


def test_looking_at_imports_runs_no_code_of_the_author(mason: Mason, tmp_path: Path) -> None:
    trace = tmp_path / "it_ran"
    rules = f'open({str(trace)!r}, "w")\nlimit = 1\n'
    folder = write_code(tmp_path / "src", "from .rules import limit\nfrom mason.errors import Nothing", rules=rules)

    complaints(mason, folder)

    assert not trace.exists()
