"""A secret as a configuration names it: `secret:<keeper>:<place>`, and `#<key>` where the secret is a JSON object.

A keeper is a module `mason/secrets/<keeper>.py`, or one that another package declares (`mason.secrets`). It has one
function, `read_secret(place) -> str`, which raises a MasonError where it cannot.
"""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from pathlib import Path

from mason.errors import MissingDependency, Unprocessable
from mason.util.names import did_you_mean
from mason.util.packages import entry_points

ENTRY_POINT_GROUP = "mason.secrets"
_NONE_OF_THEM = ("__init__", "reference")


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


_PREFIX = "secret:"
_RULE = "write secret:KEEPER:PLACE, or secret:KEEPER:PLACE#KEY"


@dataclass(frozen=True)
class SecretReference:
    """Who keeps the secret, where, and which key of it is meant."""

    keeper: str
    place: str
    key: str = ""

    @classmethod
    def of(cls, text: str) -> SecretReference:
        """Read what stands between the braces.

        Raises:
            ValueError: it names no secret.
        """
        keeper, _, rest = text.strip().removeprefix(_PREFIX).partition(":")
        place, _, key = rest.partition("#")
        if not keeper or not place or ("#" in rest and not key):
            raise ValueError(_RULE)
        known = keeper_names()
        if keeper not in known:
            hint = did_you_mean(keeper, known) or f"There are: {', '.join(known)}."
            raise ValueError(f'nothing that keeps secrets is called "{keeper}". {hint}')
        return cls(keeper, place, key)

    def read(self, known: dict[tuple[str, str], str]) -> str:
        """Return the secret; `known` are those that were read a moment ago.

        Raises:
            MasonError: it cannot be read, with the reason.
        """
        where = (self.keeper, self.place)
        if where not in known:
            known[where] = read_secret(self.keeper, self.place)
        value = self._value_of_key(known[where]) if self.key else known[where]
        if not value:  # nobody means that: keys would be looked for elsewhere, and others be found
            raise Unprocessable("it is empty.")
        return value

    def _value_of_key(self, text: str) -> str:
        try:
            found = json.loads(text)
        except ValueError:
            found = None  # what it is must not be in a message
        if not isinstance(found, dict):
            raise Unprocessable(f'it is not a JSON object, so that there is no key "{self.key}" in it.')
        texts = {key: str(value) for key, value in found.items() if isinstance(value, str | int | float)}
        if self.key not in texts:
            raise Unprocessable(f'it has no key "{self.key}" with a text.', hint=did_you_mean(self.key, texts))
        return texts[self.key]


def is_secret(text: str) -> bool:
    """Say whether what stands between the braces names a secret, rather than a variable."""
    return text.strip().startswith(_PREFIX)
