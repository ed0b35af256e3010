"""Whose code failed: an author's, of an operator, a workflow or a client, or Mason's own.

Who wrote the code mends it, and wants to read of the file that they wrote, not of the copy that was registered.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import mason
from mason.clients.discovery import client_names, find_client
from mason.clients.engines import job_lineage, role
from mason.operators.registration.loader import find_loaded
from mason.parameters import validated_parameters

_MASON = f"{Path(mason.__file__).parent}/"
_FAILS_FOR_ITS_CALLER = frozenset(str(each.__file__) for each in (role, job_lineage, validated_parameters))
"""What stands around every verb, and the parameters: what does not fit there is the affair of who called."""


@dataclass(frozen=True)
class CodePlace:
    """A line of somebody's code."""

    owner: str
    folder: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.folder}/{self.file}:{self.line}"

    @property
    def in_folder(self) -> str:
        """The file and line alone: to whoever asks a server, its folders are nothing."""
        return f"{self.file}:{self.line}"


def find_failed_code(error: BaseException) -> CodePlace | None:
    """Return the line of an author's code at which something failed that was raised; nothing if Mason itself failed.

    What a library raises is the affair of who called it.
    """
    for frame in _innermost_first(error):
        place = _place(frame)
        if place is not None or frame.filename.startswith(_MASON):
            return place
    return None


def describe_failure(error: BaseException, *, with_folder: bool = True) -> str:
    """Return what is said of an error that no one has foreseen: whose it is, and where to mend it.

    Args:
        with_folder: whether the folder is told in which the author wrote the code.
    """
    said = f"{type(error).__name__}: {error}"
    place = find_failed_code(error)
    if place is not None:
        failed = f"{place.owner} failed in its own code"
        return f"{place}: {failed}: {said}" if with_folder else f"{failed}, {place.in_folder}: {said}"
    caller = next(filter(None, map(_place, _innermost_first(error))), None)
    if caller is None:
        return f"This should not have happened: {said}"
    where = str(caller) if with_folder else f"{caller.owner}, {caller.in_folder}"
    return f"This should not have happened: {said} (in Mason, called by {where})"


def _innermost_first(error: BaseException) -> Iterator[traceback.FrameSummary]:
    frames = traceback.extract_tb(error.__traceback__)
    return (each for each in reversed(frames) if each.filename not in _FAILS_FOR_ITS_CALLER)


def _place(frame: traceback.FrameSummary) -> CodePlace | None:
    """Return the place of a frame, if it is in the code of a registered definition or of somebody else's client."""
    for folder, owner, source in (*find_loaded(), *_clients_of_others()):
        if frame.filename.startswith(f"{folder}/"):
            return CodePlace(owner, source, frame.filename[len(folder) + 1 :], frame.lineno or 0)
    return None


def _clients_of_others() -> Iterator[tuple[str, str, str]]:
    for name in client_names():
        client = find_client(name)
        if client is not None and not str(client.folder).startswith(_MASON):
            yield str(client.folder), f'The client "{name}"', str(client.folder)
