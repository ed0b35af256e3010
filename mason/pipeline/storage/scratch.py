"""Folders for what a job needs only while it runs."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from mason.engines.storage.models.location import Location
from mason.pipeline.storage.address import abilities_of, open_objects
from mason.pipeline.storage.object_store import ObjectStore

SCRATCH = ".mason/scratch"
_FORGOTTEN_SECONDS = 2 * 24 * 3600


@contextmanager
def scratch_folder(near: Location) -> Iterator[Location]:
    """Give a folder in the storage of a place, for what tasks write in between; it is removed at the end.

    On an object store it is in the bucket of `near`; what a job that was killed left there is removed after two days.
    """
    if abilities_of(near.storage).opens_paths:
        with tempfile.TemporaryDirectory(prefix="mason-") as folder:
            yield near.beside(folder)
        return
    store, scratch = open_objects(near.storage), f"{near.path.partition('/')[0]}/{SCRATCH}"
    _remove_forgotten(store, scratch)
    folder = f"{scratch}/{uuid.uuid4().hex}"
    try:
        yield near.beside(folder)
    finally:
        store.delete([each.path for each in store.below(folder)])


def _remove_forgotten(store: ObjectStore, scratch: str) -> None:
    store.delete([each.path for each in store.below(scratch) if each.age_seconds > _FORGOTTEN_SECONDS])
