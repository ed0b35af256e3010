"""The parameters of a request, looked at before it is accepted: what cannot be meant does not become a job first.

A body is JSON, so its values have JSON's types: `true` is no name of a database, and "10" is no number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mason.errors import InvalidParameters
from mason.parameters.definition import ParameterDefinition, ParameterDefinitions
from mason.parameters.validated_parameters import ParameterProblem, check_parameters

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
            shown = "" if definition.type == "secret" else f", not {json.dumps(value)[:100]}"
            yield ParameterProblem(
                definition.name, f'The parameter "{name}" must be {_describe_wanted(definition)}{shown}.'
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
