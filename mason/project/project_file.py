"""`mason.yaml`: found, read and checked, with every problem at once. All paths in it are relative to its folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mason.errors import InvalidProject
from mason.state.models import Kind
from mason.util.environment import PROJECT_FILE
from mason.util.names import CONFIG_ID_RULE, did_you_mean, is_config_id
from mason.util.yaml_file import Key, Problem, YamlDocument, YamlProblem, read_yaml

_FOLDERS = {Kind.OPERATOR: "operators", Kind.WORKFLOW: "workflows"}
_TEXTS = ("name", "default", "root")


@dataclass(frozen=True, kw_only=True)
class Project:
    """What a `mason.yaml` says, with its paths as they are from everywhere."""

    file: Path
    name: str
    configurations: Mapping[str, Path]
    default: str
    folders: Mapping[Kind, Sequence[Path]]
    """Where its operators and its workflows are."""
    root: Path | None

    @property
    def folder(self) -> Path:
        return self.file.parent


def read_project(folder: Path) -> Project:
    """Read the `mason.yaml` in a folder.

    Raises:
        InvalidProject: with every problem of it.
    """
    file = folder / PROJECT_FILE
    try:
        document = read_yaml(file)
    except YamlProblem as error:
        raise InvalidProject([error.problem]) from error
    problems = [*_check_shape(document)]
    if not problems:
        problems = [*_check_configurations(document, folder), *_check_folders(document, folder)]
    if problems:
        raise InvalidProject(sorted(set(problems)))
    return _build(document, file)


def find_above(folder: Path) -> Path | None:
    """Return the `mason.yaml` of a project that this one lies in; the nearer one counts, and that one is not read."""
    return next((found for each in folder.parents if (found := each / PROJECT_FILE).is_file()), None)


def _build(document: YamlDocument, file: Path) -> Project:
    value: Mapping[str, Any] = document.value
    configurations = {name: _place(file.parent, path) for name, path in (value.get("configurations") or {}).items()}
    return Project(
        file=file,
        name=value["name"],
        configurations=configurations,
        default=value.get("default") or next(iter(configurations), ""),
        folders={kind: [_place(file.parent, each) for each in value.get(key) or ()] for kind, key in _FOLDERS.items()},
        root=_place(file.parent, value["root"]) if value.get("root") else None,
    )


def _place(folder: Path, path: str) -> Path:
    return Path(os.path.normpath(folder / path))


def _check_shape(document: YamlDocument) -> Sequence[Problem]:
    if document.value is None:
        return [Problem(document.name, 1, "", 'is empty; it should say at least the name of the project: "name: shop"')]
    if _fits(document.value):
        return ()
    from mason.util.json_schema import check_document  # heavy: only who made a mistake waits for it

    schema = json.loads((Path(__file__).parent / "schema.json").read_text(encoding="utf-8"))
    return check_document(document, schema)


def _fits(value: Any) -> bool:
    """Say whether a value is as `schema.json` has it; what is not is told by the schema itself."""
    if not isinstance(value, dict) or "name" not in value:
        return False
    lists, files = [*_FOLDERS.values()], value.get("configurations", {})
    if not {*value} <= {*_TEXTS, *lists, "configurations"} or not isinstance(files, dict):
        return False
    if not all(isinstance(value.get(key, []), list) for key in lists):
        return False
    texts = [value[key] for key in _TEXTS if key in value] + [each for key in lists for each in value.get(key, [])]
    return all(isinstance(each, str) and each for each in (*texts, *files.values()))


def _check_configurations(document: YamlDocument, folder: Path) -> Iterator[Problem]:
    files: Mapping[str, str] = document.value.get("configurations") or {}
    for name, path in files.items():
        key: Key = ("configurations", name)
        if not is_config_id(name):
            yield document.problem(key, f'"{name}" cannot be the id of a configuration: {CONFIG_ID_RULE}')
        yield from _check_place(document, folder, key, path)
        if not (folder / path).exists():
            yield document.problem(key, f'there is no file "{path}"')
        elif not (folder / path).is_file():
            yield document.problem(key, f'"{path}" is not a file')
    default = document.value.get("default")
    if default is not None and default not in files:
        hint = did_you_mean(default, files) or f"There are: {', '.join(files) or 'none'}."
        yield document.problem(("default",), f'"{default}" is not among the configurations. {hint}')


def _check_folders(document: YamlDocument, folder: Path) -> Iterator[Problem]:
    for name in _FOLDERS.values():
        for number, path in enumerate(document.value.get(name) or ()):
            yield from _check_place(document, folder, (name, number), path)
            if not (folder / path).exists():
                yield document.problem((name, number), f'there is no folder "{path}"')
            elif not (folder / path).is_dir():
                yield document.problem((name, number), f'"{path}" is not a folder')
    root = document.value.get("root")
    if root:
        yield from _check_place(document, folder, ("root",), root)
        if (folder / root).exists() and not (folder / root).is_dir():
            yield document.problem(("root",), f'"{root}" is not a folder')


def _check_place(document: YamlDocument, folder: Path, key: Key, path: str) -> Iterator[Problem]:
    """Yield what is wrong with a path that leads out of the project, by itself or by a link."""
    if not is_below(folder / path, folder):
        yield document.problem(key, f'"{path}" leads out of the project; only what is below {folder} belongs to it')


def is_below(place: Path, folder: Path) -> bool:
    """Say whether a place is a folder or lies in it, wherever links lead."""
    return Path(os.path.realpath(place)).is_relative_to(os.path.realpath(folder))
