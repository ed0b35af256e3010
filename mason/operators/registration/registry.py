"""The registry: what is registered, and which version a name means. It imports nothing heavy: a listing is quick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mason.errors import InvalidDefinition, NotFound, OperatorNotFound
from mason.operators.registration.packaged import (
    find_packaged,
    list_packaged,
    list_packaged_operators,
    outline_packaged,
    read_packaged_files,
)
from mason.state.models import Kind, Name, NewRegistration, Origin, Outcome, Registration
from mason.state.store import StateStore
from mason.util.environment import MasonEnvironment
from mason.util.names import did_you_mean

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
    """Return the operators: those of the project, those registered, those of packages and Mason's own, by name."""
    return list_definitions(store, Kind.OPERATOR)


def list_definitions(store: StateStore, kind: Kind) -> list[Registration]:
    """Return the operators or the workflows, checked, sorted by name; of a name the first by its origin.

    Raises:
        InvalidDefinition: something is wrong in the project.
    """
    packaged = [each.registration for each in list_packaged(kind)] if store.surroundings.offers_packaged else []
    return _merge(store.surroundings.definitions(kind), store.list_registrations(kind), packaged)


def outline_definitions(store: StateStore, kind: Kind) -> list[Registration]:
    """Return what `list_definitions` does as it is written: unchecked, and without digests where nothing is registered.

    This is for listings, which read many definitions and run none.
    """
    packaged = outline_packaged(kind) if store.surroundings.offers_packaged else []
    return _merge(store.surroundings.outline(kind), store.list_registrations(kind), packaged)


def _merge(*by_origin: Sequence[Registration]) -> list[Registration]:
    everything = {each.name: each for some in reversed(by_origin) for each in some}
    return [everything[name] for name in sorted(everything)]


def list_registered(store: StateStore) -> list[Registration]:
    """Return the operators and the workflows, as a warning about all of them needs them: as they are written."""
    return [*outline_definitions(store, Kind.OPERATOR), *outline_definitions(store, Kind.WORKFLOW)]


def find_operator(store: StateStore, namespace: str, command: str, digest: str = "") -> Registration:
    """Return an operator: the current version, or the registered one whose digest begins so.

    Raises:
        OperatorNotFound: there is no such operator, or no such version, or more than one.
        InvalidDefinition: it is one of the project, and something is wrong with it.
    """
    name = Name(Kind.OPERATOR, namespace, command)
    if digest:
        return find_version(store, name, digest, list_packaged_operators())
    found = find_definition(store, name)
    if found is None:
        raise not_found(str(name), [str(each.name) for each in outline_definitions(store, Kind.OPERATOR)])
    return found


def find_definition(store: StateStore, name: Name) -> Registration | None:
    """Return what a name means: in the project, else as it is registered, else in a package or with Mason itself.

    Raises:
        InvalidDefinition: it is one of the project, and something is wrong with it.
    """
    here = store.surroundings.find(name)
    if here:
        return here
    registered = store.get_registration(name)
    if registered or not store.surroundings.offers_packaged:
        return registered
    packaged = find_packaged(name)
    return packaged.registration if packaged else None


def keep_versions(env: MasonEnvironment, store: StateStore, used: Sequence[Registration]) -> None:
    """Keep in the state what is used and not registered, so that its digest means it from now on.

    What is current stays so. A schedule, or a job that runs by itself, has only the digest.
    """
    from mason.operators.registration.checkout import checkout

    new = [NewRegistration(each, read_files(store, each)) for each in used if each.origin is not Origin.REGISTERED]
    for each in new:
        checkout(env, each.registration.digest, each.files)
    if new:
        store.add_versions(new)


def read_files(store: StateStore, registration: Registration) -> Mapping[str, bytes]:
    """Return the files of a definition, wherever it comes from; nothing where they are gone.

    Raises:
        OperatorNotFound: they were changed since the definition was read.
    """
    kept = store.get_files(registration.digest)
    return kept or store.surroundings.read_files(registration) or read_packaged_files(registration)


def not_found(name: str, known: Sequence[str]) -> OperatorNotFound:
    """Return what is said of an operator that is not among those that are known."""
    return OperatorNotFound(f'Operator "{name}" not found.', hint=near_or_listed(Kind.OPERATOR, name, known))


def near_or_listed(kind: Kind, name: str, known: Sequence[str]) -> str:
    """Return which of the known names was meant, or all of them, or how to register some."""
    if not known:
        return 'None is registered: run "mason register PATH".'
    return did_you_mean(name, known) or f"There are: {', '.join(known)}."


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
