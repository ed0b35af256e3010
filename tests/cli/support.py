"""What the tests of the command line share: operators with a body, packages as pip would install them, snapshots."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from mason.util.names import class_name
from tests.conftest import PROJECT, Mason, Result, write

_IMPORTS = """\
import os
import sys
import time

from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
"""


def operator_with(
    root: Path, namespace: str, command: str, *, parameters: str = "", supported: str = "", body: str = "pass"
) -> Path:
    """Write an operator whose YAML and body the test spells out, and return its folder."""
    yaml = f'type: "operator"\nnamespace: "{namespace}"\ncommand: "{command}"\ndescription: "For a test"\n'
    yaml += f"parameters:\n{parameters}" if parameters else ""
    yaml += f"supported_configurations:\n{supported}" if supported else ""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    code = (
        f"{_IMPORTS}\n\nclass {class_name(namespace, command)}(OperatorDefinition):\n"
        f"    def run(self, env, config, parameters, resp):\n{lines}\n        return OperatorResponse(resp)\n"
    )
    return write(root / namespace / command, {"operator.yaml": yaml, "__init__.py": code})


def registered(mason: Mason, folder: Path) -> Mason:
    """Register what is below the folder; it must be fine."""
    result = mason("register", str(folder))
    assert result.exit_code == 0, result.stderr
    return mason


def configured(mason: Mason, text: str) -> Mason:
    """Save one configuration; it must be fine."""
    result = mason("config", str(write(mason.folder / "configs", {"one.yaml": text}) / "one.yaml"))
    assert result.exit_code == 0, result.stderr
    return mason


def install_package(mason: Mason, name: str, group: str, entries: Mapping[str, str], files: Mapping[str, str]) -> Path:
    """Lay out a package as pip would, on the path of the command, and return its folder."""
    site = mason.folder.parent / "site"
    points = "\n".join(f"{key} = {module}" for key, module in entries.items())
    write(site, {f"{name}-1.0.dist-info/entry_points.txt": f"[console_scripts]\nx = y:z\n\n[{group}]\n{points}\n"})
    write(site / name, {"__init__.py": "", **files})
    mason.variables["PYTHONPATH"] = f"{PROJECT}{os.pathsep}{site}"
    return site / name


def strict_json(result: Result) -> dict[str, Any]:
    """Return the one JSON document on stdout, as a strict reader such as jq sees it, with the four keys in order."""
    document: dict[str, Any] = json.loads(result.stdout, parse_constant=_refuse)
    assert list(document) == ["Errors", "Info", "Warnings", "Data"]
    return document


def errors(mason: Mason, *arguments: str) -> list[str]:
    """Run an operator that must fail, and return its errors."""
    result = mason("operator", *arguments)
    assert result.exit_code == 1, result.stdout
    told: list[str] = strict_json(result)["Errors"]
    assert told
    return told


def tree(folder: Path) -> dict[str, str | bytes]:
    """Return everything below a folder: files with their bytes, links with their targets, folders."""
    found: dict[str, str | bytes] = {}
    for place in sorted(folder.rglob("*")):
        key = place.relative_to(folder).as_posix()
        if place.is_symlink():
            found[key] = f"-> {place.readlink()}"
        else:
            found[key] = place.read_bytes() if place.is_file() else "folder"
    return found


def _refuse(word: str) -> NoReturn:
    raise AssertionError(f"{word} is not JSON")
