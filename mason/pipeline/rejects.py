"""Records that do not fit: kept whole, with the place where they stand and the reason."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Reject:
    """A record that is not in the output. `record` counts from 1, a header included; `offset` is in bytes."""

    file: str
    record: int
    offset: int
    column: str
    reason: str
    raw: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
