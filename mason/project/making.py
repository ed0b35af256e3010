"""What `mason init` and `mason new` make: files that lie below `templates/`, as they will lie in the project.

A template is a folder; a new one needs no other line. `__NAME__` and the like, in names and in texts, are filled in;
`dot-` begins the name of what will be hidden, and `.template` ends that of what no tool is to take for code here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mason.errors import AlreadyExists, BadInput, StateFailed
from mason.project.project_file import Project
from mason.state.models import Kind
from mason.util.names import IDENTIFIER_RULE, class_name, is_identifier

RUN_IT = "bash run.sh"
_TEMPLATES = Path(__file__).parent / "templates"
_SHARED = "shared"
_ENDING = ".template"
_CLIENTS = "clients"


def list_templates() -> list[str]:
    """Return the names of the projects that can be made."""
    return sorted(each.name for each in (_TEMPLATES / "init").iterdir() if each.is_dir() and each.name != _SHARED)


def list_operator_templates() -> list[str]:
    """Return the names of the kinds of operators that can be added."""
    return sorted(each.name for each in (_TEMPLATES / "new" / Kind.OPERATOR).iterdir() if each.is_dir())


def make_project(root: Path, template: str) -> list[Path]:
    """Make a project in a folder and return its files; what is there already is never touched.

    Raises:
        AlreadyExists: a file of the project is there already.
        StateFailed: the folder cannot be written.
    """
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", Path(os.path.abspath(root)).name).strip("-") or "project"  # noqa: PTH100
    variable = re.sub(r"[^A-Za-z0-9]+", "_", name).upper()
    words = {"NAME": name, "VARIABLE": variable if variable[0].isalpha() else f"DATA_{variable}"}
    folders = [_TEMPLATES / "init" / each for each in (_SHARED, template)]
    return _write({path: text for folder in folders for path, text in _fill(folder, words)}, root)


def add_definition(project: Project, kind: Kind, namespace: str, command: str, template: str = "") -> list[Path]:
    """Add an operator (of one of its templates) or a workflow to a project, and return its files.

    Raises:
        BadInput: a name cannot be one, or the project names no folder for it.
        AlreadyExists: one of that name is there.
        StateFailed: the folder cannot be written.
    """
    _check_names(namespace, command)
    folders = project.folders[kind]
    if not folders:
        raise BadInput(
            f"{project.file} names no folder of {kind}s.", hint=f'Add one to it, "{kind}s: [{kind}s]", and make it.'
        )
    words = {"NAMESPACE": namespace, "COMMAND": command, "CLASS": class_name(namespace, command)}
    return _write(dict(_fill(_TEMPLATES / "new" / kind / template, words)), folders[0])


def add_client(project: Project, name: str, role: str) -> list[Path]:
    """Add the package of a client to a project: it fills a role, whose verbs are yet to be written.

    Raises:
        BadInput: the name cannot be one.
        RoleNotFilled: there is no such role.
        AlreadyExists: a client of that name is there.
        StateFailed: the folder cannot be written.
    """
    from mason.clients.engines.role import abstract_verbs
    from mason.clients.engines.roles import find_role

    _check_names(name)
    contract = find_role(role).contract()
    verbs = "\n".join(f'    {each} = unsupported("not written yet")' for each in abstract_verbs(contract))
    words = {
        "NAME": name,
        "DASHED": name.replace("_", "-"),
        "ROLE": role,
        "MODULE": contract.__module__,
        "CONTRACT": contract.__name__,
        "CLASS": f"{class_name(name, role)}Client",
        "VERBS": verbs,
    }
    return _write(dict(_fill(_TEMPLATES / "new" / "client", words)), project.folder / _CLIENTS)


def _check_names(*names: str) -> None:
    for each in names:
        if not is_identifier(each):
            raise BadInput(f'"{each}" cannot be a name: {IDENTIFIER_RULE}.')


def _fill(folder: Path, words: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for file in sorted(file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts):
        path = _fill_text(file.relative_to(folder).as_posix(), words).removesuffix(_ENDING)
        yield re.sub(r"(^|/)dot-", r"\1.", path), _fill_text(file.read_text(encoding="utf-8"), words)


def _fill_text(text: str, words: Mapping[str, str]) -> str:
    for name, value in words.items():
        text = text.replace(f"__{name}__", value)
    return text


def _write(files: Mapping[str, str], root: Path) -> list[Path]:
    places = {root / path: text for path, text in sorted(files.items())}
    taken = [place for place in places if place.exists()]
    if taken:
        raise AlreadyExists(f"There already: {', '.join(map(str, taken))}.", hint="Choose another folder or name.")
    place = root
    try:
        for place, text in places.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StateFailed(f"{place}: {os.strerror(error.errno or 0)}.", hint="Nothing is complete there.") from error
    return list(places)
