"""Schemas as OpenAPI 3.0 and Swagger 2.0 write them: those of JSON Schema 4, and `nullable` besides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


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
