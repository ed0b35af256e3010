"""`$ref` in a fragment: what it points to, in the same file, takes its place, since only paths are merged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MOST_VALUES = 10_000
_DEEPEST = 100


class WrongReference(Exception):
    """A reference cannot be followed; the message says which and why."""


class References:
    """The references of one document."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._values = 0

    def resolve(self, value: Any, within: tuple[str, ...] = (), depth: int = 0) -> Any:
        """Return a value with what its references point to in their place.

        Raises:
            WrongReference: one leads nowhere, into another file, back to itself, or too deep.
        """
        self._values += 1
        if self._values > _MOST_VALUES:
            raise WrongReference("its $ref make too much of it")
        if depth > _DEEPEST:
            raise WrongReference(f"it is nested, or led on by $ref, more than {_DEEPEST} times")
        if isinstance(value, Mapping) and isinstance(value.get("$ref"), str):
            place: str = value["$ref"]
            if place in within:
                raise WrongReference(f'the $ref "{place}" leads back to itself')
            return self.resolve(self._find(place), (*within, place), depth + 1)
        if isinstance(value, Mapping):
            return {key: self.resolve(each, within, depth + 1) for key, each in value.items()}
        return [self.resolve(each, within, depth + 1) for each in value] if isinstance(value, list) else value

    def _find(self, place: str) -> Any:
        found = self._root
        head, *parts = place.split("/")
        for part in parts if head == "#" else ("",):
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or key not in found:
                raise WrongReference(f'the $ref "{place}" leads to nothing in this file')
            found = found[key]
        return found
