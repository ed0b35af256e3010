"""What a person needs to read of what goes wrong in Spark."""

from __future__ import annotations

import re

from mason.errors import ClientFailed

_FRAME = re.compile(r"\s*(at |\.\.\. \d|[\w.$/<>]+\((\w+\.(java|scala)(:\d+)?|Native Method|Unknown Source)\)$)")
"""A line of a JVM's stack; that of a place which Spark remembers has no "at" before it."""

_RPC = re.compile(
    r"<_\w+ of RPC that.*?status = StatusCode\.(?P<status>\w+).*?details = \"(?P<details>[^\n]*)\"", re.DOTALL
)
_STACK_BEGINS = "JVM stacktrace:"
_BARE_CLASS = re.compile(r"(Caused by: )?[a-z]\w*(\.[a-z]\w*)+\.[A-Z][\w$]*:?$")


def without_stack(text: str) -> list[str]:
    """Return the lines that a person needs of what a JVM says: not the two hundred of its stack.

    Spark Connect says the message first, and then the stack, which begins with the class of the exception alone.
    """
    message, _, stack = text.partition(_STACK_BEGINS)
    lines = [line for line in message.splitlines() if line.strip() and not _FRAME.match(line)]
    causes = [line for line in stack.splitlines() if line.strip() and not _FRAME.match(line)]
    return [*lines, *(each for each in causes if not _BARE_CLASS.match(each.strip()))]


def plain_reason(text: str) -> str:
    """Return what a call of gRPC ended with in plain words, where nothing but the call itself is shown."""
    found = _RPC.search(text)
    if found is None:
        return text
    return found["details"] or f"it broke off without a reason ({found['status']})."


def out_of_memory(memory: str | None) -> ClientFailed:
    """Return what is told of a Spark on this machine that ended because its memory was full."""
    return ClientFailed(
        f"Spark ran out of its memory ({memory}) and ended.",
        hint="Ask for less at once, or give it more: driver_memory of the runner.",
    )


def error_of_ended_spark() -> ClientFailed:
    """Return what is told of a Spark on this machine that ended, nobody knows why."""
    return ClientFailed("Spark ended while the job ran.", hint="Run it again.")
