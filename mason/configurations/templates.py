"""`{{NAME}}` in a configuration: filled from the environment when the configuration is used, and not before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mason.util.problems import Problem
from mason.util.yaml_file import YamlDocument, plain_scalar

_TEMPLATE = re.compile(r"\{\{(.*?)\}\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_TEXT = ("integer", "number", "boolean")


def template_problems(document: YamlDocument, key: Sequence[str | int], value: Any) -> Iterator[Problem]:
    """Yield the templates whose name is none."""
    for place, text in _texts(key, value):
        for name in _TEMPLATE.findall(text):
            if not _NAME.fullmatch(name.strip()):
                yield document.problem(place, f"{{{{{name}}}}} is not the name of a variable")


def missing_variables(
    document: YamlDocument, key: Sequence[str | int], value: Any, variables: Mapping[str, str]
) -> Iterator[Problem]:
    """Yield the variables that are used but not set."""
    for place, text in _texts(key, value):
        for name in map(str.strip, _TEMPLATE.findall(text)):
            if name not in variables:
                yield document.problem(
                    place, f"the variable {name} is not set. Set it in the environment, or in a .env file."
                )


def fill(value: Any, schema: Mapping[str, Any], variables: Mapping[str, str]) -> Any:
    """Return the value with every template filled; where the schema wants a number or a truth value, as that."""
    if isinstance(value, Mapping):
        known = schema.get("properties", {})
        return {name: fill(each, known.get(name, {}), variables) for name, each in value.items()}
    if isinstance(value, list):
        return [fill(each, schema.get("items", {}), variables) for each in value]
    if not is_template(value):
        return value
    filled = _TEMPLATE.sub(lambda match: variables[match[1].strip()], value)
    return plain_scalar(filled) if schema.get("type") in _NOT_TEXT else filled


def has_constrained_template(value: Any, schema: Mapping[str, Any]) -> bool:
    """Say whether a template stands where not every text would do: what fills it has to be checked then."""
    if isinstance(value, Mapping):
        known = schema.get("properties", {})
        return any(has_constrained_template(each, known.get(name, {})) for name, each in value.items())
    if isinstance(value, list):
        return any(has_constrained_template(each, schema.get("items", {})) for each in value)
    any_text = schema.get("type", "string") == "string" and not {"enum", "pattern"} & set(schema)
    return is_template(value) and not any_text


def is_template(value: Any) -> bool:
    """Say whether a value has something to be filled in it."""
    return isinstance(value, str) and _TEMPLATE.search(value) is not None


def _texts(key: Sequence[str | int], value: Any) -> Iterator[tuple[Sequence[str | int], str]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _texts((*key, name), each)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _texts((*key, index), each)
    elif isinstance(value, str):
        yield key, value
