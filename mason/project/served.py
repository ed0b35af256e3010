"""What a server takes of a project at its start: the versions of its definitions, by digest, and its configurations.

A server never reads the project again. What changes on disk is there after a restart, and what a call could write is
never code: the folders of the data and those of the code must not lie in each other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from mason.configurations.configuration import Configuration
from mason.configurations.saved import BUILT_IN, find_configuration
from mason.configurations.valid_config import validate_configuration
from mason.errors import AlreadyExists, InvalidConfiguration, InvalidProject, MasonError, StateFailed
from mason.project.project_file import Project, is_below
from mason.project.surroundings import ProjectOnDisk
from mason.state.home import open_state, read_state
from mason.state.models import Kind, Name, Origin, RecordKind, Registration, SavedConfiguration
from mason.state.store import StateStore
from mason.state.surroundings import Surroundings
from mason.util.environment import PROJECT_FILE, MasonEnvironment

_TAKEN = "taken"


def take_project(env: MasonEnvironment) -> tuple[str, Project]:
    """Keep the project of a server's environment as it is now; return what it is kept as, and the project.

    Raises:
        InvalidProject, InvalidDefinition: something is wrong in the project.
        InvalidProject: calls could write where its code or its configurations are.
    """
    here, store = ProjectOnDisk(env), open_state(env)
    project = here.project
    definitions = {kind: here.read_definitions(kind) for kind in Kind}
    _check_roots(env, project)
    if project.root:
        _make_root(project.root)
    for found in definitions.values():
        store.add_versions(found)
    document = {
        "Folder": env.project,
        "Root": str(project.root or ""),
        "Default": project.default,
        "Configurations": {
            each.id: [each.text, str(Path(each.source).relative_to(project.folder))]
            for each in here.configurations().values()
        },
        "Definitions": {
            kind: {str(each.registration.name): each.registration.digest for each in found}
            for kind, found in definitions.items()
        },
    }
    version = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    with suppress(AlreadyExists):  # nothing has changed since it was taken last
        store.add_record(RecordKind.PROJECT, version, _TAKEN, document)
    return version, project


class ServedProject(Surroundings):
    """A project as a server took it."""

    def __init__(self, store: StateStore, env: MasonEnvironment) -> None:
        super().__init__(offers_packaged=env.offers_packaged)
        self._store = store
        self._version = env.project_version
        self.file = Path(env.project) / PROJECT_FILE

    @property
    def root(self) -> Path | None:
        return Path(self._document["Root"]) if self._document["Root"] else None

    @cached_property
    def _document(self) -> Mapping[str, Any]:
        record = self._store.get_record(RecordKind.PROJECT, self._version)
        if record is None:
            raise StateFailed("What this server took of its project is gone.", hint="Start it again.")
        return record.document

    def outline(self, kind: Kind) -> Sequence[Registration]:
        return self.definitions(kind)

    def definitions(self, kind: Kind) -> Sequence[Registration]:
        names = [str(each).rpartition(":") for each in self._document["Definitions"][kind]]
        found = (self.find(Name(kind, namespace, command)) for namespace, _, command in names)
        return [each for each in found if each]

    def find(self, name: Name) -> Registration | None:
        digest = self._document["Definitions"][name.kind].get(str(name))
        if digest is None:
            return None
        history = self._store.get_history(name)
        return next((each._replace(origin=Origin.PROJECT) for each in history if each.digest == digest), None)

    def configurations(self) -> Mapping[str, SavedConfiguration]:
        given: Mapping[str, Sequence[str]] = self._document["Configurations"]
        return {name: SavedConfiguration(name, text, source, "") for name, (text, source) in given.items()}

    @property
    def default_configuration(self) -> str:
        return str(self._document["Default"])


def _check_roots(env: MasonEnvironment, project: Project) -> None:
    """See that no call can write what this or the next start takes for code or for a configuration.

    Raises:
        InvalidProject: a root contains such a place, or lies in one.
    """
    problems = [
        *find_shared_places(project, [str(project.root)] if project.root else [], "The root of the project"),
        *find_shared_places(project, env.roots or (), "The root of the calls"),
    ]
    for configuration in _usable_configurations(env):
        try:
            roots = validate_configuration(configuration, env).roots or ()
        except InvalidConfiguration:  # no call can use it as it is
            continue
        others = [each for each in roots if each not in (*(env.roots or ()), str(project.root))]
        problems += find_shared_places(project, others, f'The root of the configuration "{configuration.id}"')
    if problems:
        raise InvalidProject(
            dict.fromkeys(problems), "Calls could change what the server runs. Keep the data in a folder of their own."
        )


def _usable_configurations(env: MasonEnvironment) -> Iterator[Configuration]:
    """Yield the configurations that calls can name: the project's, which must be right, and the saved ones."""
    store = read_state(env)
    here = store.surroundings.configurations()
    for config_id in here:
        yield find_configuration(env, store, config_id)
    for config_id in {BUILT_IN, *(each.id for each in store.list_configurations())} - set(here):
        with suppress(MasonError):  # one that an earlier Mason saved, and that no call can use as it is
            yield find_configuration(env, store, config_id)


def find_shared_places(project: Project, roots: Iterable[str], what: str) -> list[str]:
    """Return how roots of data contain, or lie in, the places of a project's code and configurations."""
    files = [file if file.parent == project.folder else file.parent for file in project.configurations.values()]
    places = [project.file, *(folder for folders in project.folders.values() for folder in folders), *files]
    problems = []
    for root in roots:
        for place in dict.fromkeys(places):
            if is_below(place, Path(root)):
                problems.append(f"{what}, {root}, contains {place}.")
            elif is_below(Path(root), place):
                problems.append(f"{what}, {root}, lies in {place}.")
    return problems


def _make_root(root: Path) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StateFailed(f"{root}: {error.strerror}.", hint="The server keeps its data there.") from error
