"""Clients that somebody names and nobody will use: told when they are saved or registered, and when they matter.

None of it is an error. A client may be installed where the operator runs and not where it is registered, and whatever
else a configuration or an operator says still works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mason.clients.discovery import find_client, unknown_client, wrong_role
from mason.clients.engines.roles import roles
from mason.clients.response import Response
from mason.configurations.configuration import Configuration
from mason.configurations.configuration_warnings import configuration_warnings
from mason.configurations.valid_config import ValidConfig
from mason.operators.operator_spec import OperatorSpec
from mason.state.models import Kind, Registration
from mason.util.yaml_file import Problem

Key = tuple[str | int, ...]


def unknown_clients(definition: Mapping[str, Any]) -> Iterator[tuple[Key, str]]:
    """Yield where an operator or a workflow accepts a client that does not exist, or not in that role."""
    for number, supported in enumerate(definition.get("supported_configurations") or ()):
        for role, names in supported.items():
            key: Key = ("supported_configurations", number, role)
            for name in [names] if isinstance(names, str) else names:
                yield from ((key, message) for message in _wrong_client(name, role))
    for number, name in enumerate(definition.get("supported_schedulers") or ()):
        key = ("supported_schedulers", number)
        yield from ((key, message) for message in _wrong_client(name, "scheduler"))


def find_unused_clients(
    engines: Mapping[str, Sequence[str]], registered: Iterable[Registration]
) -> Iterator[tuple[str, str]]:
    """Yield the roles of a configuration that have clients which no operator and no workflow would use, and why."""
    # Of several storages the scheme of a path picks one, and so on: see `mason.clients.engines.several`.
    several = {role: names for role, names in engines.items() if len(names) > 1 and not roles()[role].uses_all}
    if not several:
        return
    used = {(role, name) for each in registered for role, name in _clients_in_use(each, engines)}
    for role, (first, *others) in several.items():
        unused = [name for name in others if (role, name) not in used]
        if unused:
            yield (
                role,
                f'nothing uses {" and ".join(unused)}: Mason uses the first client, "{first}", unless an operator or '
                "workflow accepts only another, and no registered one does",
            )


def warnings_of_saving(configuration: Configuration, registered: Iterable[Registration]) -> list[Problem]:
    """Return what somebody who saves a configuration should know of it."""
    document = configuration.document
    found = [document.problem(key, message) for key, message in configuration_warnings(configuration)]
    further = find_unused_clients(configuration.engines, registered)
    return sorted(
        [*found, *(document.problem((roles()[role].configuration_key,), message) for role, message in further)]
    )


def warn_of_use(
    response: Response,
    config: ValidConfig,
    used: Iterable[Registration],
    registered: Callable[[], Iterable[Registration]],
) -> None:
    """Warn of what a call that uses a configuration, and these definitions, cannot use."""
    for warning in config.warnings:
        response.add_warning(warning)
    engines = config.client_names
    if any(len(names) > 1 and not roles()[role].uses_all for role, names in engines.items()):
        for role, message in find_unused_clients(engines, registered()):
            response.add_warning(f'Configuration "{config.id}": {roles()[role].configuration_key}: {message}.')
    for each in used:
        for key, message in unknown_clients(each.definition):
            response.add_warning(f"{each.name}: {key[0]}: {message}")


def _clients_in_use(registration: Registration, engines: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the roles and clients of a configuration that a definition would use."""
    if registration.name.kind is Kind.WORKFLOW:
        supported = registration.definition.get("supported_schedulers") or engines["scheduler"]
        yield from (("scheduler", name) for name in [each for each in engines["scheduler"] if each in supported][:1])
        return
    chosen = OperatorSpec.of(registration.definition).choose(engines)
    for role, names in (chosen or {}).items():
        yield from ((role, name) for name in names[:1])


def _wrong_client(name: str, role: str) -> Iterator[str]:
    client = find_client(name)
    if client is None:
        yield unknown_client(name, role)
    elif role not in client.roles and role not in client.planned_roles:
        yield wrong_role(name, role)
