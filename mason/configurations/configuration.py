"""A configuration as its author wrote it: read and checked, its `{{NAME}}` not yet filled."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mason.clients.discovery import find_client, unknown_client, wrong_role
from mason.clients.engines.roles import KEY_ENDING, list_role_names, roles, unknown_role, with_roles
from mason.configurations.templates import fill_shown, is_template, template_problems
from mason.errors import InvalidConfiguration
from mason.util.names import CONFIG_ID_RULE, is_config_id
from mason.util.redaction import redact_values
from mason.util.yaml_file import Problem, YamlDocument, YamlProblem, parse_yaml

_NONE: Mapping[str, str] = {}


@dataclass(frozen=True)
class Configuration:
    """The clients of each role and how each client is configured."""

    id: str
    document: YamlDocument
    engines: Mapping[str, Sequence[str]]
    clients: Mapping[str, Mapping[str, Any]]
    folder: str = ""
    """Where its relative folders begin: in that of its project; in the working directory, if it has none."""
    root: str = ""
    """The folder in which paths begin where a client says none."""

    def describe_roles(self, variables: Mapping[str, str] = _NONE) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Yield role, client and the client's configuration without its secrets, in the order of the listing.

        Args:
            variables: what fills `{{NAME}}`, for somebody whose variables they are.
        """
        for role in list_role_names():
            for name in self.engines.get(role, ()):
                client = find_client(name)
                schema = client.schema if client else {}
                yield role, name, redact_values(fill_shown(self.clients[name], schema, variables), schema)


def parse_configuration(text: str, *, name: str, default_id: str) -> Configuration:
    """Read a configuration; `name` is how messages call its file.

    Raises:
        InvalidConfiguration: with every problem at once.
    """
    try:
        document = parse_yaml(text, name=name)
    except YamlProblem as error:
        raise InvalidConfiguration([error.problem]) from error
    problems = _check(document, default_id)
    if problems:
        raise InvalidConfiguration(problems)
    return _build(document, default_id)


def parse_checked_configuration(text: str, *, name: str, default_id: str) -> Configuration:
    """Read a configuration that this version of Mason has checked before: a run does not pay for it again."""
    return _build(parse_yaml(text, name=name), default_id)


def _build(document: YamlDocument, default_id: str) -> Configuration:
    engines = {name: _names(document.value.get(role.configuration_key)) for name, role in roles().items()}
    given = _mapping(document.value.get("clients"))
    named = {name for names in engines.values() for name in names}
    clients = {name: _mapping(_mapping(given.get(name)).get("configuration")) for name in sorted(named | set(given))}
    return Configuration(str(document.value.get("id", default_id)), document, engines, clients)


def _check(document: YamlDocument, default_id: str) -> list[Problem]:
    from mason.util.json_schema import check_document

    if document.value is None:
        return [Problem(document.name, 1, "", "is empty; it should say which client fills which role")]
    problems = check_document(document, _schema())
    if not isinstance(document.value, dict):
        return problems
    strange = dict(unknown_roles(document))
    problems = [each for each in problems if each.key not in strange]
    problems += [document.problem((key,), message) for key, message in strange.items()]
    config_id = document.value.get("id", default_id)
    if isinstance(config_id, str | int) and not is_config_id(str(config_id)):
        problems.append(document.problem(("id",), f'"{config_id}" cannot be an id: {CONFIG_ID_RULE}'))
    configuration = _build(document, default_id)
    problems += _check_engines(configuration)
    for name, values in configuration.clients.items():
        problems += _check_client(document, name, values)
    return sorted(set(problems))


def unknown_roles(document: YamlDocument) -> Iterator[tuple[str, str]]:
    """Yield the keys that name clients for a role that does not exist, or that is not installed here."""
    known = {role.configuration_key for role in roles().values()}
    for key in _mapping(document.value):
        if str(key).endswith(KEY_ENDING) and key not in known:
            yield key, unknown_role(key.removesuffix(KEY_ENDING))


def _check_engines(configuration: Configuration) -> Iterator[Problem]:
    for role, names in configuration.engines.items():
        key = (roles()[role].configuration_key,)
        if names and (problem := roles()[role].problem):
            yield configuration.document.problem(key, str(problem))
            continue
        for name in names:
            client = find_client(name)
            if client is None:
                yield configuration.document.problem(key, unknown_client(name, role))
            elif client.problem:
                yield configuration.document.problem(key, str(client.problem))
            elif role not in client.roles and role not in client.planned_roles:
                yield configuration.document.problem(key, wrong_role(name, role))


def _check_client(document: YamlDocument, name: str, values: Mapping[str, Any]) -> Iterator[Problem]:
    from mason.util.json_schema import check_document

    client = find_client(name)
    if client is None:
        if name in _mapping(document.value.get("clients")):
            yield document.problem(("clients", name), f'there is no client "{name}"')
        return
    place = ("clients", name, "configuration")
    yield from template_problems(document, place, values)
    checked = YamlDocument(document.name, document.text, values, document.lines)
    # What a template will be filled with is checked when the configuration is used.
    yield from check_document(checked, client.schema, at=place, passing=is_template)


def _names(value: Any) -> Sequence[str]:
    given = value if isinstance(value, list) else [value]
    return tuple(name for name in given if isinstance(name, str) and name)


def _mapping(value: Any) -> Mapping[str, Any]:
    """What is of another kind was reported by the schema; the rest of the file is still looked at."""
    return value if isinstance(value, dict) else {}


@cache
def _schema() -> Mapping[str, Any]:
    schema: dict[str, Any] = json.loads((Path(__file__).parent / "schema.json").read_text(encoding="utf-8"))
    return with_roles(schema)
