"""A project for the tests: two configurations, an operator that says which one it ran with, and a workflow of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import Mason, Result, write
from tests.definitions import write_operator

MASON_YAML = """\
name: shop
configurations: {dev: configs/dev.yaml, prod: configs/prod.yaml}
default: dev
operators: [operators]
workflows: [workflows]
root: data
"""
CONFIGURATION = "metastore_engine: local\nstorage_engine: local\nexecution_engine: local\nscheduler_engine: local\n"
WORKFLOW = """\
type: workflow
namespace: orders
command: greet
description: Says hello
dag:
  - {id: one, type: operator, namespace: orders, command: hello}
"""


@dataclass
class Shop:
    """The project, and the command line in its folder."""

    mason: Mason
    folder: Path

    def __call__(self, *arguments: str, **variables: str) -> Result:
        return self.mason(*arguments, folder=self.folder, variables=variables)

    def has(self, files: dict[str, str]) -> None:
        write(self.folder, files)

    def below(self, path: str) -> Path:
        """Make a folder in the project, and return it."""
        folder = self.folder / path
        folder.mkdir(parents=True)
        return folder

    def says(self, text: str, *, root: Path | None = None) -> Path:
        """Have the operator `orders hello` say something else: in the project, or in a folder outside of it."""
        body = f'resp.add_info(f"{text} with {{config.id}}")'
        return write_operator(root or self.folder / "operators", "orders", "hello", body=body)

    def info(self, *arguments: str, folder: Path | None = None) -> list[str]:
        result = self.mason("operator", *arguments, folder=folder or self.folder)
        assert result.exit_code == 0, result.stdout + result.stderr
        told: list[str] = result.json["Info"]
        return told

    def error(self, *arguments: str) -> str:
        """Return what a command says on stderr that must fail."""
        result = self(*arguments)
        assert result.exit_code == 1, result.stdout + result.stderr
        assert "Traceback" not in result.stderr
        told: str = result.stderr
        return told


@pytest.fixture
def shop(mason: Mason) -> Shop:
    folder = mason.folder / "shop"
    shop = Shop(mason, folder)
    configurations = {f"configs/{name}.yaml": CONFIGURATION for name in ("dev", "prod")}
    shop.has(
        {
            "mason.yaml": MASON_YAML,
            "original.yaml": MASON_YAML,
            **configurations,
            "workflows/orders/greet/workflow.yaml": WORKFLOW,
        }
    )
    shop.says("hello")
    return shop
