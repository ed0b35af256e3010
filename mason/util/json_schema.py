"""Checks a document against a JSON Schema and says every problem in a person's words, with its line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mason.util.names import did_you_mean
from mason.util.redaction import REDACTED, is_secret_name
from mason.util.yaml_file import Problem, YamlDocument

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_UNSAID = "has a value that does not fit"
_TYPE_WORDS = {"object": "a mapping", "array": "a list", "string": "text", "integer": "a whole number",
               "number": "a number", "boolean": "true or false", "null": "nothing"}  # fmt: skip


def check_document(
    document: YamlDocument,
    schema: Mapping[str, Any],
    *,
    at: Sequence[str | int] = (),
    passing: Callable[[Any], bool] | None = None,
) -> list[Problem]:
    """Return every problem of the document's value, sorted by line.

    Args:
        at: the key at which that value stands in its file.
        passing: says of a value that it is right whatever the schema says.
    """
    from jsonschema import Draft202012Validator  # heavy: only `config` and `register` come here

    problems: list[Problem] = []
    for error in Draft202012Validator(schema).iter_errors(document.value):
        if passing is None or not passing(error.instance):
            problems += [document.problem((*at, *key), message) for key, message in _explain(error)]
    return sorted(set(problems))


def _explain(error: ValidationError) -> Iterator[tuple[tuple[str | int, ...], str]]:
    key = tuple(error.absolute_path)
    wanted: Any = error.validator_value
    schema: Any = error.schema
    instance: Any = error.instance
    if error.validator == "additionalProperties":
        known = list(schema.get("properties", {}))
        for name in [name for name in instance if name not in known]:
            yield (*key, name), f"unknown key. {did_you_mean(name, known) or 'Known keys: ' + ', '.join(known) + '.'}"
    elif error.validator == "required":
        for name in [name for name in wanted if name not in instance]:
            yield key, f'"{name}" is missing'
    elif error.validator == "dependentRequired":
        for given, others in wanted.items():
            missing = [name for name in others if name not in instance] if given in instance else []
            yield from ((key, f'"{name}" is missing: it belongs to "{given}"') for name in missing)
    elif error.validator == "type":
        types = [wanted] if isinstance(wanted, str) else wanted
        words = " or ".join(_TYPE_WORDS.get(each, each) for each in types)
        yield key, f"must be {words}, not {_kind(instance)}"
    elif error.validator == "enum":
        near = did_you_mean(str(instance), [str(each) for each in wanted])
        yield (
            key,
            f"{_render_value(instance, key, schema)} is not one of {', '.join(map(str, wanted))}. {near}".rstrip(),
        )
    elif error.validator == "const":
        yield key, f"must be {wanted!r}, not {_render_value(instance, key, schema)}"
    elif error.validator in ("anyOf", "oneOf") and error.context:
        yield from _explain_alternatives(error)
    else:
        fallback = _UNSAID if _is_secret(key, schema) else error.message
        yield key, str(schema.get("x-mason-message") or fallback)


def _explain_alternatives(error: ValidationError) -> Iterator[tuple[tuple[str | int, ...], str]]:
    # The alternative that got furthest into the value is the one its author meant.
    context = error.context or []
    schema: Any = error.schema
    deepest = max(len(each.absolute_path) for each in context)
    if deepest == len(error.absolute_path):
        message = schema.get("x-mason-message") or "; or ".join(
            sorted({m for each in context for _, m in _explain(each)})
        )
        yield tuple(error.absolute_path), str(message)
    else:
        for each in context:
            if len(each.absolute_path) == deepest:
                yield from _explain(each)


def _render_value(value: object, key: Sequence[str | int], schema: Any) -> str:
    if _is_secret(key, schema):
        return REDACTED
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _is_secret(key: Sequence[str | int], schema: Any) -> bool:
    return bool(schema.get("x-mason-secret")) or any(isinstance(part, str) and is_secret_name(part) for part in key)


def _kind(value: object) -> str:
    """Return what a value is, in words. Not the value: where it is of the wrong kind, it may be anything."""
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return _TYPE_WORDS[kinds.get(type(value), "null")]
