"""Writes the contract of import-linter from the folders, and has it checked: `python scripts/layers.py [FOLDER]`.

The order of the layers is written here, once. Who stands in a layer is read from the disk: a new client, a new room of
the pipeline or a new package of Mason is held to the contract as soon as its folder is there.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent

CLIENTS, SHARED = "clients of one technology", "what several clients need"

# From top to bottom; each imports only what stands below it. What stands in one line may import each other.
LAYERS: Sequence[Sequence[str]] = (
    ("testing", "__main__"),
    ("cli", "api.server", "api.processes", "connection", "console", "mcp"),
    ("service",),
    ("project",),
    ("workflows",),
    ("api.operator_api",),
    ("operators",),
    ("configurations", "parameters"),
    ("secrets",),
    (CLIENTS,),
    (SHARED,),
    ("pipeline",),
    ("clients.engines", "clients.discovery", "clients.response"),
    ("lineage",),
    ("state",),
    ("engines",),
    ("errors", "util"),
)

# The rooms of the pipeline, in the same order.
ROOMS = ("driving", "jobs", "sql", "reading", "work", "tables", "formats", "storage", "types")

# `mason.connect` is the front door of the whole package, and imports what is behind it when it is opened.
FRONT_DOOR = ("mason -> mason.connection.connect", "mason -> mason.connection.connection")
USERS_CODE = ("examples",)


class Unplaced(Exception):
    """Raised when a folder is in no layer, or a layer's folder is not there."""


def contracts(mason: Path) -> list[dict[str, Any]]:
    """Return the contracts of the package in that folder.

    Raises:
        Unplaced: a folder is in no layer.
    """
    technologies = _technologies(mason)
    clients = [f"mason.clients.{name}" for name in technologies]
    commands = [f"mason.clients.{name}.command" for name in technologies if _has(mason / "clients" / name, "command")]
    layers = [[f"mason.{name}" for name in names] for names in _placed(mason)]
    above = layers[: next(number for number, names in enumerate(layers) if clients[0] in names)]
    return [
        {
            "name": "Each layer imports only what stands below it",
            "type": "layers",
            "layers": [" : ".join(names) for names in layers],
            # A client's command is a part of the command line that lies with the client.
            "ignore_imports": [*FRONT_DOOR, *(f"{each} -> mason.cli.*" for each in commands)],
        },
        {
            "name": "Each room of the pipeline imports only those below it: reading knows no job",
            "type": "layers",
            "layers": [f"mason.pipeline.{room}" for room in _rooms(mason)],
        },
        {
            "name": "A client imports no other, unless its schema.json declares that it builds on it",
            "type": "independence",
            "modules": clients,
            "ignore_imports": list(_declared(mason, technologies)),
        },
        {
            "name": "What stands above the clients finds them by name and imports none",
            "type": "forbidden",
            "source_modules": [name for names in above for name in names],
            "forbidden_modules": clients,
            "allow_indirect_imports": True,
        },
        {
            "name": "The pipeline knows nothing of Spark",
            "type": "forbidden",
            "source_modules": ["mason.pipeline"],
            "forbidden_modules": ["pyspark", "py4j"],
        },
        *(
            {
                "name": f"Nobody imports {each}: the command line finds it by its name",
                "type": "protected",
                "protected_modules": [each],
                "allowed_importers": [],
            }
            for each in commands
        ),
    ]


def _placed(mason: Path) -> Iterator[list[str]]:
    """Yield the modules of each layer, as far as they are there, and see that none is left over."""
    technologies = _technologies(mason)
    inner = {"clients": {*_modules(mason / "clients")}, "api": {*_modules(mason / "api")}}
    there = {name for name in _modules(mason) if name not in (*inner, *USERS_CODE)}
    there |= {f"{folder}.{name}" for folder, names in inner.items() for name in names}
    known = {name for names in LAYERS for name in names}
    shared = {f"clients.{name}" for name in inner["clients"] if _is_folder(mason / "clients" / name)} - known
    groups = {CLIENTS: {f"clients.{name}" for name in technologies}}
    groups[SHARED] = shared - groups[CLIENTS]
    left = sorted(there - known - shared)
    if left:
        raise Unplaced(f"mason.{left[0]} is in no layer: write its place into LAYERS of scripts/layers.py.")
    for names in LAYERS:
        found = sorted(each for name in names for each in groups.get(name, {name} & there))
        if found:
            yield found


def _rooms(mason: Path) -> list[str]:
    there = _modules(mason / "pipeline")
    if left := sorted(there - {*ROOMS}):
        raise Unplaced(f"mason.pipeline.{left[0]} is in no room: write its place into ROOMS of scripts/layers.py.")
    return [room for room in ROOMS if room in there]


def _declared(mason: Path, technologies: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for name, schema in technologies.items():
        for other in schema.get("x-mason-builds-on", ()):
            if other not in technologies:
                raise Unplaced(f'mason/clients/{name}/schema.json: x-mason-builds-on: there is no client "{other}".')
            yield f"mason.clients.{name}.** -> mason.clients.{other}.**"


def _technologies(mason: Path) -> dict[str, Mapping[str, Any]]:
    """Return the clients, each with its schema: it is by this that their folders are known from those they share."""
    files = sorted((mason / "clients").glob("*/schema.json"))
    return {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in files}


def _modules(folder: Path) -> set[str]:
    return {each.stem for each in folder.iterdir() if _is_module(each) or _is_folder(each)} - {"__init__"}


def _has(folder: Path, module: str) -> bool:
    return (folder / f"{module}.py").is_file()


def _is_module(path: Path) -> bool:
    return path.suffix == ".py"


def _is_folder(path: Path) -> bool:
    return path.is_dir() and any(path.rglob("*.py"))


def main(folder: str = "") -> int:
    """Check the contracts in a folder that has a `mason` in it; the project's by default."""
    place = Path(folder).resolve() if folder else PROJECT
    try:
        found = contracts(place / "mason")
    except Unplaced as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "importlinter.toml"
        file.write_text(_as_toml(found), encoding="utf-8")
        command = [Path(sys.executable).parent / "lint-imports", "--no-cache", "--no-logo", "--config", str(file)]
        return subprocess.run(command, cwd=place, check=False).returncode


def _as_toml(found: Sequence[Mapping[str, Any]]) -> str:
    lines = ["[tool.importlinter]", 'root_package = "mason"', "include_external_packages = true"]
    for contract in found:
        # What JSON has for texts, truth values and lists of texts is TOML, too.
        lines += [
            "",
            "[[tool.importlinter.contracts]]",
            *(f"{key} = {json.dumps(value)}" for key, value in contract.items()),
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
