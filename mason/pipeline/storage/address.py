"""The address of a storage: the recipe by which a task on any machine opens it. No secret is in it.

`file:///` is the disks of the machine; with `?root=/srv/data` behind it no link may lead out of that folder. Every
other address begins with the name of a client, whose module `address` knows the rest: `s3://?region=us-east-1`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import parse_qsl, urlencode

from mason.errors import MasonError, MissingDependency, Unsupported
from mason.pipeline.storage.abilities import STORE, Abilities
from mason.pipeline.storage.object_store import ObjectStore

if TYPE_CHECKING:
    import pyarrow.fs as pafs

_DISKS = "file"
"""The scheme of the machine's own disks. Every other one is the name of a client."""


@dataclass(frozen=True, kw_only=True)
class JavaNeeds:
    """What an engine on the Java platform needs to read a storage by itself; a machine's own disks take nothing."""

    root: str = "file://"
    """What stands before a path of the storage in the names that Hadoop has for files."""
    packages: tuple[str, ...] = ()
    """What is fetched, as `group:name:version`."""
    excluded: tuple[str, ...] = ()
    """What the packages ask for and is not needed, as `group:name`."""
    conf: Mapping[str, str] = field(default_factory=dict)
    """Settings of Hadoop; no secret is among them."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables of the environment that say where credentials are; the credentials are not in them."""


def abilities_of(address: str) -> Abilities:
    """Return what a storage can do; one whose client declares nothing is an object store.

    Raises:
        Unsupported: no client opens such addresses, or its package is not installed here.
    """
    return _abilities_of_scheme(scheme_in(address))


def abilities_of_files(filesystem: pafs.FileSystem) -> Abilities:
    """Return what the storage of a file system that is open can do; one that no client knows is an object store."""
    try:
        return _abilities_of_scheme(scheme_of(filesystem))
    except Unsupported:
        return STORE


@lru_cache
def _abilities_of_scheme(scheme: str) -> Abilities:
    return cast(Abilities, getattr(_module_of(f"{scheme}://"), "ABILITIES", STORE))


def redact_address(address: str) -> str:
    """Return an address as others may read it: which storage it is, without files and folders of this machine.

    Those are the folders that a caller may use, and the file in which tasks find keys.
    """
    before, mark, query = address.partition("?")
    public = urlencode([each for each in parse_qsl(query) if not each[1].startswith("/")])
    return f"{before}{mark}{public}" if public else before


def with_shown_address(record: Any) -> Any:
    """Return what is told of a job with the address of its storage as others may read it.

    An older Mason wrote it down with the file in which tasks find keys.
    """
    inputs = record.get("Inputs") if isinstance(record, Mapping) else None
    if not isinstance(inputs, Mapping) or not isinstance(inputs.get("storage"), str):
        return record
    return {**record, "Inputs": {**inputs, "storage": redact_address(inputs["storage"])}}


def open_filesystem(address: str) -> pafs.FileSystem:
    """Return the file system of a storage.

    Raises:
        Unsupported: no client opens such addresses, or its package is not installed here.
        Forbidden: there are no credentials for it on this machine.
    """
    return _client_of(address).open_filesystem(address)


def open_objects(address: str) -> ObjectStore:
    """Return a storage as the object store that it is.

    Raises:
        Unsupported, Forbidden: as for the file system; or it writes nothing on conditions.
    """
    return _client_of(address).open_objects(address)


def java_needs(address: str, hadoop: str = "") -> JavaNeeds:
    """Return what an engine on the Java platform needs to read the storage, with this version of Hadoop in it.

    Raises:
        Unsupported: such an engine cannot read it.
    """
    return _client_of(address).java_needs(address, hadoop)


def explain_error(filesystem: pafs.FileSystem, path: str, error: OSError) -> MasonError:
    """Return what a file system's error means, in the words of the client that knows it."""
    return _client_of(f"{scheme_of(filesystem)}://").explain_error(path, error)


def scheme_of(filesystem: pafs.FileSystem) -> str:
    """Return the scheme of a file system's URLs. Arrow knows it by that name, and marks one written in Python."""
    name = str(filesystem.type_name).removeprefix("py::")
    return _DISKS if name == "local" else name


def scheme_in(address: str) -> str:
    """Return the scheme of an address, by which its client is found."""
    return address.partition(":")[0]


class StorageAddress(Protocol):
    """What a module `<client>/address.py` has: how the addresses of a storage are opened, on any machine."""

    def open_filesystem(self, address: str) -> pafs.FileSystem:
        """Return the storage as a file system of Arrow's, whose name there is the scheme of the storage's URLs."""

    def open_objects(self, address: str) -> ObjectStore:
        """Return the storage as an object store, with the conditional writes by which tables are committed."""

    def java_needs(self, address: str, hadoop: str) -> JavaNeeds:
        """Return what Spark needs to read the storage by itself; raise Unsupported where it cannot."""

    def explain_error(self, path: str, error: OSError) -> MasonError:
        """Return what an error of the file system means, in a sentence that names the path with its scheme."""


def _client_of(address: str) -> StorageAddress:
    return cast(StorageAddress, _module_of(address))


def _module_of(address: str) -> ModuleType:
    name = scheme_in(address)
    if name == _DISKS:
        return importlib.import_module("mason.pipeline.storage.disks")
    try:
        return importlib.import_module(f"mason.clients.{name}.address")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("mason."):
            raise MissingDependency(f"Storages of {name} need the package {error.name} where a task runs.") from error
    from mason.clients.discovery import find_client  # who reads local files need not know of clients

    package = find_client(name)  # of somebody else; not asked first, for code in an archive has no folder to look into
    if package is None or not (package.folder / "address.py").is_file():
        raise Unsupported(f"No client opens a storage at {redact_address(address)}.")
    return importlib.import_module(f"{package.module}.address")
