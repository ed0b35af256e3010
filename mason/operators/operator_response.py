"""What running an operator gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mason.clients.response import Response


@dataclass(frozen=True)
class OperatorResponse:
    """The response of a run, and the model (or models) that it is about, if there is one."""

    response: Response
    object: Any = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; what the object says of itself is part of the data."""
        document = self.response.to_dict()
        document["Data"] += [each for each in self._models() if each not in document["Data"]]
        document["Data"] = self.response.redactor.redact_data(document["Data"])
        return document

    def _models(self) -> list[Any]:
        if self.object is None:
            return []
        many = isinstance(self.object, Sequence) and not isinstance(self.object, str | bytes)
        objects = self.object if many else [self.object]
        return [each.to_dict() if hasattr(each, "to_dict") else each for each in objects]
