"""`swagger.yml` of an operator: the paths at which the API has it, and what its author wants to say of them.

A path and a method are enough; what is not said is taken from `operator.yaml`. Fragments of Swagger 2.0 are understood.

`$ref` in a fragment: what it points to, in the same file, takes its place, since only paths are merged.

Schemas as OpenAPI 3.0 and Swagger 2.0 write them: those of JSON Schema 4, and `nullable` besides.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mason.operators.operator_spec import OperatorSpec
from mason.operators.registration.loader import SOURCE_FILE
from mason.state.models import Registration
from mason.util.names import did_you_mean
from mason.util.yaml_file import Key, Problem, YamlDocument, YamlProblem, parse_yaml

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_MOST_VALUES = 10_000
_DEEPEST = 100


class WrongReference(Exception):
    """Raised when a reference cannot be followed; the message says which and why."""


class References:
    """The references of one document."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._values = 0

    def resolve(self, value: Any, within: tuple[str, ...] = (), depth: int = 0) -> Any:
        """Return a value with what its references point to in their place.

        Raises:
            WrongReference: one leads nowhere, into another file, back to itself, or too deep.
        """
        self._values += 1
        if self._values > _MOST_VALUES:
            raise WrongReference("its $ref make too much of it")
        if depth > _DEEPEST:
            raise WrongReference(f"it is nested, or led on by $ref, more than {_DEEPEST} times")
        if isinstance(value, Mapping) and isinstance(value.get("$ref"), str):
            place: str = value["$ref"]
            if place in within:
                raise WrongReference(f'the $ref "{place}" leads back to itself')
            return self.resolve(self._find(place), (*within, place), depth + 1)
        if isinstance(value, Mapping):
            return {key: self.resolve(each, within, depth + 1) for key, each in value.items()}
        return [self.resolve(each, within, depth + 1) for each in value] if isinstance(value, list) else value

    def _find(self, place: str) -> Any:
        found = self._root
        head, *parts = place.split("/")
        for part in parts if head == "#" else ("",):
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or key not in found:
                raise WrongReference(f'the $ref "{place}" leads to nothing in this file')
            found = found[key]
        return found


FILE_NAMES = ("swagger.yml", "swagger.yaml")
METHODS = ("get", "post", "put", "patch", "delete")
OPTIONS = ("config_id", "wait", "plan", "log_level")
"""Words of every operation that are no parameters of its operator. The seeds' `log_level` is taken and does nothing."""

AT_ONCE = "x-mason-at-once"
BASE_PATH = "/api"
_PATH = re.compile(r"(/([A-Za-z0-9_.~-]+|\{[A-Za-z][A-Za-z0-9_]*\}))+/?")
_OWN_PAGES = re.compile(r"/ui(/.*)?|/openapi\.json")
_IN_PATH = re.compile(r"\{([^}]*)\}")
_PLACES = ("query", "path", "header", "body")
_OF_SCHEMA = (
    *("type", "format", "enum", "default", "items", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength"),
    *("pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "x-nullable"),
)
"""Words that Swagger 2.0 has beside the name of a parameter and OpenAPI 3 in its schema."""

_KEPT = ("summary", "description", "tags", "deprecated", "externalDocs")


@dataclass(frozen=True, kw_only=True)
class Declared:
    """One operation as a fragment declares it."""

    method: str
    path: str
    source: str
    words: Mapping[str, Any]
    """Summary, description, tags and the like."""
    parameters: Sequence[Mapping[str, Any]]
    body_schema: Mapping[str, Any] | None
    description: str
    """Of the reply, where the fragment has one."""
    at_once: bool = False
    """Whether it goes past the queue: a call that is quick and must not wait for its turn, such as a cancelling."""
    has_own_api: bool = False
    """Whether the operator's code has an `api` function, which may take what its author likes."""

    @property
    def parameters_in_path(self) -> list[str]:
        return names_in_path(self.path)


def names_in_path(path: str) -> list[str]:
    """Return what stands in braces in a path."""
    return _IN_PATH.findall(path)


def read_fragment(
    registration: Registration, spec: OperatorSpec, files: Mapping[str, bytes]
) -> tuple[list[Declared], list[Problem]]:
    """Return the operations that an operator's fragment declares, and what is wrong with the others."""
    name = next((each for each in FILE_NAMES if each in files), "")
    if not name:
        return [], []
    source = f"{registration.source}/{name}"
    try:
        document = parse_yaml(files[name].decode("utf-8-sig", errors="replace"), name=source)
    except YamlProblem as error:
        return [], [error.problem]
    paths = document.value.get("paths") if isinstance(document.value, Mapping) else None
    if not isinstance(paths, Mapping) or not paths:
        return [], [document.problem(("paths",), "must say at which path and by which method the operator is called")]
    found: list[Declared] = []
    problems: list[Problem] = []
    has_own_api = _has_own_api(files.get(SOURCE_FILE, b""))
    for path, methods in paths.items():
        for each in _operations(document, spec, str(path), methods):
            if isinstance(each, Problem):
                problems.append(each)
            else:
                found.append(replace(each, has_own_api=has_own_api))
    return found, problems


def _operations(document: YamlDocument, spec: OperatorSpec, path: str, methods: Any) -> Iterator[Declared | Problem]:
    key = ("paths", path)
    if not _PATH.fullmatch(path):
        yield document.problem(key, f'"{path}" cannot be a path; it should look like /table/{{table_name}}')
        return
    if _OWN_PAGES.fullmatch(_without_base(path)):
        yield document.problem(
            key, f'"{path}" is where the server has its own pages, which need no token; take another'
        )
        return
    unknown = [word for word in names_in_path(path) if spec.parameters.find(word) is None]
    if unknown:
        yield document.problem(key, _no_such_parameter(spec, unknown[0]))
        return
    if not isinstance(methods, Mapping) or not methods:
        yield document.problem(key, f"must have a method: {', '.join(METHODS)}")
        return
    for method, operation in methods.items():
        place: Key = (*key, str(method))
        if str(method).lower() not in METHODS:
            yield document.problem(place, f"is not a method. Methods: {', '.join(METHODS)}")
        elif operation is not None and not isinstance(operation, Mapping):
            yield document.problem(place, "must be a mapping, or nothing")
        else:
            yield from _operation(document, spec, place, operation or {})


def _operation(
    document: YamlDocument, spec: OperatorSpec, place: Key, given: Mapping[str, Any]
) -> Iterator[Declared | Problem]:
    try:
        operation = References(document.value).resolve(given)
    except WrongReference as error:
        yield document.problem(place, str(error))
        return
    if not isinstance(operation, Mapping):
        yield document.problem(place, "its $ref must lead to a mapping")
        return
    problems = list(_parameter_problems(document, place, spec, operation))
    yield from problems
    if not problems:
        _, path, method = place
        yield _parse_operation(document.name, _without_base(str(path)), str(method).lower(), operation)


def _parameter_problems(
    document: YamlDocument, place: Key, spec: OperatorSpec, operation: Mapping[str, Any]
) -> Iterator[Problem]:
    given = operation.get("parameters") or []
    if not isinstance(given, list):
        yield document.problem((*place, "parameters"), "must be a list")
        return
    for index, each in enumerate(given):
        key: Key = (*place, "parameters", index)
        if not isinstance(each, Mapping) or not isinstance(each.get("name"), str):
            yield document.problem(key, "must be a mapping with a name")
        elif each.get("in") not in _PLACES:
            yield document.problem(key, f'"{each["name"]}" must be in one of: {", ".join(_PLACES)}')
        elif each["in"] != "body" and each["name"] not in OPTIONS and spec.parameters.find(each["name"]) is None:
            yield document.problem(key, _no_such_parameter(spec, each["name"]))
        elif "schema" in each and not isinstance(each["schema"], Mapping):
            yield document.problem(key, f'the schema of "{each["name"]}" must be a mapping')
        elif wrong := find_schema_problem(_schema_of(each)):
            yield document.problem(key, f'the schema of "{each["name"]}" cannot be used: {wrong}')
    for schema in _bodies(operation):
        if wrong := find_schema_problem(schema):
            yield document.problem((*place, "requestBody"), f"its schema cannot be used: {wrong}")


def _parse_operation(source: str, path: str, method: str, operation: Mapping[str, Any]) -> Declared:
    given: list[Mapping[str, Any]] = operation.get("parameters") or []
    bodies = [each.get("schema") or {} for each in given if each["in"] == "body"] or _bodies(operation)
    responses = operation.get("responses")
    replies = responses if isinstance(responses, Mapping) else {}
    reply = replies.get("200") or replies.get(200)
    return Declared(
        method=method,
        path=path,
        source=source,
        words={key: operation[key] for key in _KEPT if key in operation},
        parameters=[_as_openapi(each) for each in given if each["in"] != "body" and each["name"] not in OPTIONS],
        body_schema=bodies[0] if bodies else None,
        description=str(reply.get("description", "")) if isinstance(reply, Mapping) else "",
        at_once=bool(operation.get(AT_ONCE)),
    )


def _bodies(operation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the schema of the body as OpenAPI 3 has it, if there is one."""
    found: Any = operation
    for key in ("requestBody", "content", "application/json", "schema"):
        found = found.get(key) if isinstance(found, Mapping) else None
    return [found] if isinstance(found, Mapping) else []


def _as_openapi(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """Return a parameter of Swagger 2.0 or OpenAPI 3 as one of OpenAPI 3."""
    schema = _schema_of(parameter)
    is_required = parameter["in"] == "path" or bool(parameter.get("required"))
    described = {"description": parameter["description"]} if "description" in parameter else {}
    return {"name": parameter["name"], "in": parameter["in"], "required": is_required, **described, "schema": schema}


def _schema_of(parameter: Mapping[str, Any]) -> dict[str, Any]:
    return dict(parameter.get("schema") or {key: parameter[key] for key in _OF_SCHEMA if key in parameter})


def _has_own_api(source: bytes) -> bool:
    """Say whether code has something called `api` at its top."""
    if b"api" not in source:
        return False
    found: set[str] = set()
    for each in ast.parse(source).body:
        match each:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
            case ast.ImportFrom(names=names):
                found |= {alias.asname or alias.name for alias in names}
    return "api" in found


def _without_base(path: str) -> str:
    return path.removeprefix(BASE_PATH) if path.startswith(BASE_PATH + "/") else path


def _no_such_parameter(spec: OperatorSpec, word: str) -> str:
    known = [each.name for each in spec.parameters.all]
    near = did_you_mean(word, known) or (f"Its parameters: {', '.join(known)}." if known else "It has none.")
    return f'{spec.name} has no parameter "{word}". {near}'


def find_schema_problem(schema: Mapping[str, Any]) -> str:
    """Return what is wrong with a schema, or ""."""
    from jsonschema import Draft4Validator  # it takes longer to import than most servers need it
    from jsonschema.exceptions import SchemaError

    try:
        Draft4Validator.check_schema(schema, format_checker=Draft4Validator.FORMAT_CHECKER)
    except SchemaError as error:
        place = ".".join(str(each) for each in error.absolute_path)
        return f"{f'{place}: ' if place else ''}{error.message.splitlines()[0]}"
    return ""


def build_validator(schema: Mapping[str, Any]) -> Validator:
    """Return what holds values against a schema in which nothing is wrong."""
    from jsonschema import Draft4Validator

    return Draft4Validator(_with_null(schema), format_checker=Draft4Validator.FORMAT_CHECKER)


def is_nullable(schema: Mapping[str, Any]) -> bool:
    return schema.get("nullable") is True or schema.get("x-nullable") is True


def _with_null(schema: Any) -> Any:
    """Return a schema as JSON Schema has it, in which what is `nullable` takes null as one more type or word."""
    if isinstance(schema, list):
        return [_with_null(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    plain = {key: _with_null(value) for key, value in schema.items()}
    if is_nullable(schema):
        if isinstance(plain.get("type"), str):
            plain["type"] = [plain["type"], "null"]
        if isinstance(plain.get("enum"), list):
            plain["enum"] = [*plain["enum"], None]
    return plain
