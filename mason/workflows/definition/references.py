"""`{{step_1.job_id}}`: a value that a step takes from what an earlier one gave."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_WRITTEN = re.compile(r"\{\{([^{}]*)\}\}")
_UNFINISHED = re.compile(r"\{\{\s*[A-Za-z][A-Za-z0-9_]*\.[^\s{}]*")
_PATH = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[^.\s{}]+)+")
_PARTS = {"data": "Data", "errors": "Errors", "info": "Info", "warnings": "Warnings"}
REFERENCE_RULE = 'a reference names a step and what it gave, as in "{{step_1.job_id}}" or "{{step_2.data.0.Name}}"'


class Reference(NamedTuple):
    """The words between the braces; the first, or first few where workflows are nested, name a step."""

    text: str

    @property
    def words(self) -> Sequence[str]:
        return self.text.split(".")


class Missing(Exception):
    """Raised when a result has nothing at that place; the text says what it has."""


Lookup = Callable[[Reference], Any]


def references_in(value: Any) -> Iterator[Reference]:
    """Yield every reference in a parameter's value, at any depth.

    Raises:
        ValueError: something between braces is not a reference.
    """
    if isinstance(value, Mapping):
        for each in value.values():
            yield from references_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from references_in(each)
    elif isinstance(value, str) and "{{" in value:
        for found in _WRITTEN.finditer(value):
            yield parse_reference(found[1])
        if unfinished := _UNFINISHED.search(_WRITTEN.sub("", value)):
            raise ValueError(f'"{unfinished[0]}" has no end: {REFERENCE_RULE}')


def parse_reference(text: str) -> Reference:
    """Read what stands between braces.

    Raises:
        ValueError: it is not a reference.
    """
    if not _PATH.fullmatch(text.strip()):
        raise ValueError(f'"{{{{{text}}}}}" is not a reference: {REFERENCE_RULE}')
    return Reference(text.strip())


def fill(value: Any, look_up: Lookup) -> Any:
    """Return the value with its references replaced. A text that is but a reference becomes what it refers to."""
    if isinstance(value, Mapping):
        return {name: fill(each, look_up) for name, each in value.items()}
    if isinstance(value, list):
        return [fill(each, look_up) for each in value]
    if not isinstance(value, str) or "{{" not in value:
        return value
    whole = _WRITTEN.fullmatch(value.strip())
    if whole:
        return look_up(parse_reference(whole[1]))
    return _WRITTEN.sub(lambda found: _as_text(look_up(parse_reference(found[1]))), value)


def find_value(result: Mapping[str, Any], words: Sequence[str]) -> Any:
    """Return what the words lead to in the JSON form of a step's response.

    `data`, `errors`, `info`, `warnings` and `status` are parts of the response; any other first word is looked for in
    its pieces of data. `job_id` finds `JobID`: case and underscores do not count where nothing is written just so.

    Raises:
        Missing: there is nothing.
    """
    first = words[0].lower()
    if first == "status" and len(words) == 1:
        return "failed" if result["Errors"] else "succeeded"
    if first in _PARTS:
        return _walk(result[_PARTS[first]], words[1:], words[0])
    pieces = [piece for piece in result["Data"] if isinstance(piece, Mapping)]
    for piece in pieces:
        if _key(piece, words[0]) is not None:
            return _walk(piece, words, "its data")
    known = list(dict.fromkeys(name for piece in pieces for name in piece))
    raise Missing(f'it gave no "{words[0]}"; {_list_names(known)}')


def _walk(value: Any, words: Sequence[str], place: str) -> Any:
    for word in words:
        if isinstance(value, Mapping):
            key = _key(value, word)
            if key is None:
                raise Missing(f'{place} has no "{word}"; {_list_names(list(value))}')
            value = value[key]
        elif isinstance(value, list):
            value = value[_position(word, len(value), place)]
        else:
            raise Missing(f'{place} is a plain value, and has no "{word}"')
        place = f"{place}.{word}"
    return value


def _position(word: str, count: int, place: str) -> int:
    if not count:
        raise Missing(f"{place} is an empty list")
    # Python reads no number of thousands of digits.
    if not word.isdecimal() or len(word) > len(str(count)) or int(word) >= count:
        raise Missing(f'{place} is a list of {count}, and "{word}" is not a number from 0 to {count - 1}')
    return int(word)


def _key(found: Mapping[str, Any], word: str) -> str | None:
    if word in found:
        return word
    wanted = _plain(word)
    return next((name for name in found if _plain(name) == wanted), None)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _list_names(names: Sequence[str]) -> str:
    return f"it has {', '.join(names[:20])}" if names else "it has nothing"


def _as_text(value: Any) -> str:
    if isinstance(value, Mapping | list):
        import json

        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)
