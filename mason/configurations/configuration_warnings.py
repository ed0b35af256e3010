"""What a configuration says that no call can use, though nothing is wrong with the rest of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mason.clients.discovery import clients_in, find_client
from mason.clients.engines.roles import roles
from mason.configurations.configuration import Configuration, unknown_roles

Key = tuple[str, ...]


def configuration_warnings(
    configuration: Configuration, clients: Mapping[str, Mapping[str, Any]] | None = None
) -> Iterator[tuple[Key, str]]:
    """Yield each place of a configuration that is of no use yet, or of none at all, and why.

    Args:
        clients: the configurations of its clients with their variables filled, where they are.
    """
    yield from (
        ((key,), f"{message} Its clients are not used.") for key, message in unknown_roles(configuration.document)
    )
    named = {name for names in configuration.engines.values() for name in names}
    for role, names in configuration.engines.items():
        key = (roles()[role].configuration_key,)
        yield from ((key, message) for message in _warn_of_planned_roles(role, names))
    for name, values in (configuration.clients if clients is None else clients).items():
        if name not in named:
            yield ("clients", name), f'no role names "{name}", so nothing uses it; add it to an engine or remove it'
        client = find_client(name)
        if client is not None:
            yield from _find_planned_values(("clients", name, "configuration"), values, client.schema)


def _warn_of_planned_roles(role: str, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        client = find_client(name)
        if client is not None and role not in client.roles and role in client.planned_roles:
            today = ", ".join(clients_in(role)) or "nothing"
            yield f'"{name}" as {role} is not there yet: {client.planned_roles[role]}. What works today: {today}.'


def _find_planned_values(place: Key, values: Any, schema: Mapping[str, Any]) -> Iterator[tuple[Key, str]]:
    """Yield values that a client's schema marks as planned (`x-mason-planned`, beside their `enum`)."""
    for word, inner in schema.get("properties", {}).items():
        if not isinstance(values, Mapping) or word not in values:
            continue
        planned = inner.get("x-mason-planned", ())
        if values[word] in planned:
            today = ", ".join(each for each in inner["enum"] if each not in planned)
            yield (*place, word), f'"{values[word]}" is not there yet, and fails when used. What works today: {today}.'
        yield from _find_planned_values((*place, word), values[word], inner)
