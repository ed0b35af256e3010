"""How an error travels from where it was raised: as JSON, since what a cluster sends is never unpickled here."""

from __future__ import annotations

import builtins
import importlib
import json
import traceback

from mason.errors import ClientFailed, MasonError


def encode_failure(error: Exception) -> bytes:
    """Return the error as bytes: its class, its arguments and its traceback."""
    kind = type(error)
    document = {
        "module": kind.__module__,
        "name": kind.__qualname__,
        "arguments": [_plain(argument) for argument in error.args],
        "attributes": {name: _plain(value) for name, value in vars(error).items()},
        "message": str(error),
        "traceback": "".join(traceback.format_exception(error)),
    }
    return json.dumps(document).encode()


def decode_failure(payload: bytes) -> Exception:
    """Return the error that a kernel raised, of the same class where that is one of Mason's or Python's own."""
    document = json.loads(payload)
    kind = _kind(document["module"], document["name"])
    if kind is None:
        error: Exception = ClientFailed(f"A task failed with {document['name']}: {document['message']}")
    else:
        # The constructors of Mason's errors compose their messages; here the message is there already.
        error = kind.__new__(kind, *document["arguments"])
        vars(error).update(document["attributes"])
        error.args = tuple(document["arguments"])
    if not isinstance(error, MasonError) or kind is None:
        error.add_note(f"Where it was raised:\n{document['traceback']}")
    return error


def _kind(module: str, name: str) -> type[Exception] | None:
    if module == "builtins":
        found = getattr(builtins, name, None)
        return found if isinstance(found, type) and issubclass(found, Exception) else None
    if module.split(".")[0] != "mason":
        return None
    found = getattr(importlib.import_module(module), name, None)
    return found if isinstance(found, type) and issubclass(found, MasonError) else None


def _plain(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
