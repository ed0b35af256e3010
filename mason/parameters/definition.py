"""What an operator says of its parameters in `operator.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

_PLAIN_TYPES = ("string", "integer", "number", "boolean", "date", "timestamp", "enum", "secret")
TYPES = (*_PLAIN_TYPES, "path", "table", "list", "map")

INTEGERS = 2**63
"""A whole number is less than this, and at least the same below zero."""

TEXTS, MAPPINGS, CHECKS = "texts", "mappings", "checks"
READ, WRITE = "read", "write"

_JSON_TYPES = {"integer": "integer", "number": "number", "boolean": "boolean", "list": "array", "map": "object"}
_JSON_FORMATS = {"integer": "int64", "date": "date", "timestamp": "date-time", "secret": "password"}
_EXAMPLES = {
    "integer": "10",
    "number": "0.5",
    "boolean": "true",
    "date": "2026-01-31",
    "timestamp": "2026-01-31T12:30:00",
    "path": "data/in",
    "list": "a,b",
    "map": '{"a": 1}',
    "table": "shop.orders",
}


@dataclass(frozen=True, kw_only=True)
class ParameterDefinition:
    """One parameter: a plain name in `operator.yaml` is a required or optional text."""

    name: str
    required: bool
    type: str = "string"
    default: Any = None
    minimum: float | None = None
    maximum: float | None = None
    choices: Sequence[str] = ()
    elements: str = TEXTS
    """What a list holds: texts, or mappings as well, or checks of a table, which are both."""
    aliases: Sequence[str] = ()
    description: str = ""
    access: str = ""
    """Of a table: whether it is read or written."""

    @classmethod
    def of(cls, given: str | Mapping[str, Any], *, required: bool) -> ParameterDefinition:
        if isinstance(given, str):
            return cls(name=given, required=required)
        values = dict(given)
        for key in ("choices", "aliases"):
            values[key] = tuple(str(each) for each in values.get(key, ()))
        if values["choices"] and "type" not in values:
            values["type"] = "enum"
        if values.get("type") == "table":
            values.setdefault("access", READ)
        return cls(required=required, **values)

    def to_json_schema(self) -> dict[str, Any]:
        choices = {"enum": list(self.choices)} if self.choices else {}
        limits = {"default": self.default, **self._limits()}
        return {
            "type": _JSON_TYPES.get(self.type, "string"),
            **({"format": _JSON_FORMATS[self.type]} if self.type in _JSON_FORMATS else {}),
            **({"items": self._items(choices)} if self.type == "list" else choices),
            **({"description": self.description} if self.description else {}),
            **{key: value for key, value in limits.items() if value is not None},
        }

    def _limits(self) -> dict[str, float | None]:
        """Return between what a number must be; a whole one has 64 bits, whatever its author says."""
        least, most = (-INTEGERS, INTEGERS - 1) if self.type == "integer" else (None, None)
        return {
            "minimum": least if self.minimum is None else self.minimum,
            "maximum": most if self.maximum is None else self.maximum,
        }

    @property
    def takes_mappings(self) -> bool:
        """Whether an element of the list may be a mapping."""
        return self.elements != TEXTS

    def _items(self, choices: Mapping[str, Any]) -> dict[str, Any]:
        text = {"type": "string", **choices}
        if self.elements == CHECKS:
            from mason.pipeline.jobs.check.schema import check_schemas

            return {"anyOf": [text, *check_schemas()]}
        return {"anyOf": [text, {"type": "object"}]} if self.takes_mappings else text

    def example(self) -> str:
        """Return a value that could stand in an example call."""
        if self.default is not None and not isinstance(self.default, list):
            return str(self.default).lower() if isinstance(self.default, bool) else str(self.default)
        if self.choices:
            return self.choices[0]
        if (self.type == "path" and self.name.startswith("output")) or self.access == WRITE:
            return "data/out"  # who pastes the example must not replace what it reads
        limit = self.minimum if self.minimum is not None else self.maximum
        return _EXAMPLES.get(self.type, "…") if limit is None else str(limit)


def _reserve(name: str, kind: str, description: str, **more: Any) -> ParameterDefinition:
    return ParameterDefinition(name=name, required=False, type=kind, description=description, **more)


RESERVED: Sequence[ParameterDefinition] = (
    _reserve(
        "mode",
        "enum",
        "What becomes of what is in the table already.",
        default="replace",
        choices=("replace", "append", "replace_partitions", "upsert"),
    ),
    _reserve("keys", "list", "Columns that tell rows apart, for the mode upsert."),
    _reserve("partition_by", "list", "Columns by whose values the table is divided into folders."),
    _reserve("checks", "list", "Checks of the rows before they are published, besides its own.", elements=CHECKS),
    _reserve("failures_path", "path", "The folder that becomes a table of the rows that fail a check."),
    _reserve("allow_empty", "boolean", "Whether no rows at all may replace those of the table.", default=False),
)
"""The parameters of every operator that has a written table; Mason takes care of them."""


@dataclass(frozen=True)
class ParameterDefinitions:
    """All parameters of an operator."""

    required: Sequence[ParameterDefinition] = ()
    optional: Sequence[ParameterDefinition] = ()
    one_of: Sequence[Sequence[str]] = ()
    """Groups of optional parameters of which a call gives one whole group, as help says; the operator checks it."""
    _by_word: Mapping[str, ParameterDefinition] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_word = {word: each for each in self.all for word in (each.name, *each.aliases)}
        object.__setattr__(self, "_by_word", by_word)

    @classmethod
    def of(cls, given: Mapping[str, Any] | None) -> ParameterDefinitions:
        given = given or {}
        required = [ParameterDefinition.of(each, required=True) for each in given.get("required") or ()]
        optional = [ParameterDefinition.of(each, required=False) for each in given.get("optional") or ()]
        declared = cls(tuple(required), tuple(optional), tuple(map(tuple, given.get("one_of") or ())))
        return replace(declared, optional=(*declared.optional, *RESERVED)) if declared.written else declared

    @property
    def all(self) -> Sequence[ParameterDefinition]:
        return (*self.required, *self.optional)

    @property
    def read(self) -> Sequence[ParameterDefinition]:
        """The tables that are read."""
        return [each for each in self.all if each.access == READ]

    @property
    def written(self) -> ParameterDefinition | None:
        """The table that is written, where there is one."""
        return next((each for each in self.all if each.access == WRITE), None)

    def find(self, word: str) -> ParameterDefinition | None:
        """Return the parameter of that name or alias."""
        return self._by_word.get(word)

    def to_json_schema(self, title: str) -> dict[str, Any]:
        """Return the parameters as one JSON Schema."""
        by_any_name = [
            {"anyOf": [{"required": [word]} for word in (each.name, *each.aliases)]}
            for each in self.required
            if each.aliases
        ]
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": title,
            "type": "object",
            "properties": {word: each.to_json_schema() for each in self.all for word in (each.name, *each.aliases)},
            "required": [each.name for each in self.required if not each.aliases],
            **({"allOf": by_any_name} if by_any_name else {}),
            "additionalProperties": False,
        }
