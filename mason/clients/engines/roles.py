"""Which roles there are: each is data, a `role.json` in a package that the entry-point group `mason.roles` declares.

Mason's own four are declared so as well. Reading them imports nothing: the contract of a role is imported with the
first client that fills it.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from mason.clients.engines.role import Role
from mason.errors import BrokenPlugin, RoleNotFilled
from mason.util.names import did_you_mean
from mason.util.packages import OWN_DISTRIBUTION, EntryPoint, error_of_double_name, points_by_name

ENTRY_POINT_GROUP = "mason.roles"
FILE = "role.json"
KEY_ENDING = "_engine"

_NEEDED = ("configuration_key", "contract", "models", "suite")
_OPTIONAL = ("description", "joined", "several", "listed")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NO_ROLES = frozenset({"command", "id", "clients"})
"""Words that mean something else beside a role: a client's command, and keys of a configuration."""


@dataclass(frozen=True)
class RoleDefinition:
    """A role as its package declares it; whoever uses one with a problem is told what it is."""

    name: str
    point: EntryPoint
    values: Mapping[str, Any]
    problem: BrokenPlugin | None = None

    @property
    def configuration_key(self) -> str:
        """The key by which a configuration names the clients of the role."""
        return str(self.values.get("configuration_key") or f"{self.name}{KEY_ENDING}")

    @property
    def is_masons(self) -> bool:
        """Whether it comes with Mason."""
        return self.point.distribution == OWN_DISTRIBUTION

    @property
    def uses_all(self) -> bool:
        """Whether more than the first client of a configuration is used, where it names several."""
        return bool(self.values.get("joined") or self.values.get("several"))

    def contract(self) -> type[Role]:
        """Import the contract: the class whose verbs the clients of this role have.

        Raises:
            BrokenPlugin: the role cannot be used.
        """
        if self.problem:
            raise self.problem
        written = str(self.values["contract"])
        found: Any = self._load("contract")
        if not (inspect.isclass(found) and Role in found.__bases__):
            raise self._describe_fault(
                f"its contract {written} is not a class with the base {Role.__module__}.{Role.__name__}"
            )
        if not inspect.isabstract(found):
            raise self._describe_fault(
                f"its contract {written} has no abstract method, so that a client would have no verb"
            )
        return cast(type[Role], found)

    def load_joined_class(self) -> Any:
        """Import the class that makes one client of several; None where there is none.

        Raises:
            BrokenPlugin: it cannot be imported.
        """
        return self._load("joined") if self.values.get("joined") else None

    def suite(self) -> Any:
        """Import the conformance suite of the role's clients.

        Raises:
            BrokenPlugin: it cannot be imported.
        """
        return self._load("suite")

    def _load(self, word: str) -> object:
        return self.point._replace(value=str(self.values[word])).load(f"{word} of the role")

    def _describe_fault(self, problem: str) -> BrokenPlugin:
        return self.point.broken("role", problem)


def role_names() -> Sequence[str]:
    """Return the names of the roles: Mason's own first, in the order in which they are declared."""
    return tuple(roles())


def list_role_names() -> Sequence[str]:
    """Return the names of the roles in the order in which a configuration is shown."""
    return sorted(roles(), key=lambda name: int(roles()[name].values.get("listed", len(roles()))))


def find_role(name: str) -> RoleDefinition:
    """Return the role of that name.

    Raises:
        RoleNotFilled: there is no such role.
    """
    if name not in roles():
        raise RoleNotFilled(f"T{unknown_role(name)[1:]}")
    return roles()[name]


def with_roles(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema in which each mapping marked `x-mason-roles` has a key for every role."""
    found = {key: with_roles(value) if isinstance(value, dict) else value for key, value in schema.items()}
    marked = schema.get("x-mason-roles")
    if marked:
        keys = {role.configuration_key if marked["named_by"] != "name" else name for name, role in roles().items()}
        inner = {key: {"$ref": marked["$ref"]} for key in sorted(keys)}
        found["properties"] = {**inner, **found.get("properties", {})}
    return found


def unknown_role(name: str) -> str:
    """Return the sentence that says of a role that there is none such, and which there are."""
    near = did_you_mean(name, role_names())
    return f'there is no role "{name}". {near} Roles: {", ".join(role_names())}.'.replace("  ", " ")


def find_broken_roles() -> Sequence[BrokenPlugin]:
    """Return what is wrong with the roles that packages declare; their contracts are imported for this."""
    wrong = []
    for points in points_by_name(ENTRY_POINT_GROUP).values():
        if len(points) > 1 and points[0].distribution == OWN_DISTRIBUTION:
            wrong += [each.broken("role", "Mason has a role of this name") for each in points[1:]]
    for role in roles().values():
        try:
            if not role.is_masons:
                role.contract()
        except BrokenPlugin as error:
            wrong.append(error)
    return wrong


@cache
def roles() -> Mapping[str, RoleDefinition]:
    """Return every role by its name. A package cannot take the place of one of Mason's own."""
    found: dict[str, RoleDefinition] = {}
    keys: dict[str, str] = {}
    for name, points in points_by_name(ENTRY_POINT_GROUP).items():
        role = _read_role(name, points, keys)
        keys.setdefault(role.configuration_key, name)
        found[name] = role
    return found


def _read_role(name: str, points: Sequence[EntryPoint], keys: Mapping[str, str]) -> RoleDefinition:
    point = points[0]
    if len(points) > 1 and point.distribution != OWN_DISTRIBUTION:
        return RoleDefinition(name, point, {}, error_of_double_name("role", points))
    folder = point.folder()
    values: Any = {}
    if folder is None or not (folder / FILE).is_file():
        return RoleDefinition(name, point, {}, point.broken("role", f"there is no {FILE} in its package"))
    try:
        values = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return RoleDefinition(name, point, {}, point.broken("role", f"its {FILE} cannot be read: {error}"))
    problem = _problem_of(name, values, keys)
    usable = values if isinstance(values, dict) and not problem else {}
    return RoleDefinition(name, point, usable, point.broken("role", problem) if problem else None)


def _problem_of(name: str, values: Any, keys: Mapping[str, str]) -> str:
    if not isinstance(values, dict):
        return f"its {FILE} must be a mapping"
    if not _NAME.fullmatch(name) or name in _NO_ROLES:
        return "its name cannot be one: write small letters, digits and _, and not command, id or clients"
    missing = [word for word in _NEEDED if not isinstance(values.get(word), str) or not values[word]]
    if missing:
        return f"its {FILE} must say, as text: {', '.join(missing)}"
    unknown = [word for word in values if word not in (*_NEEDED, *_OPTIONAL)]
    if unknown:
        near = did_you_mean(unknown[0], [*_NEEDED, *_OPTIONAL])
        return f'its {FILE} has the unknown key "{unknown[0]}". {near}'.strip(". ")
    key = values["configuration_key"]
    if key in _NO_ROLES:
        return f'its configuration_key "{key}" means something else in a configuration'
    if key in keys:
        return f'its configuration_key "{key}" is that of the role {keys[key]}'
    return ""
