"""A file on this machine that a parameter names, such as a page or an export: not a table, and in no storage."""

from __future__ import annotations

import os

from mason.configurations.valid_config import ValidConfig
from mason.util.confinement import name_below, require_below


def local_file(config: ValidConfig, text: str) -> str:
    """Return the whole path of a file; where paths are confined, relative to the first folder that they may be in.

    Raises:
        BadPath: it is outside of the folders that may be used.
    """
    if config.roots is None:
        return os.path.abspath(text)  # noqa: PTH100 (links stay what they are)
    path = os.path.abspath(os.path.join(config.roots[0], text))  # noqa: PTH100, PTH118
    require_below(path, config.roots, text)
    return name_below(path, config.roots)
