"""Where a server has an operator: its specification names the operators of its paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from mason.connection.operator_names import OperatorSignature
from mason.errors import BadInput, InvalidParameters
from mason.operators.registration.registry import not_found

_OPERATOR_KEY = "x-mason-operator"
_ALIASES_KEY = "x-mason-aliases"
_OPTIONS = ("config_id", "plan", "wait")
_IN_PATH = re.compile(r"\{([^}]*)\}")
_WITH_BODY = ("POST", "PUT", "PATCH")
_LONGEST_QUERY = 4_000


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A request for an operator."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    missing: Sequence[str] = ()
    """What is wrong with it: parameters that have their place in the path, and no value."""

    def with_options(self, options: Mapping[str, str]) -> Operation:
        """Return the request with what is no parameter of the operator."""
        return replace(self, query={**self.query, **options})


@dataclass(frozen=True, kw_only=True)
class _Declared:
    """An operation as the specification has it."""

    method: str
    path: str
    parameters: Mapping[str, Mapping[str, Any]]
    description: str = ""
    described: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The parameters of the operator itself, wherever they stand in a request."""
    required: Sequence[str] = ()

    def fill_in(self, values: Mapping[str, Any]) -> Operation:
        """Return the request for some values, of which those that are in the path may have another name there."""
        found = {name: self._name_as_given(name, values) for name in _IN_PATH.findall(self.path)}
        path = _IN_PATH.sub(lambda match: in_path(_text(values.get(found[match[1]], ""))), self.path)
        rest = {name: value for name, value in values.items() if name not in found.values()}
        missing = [self._missing(name) for name, word in found.items() if values.get(word, "") == ""]
        if self.method in _WITH_BODY:
            return Operation(method=self.method, path=path, query={}, body=rest, missing=missing)
        return Operation(
            method=self.method,
            path=path,
            query={name: _in_query(value) for name, value in rest.items()},
            missing=missing,
        )

    def _name_as_given(self, name: str, values: Mapping[str, Any]) -> str:
        """Return the name by which a parameter was given: its own unless it has another."""
        aliases = self.parameters.get(name, {}).get(_ALIASES_KEY, ())
        return next((word for word in (name, *aliases) if word in values), name)

    def _missing(self, name: str) -> str:
        described = self.parameters.get(name, {}).get("description", "")
        return f'The parameter "{name}"{f" ({described})" if described else ""} is missing.'


class Operations:
    """The operations of a server. They are read when the first is wanted, and again when one is not among them."""

    def __init__(self, read: Callable[[], Mapping[str, Any]]) -> None:
        self._read = read
        self._paths: dict[str, list[_Declared]] = {}

    def describe(self) -> Sequence[OperatorSignature]:
        """Return the operators that the server has paths for, with their parameters."""
        self._paths = _by_operator(self._read())
        return [_describe(name, operations) for name, operations in sorted(self._paths.items())]

    def find(self, name: str, values: Mapping[str, Any]) -> Operation:
        """Return the request that runs an operator with these values.

        Raises:
            OperatorNotFound: the server has no path for it.
            InvalidParameters: each of its paths has a place for a value that is not given.
        """
        if name not in self._paths:
            self._paths = _by_operator(self._read())
        if name not in self._paths:
            raise not_found(name, sorted(self._paths))
        chosen = _choose_operation([each.fill_in(values) for each in self._paths[name]], values)
        if chosen.missing:
            raise InvalidParameters(chosen.missing)
        return chosen


def _describe(name: str, operations: Sequence[_Declared]) -> OperatorSignature:
    namespace, _, command = name.rpartition(":")
    found = {word: schema for each in operations for word, schema in each.described.items()}
    required = [word for word in found if any(word in each.required for each in operations)]
    optional = [word for word in found if word not in required]
    return OperatorSignature(
        namespace=namespace,
        command=command,
        description=next((each.description for each in operations if each.description), ""),
        parameters={word: str(found[word].get("description", "")) for word in (*required, *optional)},
        required=required,
        defaults={word: found[word].get("default") for word in found},
    )


def in_path(text: str) -> str:
    """Return a text as a part of an address; dots alone would be taken for the folder above.

    Raises:
        BadInput: no address can hold it.
    """
    try:
        quoted = quote(text, safe="")
    except UnicodeEncodeError as error:
        raise BadInput(f"{text!a} has half a character in it, which no request can carry.") from error
    return quoted.replace(".", "%2E") if quoted in (".", "..") else quoted


def _by_operator(paths: Mapping[str, Mapping[str, Any]]) -> dict[str, list[_Declared]]:
    found: dict[str, list[_Declared]] = {}
    for path, operations in paths.items():
        for method, operation in operations.items():
            if isinstance(operation, Mapping) and _OPERATOR_KEY in operation:
                parameters = {each["name"]: each for each in operation.get("parameters", ())}
                described, required = _describe_parameters(operation)
                declared = _Declared(
                    method=method.upper(),
                    path=path,
                    parameters=parameters,
                    description=operation.get("summary", ""),
                    described=described,
                    required=required,
                )
                found.setdefault(operation[_OPERATOR_KEY], []).append(declared)
    return found


def _describe_parameters(operation: Mapping[str, Any]) -> tuple[Mapping[str, Mapping[str, Any]], Sequence[str]]:
    """Return the parameters of the operator with what is said of each, and the names of those that it must have."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    own = [each for each in operation.get("parameters", ()) if each["in"] != "header" and each["name"] not in _OPTIONS]
    described = {each["name"]: {"description": each.get("description", ""), **each.get("schema", {})} for each in own}
    required = [each["name"] for each in own if each.get("required")]
    return {**described, **body.get("properties", {})}, [*required, *body.get("required", ())]


def _choose_operation(operations: Sequence[Operation], values: Mapping[str, Any]) -> Operation:
    """Return the best way: a GET, for which any token will do, where everything fits into an address; else a body."""
    plain = all(not isinstance(value, list | dict) for value in values.values())
    short = len(str(values)) <= _LONGEST_QUERY
    whole = [each for each in operations if not each.missing and not each.path.endswith("/")]
    reading = [each for each in whole if each.body is None and plain and short]
    writing = [each for each in whole if each.body is not None]
    possible = [each for each in operations if not each.missing]
    return next(iter([*reading, *writing, *whole, *possible, *operations]))


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _in_query(value: Any) -> Any:
    return [_text(each) for each in value] if isinstance(value, list) else _text(value)
