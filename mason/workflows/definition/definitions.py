"""The operators, workflows and configurations that a workflow's steps name: each found once, however many name it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from mason.configurations.saved import current_id, find_configuration
from mason.configurations.valid_config import ValidConfig, validate_configuration
from mason.errors import NotFound
from mason.operators.operator_spec import OperatorSpec
from mason.operators.registration.registry import (
    find_definition,
    find_operator,
    find_version,
    near_or_listed,
    outline_definitions,
    read_files,
)
from mason.state.models import Kind, Name, Registration
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment
from mason.util.yaml_file import YamlDocument, parse_yaml
from mason.workflows.definition.registration import WORKFLOW_FILE

_NONE: Mapping[str, str] = {}


class KnownOperator(NamedTuple):
    """An operator as it is registered now."""

    registration: Registration
    spec: OperatorSpec


class Definitions:
    """What is registered and configured, as one call of a workflow sees it."""

    def __init__(self, env: MasonEnvironment, store: StateStore, pinned: Mapping[str, str] = _NONE) -> None:
        """Begin with nothing found; `pinned` has the digests of what is to be had in a certain version."""
        self.env = env
        self._pinned = pinned
        self.store = store
        self._operators: dict[str, KnownOperator] = {}
        self._workflows: dict[str, Registration | None] = {}
        self._configurations: dict[str, ValidConfig] = {}
        self._accepted: dict[tuple[str, str], ValidConfig] = {}

    def operator(self, name: str) -> KnownOperator:
        """Return the current version of an operator.

        Raises:
            OperatorNotFound: there is none of that name.
        """
        if name not in self._operators:
            namespace, _, command = name.rpartition(":")
            digest = self._pinned.get(f"{Kind.OPERATOR} {name}", "")
            registration = find_operator(self.store, namespace, command, digest)
            self._operators[name] = KnownOperator(registration, OperatorSpec.of(registration.definition))
        return self._operators[name]

    def workflow(self, name: str, digest: str = "") -> Registration:
        """Return the current version of a workflow, or the one whose digest begins so.

        Raises:
            NotFound: there is none of that name.
        """
        namespace, _, command = name.rpartition(":")  # there may be no namespace
        wanted = Name(Kind.WORKFLOW, namespace, command)
        if digest:
            return find_version(self.store, wanted, digest)
        if name not in self._workflows:
            # By its name, not out of all: another one may have ten thousand steps, which would have to be read, too.
            pinned = self._pinned.get(f"{Kind.WORKFLOW} {name}", "")
            self._workflows[name] = (
                find_version(self.store, wanted, pinned) if pinned else find_definition(self.store, wanted)
            )
        found = self._workflows[name]
        if found is None:
            raise NotFound(
                f'Workflow "{name}" not found.', hint=near_or_listed(Kind.WORKFLOW, name, self._workflow_names)
            )
        return found

    def configuration(self, config_id: str) -> ValidConfig:
        """Return the configuration of that id, or the current one.

        Raises:
            ConfigurationNotFound: there is no such configuration.
            InvalidConfiguration: a variable in it is not set.
        """
        if config_id not in self._configurations:
            found = find_configuration(self.env, self.store, config_id or current_id(self.store))
            self._configurations[config_id] = validate_configuration(found, self.env)
        return self._configurations[config_id]

    def require_accepted(self, operator: KnownOperator, config_id: str) -> ValidConfig:
        """Return the configuration with the clients that the operator accepts.

        Raises:
            MasonError: there is no such configuration, or the operator does not accept it.
        """
        key = (operator.registration.digest, config_id)
        if key not in self._accepted:
            self._accepted[key] = operator.spec.narrow(self.configuration(config_id))
        return self._accepted[key]

    def document(self, registration: Registration) -> YamlDocument:
        """Return `workflow.yaml` with its lines, which only a message needs."""
        files = read_files(self.store, registration)
        return parse_yaml(
            files.get(WORKFLOW_FILE, b"{}").decode("utf-8-sig"), name=f"{registration.source}/{WORKFLOW_FILE}"
        )

    @cached_property
    def _workflow_names(self) -> Sequence[str]:
        return [str(each.name) for each in outline_definitions(self.store, Kind.WORKFLOW)]
