"""Operators as functions, with completion and signatures: `m.operators.table.merge(input_path=…, output_path=…)`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mason.util.names import did_you_mean

if TYPE_CHECKING:
    from mason.connection.call_response import CallResponse
    from mason.connection.connection import Connection


@dataclass(frozen=True, kw_only=True)
class OperatorSignature:
    """An operator that can be called, as its `operator.yaml` describes it."""

    namespace: str
    command: str
    description: str
    parameters: Mapping[str, str]
    """What each parameter is, the required ones first."""
    required: Sequence[str] = ()
    defaults: Mapping[str, Any]


class OperatorNames:
    """The namespaces of operators."""

    def __init__(self, connection: Connection, operators: Sequence[OperatorSignature]) -> None:
        self._connection = connection
        self._operators = operators

    def __dir__(self) -> list[str]:
        return sorted({each.namespace for each in self._operators if each.namespace})

    def __getattr__(self, name: str) -> Namespace:
        if name.startswith("_"):
            raise AttributeError(name)
        found = [each for each in self._operators if each.namespace == name]
        if not found:
            raise AttributeError(f'There is no namespace "{name}" among the operators. {did_you_mean(name, dir(self))}')
        return Namespace(self._connection, name, found)

    def __repr__(self) -> str:
        return f"<operators: {', '.join(dir(self))}>"


class Namespace:
    """The operators of a namespace."""

    def __init__(self, connection: Connection, name: str, operators: Sequence[OperatorSignature]) -> None:
        self._connection = connection
        self._name = name
        self._operators = {each.command: each for each in operators}

    def __dir__(self) -> list[str]:
        return sorted(self._operators)

    def __getattr__(self, command: str) -> OperatorFunction:
        if command.startswith("_"):
            raise AttributeError(command)
        if command not in self._operators:
            hint = did_you_mean(command, self._operators)
            raise AttributeError(f'There is no operator "{self._name}:{command}". {hint}'.strip())
        return OperatorFunction(self._connection, self._operators[command])

    def __repr__(self) -> str:
        return f"<operators of {self._name}: {', '.join(dir(self))}>"


class OperatorFunction:
    """An operator as a function. Its parameters are keywords; `config`, `plan` and `progress` as for `m.operator`."""

    def __init__(self, connection: Connection, operator: OperatorSignature) -> None:
        self._connection = connection
        self._operator = operator
        self.__name__ = operator.command
        self.__doc__ = _document(operator)
        self.__signature__ = _signature(operator)

    def __call__(self, **parameters: Any) -> CallResponse:
        return self._connection.operator(self._operator.namespace, self._operator.command, **parameters)

    def __repr__(self) -> str:
        return f"<operator {self._operator.namespace}:{self._operator.command}{self.__signature__}>"


def _signature(operator: OperatorSignature) -> inspect.Signature:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                keyword,
                default=inspect.Parameter.empty if name in operator.required else operator.defaults.get(name),
            )
            for name in operator.parameters
        ]
    )


def _document(operator: OperatorSignature) -> str:
    lines = [f"    {name}: {text}" for name, text in operator.parameters.items()]
    return "\n".join([operator.description, "", "Args:", *lines]) if lines else operator.description
