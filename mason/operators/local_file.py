"""A file on this machine that a parameter names, such as a page or an export: not a table, and in no storage."""

from __future__ import annotations

import os

from mason.configurations.valid_config import ValidConfig
from mason.errors import BadPath
from mason.util.confinement import require_below

_SCHEME = "file://"


def local_file(config: ValidConfig, text: str) -> str:
    """Return the whole path of a file; where paths are confined, relative to the first folder that they may be in.

    Raises:
        BadPath: it is outside of the folders that may be used, or in a storage that is not this machine.
    """
    if "://" in text.removeprefix(_SCHEME):
        raise BadPath(f'"{text}" is not a file on this machine.', hint="Give a path without a scheme, or file:///….")
    text = text.removeprefix(_SCHEME)
    if config.roots is None:
        return os.path.abspath(text)  # noqa: PTH100 (links stay what they are)
    path = os.path.abspath(os.path.join(config.roots[0], text))  # noqa: PTH100, PTH118
    require_below(path, config.roots, text)
    return path
