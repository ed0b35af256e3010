"""The registry: what is registered, and which version a name means. It imports nothing heavy: a listing is quick."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mason.errors import InvalidDefinition, NoData, NotFound, OperatorNotFound
from mason.state.models import Kind, Name, NewRegistration, Outcome, Registration
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment
from mason.util.names import did_you_mean
from mason.util.packages import entry_points

ENTRY_POINT_GROUP = "mason.operators"
_SHORTEST_DIGEST = 4


def register(
    env: MasonEnvironment, store: StateStore, new: Sequence[NewRegistration], *, replace: bool
) -> list[Outcome]:
    """Register definitions, all or none.

    Raises:
        AlreadyRegistered: a name is taken by other content and `replace` is false.
        StateFailed: MASON_HOME cannot be written.
    """
    from mason.operators.registration.checkout import checkout, link_current

    for each in new:
        checkout(env, each.registration.digest, each.files)
    outcomes = store.register(new, replace=replace)
    link_current(env, store)
    return outcomes


def list_operators(store: StateStore) -> list[Registration]:
    """Return the operators that are registered or brought by packages, sorted by name."""
    registered = {each.name: each for each in store.list_registrations(Kind.OPERATOR)}
    packaged = {each.registration.name: each.registration for each in list_packaged_operators()}
    everything = {**packaged, **registered}
    return [everything[name] for name in sorted(everything)]


def list_registered(store: StateStore) -> list[Registration]:
    """Return the operators, as `list_operators` does, and the workflows."""
    return [*list_operators(store), *store.list_registrations(Kind.WORKFLOW)]


def find_operator(store: StateStore, namespace: str, command: str, digest: str = "") -> Registration:
    """Return an operator: the current version, or the one whose digest begins so.

    Raises:
        OperatorNotFound: there is no such operator, or no such version, or more than one.
    """
    name = Name(Kind.OPERATOR, namespace, command)
    if digest:
        return find_version(store, name, digest, list_packaged_operators())
    everything = {each.name: each for each in list_operators(store)}
    if name not in everything:
        raise not_found(str(name), [str(each) for each in everything])
    return everything[name]


def not_found(name: str, known: Sequence[str]) -> OperatorNotFound:
    """Return what is said of an operator that is not among those that are known."""
    return OperatorNotFound(f'Operator "{name}" not found.', hint=near_or_listed(Kind.OPERATOR, name, known))


def near_or_listed(kind: Kind, name: str, known: Sequence[str]) -> str:
    """Return which of the known names was meant, or all of them, or how to register some."""
    if not known:
        return f'None is registered: run "mason register PATH". {where_examples_are(kind)}'
    return did_you_mean(name, known) or f"Registered: {', '.join(known)}."


def where_examples_are(kind: Kind) -> str:
    """Say how what comes with Mason is registered; the command finds this path from everywhere."""
    return f'Those that come with Mason: "mason register mason/examples/{kind}s/".'


def find_version(store: StateStore, name: Name, digest: str, packaged: Sequence[NewRegistration] = ()) -> Registration:
    """Return the version of a name whose digest begins so, of those registered and of those that packages bring.

    Raises:
        OperatorNotFound: there is no such version, or more than one.
    """
    prefix = digest.removeprefix("sha256:").lower()
    history = [*store.get_history(name), *(each.registration for each in packaged if each.registration.name == name)]
    found = [each for each in history if each.digest.startswith(prefix)] if len(prefix) >= _SHORTEST_DIGEST else []
    if len({each.digest for each in found}) != 1:
        reason = "is not unique" if found else "not found"
        versions = ", ".join(each.short_digest for each in history) or "none"
        raise OperatorNotFound(f'Version "{digest}" of {name} {reason}.', hint=f"Its versions: {versions}.")
    return found[0]


def read_operator_folder(folder: str) -> Registration:
    """Return the operator in a folder as it is, which need not be registered.

    Raises:
        PathNotFound, NoData: there is none.
        InvalidDefinition: with every problem of its definition and its code; or there are several operators below it.
    """
    from mason.operators.registration.definition_folder import read_definitions
    from mason.operators.registration.definition_kind import OPERATORS

    reading = read_definitions(Path(folder), [OPERATORS])
    if reading.problems:
        raise InvalidDefinition(reading.problems)
    if len(reading.valid) > 1:
        names = ", ".join(str(each.registration.name) for each in reading.valid)
        raise InvalidDefinition([f"{folder}: several operators lie below it ({names}): name the folder of one."])
    found = reading.valid[0].registration
    return found._replace(source=str(Path(found.source).absolute()))


def list_packaged_operators() -> list[NewRegistration]:
    """Return the operators that installed packages bring through their entry points."""
    return [each for point in entry_points(ENTRY_POINT_GROUP) for each in _find_packaged(point.folder())]


def remove(env: MasonEnvironment, store: StateStore, name: Name) -> None:
    """Forget a name and all its versions.

    Raises:
        NotFound: nothing of that name is registered.
    """
    from mason.operators.registration.checkout import link_current

    if not store.get_history(name):
        raise NotFound(f'The {name.kind} "{name}" is not registered.')
    store.remove_registration(name)
    link_current(env, store)


def make_current(env: MasonEnvironment, store: StateStore, registration: Registration) -> None:
    """Make a version of a name its current one."""
    from mason.operators.registration.checkout import checkout, link_current

    checkout(env, registration.digest, store.get_files(registration.digest))
    store.set_current(registration.name, registration.digest)
    link_current(env, store)


def _find_packaged(folder: Path | None) -> Sequence[NewRegistration]:
    from mason.operators.registration.definition_folder import read_definitions
    from mason.operators.registration.definition_kind import OPERATORS

    if folder is None:
        return ()
    try:
        reading = read_definitions(folder, [OPERATORS])
    except NoData as error:
        _warn(str(error))
        return ()
    for problem in reading.problems:  # one broken package must not take the others' operators away
        _warn(problem)
    return reading.valid


def _warn(message: str) -> None:
    import logging  # only a broken package pays for it

    logging.getLogger("mason").warning("%s", message)
