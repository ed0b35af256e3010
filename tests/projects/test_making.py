"""`mason new` adds to a project, and `mason validate` checks all of it at once."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cli.support import tree
from tests.conftest import Mason
from tests.projects.conftest import Shop


def test_a_new_operator_is_there_at_once_with_a_test_that_passes(shop: Shop) -> None:
    made = shop("new", "operator", "stock", "count")

    assert made.exit_code == 0, made.stderr
    assert f"Made {shop.folder}/operators/stock/count/operator.yaml" in made.stderr
    shop.below("data/shop")
    assert shop.info("stock", "count", "-p", "database_name:shop") == ["The database is shop."]
    tested = shop("test", "operators/stock", "--on", "local")
    assert tested.exit_code == 0, tested.stdout + tested.stderr


def test_a_new_operator_of_tables_is_valid_and_its_test_passes(shop: Shop) -> None:
    for template, file in (("sql", "transform.sql"), ("spark", "__init__.py")):
        made = shop("new", "operator", "stock", template, "--template", template)

        assert made.exit_code == 0, made.stderr
        assert f"Made {shop.folder}/operators/stock/{template}/{file}" in made.stderr
    assert shop("new", "operator", "stock", "other", "-t", "sq").exit_code == 2
    valid = shop("validate")
    assert valid.stdout == "The project shop is valid: 2 configurations, 3 operators, 1 workflow.\n", valid.stderr
    tested = shop("test", "operators/stock/sql", "--on", "local")
    assert tested.exit_code == 0, tested.stdout + tested.stderr


def test_a_statement_that_is_wrong_is_among_the_problems_of_the_project(shop: Shop) -> None:
    shop("new", "operator", "stock", "sql", "--template", "sql")
    shop.has({"operators/stock/sql/transform.sql": "SELECT * FROM inputt\n"})

    told = shop.error("validate")

    assert f'{shop.folder}/operators/stock/sql/transform.sql:1:15: operator.yaml declares no table "inputt"' in told


def test_a_new_workflow_runs(shop: Shop) -> None:
    shop("new", "workflow", "stock", "nightly")
    shop.below("data/shop")

    ran = shop("workflow", "stock", "nightly", "-r")

    assert ran.exit_code == 0, ran.stdout
    assert ran.json["Data"][0]["Statuses"] == {"list": "succeeded"}


def test_a_new_client_is_a_package_that_says_no_to_each_verb(shop: Shop) -> None:
    for role in ("storage", "metastore"):
        assert shop("new", "client", f"acme_{role}", "--role", role).exit_code == 0
        package = shop.folder / "clients" / f"acme_{role}" / f"mason_acme_{role}"
        assert {"__init__.py", "schema.json", f"{role}.py"} == {*tree(package)}
        script = f"import sys; sys.path.insert(0, {str(package.parent)!r}); import mason_acme_{role}.{role} as found; "
        code = f"{script}print(found.Acme{role.title()}{role.title()}Client({{}}).check())"
        done = _python(code)
        assert done == "[]\n"
    wrong = shop("new", "client", "acme", "--role", "storag")
    assert wrong.exit_code == 1 and "storage" in wrong.stderr


def _python(code: str) -> str:
    import subprocess

    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_what_is_there_is_not_touched_and_names_must_be_names(shop: Shop) -> None:
    before = tree(shop.folder)

    assert "There already: " in shop.error("new", "operator", "orders", "hello")
    assert '"a-b" cannot be a name: ' in shop.error("new", "operator", "orders", "a-b")
    assert '"../x" cannot be a name: ' in shop.error("new", "workflow", "../x", "y")
    shop.has({"mason.yaml": "name: shop\n"})
    assert 'names no folder of operators. Add one to it, "operators: [operators]"' in shop.error(
        "new", "operator", "a", "b"
    )
    shop.has({"mason.yaml": (shop.folder / "original.yaml").read_text()})
    assert tree(shop.folder) == before


def test_outside_of_a_project_there_is_nothing_to_add_to_or_to_check(mason: Mason) -> None:
    for arguments in (["new", "operator", "a", "b"], ["validate"]):
        result = mason(*arguments)
        assert result.exit_code == 1
        assert "There is no mason.yaml here or above. `mason init` makes a project." in result.stderr


def test_a_whole_project_is_checked_at_once(shop: Shop) -> None:
    fine = shop("validate")
    assert fine.stdout == "The project shop is valid: 2 configurations, 1 operator, 1 workflow.\n", fine.stderr
    shop.has(
        {
            "configs/prod.yaml": "metastore_engine: locla\n",
            "operators/orders/odd/operator.yaml": "type: operator\nnamespace: orders\ncomand: odd\n",
            "operators/again/operator.yaml": (shop.folder / "operators/orders/hello/operator.yaml").read_text(),
            "operators/again/__init__.py": (shop.folder / "operators/orders/hello/__init__.py").read_text(),
            "workflows/a/b/workflow.yaml": "type: workflow\nnamespace: a\ncommand: b\n"
            "dag:\n  - {id: x, type: operator, namespace: orders, command: helo}\n",
            "mason.yaml": (shop.folder / "original.yaml").read_text().replace("root: data", "root: operators"),
        }
    )

    told = shop.error("validate")

    assert f'{shop.folder}/configs/prod.yaml:1: metastore_engine: there is no client "locla". Did you mean' in told
    assert f'{shop.folder}/operators/orders/odd/operator.yaml:3: comand: unknown key. Did you mean "command"?' in told
    assert "orders:hello is the name of" in told
    assert (
        'workflow.yaml:5: dag[0].command: operator "orders:helo" is not registered. Did you mean "orders:hello"?'
        in told
    )
    assert f"warning: The root of the data, {shop.folder}/operators, contains {shop.folder}/operators." in told
    assert not Path(shop.mason.home / "state.db").exists()
