"""What is registered and configured, read once and kept as long as nothing changes: for a process that lives on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mason.clients.response import Response
from mason.configurations.saved import current_id, find_configuration
from mason.configurations.valid_config import ValidConfig, validate_configuration
from mason.errors import StateFailed
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.operator_spec import OperatorSpec
from mason.operators.registration.loader import load_definition, maker_of, read_source
from mason.operators.registration.registry import find_operator, list_definitions, list_operators
from mason.operators.registration.source_check import defines_function
from mason.operators.runner import OperatorCall, PreparedOperator, ReadyOperator, prepare_ready
from mason.state.models import Kind, Name, Registration
from mason.state.store import StateStore
from mason.state.tokens import Token, list_tokens
from mason.util.environment import MasonEnvironment

OWN_API = "api"
"""The function with which the author of an operator answers a request otherwise than by running it."""

_FRESH_SECONDS = 0.005
"""So long a look at the store is good for: less than a command takes to end that has changed something."""

_FAR_SECONDS = 0.05
"""The same for a store on another machine, which is asked less often."""


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """A moment's registrations, configurations and tokens. Calls that began with it end with it."""

    env: MasonEnvironment
    store: StateStore
    mark: int
    operators: Mapping[Name, Registration]
    workflows: Sequence[Registration]
    tokens: Sequence[Token]
    current_config_id: str
    _specs: dict[str, OperatorSpec] = field(default_factory=dict)
    _classes: dict[str, Callable[[], OperatorDefinition]] = field(default_factory=dict)
    _configurations: dict[str, ValidConfig] = field(default_factory=dict)
    _own_apis: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def read(cls, env: MasonEnvironment, store: StateStore) -> Catalogue:
        mark = store.get_definitions_mark()  # first: a change while the rest is read makes the next look see it
        operators = {each.name: each for each in list_operators(store)}
        workflows = list_definitions(store, Kind.WORKFLOW)
        return cls(
            env=env,
            store=store,
            mark=mark,
            operators=operators,
            workflows=workflows,
            tokens=list_tokens(store),
            current_config_id=current_id(store),
        )

    def operator(self, name: Name) -> ReadyOperator:
        """Return an operator.

        Raises:
            OperatorNotFound: there is none of that name.
        """
        found = self.operators.get(name) or find_operator(self.store, name.namespace, name.command)
        return ReadyOperator(found, self.spec(found), lambda: self._load(found))

    def has_own_api(self, registration: Registration) -> bool:
        """Say whether the author of an operator wrote a function `api` beside it; its code is read, and not run."""
        if registration.digest not in self._own_apis:
            source = read_source(self.store, registration)
            self._own_apis[registration.digest] = defines_function(source, OWN_API)
        return self._own_apis[registration.digest]

    def spec(self, registration: Registration) -> OperatorSpec:
        """Return the definition of an operator, read."""
        if registration.digest not in self._specs:
            self._specs[registration.digest] = OperatorSpec.of(registration.definition)
        return self._specs[registration.digest]

    def secret_words(self) -> set[str]:
        """Return what any operator calls a secret."""
        every = (each for found in self.operators.values() for each in self.spec(found).parameters.all)
        return {word for each in every if each.type == "secret" for word in (each.name, *each.aliases)}

    def configuration(self, config_id: str = "") -> ValidConfig:
        """Return a configuration, or the current one, with a redactor that learns for one call only.

        Raises:
            ConfigurationNotFound: there is no such configuration.
            InvalidConfiguration: a variable in it is not set.
        """
        chosen = config_id or self.current_config_id
        if chosen not in self._configurations:
            found = find_configuration(self.env, self.store, chosen)
            self._configurations[chosen] = validate_configuration(found, self.env)
        config = self._configurations[chosen]
        return replace(config, redactor=config.redactor.copy())

    def prepare(self, call: OperatorCall, response: Response) -> PreparedOperator:
        """Return an operator that is ready to be run or planned.

        Raises:
            MasonError: the operator, its parameters or the configuration do not allow it.
        """
        config = self.configuration(call.config_id)
        known = self.operator(Name(Kind.OPERATOR, call.namespace, call.command))
        registered = (*self.operators.values(), *self.workflows)
        return prepare_ready(self.env, config, known, call, response, lambda: registered)

    def _load(self, registration: Registration) -> OperatorDefinition:
        if registration.digest not in self._classes:
            loaded = load_definition(self.env, self.store, registration)
            assert isinstance(loaded, OperatorDefinition)
            self._classes[registration.digest] = maker_of(loaded)
        return self._classes[registration.digest]()


class LiveCatalogue:
    """The newest catalogue: a look costs next to nothing, and a change is there some milliseconds after it was made."""

    def __init__(self, env: MasonEnvironment, store: StateStore) -> None:
        self._env = env
        self._store = store
        self._lock = threading.Lock()
        self._looked = 0.0
        self._fresh_seconds = _FAR_SECONDS if store.is_far else _FRESH_SECONDS
        self._changes = store.get_changes()
        self._catalogue = Catalogue.read(env, store)

    def latest(self) -> Catalogue:
        """Return what is registered and configured now, or what was when the store could last be asked."""
        try:
            return self.now()
        except StateFailed:
            return self._catalogue

    def now(self) -> Catalogue:
        """Return what is registered and configured now.

        Raises:
            StateFailed: nobody can tell.
        """
        moment = time.monotonic()
        if moment - self._looked < self._fresh_seconds:
            return self._catalogue
        changes = self._store.get_changes()
        self._looked = moment
        if changes != self._changes:
            with self._lock:
                if self._store.get_definitions_mark() != self._catalogue.mark:
                    self._catalogue = Catalogue.read(self._env, self._store)
                self._changes = changes
        return self._catalogue
