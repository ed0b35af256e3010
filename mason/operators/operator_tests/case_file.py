"""Reads and checks a test file. Everything that is wrong with it is said at once, each with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from mason.errors import InvalidDefinition
from mason.operators.operator_tests.case import Case, Expectation, Given, GivenFile, GivenRun, GivenTable
from mason.operators.operator_tests.cells import BadCell, arrow_type, read_cell
from mason.operators.operator_tests.given_rows import WRITABLE
from mason.util.json_schema import check_document
from mason.util.names import did_you_mean
from mason.util.yaml_file import Key, Problem, YamlDocument, YamlProblem, parse_yaml, read_yaml

_LOOKED_AT = ("rows", "schema", "data", "errors", "warnings", "info", "files", "nothing_written")


def read_case(file: Path) -> Case:
    """Read a test file.

    Raises:
        InvalidDefinition: with every problem of it.
    """
    try:
        document = read_yaml(file)
    except YamlProblem as error:
        raise InvalidDefinition([error.problem]) from error
    problems = _check(document, file)
    if problems:
        raise InvalidDefinition(problems)
    # A parameter is what its author wrote, as in a file of parameters: 1.10 and 007 stay what they are.
    written = parse_yaml(document.text, name=document.name, plain_text=True).value
    value = document.value
    return Case(
        file=file,
        name=value["name"].strip(),
        given=_read_given(value.get("given") or {}, written.get("given") or {}, file.parent),
        parameters=written.get("parameters") or {},
        plan=value.get("plan", False),
        expect=_expectation(value["expect"], plan=value.get("plan", False)),
    )


def _read_given(given: Mapping[str, Any], written: Mapping[str, Any], folder: Path) -> Given:
    runs = written.get("runs") or {}
    return Given(
        [_file(path, content, folder) for path, content in (given.get("files") or {}).items()],
        given.get("databases") or (),
        [_table(name, each["path"]) for name, each in (given.get("tables") or {}).items()],
        [GivenRun(name, each["operator"], each.get("parameters") or {}) for name, each in runs.items()],
    )


def _file(path: str, content: Any, folder: Path) -> GivenFile:
    if isinstance(content, str):
        return GivenFile(path=path, text=content)
    if isinstance(content, list):
        return GivenFile(path=path, rows=content)
    if "copy" in content:
        return GivenFile(path=path, source=(folder / content["copy"]).absolute())
    return GivenFile(path=path, rows=content["rows"], schema=content["schema"])


def _table(name: str, path: str) -> GivenTable:
    database, _, table = name.partition(".")
    return GivenTable(database, table, path)


def _expectation(expect: Mapping[str, Any], *, plan: bool) -> Expectation:
    # A plan, or a run that fails, writes nothing unless the test says that it does.
    untouched = expect.get("nothing_written", plan or "errors" in expect)
    return Expectation(**{**expect, "nothing_written": untouched})


def _check(document: YamlDocument, file: Path) -> list[Problem]:
    if not isinstance(document.value, dict):
        return [Problem(document.name, 1, "", "must be a mapping with the keys name, given, parameters and expect")]
    schema = json.loads((Path(__file__).parent / "schema.json").read_text(encoding="utf-8"))
    problems = check_document(document, schema)
    if problems:
        return problems
    return sorted({*_check_given(document, file), *_check_expect(document)})


def _check_given(document: YamlDocument, file: Path) -> Iterator[Problem]:
    given = document.value.get("given") or {}
    for path, content in (given.get("files") or {}).items():
        key = ("given", "files", path)
        yield from _check_path(document, key, path)
        if isinstance(content, dict) and "copy" in content:
            yield from _check_copy(document, (*key, "copy"), file.parent, content["copy"])
        elif not isinstance(content, str):
            yield from _check_rows_file(document, key, path, content)
    for name, table in (given.get("tables") or {}).items():
        if not all(name.partition(".")):
            yield document.problem(("given", "tables", name), "must be named as database.table")
        yield from _check_path(document, ("given", "tables", name, "path"), table["path"])


def _check_path(document: YamlDocument, key: Key, path: str) -> Iterator[Problem]:
    plain = PurePosixPath(path)
    if plain.is_absolute() or ".." in plain.parts or "://" in path or path.startswith("~"):
        yield document.problem(key, "must lie below the folder of the test: a relative path without ..")


def _check_copy(document: YamlDocument, key: Key, folder: Path, source: str) -> Iterator[Problem]:
    operator = folder.parent.resolve()
    found = (folder / source).resolve()
    if operator not in found.parents:
        yield document.problem(key, f"{source} is not below the operator's folder")
    elif not found.is_file():
        yield document.problem(key, f"there is no file {source} (looked for in {folder})")


def _check_rows_file(document: YamlDocument, key: Key, path: str, content: Any) -> Iterator[Problem]:
    ending = PurePosixPath(path).suffix
    if ending not in WRITABLE:
        yield document.problem(
            key, f'rows cannot be written as "{ending}", only as {", ".join(WRITABLE)}; use text or copy'
        )
    if isinstance(content, dict):
        yield from _check_rows(document, key, content["rows"], content["schema"])


def _check_expect(document: YamlDocument) -> Iterator[Problem]:
    expect = document.value["expect"]
    if not any(name in expect for name in _LOOKED_AT):
        yield document.problem(("expect",), f"expects nothing. Say at least one of: {', '.join(_LOOKED_AT)}")
    if expect.get("nothing_written") is False and not any(name in expect for name in _LOOKED_AT[:-1]):
        yield document.problem(("expect", "nothing_written"), "false alone expects nothing")
    if "table" in expect:
        yield from _check_path(document, ("expect", "table"), expect["table"])
        if "rows" not in expect and "schema" not in expect:
            yield document.problem(("expect", "table"), "what of it? Say its rows or its schema")
    if "ordered" in expect and "rows" not in expect:
        yield document.problem(("expect", "ordered"), "there are no rows to be in order")
    for path in expect.get("files") or {}:
        yield from _check_path(document, ("expect", "files", path), path)
    if "schema" in expect:
        yield from _check_rows(document, ("expect",), expect.get("rows") or (), expect["schema"])


def _check_rows(
    document: YamlDocument, key: Key, rows: Sequence[Mapping[str, Any]], schema: Mapping[str, str]
) -> Iterator[Problem]:
    types = {}
    for name, word in schema.items():
        try:
            types[name] = arrow_type(word)
        except BadCell as error:
            yield document.problem((*key, "schema", name), str(error))
    for number, row in enumerate(rows):
        for name, value in row.items():
            place = (*key, "rows", number, name)
            if name not in schema:
                hint = did_you_mean(name, schema) or f"Its columns: {', '.join(schema)}."
                yield document.problem(place, f"the schema has no such column. {hint}")
            elif name in types:
                try:
                    read_cell(value, types[name])
                except BadCell as error:
                    yield document.problem(place, str(error))
