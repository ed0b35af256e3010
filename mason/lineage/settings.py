"""Where lineage is told: `lineage` in `settings.yaml`, or MASON_LINEAGE. Nowhere, unless somebody says so."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mason.errors import InvalidConfiguration
from mason.util.environment import MasonEnvironment, read_settings
from mason.util.names import did_you_mean
from mason.util.redaction import redact_url

VARIABLE = "MASON_LINEAGE"
OFF = "off"
_KEYS = ("url", "endpoint", "namespace", "api_key", "timeout")
_REFERENCE = re.compile(r"\{\{\s*(.*?)\s*\}\}")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_LONGEST_SECONDS = 60.0
_PLACES = "Give http://HOST:PORT, https://…, or the path of a file."


@dataclass(frozen=True, kw_only=True)
class LineageSettings:
    """A server that takes OpenLineage events, or a file that they are added to."""

    url: str
    """http:// or https://; empty for a file."""
    file: str
    endpoint: str = "api/v1/lineage"
    namespace: str = "mason"
    """The namespace of the jobs: tells this Mason from others that tell the same server."""
    api_key: str = field(default="", repr=False)
    timeout: float = 5.0
    """How many seconds the server may take for an event."""

    @property
    def place(self) -> str:
        """Where events go, as a message may say it."""
        return redact_url(self.url) if self.url else self.file


def lineage_settings(env: MasonEnvironment, variables: Mapping[str, str] = os.environ) -> LineageSettings | None:
    """Return where lineage is told, or None when it is not.

    Raises:
        InvalidConfiguration: what is written there cannot be meant.
    """
    given = read_settings(env).get("lineage")
    source = f"{env.shorten_home(env.settings_file)}: lineage"
    values = {"url": given} if isinstance(given, str) else given or {}
    if not isinstance(values, Mapping):
        raise _invalid(source, "it must be an address, or keys with their values")
    chosen = variables.get(VARIABLE, "")
    if chosen:
        values, source = {**values, "url": chosen}, VARIABLE
    if values.get("url") in (None, "", OFF, False):  # YAML's own `off` is text here, and nobody need know
        _refuse_unknown(source, values)
        return None
    return _settings(env, source, values, variables)


def _settings(
    env: MasonEnvironment, source: str, values: Mapping[str, Any], variables: Mapping[str, str]
) -> LineageSettings:
    _refuse_unknown(source, values)
    texts = {key: _fill_value(source, key, values[key], variables) for key in _KEYS[:-1] if values.get(key) is not None}
    place = texts.pop("url")
    scheme = _SCHEME.match(place)
    more: dict[str, Any] = {**texts, "timeout": _seconds(source, values.get("timeout", LineageSettings.timeout))}
    if scheme and scheme[1] in ("http", "https"):
        return LineageSettings(url=place, file="", **more)
    if scheme and scheme[1] != "file":
        raise _invalid(source, f"{scheme[1]}:// is not a place for lineage. {_PLACES}")
    path = Path(os.path.expanduser(place.removeprefix("file://")))  # noqa: PTH111
    beside = Path.cwd() if source == VARIABLE else env.home  # a name is meant where it is written
    return LineageSettings(url="", file=str(beside / path), **more)


def _refuse_unknown(source: str, values: Mapping[str, Any]) -> None:
    unknown = [key for key in values if key not in _KEYS]
    if unknown:
        near = did_you_mean(str(unknown[0]), _KEYS) or f"There are: {', '.join(_KEYS)}."
        raise _invalid(source, f'"{unknown[0]}" is not a key of it. {near}')


def _fill_value(source: str, key: str, value: Any, variables: Mapping[str, str]) -> str:
    if not isinstance(value, str) or not value:
        raise _invalid(source, f"{key} must be text")
    unset = [name for name in _REFERENCE.findall(value) if name not in variables]
    if unset:
        raise _invalid(source, f"{key}: the variable {unset[0]} is not set")
    return _REFERENCE.sub(lambda found: variables[found[1]], value)


def _seconds(source: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _LONGEST_SECONDS:
        raise _invalid(source, f"timeout must be a number of seconds, at most {_LONGEST_SECONDS:g}")
    return float(value)


def _invalid(source: str, message: str) -> InvalidConfiguration:
    return InvalidConfiguration([f"{source}: {message}{'' if message.endswith('.') else '.'}"])
