"""Runs an operator. The one place where an error becomes a part of the response."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mason.clients.response import LOG, Response
from mason.configurations.saved import use_configuration
from mason.configurations.valid_config import ValidConfig
from mason.errors import Interrupted, MasonError
from mason.lineage.surroundings import within_operator
from mason.operators.failed_code import describe_failure
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_response import OperatorResponse
from mason.operators.operator_spec import OperatorSpec
from mason.operators.registration.loader import load_operator
from mason.operators.registration.registry import find_operator, list_registered, read_operator_folder
from mason.operators.use_warnings import warn_of_use
from mason.parameters.validated_parameters import ValidatedParameters, validate_parameters
from mason.state.home import read_state
from mason.state.models import Registration
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment
from mason.util.json_text import json_value
from mason.util.redaction import REDACTED, hide_secrets, redact_urls


@dataclass(frozen=True, kw_only=True)
class OperatorCall:
    """What a user asks for: an operator, its parameters, and the configuration to use."""

    namespace: str
    command: str
    digest: str = ""
    given: Sequence[tuple[str, Any]] = ()
    base: Mapping[str, Any] = field(default_factory=dict)
    config_id: str = ""
    base_name: str = "the file"
    folder: str = ""
    """The folder of an operator that is run as it is; with one the names say nothing."""


def run_operator(env: MasonEnvironment, call: OperatorCall, response: Response) -> OperatorResponse:
    """Run an operator.

    Raises:
        MasonError: the operator, its parameters or the configuration do not allow it, or the run failed.
    """
    return prepare_call(env, call, response).run()


def plan_operator(env: MasonEnvironment, call: OperatorCall, response: Response) -> OperatorResponse:
    """Say what running the operator would do; nothing is written.

    Raises:
        MasonError: the operator, its parameters or the configuration do not allow it.
    """
    return prepare_call(env, call, response).plan()


def prepare_call(env: MasonEnvironment, call: OperatorCall, response: Response) -> PreparedOperator:
    """Return an operator that is ready to be run or planned.

    Raises:
        MasonError: the operator, its parameters or the configuration do not allow it.
    """
    store = read_state(env)
    config = use_configuration(env, call.config_id)
    response.redactor = config.redactor
    if call.folder:
        registration = read_operator_folder(call.folder)
    else:
        registration = find_operator(store, call.namespace, call.command, call.digest)
    return prepare_operator(env, store, config, registration, call, response)


def respond(
    work: Callable[[Response], OperatorResponse],
    new_response: Response | None = None,
    describe_bug: Callable[[BaseException], str] = describe_failure,
) -> OperatorResponse:
    """Do the work with a new response and return what came of it; whatever goes wrong is in the response."""
    response = new_response or Response()
    try:
        return work(response)
    except MasonError as error:
        for message in error.messages:
            response.add_error(message, error.status)
        return OperatorResponse(response, error.record)
    except KeyboardInterrupt:
        response.add_error("Interrupted.", Interrupted.status)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (a bug, here or in an operator: the caller still gets a response)
        LOG.error("%s", response.redactor(traceback.format_exc()))
        response.add_error(describe_bug(error))
    return OperatorResponse(response)


def show_result(
    result: OperatorResponse, describe_bug: Callable[[BaseException], str] = describe_failure
) -> dict[str, Any]:
    """Return a result in JSON; should that fail, since an author's object cannot be shown, the call has failed."""
    response = result.response
    try:
        document: dict[str, Any] = json_value(result.to_dict())
    except Exception as error:  # noqa: BLE001 (the author's objects)
        LOG.error("%s", response.redactor(traceback.format_exc()))
        response.add_error(describe_bug(error))
        return {**response.to_dict(), "Data": []}
    return document


def prepare_operator(
    env: MasonEnvironment,
    store: StateStore,
    config: ValidConfig,
    registration: Registration,
    call: OperatorCall,
    response: Response,
) -> PreparedOperator:
    """Check the parameters of a call and the configuration, and load the operator.

    Raises:
        MasonError: the parameters or the configuration do not allow it.
    """
    spec = OperatorSpec.of(registration.definition)
    known = ReadyOperator(registration, spec, lambda: load_operator(env, store, registration))
    return prepare_ready(env, config, known, call, response, lambda: list_registered(store))


@dataclass(frozen=True)
class ReadyOperator:
    """An operator whose definition is read; its code is loaded when everything else is known to be right."""

    registration: Registration
    spec: OperatorSpec
    load: Callable[[], OperatorDefinition]


def prepare_ready(
    env: MasonEnvironment,
    config: ValidConfig,
    known: ReadyOperator,
    call: OperatorCall,
    response: Response,
    registered: Callable[[], Iterable[Registration]],
) -> PreparedOperator:
    """Check the parameters of a call and the configuration, and load the operator; see `prepare_operator`.

    Args:
        registered: what returns all that is registered, should it matter.
    """
    response.redactor = config.redactor
    spec = known.spec
    parameters = validate_parameters(spec.parameters, call.given, call.base, call.base_name)
    response.redactor.learn(parameters.secrets)
    warn_of_use(response, config, [known.registration], registered)
    accepted = spec.narrow(config)
    return PreparedOperator(
        env=env,
        config=accepted,
        parameters=parameters,
        registration=known.registration,
        operator=known.load(),
        response=response,
    )


@dataclass(frozen=True, kw_only=True)
class PreparedOperator:
    """An operator with all that it needs: checked, loaded, and not yet run."""

    env: MasonEnvironment
    config: ValidConfig
    parameters: ValidatedParameters
    registration: Registration
    operator: OperatorDefinition
    response: Response

    def run(self) -> OperatorResponse:
        with within_operator(str(self.registration.name), self.config.id), hide_secrets(self.response.redactor):
            return self._check_result(self.operator.run(self.env, self.config, self.parameters, self.response))

    def plan(self) -> OperatorResponse:
        self.response.add_data(self._outline())
        with hide_secrets(self.response.redactor):
            return self._check_result(self.operator.plan(self.env, self.config, self.parameters, self.response))

    def _check_result(self, result: object) -> OperatorResponse:
        if not isinstance(result, OperatorResponse):
            raise MasonError(
                f"{self.registration.name} returned {type(result).__name__} instead of an OperatorResponse.",
                hint="Its run and plan must end with: return OperatorResponse(resp)",
            )
        return result

    def _outline(self) -> dict[str, Any]:
        secrets, values = self.parameters.secrets, self.parameters.values
        return {
            "Operator": self.registration.pinned_name,
            "Configuration": self.config.id,
            "Clients": {role: list(names) for role, names in self.config.client_names.items() if names},
            "Parameters": {
                name: REDACTED if str(value) in secrets else redact_urls(value) for name, value in values.items()
            },
        }
