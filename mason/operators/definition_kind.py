"""What distinguishes the two kinds of definition that can be registered: operators, and workflows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mason.state.models import Kind


@dataclass(frozen=True)
class DefinitionKind:
    """The file, the schema and the class of one kind of definition."""

    kind: Kind
    file_name: str
    schema_file: Path
    base_class: str
    """The class to inherit from, with its module."""
    methods: Mapping[str, Sequence[str]]
    """The methods that the class must have, each with its parameters."""
    needs_class: bool

    @property
    def schema(self) -> Mapping[str, Any]:
        schema: dict[str, Any] = json.loads(self.schema_file.read_text(encoding="utf-8"))
        return schema


OPERATORS = DefinitionKind(
    Kind.OPERATOR,
    "operator.yaml",
    Path(__file__).parent / "schema.json",
    "mason.operators.operator_definition.OperatorDefinition",
    {"run": ("self", "env", "config", "parameters", "resp")},
    needs_class=True,
)
