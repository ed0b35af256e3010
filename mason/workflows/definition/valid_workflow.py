"""A workflow that can be planned and run: every name in it found, every parameter and reference checked."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mason.configurations.valid_config import ValidConfig
from mason.engines.scheduler.models.dags.dag import Dag
from mason.parameters.validated_parameters import ValidatedParameters
from mason.state.models import Registration
from mason.util.json_text import json_value
from mason.util.redaction import REDACTED, redact_urls, redact_values, url_secrets
from mason.workflows.definition.condition import Condition
from mason.workflows.definition.definitions import Definitions, KnownOperator
from mason.workflows.definition.parameter_file import NO_FILE, REQUEST, ParameterFile
from mason.workflows.definition.workflow_spec import WorkflowSpec


class Target(NamedTuple):
    """What a reference refers to: a step, and the words that lead into what it gave."""

    key: str
    words: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundStep:
    """What a step needs to be run besides its place in the DAG."""

    operator: KnownOperator
    config: ValidConfig
    given: Mapping[str, Any] = field(repr=False)
    parameters: ValidatedParameters | None
    """The checked parameters; None where some come from earlier steps."""
    targets: Mapping[str, Target]
    conditions: Sequence[Condition]

    @property
    def given_secrets(self) -> Sequence[str]:
        """The secrets that were given for it, and those in URLs."""
        every = self.operator.spec.parameters.all
        words = [word for each in every if each.type == "secret" for word in (each.name, *each.aliases)]
        given = [str(self.given[word]) for word in words if self.given.get(word) is not None]
        return [*given, *sorted(url_secrets(self.given))]


@dataclass(frozen=True, kw_only=True)
class ValidWorkflow:
    """A workflow with its DAG."""

    registration: Registration
    spec: WorkflowSpec
    dag: Dag
    bound: Mapping[str, BoundStep]
    owners: Mapping[str, Registration]
    """The workflow behind each prefix of keys: that with no prefix is this one, the others are nested in it."""
    config: ValidConfig
    scheduler: str
    file: ParameterFile
    definitions: Definitions

    @property
    def kept_parameters(self) -> Mapping[str, Any] | None:
        """What came with a request and can be written down, for it has no secret: a run can be resumed with it."""
        if self.file.document.name != REQUEST or any(step.given_secrets for step in self.bound.values()):
            return None
        return self.file.steps

    @property
    def parameter_path(self) -> str:
        """The file of parameters, or nothing."""
        return "" if self.file.document.name in (NO_FILE, REQUEST) else os.path.abspath(self.file.document.name)  # noqa: PTH100


def parameters_for_record(parameters: ValidatedParameters) -> dict[str, Any]:
    """Return parameters for a record: none of their secrets is in it, and no password of a URL."""
    return {name: redact_urls(value) for name, value in _without_secrets(parameters).items()}


def clients_for_record(config: ValidConfig) -> dict[str, Any]:
    """Return the clients of each role with their configurations; none of their secrets is in it."""
    return {role: json_value(redact_values(dict(each.configurations))) for role, each in config.engines.items()}


def call_digest(digest: str, config: ValidConfig, parameters: ValidatedParameters) -> str:
    """Return a digest of what is asked for: another operator, configuration or parameter is another call."""
    return digest_of([digest, clients_for_record(config), _without_secrets(parameters)])


def digest_of(value: Any) -> str:
    """Return a digest of plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _without_secrets(parameters: ValidatedParameters) -> dict[str, Any]:
    secrets = parameters.secrets
    return {name: REDACTED if str(value) in secrets else json_value(value) for name, value in parameters.values.items()}
