"""`{{NAME}}` in a configuration: filled from the environment when the configuration is used, and not before.

`{{secret:KEEPER:PLACE}}` is filled later still: when the client that needs it is built.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mason.secrets.reference import SecretReference, is_secret
from mason.util.redaction import is_secret_name
from mason.util.yaml_file import Problem, YamlDocument, plain_scalar

_TEMPLATE = re.compile(r"\{\{(.*?)\}\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_TEXT = ("integer", "number", "boolean")


def template_problems(document: YamlDocument, key: Sequence[str | int], value: Any) -> Iterator[Problem]:
    """Yield the templates that name neither a variable nor a secret."""
    for place, text in _texts(key, value):
        for name in _TEMPLATE.findall(text):
            if is_secret(name):
                yield from _secret_problems(document, place, name)
            elif not _NAME.fullmatch(name.strip()):
                hint = f". A secret is written {{{{secret:{name.strip()}}}}}." if ":" in name else ""
                yield document.problem(place, f"{{{{{name}}}}} is not the name of a variable{hint}")


def missing_variables(
    document: YamlDocument, key: Sequence[str | int], value: Any, variables: Mapping[str, str]
) -> Iterator[Problem]:
    """Yield the variables that are used but not set."""
    for place, text in _texts(key, value):
        for name in map(str.strip, _TEMPLATE.findall(text)):
            if not is_secret(name) and name not in variables:
                yield document.problem(
                    place, f"the variable {name} is not set. Set it in the environment, or in a .env file."
                )


def fill(value: Any, schema: Mapping[str, Any], variables: Mapping[str, str]) -> Any:
    """Return the value with every variable filled; where the schema wants a number or a truth value, as that."""
    return _fill(value, schema, lambda name: None if is_secret(name) else variables[name])


def fill_shown(value: Any, schema: Mapping[str, Any], variables: Mapping[str, str]) -> Any:
    """Return the value as people are shown it: with the variables that are set and whose names are no secrets'."""

    def look_up(name: str) -> str | None:
        return None if is_secret(name) or is_secret_name(name) else variables.get(name)

    return _fill(value, schema, look_up)


def fill_secrets(value: Any, schema: Mapping[str, Any], read: Callable[[str], str]) -> Any:
    """Return the value with every secret filled; `read` is given what stands between the braces."""
    return _fill(value, schema, lambda name: read(name) if is_secret(name) else None)


def secrets_in(key: Sequence[str | int], value: Any) -> Iterator[tuple[Sequence[str | int], str]]:
    """Yield the secrets that a value names, each with its place."""
    for place, text in _texts(key, value):
        yield from ((place, name) for name in map(str.strip, _TEMPLATE.findall(text)) if is_secret(name))


def _secret_problems(document: YamlDocument, place: Sequence[str | int], name: str) -> Iterator[Problem]:
    try:
        SecretReference.of(name)
    except ValueError as error:
        yield document.problem(place, f"{{{{{name}}}}} names no secret: {error}")


def _fill(value: Any, schema: Mapping[str, Any], look_up: Callable[[str], str | None]) -> Any:
    """A template for which nothing is found stays what it is."""
    if isinstance(value, Mapping):
        known = schema.get("properties", {})
        return {name: _fill(each, known.get(name, {}), look_up) for name, each in value.items()}
    if isinstance(value, list):
        return [_fill(each, schema.get("items", {}), look_up) for each in value]
    if not is_template(value):
        return value
    filled = _TEMPLATE.sub(lambda match: _or_else(look_up(match[1].strip()), match[0]), value)
    return plain_scalar(filled) if schema.get("type") in _NOT_TEXT and not is_template(filled) else filled


def _or_else(found: str | None, template: str) -> str:
    return template if found is None else found


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
