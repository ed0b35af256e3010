"""What a project adds to the state for whoever works in its folder: its definitions and configurations, as on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mason.errors import InvalidDefinition, InvalidProject, OperatorNotFound
from mason.operators.registration.outline import find_folders, outline_folder
from mason.project.project_file import Project, read_project
from mason.state.models import Kind, Name, NewRegistration, Origin, Registration, SavedConfiguration
from mason.state.store import StateStore
from mason.state.surroundings import Surroundings
from mason.util.environment import PROJECT_FILE, MasonEnvironment

if TYPE_CHECKING:
    from mason.operators.registration.definition_folder import DefinitionsRead


def find_surroundings(env: MasonEnvironment, store: StateStore) -> Surroundings:
    """Return what the project of an environment adds: as on disk, or in a server as it was at its start."""
    if env.project_version:
        from mason.project.served import ServedProject

        return ServedProject(store, env)
    return ProjectOnDisk(env)


class ProjectOnDisk(Surroundings):
    """A project in the version on disk. Nothing is read before it is needed."""

    def __init__(self, env: MasonEnvironment) -> None:
        super().__init__(offers_packaged=env.offers_packaged)
        self._folder = Path(env.project)
        self.file = self._folder / PROJECT_FILE

    @cached_property
    def project(self) -> Project:
        """What `mason.yaml` says.

        Raises:
            InvalidProject: something is wrong with it.
        """
        return read_project(self._folder)

    @property
    def root(self) -> Path | None:
        return self.project.root

    def outline(self, kind: Kind) -> Sequence[Registration]:
        """Return the definitions as they are written, with a warning of each that cannot be listed."""
        everything: dict[Name, Registration] = {}
        for folder in self.project.folders[kind]:
            found, problems = outline_folder(folder, kind, Origin.PROJECT)
            for problem in problems:  # one that is broken does not hide the others
                _warn(str(problem))
            for each in found:
                everything.setdefault(each.name, each)
        return list(everything.values())

    def find(self, name: Name) -> Registration | None:
        folders = [each for folder in self.project.folders[name.kind] for each in find_folders(folder, name.kind, name)]
        if not folders:
            return None
        if len(folders) > 1:
            raise InvalidDefinition([f"{folders[1]}: {name} is the name of {folders[0]} as well"])
        reading = _read(folders[0], name.kind)
        if reading.problems:
            raise InvalidDefinition(reading.problems)
        return next(_as_project(each).registration for each in reading.valid if each.registration.name == name)

    def definitions(self, kind: Kind) -> Sequence[Registration]:
        return [each.registration for each in self.read_definitions(kind)]

    def read_definitions(self, kind: Kind) -> Sequence[NewRegistration]:
        """Return the definitions of a kind, checked, with their files.

        Raises:
            InvalidDefinition: with every problem of each.
        """
        found: list[NewRegistration] = []
        problems: list[str] = []
        for folder in self.project.folders[kind]:
            if find_folders(folder, kind) or outline_folder(folder, kind, Origin.PROJECT)[1]:
                reading = _read(folder, kind)
                found += map(_as_project, reading.valid)
                problems += reading.problems
        first: dict[Name, str] = {}
        for each in found:
            name, source = each.registration.name, each.registration.source
            if first.setdefault(name, source) != source:
                problems.append(f"{source}: {name} is the name of {first[name]} as well")
        if problems:
            raise InvalidDefinition(sorted(set(problems)))
        return found

    def read_files(self, registration: Registration) -> Mapping[str, bytes]:
        if registration.origin is not Origin.PROJECT:
            return {}
        from mason.operators.registration.definition_folder import digest_of, read_files

        files = read_files(Path(registration.source)) if Path(registration.source).is_dir() else {}
        if digest_of(files) != registration.digest:
            raise OperatorNotFound(
                f"{registration.source} was changed since this call began.", hint="Run it again with what is there now."
            )
        return files

    def configurations(self) -> Mapping[str, SavedConfiguration]:
        return {name: _read_configuration(name, file) for name, file in self.project.configurations.items()}

    @property
    def default_configuration(self) -> str:
        return self.project.default


def _read(folder: Path, kind: Kind) -> DefinitionsRead:
    from mason.operators.registration.definition_folder import read_definitions
    from mason.operators.registration.definition_kind import OPERATORS
    from mason.workflows.definition.registration import WORKFLOWS

    return read_definitions(folder, [each for each in (OPERATORS, WORKFLOWS) if each.kind is kind])


def _as_project(found: NewRegistration) -> NewRegistration:
    return found._replace(registration=found.registration._replace(origin=Origin.PROJECT))


def _read_configuration(name: str, file: Path) -> SavedConfiguration:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidProject([f"{file}: cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise InvalidProject([f"{file}: is not UTF-8 text"]) from error
    return SavedConfiguration(name, text, str(file), "")


def _warn(message: str) -> None:
    import logging

    logging.getLogger("mason").warning("%s", message)
