"""The `-p` grammar: `name:value,name2:value2`, or `name=value,name2=value2`.

A new parameter starts only at `name:` (an identifier not followed by `//`), at the beginning or after a comma. All
else belongs to the value, so paths, SQL and times arrive whole. A value in quotes is taken as it stands between them,
a doubled quote in it is one quote. What stands behind the first name of a text stands behind all its names: in
`a:x,b=1` the value of a is `x,b=1`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mason.errors import InvalidParameters

_NAME = r"(?:^|,)\s*(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*"
_START = re.compile(rf"{_NAME}:(?!//)")
_START_EQUALS = re.compile(rf"{_NAME}=")
_QUOTED = {
    quote: re.compile(rf"\s*{quote}(?P<text>(?:[^{quote}]|{quote}{quote})*){quote}\s*(?=,|$)") for quote in "'\""
}


def parse_parameters(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names and values of one or several `-p` texts, in their order.

    Raises:
        InvalidParameters: a text that does not begin with a name, or a quote that is not closed.
    """
    found: list[tuple[str, str]] = []
    for text in texts:
        found += _parse(text)
    return found


def _parse(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    pattern = _START if _START.match(text) else _START_EQUALS
    start = pattern.match(text)
    if start is None:
        raise InvalidParameters(
            [f'-p "{_beginning(text)}" should begin with a name and a colon: -p "table_name:orders".']
        )
    while start is not None:
        name = start["name"]
        value, following = _value(text, start.end(), name, pattern)
        found.append((name, value))
        start = following
    return found


def _beginning(text: str) -> str:
    """Return what can be shown of a text that was not understood: a value in it may be a secret."""
    named = _START.search(text)
    beginning = text[: named.start() if named else len(text)][:20]
    return beginning if beginning == text else f"{beginning}…"


def _value(text: str, begin: int, name: str, pattern: re.Pattern[str]) -> tuple[str, re.Match[str] | None]:
    opening = text[begin:].lstrip()[:1]
    if opening in _QUOTED:
        quoted = _QUOTED[opening].match(text, begin)
        if quoted is not None:
            following = pattern.match(text, quoted.end())
            if following is not None or quoted.end() == len(text):
                return quoted["text"].replace(opening * 2, opening), following
        if text.count(opening, begin) == 1:
            raise InvalidParameters([f'The value of "{name}" opens a {opening} that is not closed.'])
    following = pattern.search(text, begin)
    end = following.start() if following else len(text)
    return text[begin:end].strip(), following
