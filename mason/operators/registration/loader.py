"""From a registration to an instance of the class that its author wrote."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from mason.errors import OperatorNotFound, StateFailed
from mason.operators.operator_definition import OperatorDefinition
from mason.operators.registration.checkout import checkout
from mason.parameters.definition import ParameterDefinitions
from mason.state.models import Kind, Origin, Registration
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment
from mason.util.names import class_name

SOURCE_FILE = "__init__.py"
_LOADED: dict[str, Registration] = {}
"""The folders that code was loaded from, and what is registered with it."""

_LOADING = threading.RLock()
"""Who comes while another thread loads a module waits: it is there before it is whole."""


def load_operator(env: MasonEnvironment, store: StateStore, registration: Registration) -> OperatorDefinition:
    """Import the code of an operator and return an instance of its class.

    Raises:
        OperatorNotFound: its code is gone.
    """
    operator = load_definition(env, store, registration)
    assert isinstance(operator, OperatorDefinition)
    return operator


def load_definition(env: MasonEnvironment, store: StateStore, registration: Registration) -> object:
    """Import the code of an operator or workflow and return an instance of its class.

    The module is named by the digest, so that two versions can live in one process.

    Raises:
        OperatorNotFound: its code is gone.
    """
    files = store.get_files(registration.digest) or store.surroundings.read_files(registration)
    folder = _check_out(env, registration, files) if files else Path(registration.source)
    if is_transformation(registration):
        from mason.operators.transform_operator import TransformOperator

        return TransformOperator(registration, folder)
    if not (folder / SOURCE_FILE).is_file():
        raise OperatorNotFound(
            f"The code of {registration.name} ({registration.short_digest}) is gone.", hint="Register it again."
        )
    _LOADED[str(folder)] = registration
    with _LOADING:
        module = _load_module(f"mason_registered_sha256_{registration.digest}", folder)
    name = class_name(registration.name.namespace, registration.name.command)
    definition: object = getattr(module, name)()
    return definition


def is_transformation(registration: Registration) -> bool:
    """Say whether Mason itself is the operator, and the author's code a part of its job."""
    return (
        registration.name.kind is Kind.OPERATOR
        and ParameterDefinitions.of(registration.definition.get("parameters")).written is not None
    )


def maker_of(operator: OperatorDefinition) -> Callable[[], OperatorDefinition]:
    """Return what makes an operator for each call of its own: an author's may remember something, Mason's own none."""
    return (lambda: operator) if operator.is_stateless else type(operator)


def _check_out(env: MasonEnvironment, registration: Registration, files: Mapping[str, bytes]) -> Path:
    """Return the folder with exactly these files; where a project's cannot be copied, the folder that they lie in."""
    try:
        return checkout(env, registration.digest, files)
    except StateFailed:
        if registration.origin is Origin.PROJECT:
            return Path(registration.source)
        raise


def read_source(store: StateStore, registration: Registration) -> bytes:
    """Return the code of an operator or workflow as it is written; nothing if it is gone."""
    files = store.get_files(registration.digest)
    if files:
        return files.get(SOURCE_FILE, b"")
    file = Path(registration.source) / SOURCE_FILE
    return file.read_bytes() if file.is_file() else b""


def find_loaded() -> list[tuple[str, str, str]]:
    """Return each folder that code was loaded from, with the name of its owner and the folder that its author knows."""
    return [(folder, str(each.name), each.source) for folder, each in _LOADED.items()]


def _load_module(name: str, folder: Path) -> object:
    with _LOADING:
        return _run_module_of(name, folder)


def _run_module_of(name: str, folder: Path) -> object:
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, folder / SOURCE_FILE, submodule_search_locations=[str(folder)]
        )
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # before it runs: its own submodules look for it there
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
