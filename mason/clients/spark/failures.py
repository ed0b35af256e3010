"""What a person needs to read of what goes wrong in Spark."""

from __future__ import annotations

import re

from mason.errors import ClientFailed

_FRAME = re.compile(r"\s*(at |\.\.\. \d|[\w.$/<>]+\((\w+\.(java|scala)(:\d+)?|Native Method|Unknown Source)\)$)")
"""A line of a JVM's stack; that of a place which Spark remembers has no "at" before it."""


def without_stack(text: str) -> list[str]:
    """Return the lines that a person needs of what a JVM says: not the two hundred of its stack."""
    return [line for line in text.splitlines() if line.strip() and not _FRAME.match(line)]


def out_of_memory(memory: str | None) -> ClientFailed:
    """Return what is told of a Spark on this machine that ended because its memory was full."""
    return ClientFailed(
        f"Spark ran out of its memory ({memory}) and ended.",
        hint="Ask for less at once, or give it more: driver_memory of the runner.",
    )


def error_of_ended_spark() -> ClientFailed:
    """Return what is told of a Spark on this machine that ended, nobody knows why."""
    return ClientFailed("Spark ended while the job ran.", hint="Run it again.")
