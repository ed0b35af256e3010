"""A configuration that is ready for use: every variable filled, every client one touch away."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

from mason.clients.discovery import build_client, find_client
from mason.clients.engines.execution import ExecutionClient
from mason.clients.engines.metastore import MetastoreClient
from mason.clients.engines.role import Role
from mason.clients.engines.roles import find_role, role_names
from mason.clients.engines.scheduler import SchedulerClient
from mason.clients.engines.storage import StorageClient
from mason.configurations.client_secrets import ClientSecrets
from mason.configurations.configuration import Configuration
from mason.configurations.configuration_warnings import configuration_warnings
from mason.configurations.templates import fill, has_constrained_template, is_template, missing_variables
from mason.engines.storage.models.location import Location
from mason.errors import BadPath, InvalidConfiguration, MasonError, MissingDependency, RoleNotFilled, StateFailed
from mason.util.dotenv import env_files, read_env_files
from mason.util.environment import MasonEnvironment
from mason.util.packaged import own_copy
from mason.util.redaction import Redactor, secret_values
from mason.util.yaml_file import Problem, YamlDocument

C = TypeVar("C", bound=Role)


@dataclass(frozen=True, kw_only=True)
class Engine(Generic[C]):
    """A role and the clients that fill it in this configuration."""

    role: str
    config_id: str
    configurations: Mapping[str, Mapping[str, Any]]
    env: MasonEnvironment = field(default_factory=MasonEnvironment.of)
    """The home and the state that the clients have."""
    _built: dict[str, C] = field(default_factory=dict)
    secrets: ClientSecrets | None = None
    """What fills the secrets that a client's configuration names."""
    configured: Sequence[str] = ()
    """The clients that the configuration names, where these are those of them that an operator accepts."""
    _joined: dict[str, C] = field(default_factory=dict)

    @property
    def client_names(self) -> Sequence[str]:
        return tuple(self.configurations)

    @property
    def client(self) -> C:
        """The client of this role, built on first touch.

        Where the configuration names several, it is one that stands for them all, if the role has such (databases are
        found by their names, jobs go where their type is known), and else the first.

        Raises:
            RoleNotFilled: the configuration names none, or one that cannot be used here.
            MissingDependency: the client needs a package that is not installed.
        """
        if not self.configurations:
            raise RoleNotFilled(
                f'The configuration "{self.config_id}" names no client for the role {self.role}.',
                hint=f"Add {find_role(self.role).configuration_key} to it, or choose another configuration with -c.",
            )
        configured = self.configured or self.client_names
        joined = find_role(self.role).load_joined_class() if len(configured) > 1 else None
        if joined is None:
            return self.client_named(self.client_names[0])
        if "" not in self._joined:
            self._joined.setdefault("", joined(self.client_names, self.client_named, configured))
        return self._joined[""]

    def client_named(self, name: str) -> C:
        """Return one of the clients by its name, built on first touch.

        Raises:
            InvalidConfiguration: a secret that it needs cannot be read.
        """
        if name not in self._built:
            values = self.configurations[name]
            filled = self.secrets.fill(name, values) if self.secrets else values
            built = cast(C, build_client(name, self.role, filled))
            if isinstance(built, Role):  # a package's own class need not build on it
                built.belong_to(self.env)
            # Of two threads that come first at once, both get the same one: clients are compared by identity.
            return self._built.setdefault(name, built)
        return self._built[name]

    @property
    def built(self) -> Sequence[C]:
        """The clients that were touched."""
        return tuple(self._built.values())

    def name_of(self, client: C) -> str:
        """Return what the configuration calls one of the clients."""
        return next((name for name, built in self._built.items() if built is client), type(client).__name__)

    def client_for(self, path: str) -> C:
        """Return the client that serves the scheme of the path (storage); without a scheme, `client`."""
        written, separator, _ = path.partition("://")
        if not separator:
            return self.client
        scheme = written.lower()
        unusable: MasonError | None = None
        for name in self.client_names:
            try:
                client = self.client_named(name)
            except (RoleNotFilled, MissingDependency) as error:
                unusable = error  # it may be the one; only who serves nothing else has to know
                continue
            if scheme in getattr(client, "schemes", ()):
                return client
        raise unusable or BadPath(
            f'No client of the role {self.role} in configuration "{self.config_id}" serves {scheme}:// paths ({path}).',
            hint=f"Its clients: {', '.join(self.client_names) or 'none'}.",
        )

    def narrow_to(self, names: Sequence[str]) -> Engine[C]:
        """Return the engine with only these of its clients, in this order."""
        chosen = {name: self.configurations[name] for name in names}
        return Engine(
            role=self.role,
            config_id=self.config_id,
            configurations=chosen,
            env=self.env,
            _built=self._built,
            secrets=self.secrets,
            configured=self.configured or self.client_names,
        )


@dataclass(frozen=True, kw_only=True)
class ValidConfig:
    """The engines of a configuration: one for each role that there is, whether or not a client fills it."""

    id: str
    engines: Mapping[str, Engine[Any]]
    redactor: Redactor
    roots: Sequence[str] | None = None
    """Where files on this machine must stay: anywhere (None), or below these folders."""
    database_folders: Sequence[str] = ()
    """The folders of this machine that hold databases, which are folders themselves."""
    warnings: Sequence[str] = ()
    """What the configuration says that no call can use."""

    @property
    def metastore(self) -> Engine[MetastoreClient]:
        return self.engine("metastore")

    @property
    def execution(self) -> Engine[ExecutionClient]:
        return self.engine("execution")

    @property
    def scheduler(self) -> Engine[SchedulerClient]:
        return self.engine("scheduler")

    @property
    def storage(self) -> Engine[StorageClient]:
        return self.engine("storage")

    def engine(self, role: str) -> Engine[Any]:
        """Return the engine of a role by the role's name, whoever has defined it.

        Raises:
            RoleNotFilled: there is no such role.
        """
        find_role(role)
        return self.engines[role]

    @property
    def client_names(self) -> Mapping[str, Sequence[str]]:
        """The names of the clients of each role."""
        return {role: engine.client_names for role, engine in self.engines.items()}

    def location(self, path: str) -> Location:
        """Return the place that a path names: in the storage that serves its scheme; without one, in the first.

        Raises:
            BadPath: no storage of the configuration serves it, or it names no place there.
        """
        return _location_in(self.storage.client_for(path), path)

    def location_of_table(self, path: str) -> Location:
        """Return the place of a table by the path that the metastore has for it.

        A path without a scheme is one of the metastore's own storage, where it is one.
        """
        own = next((each for each in self.metastore.client_names if each in self.storage.client_names), "")
        if "://" not in path and own:
            return _location_in(self.storage.client_named(own), path)
        return self.location(path)

    def storage_at(self, location: Location) -> StorageClient:
        """Return the client of the storage that a place is in."""
        return self.storage.client_for(location.url)

    def narrow_to(self, choice: Mapping[str, Sequence[str]]) -> ValidConfig:
        """Return the configuration in which each role of the choice has only the clients chosen for it."""
        engines = {
            role: engine.narrow_to(choice[role]) if role in choice else engine for role, engine in self.engines.items()
        }
        return replace(self, engines=engines)


def _location_in(client: StorageClient, path: str) -> Location:
    return Location(client.path(path).path, client.address())


def validate_configuration(configuration: Configuration, env: MasonEnvironment) -> ValidConfig:
    """Fill the variables of a configuration; what `.env` files define reaches the clients' own libraries as well.

    Raises:
        InvalidConfiguration: variables that are not set, each with its place; values that do not fit once filled.
    """
    for name, value in read_env_files(env_files(env.home, env.project, only_own=env.roots is not None)).items():
        os.environ.setdefault(name, value)
    filled = {
        name: _confine_values(name, _place_values(name, _with_examples(name, values, env), configuration), env)
        for name, values in _fill_clients(configuration).items()
    }
    redactor = Redactor()
    for name, values in filled.items():
        # The name of a secret is none: whoever reads that it could not be read wants to know which.
        redactor.learn(each for each in secret_values(values, _client_schema(name)) if not is_template(each))
    secrets = ClientSecrets(configuration.document, redactor)
    engines: dict[str, Engine[Any]] = {}
    for role in role_names():
        names = configuration.engines[role] or (_own_storages(configuration) if role == "storage" else ())
        values = {name: filled[name] for name in names}
        engines[role] = Engine(role=role, config_id=configuration.id, configurations=values, env=env, secrets=secrets)
    warnings = [
        f'Configuration "{configuration.id}": {".".join(key)}: {message}'
        for key, message in configuration_warnings(configuration, filled)
    ]
    return ValidConfig(
        id=configuration.id,
        engines=engines,
        redactor=redactor,
        roots=_roots(filled, env),
        database_folders=_database_folders(filled),
        warnings=warnings,
    )


def _own_storages(configuration: Configuration) -> Sequence[str]:
    """Return the metastores that are a storage, too: where no storage is named, what they know lies in them."""
    found = [(name, find_client(name)) for name in configuration.engines["metastore"]]
    return [name for name, client in found if client and "storage" in client.roles]


def _fill_clients(configuration: Configuration) -> dict[str, Any]:
    document, filled = configuration.document, {}
    problems = []
    for name, values in configuration.clients.items():
        place = ("clients", name, "configuration")
        missing = list(missing_variables(document, place, values, os.environ))
        problems += missing
        if not missing:
            filled[name] = fill(values, _client_schema(name), os.environ)
            problems += _check_filled(document, name, values, filled[name])
    if problems:
        raise InvalidConfiguration(sorted(problems))
    return filled


def _check_filled(document: YamlDocument, name: str, values: Any, filled: Any) -> Sequence[Problem]:
    schema = _client_schema(name)
    if not has_constrained_template(values, schema):
        return ()
    from mason.util.json_schema import check_document

    place = ("clients", name, "configuration")
    checked = YamlDocument(document.name, document.text, filled, document.lines)
    # What a secret will be is checked when it is read.
    return check_document(checked, schema, at=place, passing=is_template)


def _with_examples(name: str, values: Mapping[str, Any], env: MasonEnvironment) -> Mapping[str, Any]:
    """Return the values with a folder of the examples that come with Mason where it can be used from here."""
    folders = {
        word: own_copy(str(values[word]), env.home)
        for word, schema in _client_schema(name).get("properties", {}).items()
        if schema.get("x-mason-examples") and values.get(word)
    }
    return {**values, **folders} if folders else values


def _place_values(name: str, values: Mapping[str, Any], configuration: Configuration) -> Mapping[str, Any]:
    """Return the values with the folders of a project's configuration where they are from everywhere."""
    words = _folder_words(name)
    if not configuration.folder or words is None:
        return values

    def place(folder: str) -> str:
        return os.path.normpath(os.path.join(configuration.folder, os.path.expanduser(folder)))  # noqa: PTH111, PTH118

    root = values.get(words.root) or configuration.root
    placed = {**values, **({words.root: place(root)} if root else {})}
    return {**placed, **({words.roots: list(map(place, values[words.roots]))} if values.get(words.roots) else {})}


def _confine_values(name: str, values: Mapping[str, Any], env: MasonEnvironment) -> Mapping[str, Any]:
    """Return the values of a client that reads local files with the folders that these must stay below.

    Where none says which folder to begin in, a server has one of its own: what lies in the folder that it was started
    in, such as a `.env`, is not for its calls.
    """
    words = _folder_words(name)
    if env.roots is None or words is None:
        return values
    confined = {**values, words.root: values.get(words.root) or _folder_of_server(env)}
    return {**confined, words.roots: values.get(words.roots) or list(env.roots) or [confined[words.root]]}


@dataclass(frozen=True)
class _FolderWords:
    """What a client that reads local files calls the folder that paths begin in, and those that they stay below."""

    root: str
    roots: str


def _folder_words(name: str) -> _FolderWords | None:
    for word, schema in _client_schema(name).get("properties", {}).items():
        if "x-mason-roots-beside" in schema:
            return _FolderWords(schema["x-mason-roots-beside"], word)
    return None


def _folder_of_server(env: MasonEnvironment) -> str:
    """Return the folder in which the paths of a server's calls begin where nothing else says it."""
    if env.roots:
        return env.roots[0]
    try:
        env.data_home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StateFailed(f"{env.data_home}: {error.strerror}.", hint="Give the configuration a root.") from error
    return str(env.data_home)


def _roots(filled: Mapping[str, Mapping[str, Any]], env: MasonEnvironment) -> Sequence[str] | None:
    if env.roots is None:
        return None
    found = [root for values in filled.values() for root in values.get("roots", ())]
    return [os.path.realpath(root) for root in [*found, *env.roots] or [_folder_of_server(env)]]


def _database_folders(filled: Mapping[str, Mapping[str, Any]]) -> Sequence[str]:
    found = [(values, words) for name, values in filled.items() if (words := _folder_words(name))]
    return [os.path.realpath(os.path.expanduser(values.get(words.root) or ".")) for values, words in found]  # noqa: PTH111


def _client_schema(name: str) -> Mapping[str, Any]:
    client = find_client(name)
    return client.schema if client else {}
