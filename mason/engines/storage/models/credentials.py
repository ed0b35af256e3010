"""Credentials: who Mason is for a technology, at this moment."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Credentials:
    """Keys, and the region that they are for. None of the keys is shown, written to a record or sent to a task.

    They may expire: ask the connection again rather than keep them.
    """

    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    token: str | None = field(default=None, repr=False)
    """What belongs to keys that expire."""
    region: str = ""
