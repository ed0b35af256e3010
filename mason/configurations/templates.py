"""`{{NAME}}` in a configuration: filled from the environment when the configuration is used, and not before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mason.util.problems import Problem
from mason.util.yaml_file import YamlDocument, plain_scalar

_TEMPLATE = re.compile(r"\{\{(.*?)\}\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EXAMPLES: Mapping[str, Any] = {"integer": 1, "number": 1, "boolean": True}


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
    if not isinstance(value, str) or not _TEMPLATE.search(value):
        return value
    filled = _TEMPLATE.sub(lambda match: variables[match[1].strip()], value)
    return plain_scalar(filled) if schema.get("type") in _EXAMPLES else filled


def without_templates(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return the value with something acceptable in place of templates, so that the rest of it can be checked."""
    if isinstance(value, Mapping):
        known = schema.get("properties", {})
        return {name: without_templates(each, known.get(name, {})) for name, each in value.items()}
    if isinstance(value, list):
        return [without_templates(each, schema.get("items", {})) for each in value]
    if isinstance(value, str) and _TEMPLATE.search(value):
        return schema["enum"][0] if "enum" in schema else _EXAMPLES.get(schema.get("type", ""), value)
    return value


def _texts(key: Sequence[str | int], value: Any) -> Iterator[tuple[Sequence[str | int], str]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _texts((*key, name), each)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _texts((*key, index), each)
    elif isinstance(value, str):
        yield key, value
