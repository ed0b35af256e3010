"""A workflow that can be planned and run: every name in it found, every parameter and reference checked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mason.configurations.valid_config import ValidConfig
from mason.engines.scheduler.models.dags.dag import Dag
from mason.parameters.validated_parameters import ValidatedParameters
from mason.state.models import Registration
from mason.util.redaction import url_secrets
from mason.workflows.condition import Condition
from mason.workflows.definitions import Definitions, KnownOperator
from mason.workflows.parameter_file import NO_FILE, REQUEST, ParameterFile
from mason.workflows.workflow_spec import WorkflowSpec


class Target(NamedTuple):
    """What a reference refers to: a step, and the words that lead into what it gave."""

    key: str
    words: Sequence[str]


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True)
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
