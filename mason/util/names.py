"""Names: what may be one, and the class that an operator or workflow of that name must have."""

from __future__ import annotations

import os
import re

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
