"""Checks what the definition of a transformation says of its tables, its SQL and its packages; nothing runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mason.errors import InvalidParameters
from mason.operators.registration.definition_kind import SPARK_OPERATOR
from mason.parameters.definition import RESERVED, WRITE, ParameterDefinition, ParameterDefinitions
from mason.util.yaml_file import Problem, YamlDocument

TRANSFORM = "transform.sql"
"""The file of an operator that says in SQL what becomes of its tables."""

_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._,\s-]*\])?\s*([<>=!~].*)?")


def check_transform(document: YamlDocument, files: Mapping[str, bytes], base: str, folder: str) -> Iterator[Problem]:
    """Yield what is wrong with the tables of an operator, and with its SQL where it has some.

    Args:
        base: the class that the operator's own inherits from, "" where it has none.
    """
    given: Mapping[str, Any] = document.value.get("parameters") or {}
    parameters = [
        (("parameters", kind, number), ParameterDefinition.of(each, required=kind == "required"))
        for kind in ("required", "optional")
        for number, each in enumerate(given.get(kind) or ())
    ]
    written = [(key, each) for key, each in parameters if each.access == WRITE]
    transforms = TRANSFORM in files or base == SPARK_OPERATOR
    reserved = {each.name for each in RESERVED}
    for key, each in parameters:
        if each.access and each.type != "table":
            yield document.problem(key, f'"{each.name}" is of type {each.type}, and only a table is read or written')
        for name in reserved & {each.name, *each.aliases} if written else ():
            yield document.problem(key, f'"{name}" is a parameter that every operator has that writes a table')
    if transforms and len(written) != 1:
        said = "needs one table to write: {name: output, type: table, access: write}"
        yield document.problem(("parameters",), said if not written else "writes several tables; it can write one")
    for key, each in written if not transforms else ():
        said = f'"{each.name}" has access: write, which needs a {TRANSFORM} or a SparkOperator: Mason writes the table'
        yield document.problem(key, said)
    if not transforms:
        for word in ("checks", "packages"):
            if document.value.get(word):
                yield document.problem((word,), f"is for operators with a {TRANSFORM} or a SparkOperator")
    if TRANSFORM in files and base:
        yield Problem(f"{folder}/{TRANSFORM}", 0, "", f"stands beside a class in __init__.py: {TRANSFORM} or the class")
    yield from _check_checks(document)
    yield from _check_packages(document)
    if TRANSFORM in files:
        yield from _check_statement(files[TRANSFORM], f"{folder}/{TRANSFORM}", document)


def _check_checks(document: YamlDocument) -> Iterator[Problem]:
    if not document.value.get("checks"):
        return
    from mason.pipeline.jobs.check.reading import read_checks  # of no use to who has no checks

    try:
        read_checks(document.value["checks"])
    except InvalidParameters as error:
        for message in error.messages:
            yield document.problem(("checks",), message)


def _check_packages(document: YamlDocument) -> Iterator[Problem]:
    for number, each in enumerate(document.value.get("packages") or ()):
        if not _REQUIREMENT.fullmatch(each.strip()):
            yield document.problem(("packages", number), f'"{each}" is not a requirement such as scikit-learn>=1.5')


def _check_statement(content: bytes, file: str, document: YamlDocument) -> Iterator[Problem]:
    from mason.pipeline.sql.own_statement import check_own_statement  # of no use to who has no SQL

    try:
        text = content.decode()
    except UnicodeDecodeError:
        yield Problem(file, 0, "", "is not UTF-8")
        return
    declared = ParameterDefinitions.of(document.value.get("parameters"))
    plain = [each.name for each in declared.all if not each.access and each not in RESERVED]
    for said in check_own_statement(text, file, [each.name for each in declared.read], plain):
        place, _, message = said.partition(": ")
        yield Problem(place, 0, "", message)
