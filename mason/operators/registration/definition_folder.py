"""Finds the definitions below a path, and reads and checks each without running any of its code."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mason.errors import InvalidDefinition, NoData, PathNotFound
from mason.operators.registration.definition_kind import SPARK_OPERATOR, DefinitionKind
from mason.operators.registration.import_check import check_imports
from mason.operators.registration.outline import counts, definition_file
from mason.operators.registration.source_check import check_source, find_base
from mason.operators.registration.transform_check import TRANSFORM, check_transform
from mason.parameters.definition import ParameterDefinition
from mason.parameters.values import BadValue, read_value
from mason.state.models import Kind, Name, NewRegistration, Registration
from mason.util.json_schema import check_document
from mason.util.names import IDENTIFIER_RULE, class_name, is_identifier, is_utf8, readable_path
from mason.util.yaml_file import Problem, YamlDocument, YamlProblem, read_yaml

TESTS = "tests"
"""The folder in an operator's folder that has its tests; see `mason test`."""

MAXIMUM_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class DefinitionsRead:
    """What became of reading the definitions below a path."""

    valid: Sequence[NewRegistration]
    problems: Sequence[str]
    documents: Sequence[tuple[Kind, YamlDocument]] = ()
    """Every definition that is YAML, also where something is wrong with it."""


def read_definitions(path: Path, kinds: Sequence[DefinitionKind]) -> DefinitionsRead:
    """Read every definition below a path; a problem in one does not hide those of another.

    Raises:
        PathNotFound: there is nothing there.
        NoData: there is no definition below the path.
    """
    if not path.exists():
        raise PathNotFound(str(path))
    valid: list[NewRegistration] = []
    problems: list[str] = []
    documents: list[tuple[Kind, YamlDocument]] = []
    found = False
    for kind, file in _definition_files(path, kinds):
        found = True
        try:
            document = read_yaml(file)
            documents.append((kind.kind, document))
            valid.append(_read_definition(kind, document, file.parent))
        except YamlProblem as error:
            problems.append(str(error.problem))
        except InvalidDefinition as error:
            problems += error.messages
    if not found:
        raise NoData(f"{path}: no {' or '.join(kind.file_name for kind in kinds)} below it.")
    return DefinitionsRead(valid, [*problems, *_same_names(valid)], documents)


def _read_definition(kind: DefinitionKind, document: YamlDocument, folder: Path) -> NewRegistration:
    """Read the definition in a folder.

    Raises:
        InvalidDefinition: with every problem of its YAML and of its code.
    """
    problems = _check_definition(kind, document)
    needed = _name_of_needed_class(document.value)
    try:
        _check_name(str(folder), "rename it")
        files = read_files(folder)
    except InvalidDefinition as error:
        raise InvalidDefinition([*problems, *error.messages]) from error
    problems += check_imports(files, str(folder))
    base = find_base(kind, needed, files) if needed else ""
    if needed and (TRANSFORM not in files or kind.kind is not Kind.OPERATOR):
        problems += check_source(kind, needed, files, str(folder))
    if kind.kind is Kind.OPERATOR and not problems:
        problems += check_transform(document, files, base, str(folder))
    if problems:
        raise InvalidDefinition(problems)
    name = Name(kind.kind, document.value.get("namespace") or "", document.value["command"])
    definition = document.value
    if base == SPARK_OPERATOR:  # DataFrames are Spark's
        definition = {"supported_configurations": [{"execution": "spark"}], **definition}
    return NewRegistration(Registration(name, digest_of(files), definition, str(folder)), files)


def digest_of(files: Mapping[str, bytes]) -> str:
    """Return the digest of a folder's content: the same files give the same digest, wherever they lie."""
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n".encode())
    return total.hexdigest()


def _definition_files(path: Path, kinds: Sequence[DefinitionKind]) -> Iterator[tuple[DefinitionKind, Path]]:
    by_name = {kind.file_name: kind for kind in kinds}
    if path.is_file():
        if path.name in by_name:
            yield by_name[path.name], path
        return
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if counts(name))
        for name in sorted(by_name.keys() & set(files)):
            yield by_name[name], Path(folder) / name


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the files that a definition in a folder consists of.

    Raises:
        InvalidDefinition: one has a name or a size that cannot be, or is no plain file.
    """
    names = {definition_file(kind) for kind in Kind}
    files: dict[str, bytes] = {}
    size = 0
    for place, folders, found in os.walk(folder):
        # A folder inside that has a definition of its own is another registration.
        folders[:] = sorted(name for name in folders if counts(name) and not _has_any(Path(place) / name, names))
        if Path(place) == folder and TESTS in folders:
            folders.remove(TESTS)  # another test is not another version
        for name in sorted(filter(counts, found)):
            file = Path(place) / name
            _check_name(str(file), "rename it, or move it out of the folder")
            if file.is_symlink() or not file.is_file():
                raise InvalidDefinition(
                    [Problem(str(file), 0, "", "is a link or no plain file; only files can be registered")]
                )
            size += file.stat().st_size
            if size > MAXIMUM_BYTES:
                raise InvalidDefinition(
                    [
                        Problem(
                            str(folder),
                            0,
                            "",
                            f"has more than {MAXIMUM_BYTES // 2**20} MiB of files; keep data out of it",
                        )
                    ]
                )
            files[file.relative_to(folder).as_posix()] = file.read_bytes()
    return files


def _check_name(path: str, advice: str) -> None:
    """Refuse a name that no digest, no state and no message could have in it."""
    if not is_utf8(path):
        raise InvalidDefinition([Problem(readable_path(path), 0, "", f"its name is not UTF-8; {advice}")])


def _has_any(folder: Path, names: set[str]) -> bool:
    return any((folder / name).exists() for name in names)


def _name_of_needed_class(definition: Any) -> str:
    """Return the class that a definition needs, or nothing where its name is none."""
    if not isinstance(definition, dict):
        return ""
    namespace, command = definition.get("namespace") or "", definition.get("command")
    words = [each for each in (namespace, command) if each != ""]
    is_name = bool(command) and all(isinstance(each, str) and is_identifier(each) for each in words)
    return class_name(namespace, str(command)) if is_name else ""


def _check_definition(kind: DefinitionKind, document: YamlDocument) -> list[Problem]:
    if not isinstance(document.value, dict):
        return [Problem(document.name, 1, "", "must be a mapping; see the docs for the keys of a definition")]
    problems = check_document(document, kind.schema)
    for key in ("namespace", "command"):
        value = document.value.get(key)
        if isinstance(value, str) and value and not is_identifier(value):
            problems.append(document.problem((key,), f'"{value}" cannot be a name: {IDENTIFIER_RULE}'))
    if document.value.get("command") == "":
        problems.append(document.problem(("command",), "must not be empty"))
    if not any(problem.key.startswith("parameters") for problem in problems):
        problems += _check_parameters(document, document.value.get("parameters") or {})
    problems += kind.check(document)
    return sorted(set(problems))


def _check_parameters(document: YamlDocument, given: Mapping[str, Any]) -> Iterator[Problem]:
    words: set[str] = set()
    for kind in ("required", "optional"):
        for index, each in enumerate(given.get(kind) or ()):
            parameter = ParameterDefinition.of(each, required=kind == "required")
            for message in (*_name_problems(parameter, words), *_parameter_problems(parameter)):
                yield document.problem(("parameters", kind, index), f'"{parameter.name}" {message}')
    optional = {ParameterDefinition.of(each, required=False).name for each in given.get("optional") or ()}
    for index, group in enumerate(given.get("one_of") or ()):
        for name in group:
            if name not in optional:
                yield document.problem(("parameters", "one_of", index), f'"{name}" is not an optional parameter')


def _name_problems(parameter: ParameterDefinition, words: set[str]) -> Iterator[str]:
    for word in (parameter.name, *parameter.aliases):
        if not is_identifier(word):
            yield f'cannot be called "{word}": {IDENTIFIER_RULE}'
        if word in words:
            yield f'has the name "{word}", which another parameter has as well'
        words.add(word)


def _parameter_problems(parameter: ParameterDefinition) -> Iterator[str]:
    if parameter.type == "enum" and not parameter.choices:
        yield "is an enum without choices"
    if parameter.type not in ("integer", "number") and (parameter.minimum, parameter.maximum) != (None, None):
        yield f"is of type {parameter.type}, which has no minimum or maximum"
    elif parameter.minimum is not None and parameter.maximum is not None and parameter.minimum > parameter.maximum:
        yield "has a minimum above its maximum"
    elif parameter.default is not None:
        try:
            read_value(parameter, parameter.default)
        except BadValue as error:
            yield f"has a default that does not fit: it {error}"


def _same_names(valid: Sequence[NewRegistration]) -> Iterator[str]:
    first: dict[Name, str] = {}
    for each in valid:
        registration = each.registration
        other = first.setdefault(registration.name, registration.source)
        if other != registration.source:
            yield f"{registration.source}: {registration.name} is the name of {other} as well"
