"""What distinguishes the two kinds of definition that can be registered: operators, and workflows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mason.clients.engines.roles import with_roles
from mason.state.models import Kind
from mason.util.yaml_file import Problem, YamlDocument

SPARK_OPERATOR = "mason.operators.spark_operator.SparkOperator"


@dataclass(frozen=True, kw_only=True)
class DefinitionKind:
    """The file, the schema and the class of one kind of definition."""

    kind: Kind
    file_name: str
    schema_file: Path
    bases: Mapping[str, Mapping[str, Sequence[str]]]
    """The classes to inherit from, with their module, and the methods that each wants, with their parameters."""
    needs_class: bool
    optional_methods: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Methods that the class may have, with their parameters."""
    check: Callable[[YamlDocument], Iterable[Problem]] = lambda document: ()
    """What a document is looked at for besides. It may not fit the schema: what does not is told already."""

    @property
    def schema(self) -> Mapping[str, Any]:
        schema: dict[str, Any] = json.loads(self.schema_file.read_text(encoding="utf-8"))
        return with_roles(schema)


OPERATORS = DefinitionKind(
    kind=Kind.OPERATOR,
    file_name="operator.yaml",
    schema_file=Path(__file__).parent / "schema.json",
    bases={
        "mason.operators.operator_definition.OperatorDefinition": {
            "run": ("self", "env", "config", "parameters", "resp")
        },
        "mason.operators.operator_definition.DataOperator": {"job": ("self", "config", "parameters")},
        SPARK_OPERATOR: {"transform": ("self", "spark", "inputs", "parameters")},
    },
    needs_class=True,
)
