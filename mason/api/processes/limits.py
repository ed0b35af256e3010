"""How much a call may take on a server: memory, time, processes and output."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from mason.errors import InvalidConfiguration, Unprocessable
from mason.util.environment import MasonEnvironment, read_settings
from mason.util.processes import machine_memory
from mason.util.words import SIZE_HOW, read_size

OFF = "off"
_LEAST_MEMORY = 64_000_000
_OUTPUT_BYTES = 1_000_000
_PROCESSES = 200


@dataclass(frozen=True)
class CallLimits:
    """The most that one call may take; None is not a limit."""

    memory: int | None = None
    seconds: float | None = None
    processes: int | None = _PROCESSES
    output: int | None = _OUTPUT_BYTES
    """So much of what a call prints is logged; the rest is left out."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class OutOfMemory(Unprocessable):
    """Raised when a call needs more memory than the server allows. 422 · exit 1"""

    def __init__(self, name: str, most: int | None) -> None:
        limit = f" ({most:,} bytes)" if most else ""
        super().__init__(
            f"{name} wanted more memory than a call may have here{limit}, and was ended.",
            hint="Ask for less at a time, or have call_memory raised.",
        )


class OutOfTime(Unprocessable):
    """Raised when a call takes longer than the server allows. 422 · exit 1"""

    def __init__(self, name: str, most: float) -> None:
        super().__init__(
            f"{name} took longer than a call may here ({most:g} s), and was ended.",
            hint="Ask for less at a time, or have call_seconds raised.",
        )


class TooManyProcesses(Unprocessable):
    """Raised when a call starts more processes than the server allows. 422 · exit 1"""

    def __init__(self, name: str, most: int) -> None:
        super().__init__(
            f"{name} started more processes than a call may here ({most}), and was ended with all of them.",
            hint="Start fewer, or have call_processes raised.",
        )


@contextmanager
def explain_memory(name: str, most: int | None) -> Iterator[None]:
    """Say of what fails for want of memory that this is why.

    Raises:
        OutOfMemory: something in here could not have the memory that it asked for.
    """
    try:
        yield
    except Exception as error:
        if _is_of_memory(error):
            raise OutOfMemory(name, most) from error
        raise


def _is_of_memory(error: BaseException | None) -> bool:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:  # one may be, by detours, its own cause
        # Arrow's own is a MemoryError; DuckDB's is none.
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def call_limits(env: MasonEnvironment, variables: Mapping[str, str] = os.environ) -> CallLimits:
    """Return the limits of a call: `call_memory` and so on in `settings.yaml`, or MASON_CALL_… of them.

    Raises:
        InvalidConfiguration: what is written there is not a limit.
    """
    settings = read_settings(env)
    place = env.shorten_home(env.settings_file)

    def read_limit(key: str) -> tuple[str, object]:
        variable = f"MASON_{key.upper()}"
        from_variable = variables.get(variable, "")
        return (variable, from_variable) if from_variable else (f"{place}: {key}", settings.get(key))

    return CallLimits(
        memory=_bytes(*read_limit("call_memory"), machine_memory() // 2, _LEAST_MEMORY),
        seconds=_number(*read_limit("call_seconds"), None),
        processes=_whole(_number(*read_limit("call_processes"), _PROCESSES)),
        output=_bytes(*read_limit("call_output"), _OUTPUT_BYTES, 1),
    )


def _bytes(source: str, given: object, by_default: int, least: int) -> int | None:
    if given is None:
        return by_default
    if given is False or given == OFF:  # YAML reads `off` as false
        return None
    size = read_size(str(given)) if isinstance(given, str | int) and not isinstance(given, bool) else None
    if size is None or size < least:
        raise InvalidConfiguration(
            [f'{source}: "{given}" is not a limit. {SIZE_HOW} Use at least {least:,}, or off for no limit.']
        )
    return size


def _number(source: str, given: object, by_default: float | None) -> float | None:
    if given is None:
        return by_default
    if given is False or given == OFF:
        return None
    try:
        number = float(str(given))
    except ValueError:
        number = 0.0
    if isinstance(given, bool) or not 1 <= number < 1e9:
        raise InvalidConfiguration(
            [f'{source}: "{given}" is not a limit. Say a number from 1 on, or off for no limit.']
        )
    return number


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)
