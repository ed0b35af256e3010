"""Opens what the address of a shelf names: `shelf:///?root=/folder`."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pyarrow.fs as pafs
from shelf.files import ShelfFiles
from shelf.objects import ShelfObjects

from mason.errors import ClientFailed, Forbidden, MasonError
from mason.pipeline.storage.abilities import Abilities
from mason.pipeline.storage.address import JavaNeeds

ABILITIES = Abilities(has_conditions=True)  # no exchange of folders, although a shelf lies on a disk


def open_filesystem(address: str) -> pafs.FileSystem:
    """Return the shelf as a file system."""
    return pafs.PyFileSystem(ShelfFiles(_root(address)))


def open_objects(address: str) -> ShelfObjects:
    """Return the shelf as objects with conditions."""
    return ShelfObjects(_root(address))


def java_needs(address: str, hadoop: str) -> JavaNeeds:
    """Return what an engine on the Java platform needs: the folder is one of the machine's own."""
    return JavaNeeds(root=f"file://{_root(address)}/")


def explain_error(path: str, error: OSError) -> MasonError:
    """Return what an error of the file system means."""
    kind = Forbidden if isinstance(error, PermissionError) else ClientFailed
    return kind(f"shelf://{path}: {error.strerror or error}".rstrip(".") + ".")


def _root(address: str) -> str:
    return parse_qs(urlsplit(address).query)["root"][0]
