"""What `docs/stable.md` says does not move, has not moved; and the guides show nothing that it does not name."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import PROJECT

PAGE = PROJECT / "docs" / "stable.md"
GUIDES = [*PROJECT.glob("docs/*.md"), *PROJECT.glob("docs/clients/*.md"), PROJECT / "README.md"]
_IMPORT = re.compile(r"^from (mason\.[\w.]+) import ([\w, ]+)$", re.MULTILINE)


def imports_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield each name that a text imports from Mason, with its module."""
    for module, names in _IMPORT.findall(text):
        yield from ((module, name.strip().partition(" as ")[0]) for name in names.split(","))


def block(kind: str, text: str) -> str:
    """Return what stands in the blocks of a kind."""
    return "\n".join(re.findall(rf"<!-- stable: {kind} -->\n```\w+\n(.*?)```", text, re.DOTALL))


def find(module: str, name: str) -> Any:
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part) if hasattr(found, part) else importlib.import_module(f"{module}.{part}")
    return found


def moved(text: str) -> list[str]:
    """Return what a page promises and the code does not keep."""
    problems = []
    for module, name in imports_in(block("imports", text)):
        try:
            find(module, name)
        except (ImportError, AttributeError) as error:
            problems.append(f"{module}.{name}: {error}")
    for line in block("signatures", text).splitlines():
        module, name, wanted = re.fullmatch(r"([\w.]+):([\w.]+)\((.*)\)", line).groups()  # type: ignore[union-attr]
        found = inspect.signature(find(module, name)).parameters.values()
        shown = [("*" * (each.kind - 1) if each.kind in (2, 4) else "") + each.name for each in found]
        names = [each.replace("***", "**") for each in shown if each != "self"]
        if names[: len(wanted.split(", "))] != wanted.split(", "):
            problems.append(f"{name}({', '.join(names)}) was ({wanted})")
        added = [each for each in found if each.name in names[len(wanted.split(", ")) :]]
        problems += [f"{name}: {each.name} has no default" for each in added if each.default is inspect.Parameter.empty]
    return problems


def test_nothing_has_moved() -> None:
    assert moved(PAGE.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import TableRef", "import TableReference"),
        ("mason.clients.response import", "mason.clients.responses import"),
        ("get_required(name)", "get_required(key)"),
        ("run(env, config, parameters, resp)", "run(env, config, parameters)"),
    ],
)
def test_a_move_is_noticed(before: str, after: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert before in page

    assert moved(page.replace(before, after)) != []


def test_the_page_names_all_that_the_guides_import() -> None:
    known = set(imports_in(PAGE.read_text(encoding="utf-8")))
    shown = {(guide.name, each) for guide in GUIDES for each in imports_in(guide.read_text(encoding="utf-8"))}

    assert {each for each in shown if each[1] not in known} == set()
