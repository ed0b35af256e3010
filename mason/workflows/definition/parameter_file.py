"""The file of a workflow's parameters: for each step its configuration and its operator's parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from mason.engines.scheduler.models.timing import Timing
from mason.errors import InvalidParameters
from mason.util.names import did_you_mean
from mason.util.yaml_file import Key, Problem, YamlDocument, YamlProblem, parse_yaml, read_yaml
from mason.workflows.definition.graph import RESERVED
from mason.workflows.definition.workflow_spec import WORKFLOW, StepSpec

NO_FILE = "the parameters (give a file with -f)"
REQUEST = "the body"
"""How messages call parameters that came with a request."""

_OF_OPERATORS = ("config_id", "parameters")
_OF_WORKFLOWS = ("config_id", "steps")
_MANY = 1_000


@dataclass(frozen=True)
class ParameterFile:
    """What was given for the steps of a workflow, or for those of one that is nested in a step."""

    document: YamlDocument
    place: Key = ()
    is_kept: bool = False
    """It was kept with what was deployed or run, and accepted then."""

    @cached_property
    def steps(self) -> Mapping[str, Any]:
        value = self.document.value
        for word in self.place:
            if not isinstance(value, Mapping):
                return {}
            value = value.get(word)
        return value if isinstance(value, Mapping) else {}

    def of_step(self, step_id: str) -> Mapping[str, Any]:
        """Return what was given for a step; nothing where it was left out or is of the wrong kind."""
        found = self.steps.get(step_id)
        return found if isinstance(found, Mapping) else {}

    def parameters(self, step_id: str) -> Mapping[str, Any]:
        found = self.of_step(step_id).get("parameters")
        return found if isinstance(found, Mapping) else {}

    def config_id(self, step_id: str) -> str:
        return str(self.of_step(step_id).get("config_id") or "")

    def select_nested(self, step_id: str) -> ParameterFile:
        """Return what was given for the steps of the workflow that a step nests."""
        return ParameterFile(self.document, (*self.place, step_id, "steps"))

    def problem(self, key: Sequence[str | int], message: str) -> Problem:
        return self.document.problem((*self.place, *key), message)

    def problems(self, steps: Sequence[StepSpec]) -> Iterator[Problem]:
        """Yield what is wrong with the shape of what was given."""
        known = {step.id: step for step in steps}
        reserved = RESERVED if not self.place else frozenset[str]()
        for word, given in self.steps.items():
            if word in reserved:
                yield from self._check_reserved(word, given)
            elif word not in known:
                near = did_you_mean(word, known) if len(known) <= _MANY else ""
                yield self.problem((word,), f"the workflow has no such step. {near}".rstrip())
            else:
                yield from self._step_problems(known[word], given)

    def _check_reserved(self, word: str, given: Any) -> Iterator[Problem]:
        if not isinstance(given, str):
            yield self.problem((word,), "must be text")
        elif word == "schedule" and not self.is_kept:  # a run is not to fail of when it is due
            try:
                Timing.parse_checked(given)
            except ValueError as error:
                yield self.problem((word,), str(error))

    def _step_problems(self, step: StepSpec, given: Any) -> Iterator[Problem]:
        keys = _OF_WORKFLOWS if step.type == WORKFLOW else _OF_OPERATORS
        if given is not None and not isinstance(given, Mapping):
            yield self.problem((step.id,), f"must be a mapping with {' and '.join(keys)}")
            return
        for word, value in (given or {}).items():
            if word not in keys:
                near = did_you_mean(word, keys) or f"Known: {', '.join(keys)}."
                yield self.problem((step.id, word), f"unknown key. {near}")
            elif word == "config_id" and not isinstance(value, str):
                yield self.problem((step.id, word), "must be the id of a configuration")
            elif word != "config_id" and value is not None and not isinstance(value, Mapping):
                yield self.problem((step.id, word), "must be a mapping of names to values")


def read_parameters(path: Path | None) -> ParameterFile:
    """Read a file of parameters; without one, nothing is given. Scalars stay the text they were written as.

    Raises:
        InvalidParameters: it cannot be read, or is no mapping of steps.
    """
    if path is None:
        return ParameterFile(YamlDocument(NO_FILE, "", {}, {}))
    try:
        document = read_yaml(path, plain_text=True)
    except YamlProblem as error:
        raise InvalidParameters([error.problem]) from error
    return _of_steps(document)


def parse_parameters(text: str, path: str) -> ParameterFile:
    """Read parameters that were kept; `path` is the file that they came from, or nothing if it was a request.

    Raises:
        InvalidParameters: it is no mapping of steps.
    """
    if not text:
        return read_parameters(None)
    try:
        return replace(_of_steps(parse_yaml(text, name=path or REQUEST, plain_text=True)), is_kept=True)
    except YamlProblem as error:
        raise InvalidParameters([error.problem]) from error


def _of_steps(document: YamlDocument) -> ParameterFile:
    if document.value is not None and not isinstance(document.value, dict):
        message = "must be a mapping of the ids of steps to their config_id and parameters"
        raise InvalidParameters([document.problem((), message)])
    return ParameterFile(document)


def parameters_of_request(value: Mapping[str, Any]) -> ParameterFile:
    """Return parameters that came with a request rather than in a file."""
    return ParameterFile(YamlDocument(REQUEST, json.dumps(value), value, {(): 0}))
