"""The parameters of a call: checked as a whole before any client is touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mason.errors import InvalidParameters
from mason.parameters.definition import ParameterDefinition, ParameterDefinitions
from mason.parameters.values import BadElements, BadValue, read_value
from mason.util.names import did_you_mean


@dataclass(frozen=True)
class ValidatedParameters:
    """The values that an operator was called with, each of the type that the operator declared."""

    values: Mapping[str, Any]
    secrets: frozenset[str] = frozenset()
    declared: Sequence[str] | None = None
    """The names that operator.yaml declares; None if nobody knows them, as in an author's own test."""

    def get_required(self, name: str) -> Any:
        """Return a required parameter.

        Raises:
            InvalidParameters: the operator does not declare it as required, and it was not given.
            LookupError: the operator does not declare it at all; only its author can mend that.
        """
        if self.declared is not None and name not in self.declared:
            near = did_you_mean(name, self.declared) or f"Declared: {', '.join(self.declared) or 'none'}."
            raise LookupError(f'operator.yaml declares no parameter "{name}". {near}')
        if self.values.get(name) is None:
            raise InvalidParameters([f'The parameter "{name}" is missing.'])
        return self.values[name]

    def get_optional(self, name: str) -> Any:
        """Return an optional parameter: its value, its default, or None."""
        return self.values.get(name)


def read_parameter_file(path: Path) -> dict[str, Any]:
    """Return what a YAML or JSON file of parameters says; scalars stay the text they were written as.

    Raises:
        InvalidParameters: it cannot be read, or is not a mapping of names to values.
    """
    from mason.util.yaml_file import YamlProblem, read_yaml  # only a call with -f pays for YAML

    try:
        document = read_yaml(path, plain_text=True)
    except YamlProblem as error:
        raise InvalidParameters([error.problem]) from error
    if document.value is None:
        return {}
    if not isinstance(document.value, dict):
        raise InvalidParameters([document.problem((), "must be a mapping of parameter names to values")])
    return document.value


class ParameterProblem(NamedTuple):
    """What is wrong, and with which parameter."""

    name: str
    message: str


def validate_parameters(
    definitions: ParameterDefinitions,
    given: Sequence[tuple[str, Any]],
    base: Mapping[str, Any] | None = None,
    base_name: str = "the file",
) -> ValidatedParameters:
    """Check what was given (`-p`) on top of a base (`-f`, which `base_name` names) and return the typed values.

    Raises:
        InvalidParameters: with everything that is missing, unknown, given twice or ill-typed.
    """
    values, problems = check_parameters(definitions, given, base, base_name)
    if problems:
        raise InvalidParameters(problem.message for problem in problems)
    return values


def check_parameters(
    definitions: ParameterDefinitions,
    given: Sequence[tuple[str, Any]],
    base: Mapping[str, Any] | None = None,
    base_name: str = "the file",
) -> tuple[ValidatedParameters, list[ParameterProblem]]:
    """Return the typed values of what is right, and what is wrong with the rest; see `validate_parameters`."""
    problems: list[ParameterProblem] = []
    chosen = _by_name(definitions, list((base or {}).items()), problems, f" (in {base_name})")
    chosen |= _by_name(definitions, given, problems)
    values: dict[str, Any] = {}
    for definition in definitions.all:
        value = chosen.get(definition.name)
        try:
            if value is not None and not (definition.required and value == ""):
                values[definition.name] = read_value(definition, value)
            elif definition.default is not None:
                values[definition.name] = read_value(definition, definition.default)
            elif definition.required:
                problems.append(ParameterProblem(definition.name, _describe_missing(definition)))
        except BadElements as error:
            problems += [ParameterProblem(definition.name, message) for message in error.messages]
        except BadValue as error:
            message = str(error)
            end = "" if message.endswith(("?", ".")) else "."
            problems.append(ParameterProblem(definition.name, f'The parameter "{definition.name}" {message}{end}'))
    declared = [each.name for each in definitions.all]
    return ValidatedParameters(values, _secrets(definitions, values), declared), problems


def _by_name(
    definitions: ParameterDefinitions,
    given: Iterable[tuple[str, Any]],
    problems: list[ParameterProblem],
    place: str = "",
) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for word, value in given:
        definition = definitions.find(word)
        if definition is None:
            problems.append(ParameterProblem(word, _unknown(definitions, word, place)))
        elif definition.name in chosen:
            problems.append(ParameterProblem(word, f'The parameter "{definition.name}" is given twice.'))
        else:
            chosen[definition.name] = value
    return chosen


def _unknown(definitions: ParameterDefinitions, word: str, place: str) -> str:
    names = [each.name for each in definitions.all]
    near = did_you_mean(word, names) or (f"Known: {', '.join(names)}." if names else "It takes none.")
    quote = "" if place else " If it belongs to the value before it, put that value in quotes."
    return f'There is no parameter "{word}"{place}. {near}{quote}'


def _describe_missing(definition: ParameterDefinition) -> str:
    described = f" ({definition.description})" if definition.description else ""
    return f'The parameter "{definition.name}"{described} is missing.'


def _secrets(definitions: ParameterDefinitions, values: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(
        str(values[each.name]) for each in definitions.all if each.type == "secret" and each.name in values
    )
