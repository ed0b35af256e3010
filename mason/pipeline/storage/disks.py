"""Opens what an address of the machine's own disks names: `file:///`, with `?root=/srv/data` for some folders only.

It is to the disks what the module `address` of a client is to its storage; every machine has disks, so it stands here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode, urlsplit

from mason.engines.storage.models.location import LOCAL
from mason.errors import ClientFailed, MasonError, Unsupported
from mason.pipeline.storage.abilities import Abilities
from mason.pipeline.storage.address import JavaNeeds
from mason.pipeline.storage.object_store import ObjectStore

if TYPE_CHECKING:
    import pyarrow.fs as pafs

_ROOT = "root"

ABILITIES = Abilities(
    has_conditions=False,
    exchanges_folders=True,
    creates_and_renames=True,
    has_folders=True,
    opens_paths=True,
    is_near=True,
)


def confine_address(roots: Sequence[str]) -> str:
    """Return the address of the machine's own disks for somebody who may use these folders only, if there are any."""
    return f"{LOCAL}?{urlencode([(_ROOT, root) for root in roots])}" if roots else LOCAL


def open_filesystem(address: str) -> pafs.FileSystem:
    """Return the disks as a file system."""
    import pyarrow.fs as pafs  # who only asks what disks can do need not wait for it

    from mason.pipeline.storage.confined_disks import ConfinedDisks

    roots = parse_qs(urlsplit(address).query).get(_ROOT)
    return ConfinedDisks(roots) if roots else pafs.LocalFileSystem()


def open_objects(address: str) -> ObjectStore:
    """Refuse: a disk writes nothing on conditions; its tables are committed by an exchange of folders."""
    raise Unsupported(f"{address.partition('?')[0]} is a disk, which has no conditional writes.")


def java_needs(address: str, hadoop: str) -> JavaNeeds:
    """Return what an engine on the Java platform needs: nothing."""
    return JavaNeeds()


def explain_error(path: str, error: OSError) -> MasonError:
    """Return what an error of the file system means."""
    return ClientFailed(f"{path}: {error.strerror or error}".rstrip(".") + ".")
