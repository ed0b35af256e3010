"""Arrays of numbers as text, so that tasks can send them to the driver."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt


def starts_of(ordered: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return where another value begins."""
    is_start = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_start[1:])
    return np.flatnonzero(is_start)


def unique(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the different numbers in their order; numpy's own way there is by a hash table, which is slower."""
    ordered = np.sort(numbers)
    different: npt.NDArray[Any] = ordered[starts_of(ordered)]
    return different


def encode_array(numbers: npt.NDArray[Any]) -> list[Any]:
    """Return the array as JSON has it; no bit is lost."""
    return [numbers.dtype.str, list(numbers.shape), base64.b64encode(np.ascontiguousarray(numbers).data).decode()]


def decode_array(value: list[Any]) -> npt.NDArray[Any]:
    """Return the array that was encoded."""
    kind, shape, content = value
    return np.frombuffer(base64.b64decode(content), kind).reshape(shape)
