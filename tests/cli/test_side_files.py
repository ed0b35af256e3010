"""Files that a command writes beside tables, as a user has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Mason, write

HERE = "metastore_engine: local\nstorage_engine: local\nscheduler_engine: local\nexecution_engine: local\n"
ORDERS = "id,city\n1,Ulm\n2,Bonn\n"
WORKFLOW = """type: workflow
namespace: try
command: it
dag:
  - {id: step_1, type: operator, namespace: table, command: list}
"""
CLASS = """from mason.workflows.workflow_definition import WorkflowDefinition


class TryIt(WorkflowDefinition):
    pass
"""


@pytest.fixture
def shop(mason: Mason) -> Mason:
    write(mason.folder, {"here.yaml": HERE, "shop/orders/january.csv": ORDERS, "notes.txt": "mine"})
    assert mason("config", "here.yaml").exit_code == 0
    return mason.register_examples()


@pytest.mark.parametrize(
    ("html", "told"),
    [
        ("notes.txt", "notes.txt exists, and Mason did not write it, or it was changed since."),
        ("shop/orders/january.csv", "would lie in the table"),
        (".bashrc", 'begins with a dot or "_"'),
    ],
)
def test_a_page_replaces_neither_data_nor_notes(shop: Mason, html: str, told: str) -> None:
    refused = shop("operator", "table", "summarize", "-p", "path:shop/orders", "--html", html)

    assert refused.exit_code == 1
    (error,) = refused.json["Errors"]
    assert told in error
    assert (shop.folder / "shop/orders/january.csv").read_text() == ORDERS
    assert (shop.folder / "notes.txt").read_text() == "mine"
    assert not (shop.folder / ".bashrc").exists()


@pytest.mark.parametrize("name", ["state.db", "configurations/more.yaml"])
def test_a_page_replaces_nothing_of_masons_own_files(shop: Mason, name: str) -> None:
    file = shop.home / name
    before = file.read_bytes() if file.exists() else None

    refused = shop("operator", "table", "summarize", "-p", f"path:shop/orders,html:{file},overwrite:true")

    assert refused.exit_code == 1
    assert "MASON_HOME" in refused.json["Errors"][0]
    assert (file.read_bytes() if file.exists() else None) == before


def test_a_working_folder_below_a_hidden_one_is_as_good_as_any(shop: Mason) -> None:
    folder = write(shop.folder / ".work" / "project", {"in/a.csv": ORDERS})

    done = shop("operator", "table", "summarize", "-p", "path:in,html:page.html", folder=folder)

    assert done.exit_code == 0, done.stderr
    assert (folder / "page.html").is_file()


def test_a_saved_plan_of_a_workflow_replaces_only_another(shop: Mason, tmp_path: Path) -> None:
    flow = write(tmp_path / "flow", {"workflow.yaml": WORKFLOW, "__init__.py": CLASS})
    write(shop.folder, {"p.yaml": "step_1:\n  parameters: {database_name: shop}\n"})
    assert shop("register", str(flow)).exit_code == 0
    save = ("workflow", "try", "it", "-f", "p.yaml", "--save")

    refused = shop(*save, "notes.txt")

    assert refused.exit_code == 1
    assert "notes.txt is there already, and is not a plan of a workflow." in refused.json["Errors"][0]
    assert (shop.folder / "notes.txt").read_text() == "mine"
    for _ in range(2):
        saved = shop(*save, "plan.json")
        assert saved.exit_code == 0, saved.stderr
