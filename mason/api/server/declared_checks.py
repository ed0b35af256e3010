"""What an author demands of a request in `swagger.yml`, checked by JSON Schema before Mason's own checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mason.api.server.specification.fragments import Declared, build_validator, is_nullable
from mason.errors import InvalidParameters

_NULLS = ("null", "none")


@dataclass(frozen=True)
class GivenValues:
    """What a request gives, by the places that a parameter can be in."""

    query: Mapping[str, Any]
    path: Mapping[str, str]
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class DeclaredChecks:
    """The parameters and the body that one operation declares, ready to be held against requests."""

    def __init__(self, declared: Declared) -> None:
        self._parameters = [_DeclaredParameter(each) for each in declared.parameters]
        self._body = None if declared.body_schema is None else build_validator(declared.body_schema)

    def check(self, given: GivenValues) -> None:
        """Check what a request gives.

        Raises:
            InvalidParameters: with all that differs from what the author declared.
        """
        problems = [problem for each in self._parameters for problem in each.problems(given)]
        if self._body is not None:
            problems += [_describe_in_body(error) for error in self._body.iter_errors(given.body)]
        if problems:
            raise InvalidParameters(dict.fromkeys(problems))


class _DeclaredParameter:
    def __init__(self, parameter: Mapping[str, Any]) -> None:
        self._name: str = parameter["name"]
        self._place: str = parameter["in"]
        self._is_required = bool(parameter.get("required"))
        self._schema: Mapping[str, Any] = parameter["schema"]
        self._validator = build_validator(self._schema)

    def problems(self, given: GivenValues) -> Iterator[str]:
        places = {"query": given.query, "path": given.path, "header": given.headers}
        text = places[self._place].get(self._name)
        if text is None:
            if self._is_required:
                yield f'The parameter "{self._name}" is missing.'
            return
        if is_nullable(self._schema) and str(text).lower() in _NULLS:
            return
        for error in self._validator.iter_errors(_value_of_text(self._schema, text)):
            yield f'The parameter "{self._name}" is wrong: {error.message.splitlines()[0]}.'
            return  # the first says enough: a request has one value of it


def _value_of_text(schema: Mapping[str, Any], text: Any) -> Any:
    """Return a text of the query, the path or a header as the value that it stands for, if it stands for one.

    A list is given with commas, several times, or both, as in the rest of the API.
    """
    if schema.get("type") == "array":
        items = schema.get("items")
        texts = [part for each in (text if isinstance(text, list) else [text]) for part in str(each).split(",")]
        return [_value_of_text(items if isinstance(items, Mapping) else {}, each) for each in texts]
    read = _READERS.get(str(schema.get("type")))
    try:
        return text if read is None else read(text)
    except ValueError:
        return text  # which is not of the type: the schema says so


def _read_boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


_READERS: Mapping[str, Callable[[str], Any]] = {"integer": int, "number": float, "boolean": _read_boolean}


def _describe_in_body(error: Any) -> str:
    keys: Sequence[Any] = list(error.absolute_path)
    message = error.message.splitlines()[0]
    if not keys:
        return f"The body is wrong: {message}."
    return f'The parameter "{".".join(map(str, keys))}" in the body is wrong: {message}.'
