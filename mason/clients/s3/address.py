"""Opens what the address of an S3 storage names, wherever a task runs."""

from __future__ import annotations

import pyarrow.fs as pafs

from mason.clients.s3.connection import S3Connection
from mason.clients.s3.failures import s3_failures
from mason.clients.s3.hadoop import needs_of
from mason.clients.s3.objects import S3Objects
from mason.errors import ClientFailed, MasonError
from mason.pipeline.storage.abilities import STORE
from mason.pipeline.storage.address import JavaNeeds

ABILITIES = STORE


def open_filesystem(address: str) -> pafs.FileSystem:
    """Return the store as a file system."""
    return S3Connection.at(address).filesystem()


def open_objects(address: str) -> S3Objects:
    """Return the store as what it is."""
    return S3Objects(S3Connection.at(address).client())


def java_needs(address: str, hadoop: str) -> JavaNeeds:
    """Return what an engine on the Java platform needs to read the store."""
    return needs_of(S3Connection.at(address), hadoop)


def explain_error(path: str, error: OSError) -> MasonError:
    """Return what an error of the file system means."""
    try:
        with s3_failures(path):
            raise error
    except MasonError as explained:
        return explained
    except OSError:
        return ClientFailed(f"s3://{path}: {error}".rstrip(".") + ".")
