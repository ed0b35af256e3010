"""Names and ids: what may be a name, which class bears it, the nearest known one to a mistyped one, and unique ids."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
_CONFIG_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")

IDENTIFIER_RULE = "letters, digits and underscores, beginning with a letter, at most 63"
CONFIG_ID_RULE = "letters, digits, dots, dashes and underscores, beginning with a letter or digit, at most 63"


def is_identifier(name: str) -> bool:
    """Say whether the name is a plain one: it can be a folder, a word of the command line and a part of a class."""
    return _IDENTIFIER.fullmatch(name) is not None


def is_config_id(name: str) -> bool:
    """Say whether the name can identify a configuration: it is also the name of a file."""
    return _CONFIG_ID.fullmatch(name) is not None


def is_utf8(path: str) -> bool:
    """Say whether a path is text; on a disk a name may be any bytes, which Python keeps as lone surrogates."""
    return path.isprintable() or not any("\ud800" <= each <= "\udfff" for each in path)


def readable_path(path: str) -> str:
    """Return a path with the bytes that are not UTF-8 as `\\xe9`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def class_name(namespace: str, command: str) -> str:
    """Return the class that defines an operator or workflow: `table`, `validated_infer` → `TableValidatedInfer`."""
    words = f"{namespace}_{command}".split("_")
    return "".join(word[:1].upper() + word[1:] for word in words)


def full_name(namespace: str, command: str) -> str:
    """Return the name as it is written in messages: `table:get`, or `tidy` without a namespace."""
    return f"{namespace}:{command}" if namespace else command


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return 'Did you mean "x"?' when some known name is near, else an empty text."""
    # difflib costs as much to import as half of `mason --help`, and is needed only after a mistake.
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in known}
    found = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f'Did you mean "{by_lower[found[0]]}"?' if found else ""


def new_id() -> str:
    """Return 16 characters that no other record has; they are no secret."""
    return f"{_numbers().getrandbits(64):016x}"


@cache
def _numbers() -> random.Random:
    """Return what gives numbers, seeded by the system once: each question to it would cost a thread its turn."""
    import random  # a listing reads this module, and makes no ids

    numbers = random.Random(random.SystemRandom().getrandbits(256))
    # A process that was forked would give the same ids as the one that it came from, and as every other fork of it.
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: numbers.seed(random.SystemRandom().getrandbits(256)))
    return numbers
