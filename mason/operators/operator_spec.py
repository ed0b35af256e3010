"""`operator.yaml`, read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mason.configurations.valid_config import ValidConfig
from mason.errors import UnsupportedConfiguration
from mason.parameters.definition import ParameterDefinitions
from mason.util.names import full_name

Choice = Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class OperatorSpec:
    """An operator's name, parameters, and the configurations that it accepts."""

    namespace: str
    command: str
    description: str
    parameters: ParameterDefinitions
    supported_configurations: Sequence[Choice]
    is_repeatable: bool = False
    """Whether doing it twice is as good as once: a job of it that is lost is run again, once."""

    @classmethod
    def of(cls, definition: Mapping[str, Any]) -> OperatorSpec:
        """Build the spec from a definition that fits `schema.json`."""
        return cls(
            namespace=definition.get("namespace") or "",
            command=definition["command"],
            description=definition.get("description", ""),
            parameters=ParameterDefinitions.of(definition.get("parameters")),
            supported_configurations=tuple(_choice(each) for each in definition.get("supported_configurations", ())),
            is_repeatable=definition.get("repeatable", False),
        )

    @property
    def name(self) -> str:
        return full_name(self.namespace, self.command)

    def narrow(self, config: ValidConfig) -> ValidConfig:
        """Return the configuration with the clients that this operator accepts.

        Raises:
            UnsupportedConfiguration: it accepts none of the combinations that the configuration offers.
        """
        if not self.supported_configurations:
            return config
        chosen = self.choose(config.client_names)
        if chosen is not None:
            return config.narrow_to(chosen)
        raise UnsupportedConfiguration(
            f'{self.name} does not accept the configuration "{config.id}", which has {self._offer(config)}. '
            f"It accepts {'; or '.join(map(_describe_choice, self.supported_configurations))}."
        )

    def choose(self, offered: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]] | None:
        """Return the clients that it accepts of those that are offered for each role; nothing if it accepts none."""
        if not self.supported_configurations:
            return offered
        for supported in self.supported_configurations:
            chosen = {
                role: [name for name in offered.get(role, ()) if name in names] for role, names in supported.items()
            }
            if all(chosen.values()):
                return chosen
        return None

    def _offer(self, config: ValidConfig) -> str:
        roles = dict.fromkeys(role for supported in self.supported_configurations for role in supported)
        return ", ".join(f"{role}: {' and '.join(config.client_names.get(role, ())) or 'nothing'}" for role in roles)


def _choice(given: Mapping[str, str | list[str]]) -> Choice:
    return {role: (names,) if isinstance(names, str) else tuple(names) for role, names in given.items()}


def _describe_choice(supported: Choice) -> str:
    return " with ".join(f"{role}: {' or '.join(names)}" for role, names in supported.items())
