"""Who keeps secrets: a module `mason/secrets/<keeper>.py`, or one that another package declares (`mason.secrets`).

Such a module has one function, `read_secret(place) -> str`, which raises a MasonError where it cannot.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from mason.errors import MissingDependency
from mason.util.packages import entry_points

ENTRY_POINT_GROUP = "mason.secrets"
_NONE_OF_THEM = ("__init__", "keepers", "reference")


def keeper_names() -> list[str]:
    """Return the names of all who keep secrets."""
    return sorted(_modules())


def read_secret(keeper: str, place: str) -> str:
    """Return what somebody keeps at a place.

    Raises:
        MissingDependency: a package that is needed for it is not installed.
        MasonError: it cannot be read, with the reason.
    """
    try:
        module = importlib.import_module(_modules()[keeper])
    except ModuleNotFoundError as error:
        install = "mason-data[aws]" if keeper.startswith("aws-") else str(error.name)
        raise MissingDependency(
            f'"{keeper}" needs the package "{error.name}", which is not installed.',
            hint=f"Run: pip install '{install}'",
        ) from error
    return str(module.read_secret(place))


def _modules() -> dict[str, str]:
    own = [file.stem for file in Path(__file__).parent.glob("*.py") if file.stem not in _NONE_OF_THEM]
    others = {point.name: point.module for point in entry_points(ENTRY_POINT_GROUP)}
    # Mason's own come last: a package cannot take the place of one.
    return {**others, **{name.replace("_", "-"): f"mason.secrets.{name}" for name in own}}
