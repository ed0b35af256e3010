"""Waits for what happens by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_SECONDS = 60.0


def until(look: Callable[[], T], seconds: float = _SECONDS) -> T:
    """Look until there is something to be seen, and return it; it fails the test when there is not."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError(f"it did not come in {seconds:g} seconds")
