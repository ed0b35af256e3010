"""How much memory one call may take: a server limits what it gives and what it reads, a command does not.

Whoever runs calls for others says so with `limit_memory`; what is planned in the same context is limited then, and
carries the limits along to where it runs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from mason.errors import InvalidConfiguration, Unprocessable
from mason.util.environment import MasonEnvironment, read_settings
from mason.util.words import SIZE_HOW, read_size

OFF = "off"
SERVER_BYTES = 256_000_000
_LEAST = 1024
_LARGEST = 10**15
_NUMBER = 8


class ResultTooLarge(Unprocessable):
    """Raised when an answer is larger than it may be here. 422 · exit 1"""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"The answer has more than {most:,} bytes, which is the most that is given here.",
            hint="Ask for fewer rows or columns, give output_path for a table of all, or have result_bytes raised.",
        )


@dataclass(frozen=True)
class MemoryLimits:
    """The most bytes of what a call gives back, and of one field that it reads; None is not a limit."""

    result_bytes: int | None = None
    field_bytes: int | None = None


NO_LIMITS = MemoryLimits()
_CURRENT: ContextVar[MemoryLimits] = ContextVar("mason_memory_limits", default=NO_LIMITS)


def limit_memory(limits: MemoryLimits) -> None:
    """Limit what is planned in this context from now on."""
    _CURRENT.set(limits)


def memory_limits() -> MemoryLimits:
    """Return the limits of this context."""
    return _CURRENT.get()


def check_result(value: Any) -> None:
    """Check that an answer is not larger than this context allows.

    Raises:
        ResultTooLarge: it is.
    """
    most = memory_limits().result_bytes
    if most is not None and size_of(value) > most:
        raise ResultTooLarge(most)


def size_of(value: Any) -> int:
    """Return about how many bytes a value has that JSON is made of."""
    size, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str | bytes):
            size += len(each)
        elif isinstance(each, Mapping):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple):
            waiting += each
        else:
            size += _NUMBER
    return size


def server_limits(env: MasonEnvironment, variables: Mapping[str, str] = os.environ) -> MemoryLimits:
    """Return the limits of a server: `result_bytes` and `field_bytes` in `settings.yaml`, or MASON_… of them.

    Raises:
        InvalidConfiguration: what is written there is not a size.
    """
    settings = read_settings(env)
    place = env.shorten_home(env.settings_file)
    found = {}
    for key in ("result_bytes", "field_bytes"):
        variable = f"MASON_{key.upper()}"
        given = variables.get(variable, "") or settings.get(key)
        found[key] = _size(variable if variables.get(variable) else f"{place}: {key}", given)
    return MemoryLimits(**found)


def _size(source: str, given: object) -> int | None:
    if given is None:
        return SERVER_BYTES
    if given is False or given == OFF:  # YAML reads `off` as false
        return None
    size = read_size(str(given)) if isinstance(given, str | int) and not isinstance(given, bool) else None
    if size is None or not _LEAST <= size <= _LARGEST:
        raise InvalidConfiguration(
            [f'{source}: "{given}" is not a limit of bytes. {SIZE_HOW} Use at least 1kB, or off for no limit.']
        )
    return size
