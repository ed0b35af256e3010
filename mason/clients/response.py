"""What a call has to say: one response per call, only ever added to."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from mason.util.redaction import Redactor

LOG = logging.getLogger("mason")


class Response:
    """The errors, information, warnings and data of one call.

    Whatever is added is also logged at once, so that a person sees it while the call goes on. Secrets that `redactor`
    knows never get into a message.
    """

    def __init__(self, redactor: Redactor | None = None) -> None:
        self.redactor = redactor or Redactor()
        self._errors: list[str] = []
        self._info: list[str] = []
        self._warnings: list[str] = []
        self._data: list[Any] = []
        self._status = 200

    @property
    def errors(self) -> Sequence[str]:
        return tuple(self._errors)

    @property
    def info(self) -> Sequence[str]:
        return tuple(self._info)

    @property
    def warnings(self) -> Sequence[str]:
        return tuple(self._warnings)

    @property
    def data(self) -> Sequence[Any]:
        return tuple(self._data)

    @property
    def status(self) -> int:
        """The HTTP status: 200 until an error is added."""
        return self._status

    def add_info(self, message: str) -> None:
        """Say what is going on."""
        self._info.append(self._redact_and_log(logging.INFO, message))

    def add_warning(self, message: str) -> None:
        """Say what the user should look at although the call goes on."""
        self._warnings.append(self._redact_and_log(logging.WARNING, message))

    def keep_warning(self, message: str) -> None:
        """Add a warning that was logged before."""
        self._warnings.append(self.redactor(message))

    def add_error(self, message: str, status: int = 500) -> None:
        """Say what went wrong; the call as a whole has failed, with the status of its first error."""
        self._errors.append(self._redact_and_log(logging.ERROR, message))
        self._status = status if self._status == 200 else self._status

    def add_data(self, data: Any) -> None:
        """Add a piece of the result; a model is added as its `to_dict()`."""
        self._data.append(data.to_dict() if hasattr(data, "to_dict") else data)

    def log(self, level: int, message: str) -> None:
        """Log what this call has said in another process; `take` adds it."""
        self._log(level, message)

    def take(self, said: Mapping[str, Sequence[Any]], status: int) -> None:
        """Add what this call has said in another process, in the form that `to_dict` gives, without logging it."""
        self._errors += said["Errors"]
        self._info += said["Info"]
        self._warnings += said["Warnings"]
        self._data += said["Data"]
        self._status = status if self._status == 200 else self._status

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form of the response."""
        return {"Errors": self._errors[:], "Info": self._info[:], "Warnings": self._warnings[:], "Data": self._data[:]}

    def _redact_and_log(self, level: int, message: str) -> str:
        redacted = self.redactor(message)
        self._log(level, redacted)
        return redacted

    def _log(self, level: int, message: str) -> None:
        LOG.log(level, "%s", message)
