"""Who is writing a version of a table on an object store, and how long that is believed.

A lease is an object that its job rewrites now and then. Where it has not been for a while, by the store's own clock,
the job is taken for dead, and what it left is removed. A job that was only slow cannot commit afterwards: whoever
removes something first takes the lease away from it, and the job asks for it once more before it commits. It goes on
renewing the lease until others see the version, so that nobody does its work beside it.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from typing import Any

from mason.errors import MasonError, UnreadableFile
from mason.pipeline.storage.object_store import ObjectStore, StoredObject

LOG = logging.getLogger("mason.pipeline")
BEAT_SECONDS = 20
EXPIRY_SECONDS = 180
_WRITING, _PUBLISHING, _SWEPT = "writing", "publishing", "swept"


class Lease:
    """The lease of a job; use it as a context. At its end it stays, for only its job knows what became of it."""

    def __init__(self, store: ObjectStore, path: str, job: str) -> None:
        self._store, self._path, self._job = store, path, job
        self.may_be_committed = False
        """What was staged may be the table's, or is: it must not be removed."""
        self._state, self._number = _WRITING, 0
        self._beats = 0
        self._tag: str | None = None
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"lease of {job}", daemon=True)

    def take_over(self) -> bool:
        """Take the lease of this job from a process that is gone; false if what it wrote was removed since.

        Raises:
            UnreadableFile: the lease is damaged.
        """
        found = self._store.read(self._path)
        if found is None or _read(self._path, found[0])["state"] == _SWEPT:
            return False
        self._tag = self._store.rewrite(self._path, self._content(), found[1])
        return self._tag is not None

    def __enter__(self) -> Lease:
        self._tag = self._tag or self._store.write_new(self._path, self._content())
        assert self._tag, "a job's id is its own"
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._rest()

    def claim(self, number: int) -> bool:
        """Say, for all to see, that this job is about to commit this version; false if the lease was taken away."""
        with self._lock:
            self._state, self._number = _PUBLISHING, number
            self._renew()
            return self._tag is not None

    def end(self) -> None:
        """Give up the lease: nothing is left that needs it."""
        self._rest()
        self._store.delete([self._path])

    def _rest(self) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(BEAT_SECONDS) and self._tag is not None:
            with self._lock:
                try:
                    self._renew()
                except MasonError as error:
                    LOG.warning("The lease of job %s could not be renewed: %s", self._job, error)

    def _renew(self) -> None:
        if self._tag is not None:
            self._tag = self._store.rewrite(self._path, self._content(), self._tag)

    def _content(self) -> bytes:
        self._beats += 1
        told = {"job": self._job, "state": self._state, "number": self._number, "beats": self._beats}
        return json.dumps(told).encode()


def sweep_lease(
    store: ObjectStore, lease: StoredObject, committed_by: Callable[[int], str | None], remove: Callable[[str], None]
) -> None:
    """Remove what a dead job left, and its lease.

    `committed_by` says which job committed a version; `remove` removes what a job has staged.

    Raises:
        UnreadableFile: the lease is damaged: nobody knows whether its job may still commit.
    """
    if lease.age_seconds <= EXPIRY_SECONDS:
        return
    found = store.read(lease.path)
    if found is None:
        return
    told = _read(lease.path, found[0])
    if told["state"] == _PUBLISHING:
        winner = committed_by(told["number"])
        if winner is None:
            return  # it may still commit, if it is only slow; once another has committed that version, it cannot
        if winner == told["job"]:
            store.delete([lease.path])
            return
    # Also of one that lost a race: it may be about to claim the number that follows.
    if told["state"] != _SWEPT and store.rewrite(lease.path, _encode_lease(told), found[1]) is None:
        return  # it lives, or another command was faster
    remove(told["job"])
    store.delete([lease.path])


def _read(path: str, content: bytes) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(content)
        if not all(isinstance(told[key], kind) for key, kind in _FIELDS.items()):
            raise TypeError("a field of it is of another kind")
    except (ValueError, LookupError, TypeError) as error:
        hint = "Delete it once no job is writing to the table; no version of the table needs it."
        raise UnreadableFile(path, f"is not the lease of a job, or damaged: {error!r}.", hint=hint) from error
    return told


_FIELDS = {"job": str, "state": str, "number": int}


def _encode_lease(told: dict[str, Any]) -> bytes:
    return json.dumps({**told, "state": _SWEPT}).encode()
