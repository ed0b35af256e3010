"""What a request gives: its query, its body and its parameters, read without trusting any of them.

A body is JSON, so its values have JSON types: `true` is not a database name, "10" is not a number. What cannot be
meant is refused before it becomes a job.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from mason.errors import BadInput, InvalidParameters, WrongMediaType
from mason.parameters.definition import ParameterDefinition, ParameterDefinitions
from mason.parameters.validated_parameters import ParameterProblem, check_parameters

MOST_FIELDS = 500
MOST_DEPTH = 50
_MULTIPLE = "list"


def read_query(request: Request) -> list[tuple[str, str]]:
    """Return the names and values of the query, in their order.

    Raises:
        BadInput: it is no query.
    """
    try:
        text = request.scope["query_string"].decode("ascii")
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except UnicodeDecodeError:
        raise BadInput("The query is not UTF-8, with what is not ASCII as %XX.") from None
    except ValueError:
        raise BadInput(f"The query has more than {MOST_FIELDS} fields.") from None


async def read_body(request: Request) -> dict[str, Any]:
    """Return the body, which must be a JSON object; none is as good as an empty one.

    Raises:
        WrongMediaType: it says that it is something else.
        BadInput: it is not a JSON object.
    """
    content = await request.body()
    if not content:
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        message = f'The body is "{kind}".' if kind else "The body does not say what it is."
        raise WrongMediaType(message, hint="Send JSON, with Content-Type: application/json.")
    try:
        value = json.loads(content, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise BadInput("The body is nested too deeply.") from None
    except ValueError as error:
        reason = str(error) if isinstance(error, _Repeated) else "it is not JSON"
        raise BadInput(f"The body cannot be read: {reason}.") from None
    if not isinstance(value, dict):
        raise BadInput("The body must be a JSON object: the names of parameters with their values.")
    if _depth(value) > MOST_DEPTH:
        raise BadInput("The body is nested too deeply.")
    return value


def single_values(given: Sequence[tuple[str, str]], types: Mapping[str, str]) -> dict[str, Any]:
    """Return each name with its value; what is given several times is a list where the parameter is one.

    Raises:
        InvalidParameters: something that is not a list is given twice.
    """
    values: dict[str, Any] = {}
    twice = []
    for name, value in given:
        if name not in values:
            values[name] = value
        elif types.get(name) == _MULTIPLE:
            before = values[name]
            values[name] = [*(before if isinstance(before, list) else [before]), value]
        else:
            twice.append(f'The parameter "{name}" is given twice.')
    if twice:
        raise InvalidParameters(dict.fromkeys(twice))
    return values


def take_number(values: dict[str, Any], name: str, default: float, most: float) -> float:
    """Take a number, at least 0, out of what is given.

    Raises:
        InvalidParameters: it is none, or out of bounds.
    """
    text = str(values.pop(name, default))
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most:
        raise InvalidParameters([f'The parameter "{name}" must be a number from 0 to {most:g}, not "{text}".'])
    return number


def take_count(values: dict[str, Any], name: str, default: int, most: int) -> int:
    """Take a whole number, at least 1, out of what is given.

    Raises:
        InvalidParameters: it is none, or out of bounds.
    """
    text = str(values.pop(name, default))
    number = int(text) if re.fullmatch("[0-9]{1,9}", text) else 0
    if not 1 <= number <= most:
        raise InvalidParameters([f'The parameter "{name}" must be a whole number from 1 to {most}, not "{text}".'])
    return number


def take_flag(values: dict[str, Any], name: str) -> bool:
    """Take true or false out of what is given.

    Raises:
        InvalidParameters: it is neither.
    """
    text = str(values.pop(name, "false")).lower()
    if text not in ("true", "false"):
        raise InvalidParameters([f'The parameter "{name}" must be true or false, not "{text}".'])
    return text == "true"


def refuse_rest(values: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise InvalidParameters for whatever nobody has taken."""
    if values:
        listed = f"Known: {', '.join(known)}." if known else "It takes none."
        raise InvalidParameters([f'There is no parameter "{name}". {listed}' for name in values])


class _Repeated(ValueError):
    """Raised when a name is there twice."""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        raise _Repeated(f'"{next(name for name in names if names.count(name) > 1)}" is in it twice')
    return value


def _refuse_constant(word: str) -> None:
    raise ValueError(word)  # NaN and Infinity are no JSON


def _depth(value: Any) -> int:
    deepest, rest = 0, [(value, 1)]
    while rest:
        each, depth = rest.pop()
        deepest = max(deepest, depth)
        inner = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        rest += [(child, depth + 1) for child in inner]
    return deepest


_WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "list": "a list",
    "map": "an object",
}


def check_given(definitions: ParameterDefinitions, body: Mapping[str, Any], others: Mapping[str, Any]) -> None:
    """Check the parameters in a body together with those in the path and the query, which override it.

    Raises:
        InvalidParameters: with all that is wrong with them, also with what is overridden.
    """
    ill_typed = list(_ill_typed(definitions, body))
    wrong = {problem.name for problem in ill_typed}
    typed = {name: value for name, value in body.items() if name not in wrong}
    _, problems = check_parameters(definitions, [], {**typed, **others}, "the request")
    overridden = {name: value for name, value in typed.items() if name in others}
    if overridden:
        _, of_these = check_parameters(definitions, list(overridden.items()))
        problems += [problem for problem in of_these if problem.name in overridden]
    messages = [
        problem.message for problem in (*ill_typed, *problems) if problem in ill_typed or problem.name not in wrong
    ]
    if messages:
        raise InvalidParameters(dict.fromkeys(messages))


def _ill_typed(definitions: ParameterDefinitions, body: Mapping[str, Any]) -> Iterator[ParameterProblem]:
    for name, value in body.items():
        definition = definitions.find(name)
        if definition is not None and value is not None and not _fits(definition, value):
            but_given = "" if definition.type == "secret" else f", not {json.dumps(value)[:100]}"
            yield ParameterProblem(
                definition.name, f'The parameter "{name}" must be {_describe_wanted(definition)}{but_given}.'
            )


def _fits(definition: ParameterDefinition, value: Any) -> bool:
    if definition.type == "list":
        return isinstance(value, list) and all(_fits_list(definition, each) for each in value)
    if definition.type == "map":
        return isinstance(value, dict)
    if definition.type == "boolean":
        return isinstance(value, bool)
    if definition.type in ("integer", "number"):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, str)


def _fits_list(definition: ParameterDefinition, value: Any) -> bool:
    return isinstance(value, str) or (definition.takes_mappings and isinstance(value, dict))


def _describe_wanted(definition: ParameterDefinition) -> str:
    if definition.type == "list":
        return "a list of texts or objects" if definition.takes_mappings else "a list of texts"
    return _WORDS.get(definition.type, f"of type {definition.type}, which is a text")
