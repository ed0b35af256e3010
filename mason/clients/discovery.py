"""Which clients there are and which roles they fill: a file `<client>/<role>.py` is its own registration."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from mason.clients.engines.role import Role
from mason.clients.engines.roles import find_broken_roles, find_role, role_names, roles
from mason.errors import BrokenPlugin, MissingDependency, RoleNotFilled
from mason.util.names import did_you_mean
from mason.util.packages import EntryPoint, error_of_double_name, points_by_name

ENTRY_POINT_GROUP = "mason.clients"


@dataclass(frozen=True)
class ClientPackage:
    """A client as it lies on disk: nothing of it is imported until it is used."""

    name: str
    module: str
    folder: Path
    points: Sequence[EntryPoint] = ()
    """How packages declare it; nothing for Mason's own."""

    @property
    def problem(self) -> BrokenPlugin | None:
        """What keeps everybody from using it: several packages declare a client of this name."""
        return error_of_double_name("client", self.points) if len(self.points) > 1 else None

    @property
    def is_masons(self) -> bool:
        """Whether it comes with Mason."""
        return self.module.startswith("mason.")

    @property
    def roles(self) -> list[str]:
        """The roles that this client fills."""
        return [role for role in role_names() if self._fills(role)]

    def _fills(self, role: str) -> bool:
        file = self.folder / f"{role}.py"
        if not file.is_file():
            return False
        # A client had its files before somebody else's role took the name of one.
        return roles()[role].is_masons or f"class {client_class_name(self.name, role)}" in file.read_text("utf-8")

    @property
    def planned_roles(self) -> Mapping[str, str]:
        """The roles that a later version of Mason will let it fill: they can be configured, but not used."""
        return dict(self.schema.get("x-mason-planned-roles", {}))

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the client's configuration."""
        return _read_schema(self.folder / "schema.json")


def find_client(name: str) -> ClientPackage | None:
    """Return the client of that name, if there is one."""
    return _clients().get(name)


def clients_for(role: str) -> list[str]:
    """Return the names of the clients that can be configured for a role."""
    return [name for name, client in sorted(_clients().items()) if role in client.roles or role in client.planned_roles]


def clients_in(role: str) -> list[str]:
    """Return the names of the clients that fill a role today."""
    return [name for name, client in sorted(_clients().items()) if role in client.roles]


def client_names() -> list[str]:
    """Return the names of all clients."""
    return sorted(_clients())


def engines_of_this_machine() -> list[str]:
    """Return the engines that need neither a package beyond Mason's own nor a word of configuration."""
    engines = [client for name, client in sorted(_clients().items()) if "execution" in client.roles]
    needy = ("x-mason-extra", "required")
    return [each.name for each in engines if each.is_masons and not any(each.schema.get(word) for word in needy)]


def build_client(name: str, role: str, configuration: Mapping[str, Any]) -> Role:
    """Import the client and build it in the role.

    Raises:
        RoleNotFilled: there is no such role or client, or it does not fill the role, or not yet.
        BrokenPlugin: the role or the client is declared by several packages, or the role has no contract.
        MissingDependency: it needs a package that is not installed.
    """
    find_role(role).contract()  # a role that cannot be used is told as such, and not as a client that cannot
    package = find_client(name)
    if package and package.problem:
        raise package.problem
    if package is None or role not in package.roles:
        raise _not_filled(name, role, package)
    try:
        module = importlib.import_module(f"{package.module}.{role}")
    except ModuleNotFoundError as error:
        # The client's own modules are there, since its folder is: what is missing is something that it imports.
        extra = package.schema.get("x-mason-extra")
        install = f"pip install 'mason-data[{extra}]'" if extra else f"pip install {(error.name or '').split('.')[0]}"
        raise MissingDependency(
            f'The client "{name}" needs the package "{error.name}", which is not installed.', hint=f"Run: {install}"
        ) from error
    client_class: type[Role] = getattr(module, client_class_name(name, role))
    return client_class(configuration)  # type: ignore[call-arg]


def find_broken_plugins() -> Sequence[BrokenPlugin]:
    """Return what is wrong with the roles and clients that packages declare, though nobody may use them."""
    wrong = list(find_broken_roles())
    for name, points in points_by_name(ENTRY_POINT_GROUP).items():
        found = find_client(name)
        if found is not None and not found.points:
            wrong += [each.broken("client", "Mason has a client of this name") for each in points]
        elif len(points) > 1:
            wrong.append(error_of_double_name("client", points))
    return wrong


def client_class_name(name: str, role: str) -> str:
    """Return the class of a client in a role: `local`, `metastore` → `LocalMetastoreClient`."""
    technology = "".join(word[:1].upper() + word[1:] for word in name.replace("-", "_").split("_"))
    return f"{technology}{''.join(map(str.capitalize, role.split('_')))}Client"


def unknown_client(name: str, role: str) -> str:
    """Return the sentence that says who could fill a role instead of an unknown client."""
    candidates = clients_for(role)
    return f'there is no client "{name}". {did_you_mean(name, candidates)} {_who_fills(role)}'.replace("  ", " ")


def wrong_role(name: str, role: str) -> str:
    """Return the sentence that says that a client cannot fill a role, and who can."""
    return f'"{name}" does not fill the role {role}. {_who_fills(role)}'


def _who_fills(role: str) -> str:
    return f"Clients for {role}: {', '.join(clients_for(role)) or 'none'}."


def _not_filled(name: str, role: str, package: ClientPackage | None) -> RoleNotFilled:
    if package is None:
        return RoleNotFilled(unknown_client(name, role).capitalize())
    if role in package.planned_roles:
        filled = clients_in(role)
        here = f"What works as {role} today: {', '.join(filled)}." if filled else f"Nothing works as {role} today."
        return RoleNotFilled(
            f'"{name}" as {role} can be configured but not used yet: {package.planned_roles[role]}.', hint=here
        )
    return RoleNotFilled(wrong_role(name, role))


@cache
def _clients() -> Mapping[str, ClientPackage]:
    own = [
        ClientPackage(folder.name, f"mason.clients.{folder.name}", folder)
        for folder in Path(__file__).parent.iterdir()
        if (folder / "schema.json").is_file()
    ]
    others = [
        ClientPackage(name, points[0].module, folder, points)
        for name, points in points_by_name(ENTRY_POINT_GROUP).items()
        if (folder := points[0].folder()) and (folder / "schema.json").is_file()
    ]
    # Mason's own clients come last: a package cannot take the place of one.
    return {client.name: client for client in [*others, *own]}


@cache
def _read_schema(file: Path) -> Mapping[str, Any]:
    schema: dict[str, Any] = json.loads(
        file.read_text(encoding="utf-8"), object_hook=partial(_with_modules, file.parent)
    )
    return schema


def _with_modules(folder: Path, schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema in which what may be said is what there is: modules of a folder, and what is planned."""
    if "x-mason-modules" not in schema:
        return schema
    modules = (folder / str(schema["x-mason-modules"])).glob("*.py")
    names = sorted(file.stem.replace("_", "-") for file in modules if file.stem != "__init__")
    return {**schema, "enum": [*names, *schema.get("x-mason-planned", ())]}
