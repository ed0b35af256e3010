"""The configurations that tests can run on: those that this machine offers, and those that the user names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mason.clients.discovery import engines_of_this_machine
from mason.configurations.configuration import Configuration, parse_configuration
from mason.configurations.saved import read_configurations
from mason.configurations.valid_config import Engine, ValidConfig, validate_configuration
from mason.errors import Conflict, InvalidConfiguration, MasonError
from mason.util.environment import MasonEnvironment

_BUILT_IN = (
    "id: {id}\nmetastore_engine: local\nstorage_engine: local\nscheduler_engine: local\nexecution_engine: {id}\n"
)
_LOCAL = "local"


@dataclass(frozen=True)
class Offer:
    """A configuration; without a reason against it, tests can run on it."""

    name: str
    config: ValidConfig
    reason_against: str = ""

    def placed(self, root: Path, env: MasonEnvironment) -> ValidConfig:
        """Return the configuration with its databases and paths below a folder, and its records in a home of their own.

        The engine stays warm for the next.
        """
        engines = {role: _with_root(engine, root, env) for role, engine in self.config.engines.items()}
        return replace(self.config, engines={**engines, "execution": _with_home(self.config.execution, env)})


def list_offers(env: MasonEnvironment, files: Sequence[Path]) -> list[Offer]:
    """Return the built-in configurations and those of the files, each with what stands against running on it.

    Raises:
        InvalidConfiguration: a file cannot be used.
        Conflict: two have the same id.
    """
    names = engines_of_this_machine()
    built_in = [parse_configuration(_BUILT_IN.format(id=name), name=name, default_id=name) for name in names]
    offers: dict[str, Offer] = {}
    for configuration in [*built_in, *_read_configurations(files)]:
        if configuration.id in offers:
            raise Conflict(
                f'{configuration.document.name}: its id "{configuration.id}" is taken.', hint="Give it another id."
            )
        config = validate_configuration(configuration, env)
        offers[configuration.id] = Offer(configuration.id, config, _reason_against(config))
    return list(offers.values())


def only(offers: Sequence[Offer], names: Sequence[str]) -> list[Offer]:
    """Return the offers in which only these can be run on."""
    return [each if each.name in names else replace(each, reason_against="not asked for") for each in offers]


def _read_configurations(files: Sequence[Path]) -> list[Configuration]:
    readings = [read_configurations(file) for file in files]
    problems = [problem for reading in readings for problem in reading.problems]
    if problems:
        raise InvalidConfiguration(problems)
    return [configuration for reading in readings for _, configuration in reading.valid]


def _reason_against(config: ValidConfig) -> str:
    for role in ("metastore", "storage"):
        others = [name for name in config.engine(role).client_names if name != _LOCAL]
        if others:
            return f"its {role} is {', '.join(others)}; what a test needs is made on this machine, with {_LOCAL}"
    try:
        return " ".join(config.execution.client.check()) if config.execution.client_names else ""
    except MasonError as error:
        return str(error)


def _with_home(engine: Engine[Any], env: MasonEnvironment) -> Engine[Any]:
    """Return the engine that computes, with the clients that are built: none is started again for each test."""
    for client in engine.built:
        client.belong_to(env)
    return replace(engine, env=env, _joined={})


def _with_root(engine: Engine[Any], root: Path, env: MasonEnvironment) -> Engine[Any]:
    configurations: Mapping[str, Mapping[str, Any]] = {
        name: {**values, "root": str(root)} if name == _LOCAL else values
        for name, values in engine.configurations.items()
    }
    return Engine(
        role=engine.role,
        config_id=engine.config_id,
        configurations=configurations,
        env=env,
        secrets=engine.secrets,
    )
