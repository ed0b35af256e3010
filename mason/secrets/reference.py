"""A secret as a configuration names it: `secret:<keeper>:<place>`, and `#<key>` where the secret is a JSON object."""

from __future__ import annotations

import json
from dataclasses import dataclass

from mason.errors import Unprocessable
from mason.secrets.keepers import keeper_names, read_secret
from mason.util.nearest import did_you_mean

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
            raise ValueError(f'nobody called "{keeper}" keeps secrets. {hint}')
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
            raise Unprocessable(f'it is no JSON object, so that there is no key "{self.key}" in it.')
        texts = {key: str(value) for key, value in found.items() if isinstance(value, str | int | float)}
        if self.key not in texts:
            raise Unprocessable(f'it has no key "{self.key}" with a text.', hint=did_you_mean(self.key, texts))
        return texts[self.key]


def is_secret(text: str) -> bool:
    """Say whether what stands between the braces names a secret, rather than a variable."""
    return text.strip().startswith(_PREFIX)
