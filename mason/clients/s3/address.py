"""Opens what the address of an S3 storage names, wherever a task runs."""

from __future__ import annotations

import pyarrow.fs as pafs

from mason.clients.s3.connection import S3Connection
from mason.clients.s3.objects import S3Objects


def open_filesystem(address: str) -> pafs.FileSystem:
    """Return the store as a file system."""
    return S3Connection.at(address).filesystem()


def open_objects(address: str) -> S3Objects:
    """Return the store as what it is."""
    return S3Objects(S3Connection.at(address).client())
