"""Anything as JSON that every reader accepts."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import partial
from typing import Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def json_text(value: Any) -> str:
    """Return the value as JSON text, which is UTF-8 whatever a file's name on disk is."""
    text = json.dumps(json_value(value), indent=1, ensure_ascii=False, allow_nan=False)
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def json_value(value: Any) -> Any:
    """Return the value with what JSON has no word for as text: times, decimals, NaN, and objects of any other kind.

    Bytes are base64, as in the JSON files that Mason writes.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): json_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(each) for each in value]
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, date | datetime):
        return value.isoformat()
    return json_value(value.to_dict()) if hasattr(value, "to_dict") else str(value)


def compact_json(value: Any) -> bytes:
    """Return the value as JSON for a program to read, in UTF-8."""
    try:  # nearly everything is plain data, of which no copy is needed
        text = _compact(value, default=json_value)
    except (TypeError, ValueError):
        text = _compact(json_value(value))
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


_compact = partial(json.dumps, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
