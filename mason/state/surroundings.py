"""What surrounds a process and is in no state: the project in whose folder it works.

Who reads projects stands far above the state (`mason.project`), and is found by its entry point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from mason.state.models import Kind, Name, Registration, SavedConfiguration

if TYPE_CHECKING:
    from mason.state.store import StateStore
    from mason.util.environment import MasonEnvironment

ENTRY_POINT_GROUP = "mason.surroundings"


class Surroundings:
    """What there is outside of a project: nothing. A project derives from this."""

    file: Path | None = None
    """The `mason.yaml`."""

    def __init__(self, *, offers_packaged: bool = True) -> None:
        self.offers_packaged = offers_packaged
        """Whether there are also the operators that nobody registers: those of packages, and Mason's own."""

    def outline(self, kind: Kind) -> Sequence[Registration]:
        """Return the definitions as they are written, unchecked and without a digest: for a listing."""
        return ()

    def find(self, name: Name) -> Registration | None:
        """Return a definition, checked, if there is one of that name.

        Raises:
            InvalidDefinition: something is wrong with it.
        """
        return None

    def definitions(self, kind: Kind) -> Sequence[Registration]:
        """Return all definitions, checked.

        Raises:
            InvalidDefinition: with every problem of each.
        """
        return ()

    def read_files(self, registration: Registration) -> Mapping[str, bytes]:
        """Return the files of a definition that came from here; nothing for any other.

        Raises:
            OperatorNotFound: they are others by now.
        """
        return {}

    def configurations(self) -> Mapping[str, SavedConfiguration]:
        """Return the configurations by their ids."""
        return {}

    @property
    def root(self) -> Path | None:
        """The folder in which paths begin where a configuration says no other."""
        return None

    @property
    def default_configuration(self) -> str:
        """The id of the configuration that is current here; nothing where the state says it."""
        return ""


class OnlyConfigurations(Surroundings):
    """A project for what was deployed in it: its configurations. The definitions are those of the deployment."""

    def __init__(self, project: Surroundings) -> None:
        super().__init__(offers_packaged=project.offers_packaged)
        self._project = project
        self.file = project.file

    def configurations(self) -> Mapping[str, SavedConfiguration]:
        return self._project.configurations()

    @property
    def root(self) -> Path | None:
        return self._project.root

    @property
    def default_configuration(self) -> str:
        return self._project.default_configuration


class _FindSurroundings(Protocol):
    def __call__(self, env: MasonEnvironment, store: StateStore) -> Surroundings: ...


def find_surroundings(env: MasonEnvironment, store: StateStore) -> Surroundings:
    """Return what surrounds a process whose environment this is."""
    if not env.project:
        return Surroundings(offers_packaged=env.offers_packaged)
    from mason.util.packages import OWN_DISTRIBUTION, list_entry_points

    [point] = (each for each in list_entry_points(ENTRY_POINT_GROUP) if each.distribution == OWN_DISTRIBUTION)
    load = cast(_FindSurroundings, point.load("project"))
    return load(env, store)
