"""An operator with tests, as its author would write both, and what `mason test` makes of them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mason.operators.operator_tests.offers import list_offers, only
from mason.operators.operator_tests.testing import CaseResult, run_tests
from mason.operators.runner import respond
from mason.util.environment import MasonEnvironment
from tests.cli.support import operator_with
from tests.conftest import write


@dataclass
class Bench:
    """Operators below a folder; `errors()` runs their tests and returns what is wrong."""

    folder: Path
    env: MasonEnvironment
    verdicts: list[CaseResult] = field(default_factory=list)

    @property
    def operators(self) -> Path:
        return self.folder / "operators"

    def operator(self, body: str, name: str = "it", parameters: str = "", supported: str = "") -> Path:
        """Write an operator whose `run` has this body."""
        return operator_with(
            self.operators,
            "try",
            name,
            body=f"from pathlib import Path\n{body}",
            parameters=parameters or "  optional:\n    - path\n",
            supported=supported,
        )

    def test(self, text: str, name: str = "it", file: str = "one.yaml") -> Path:
        """Write a test of the operator."""
        return write(self.operators / "try" / name / "tests", {file: text}) / file

    def run(
        self, on: Sequence[str] = ("local",), configs: Sequence[Path] = (), path: Path | None = None
    ) -> dict[str, Any]:
        """Run the tests and return the response; on configurations that do not start a Spark."""
        self.verdicts.clear()
        offers = only(list_offers(self.env, configs), on)
        result = respond(lambda response: run_tests(path or self.operators, offers, (), response, self.verdicts.append))
        return result.to_dict()

    def errors(self, on: Sequence[str] = ("local",)) -> list[str]:
        """Run the tests and return the errors, each from where the file of the test is named."""
        found: list[str] = self.run(on)["Errors"]
        return [error.removeprefix(f"{self.operators}/") for error in found]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    home = tmp_path / "user" / "home"
    home.mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "user")
    monkeypatch.setenv("MASON_HOME", str(home / ".mason"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    handlers = list(logging.getLogger("mason").handlers)
    yield Bench(tmp_path, MasonEnvironment(home / ".mason"))
    assert not list(home.rglob("*")), "a test wrote to the home of its user"
    assert logging.getLogger("mason").handlers == handlers
