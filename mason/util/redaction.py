"""Keeps secrets out of everything that a person could read.

Keeps secrets out of what code prints, logs and warns of while it runs, whoever wrote that code.

As long as somebody runs with secrets, `sys.stdout` and `sys.stderr` hide them, and so does every record of logging. It
holds for the whole process, not for one thread: an operator may print from threads of its own. What writes to a file of
its own, or past Python (a child process, a library in C), is not heard here.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import IO, Any

REDACTED = "REDACTED"

_SECRET_WORD = re.compile(
    r".*(secret|token|password|passwd|passphrase|credential|apikey|accesskey|secretkey|privatekey)s?|keys?|pwd"
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Only the last character of a scheme is looked at: a search for its first reads a long word again from each letter.
_URL_PASSWORD = re.compile(r"(?P<before>[A-Za-z0-9+.-]://[^\s/:@]*:)(?P<password>[^\s/@]+)(?=@)")
_URL_PARAMETER = re.compile(r"(?P<before>[;?&](?P<name>[A-Za-z][\w.-]*)=)(?P<value>[^\s;&#'\"]+)")
_URL = re.compile(r"[A-Za-z0-9+.-]://\S+")
_LONG_SECRET = 4


@lru_cache(maxsize=1024)  # the few names of a configuration, asked about for every step
def is_secret_name(name: str) -> bool:
    """Say whether a name gives its value away as a secret: `access_key`, `apiToken`, `db-password`."""
    return any(_SECRET_WORD.fullmatch(word.lower()) for word in _WORD.findall(name))


def redact_values(value: Any, schema: Mapping[str, Any] | None = None, name: str = "") -> Any:
    """Return the value with every secret in it replaced, at any depth.

    A value is secret when its schema says so (`x-mason-secret`) or when its name does; the password or the token in a
    URL always is.
    """
    schema = schema or {}
    if schema.get("x-mason-secret") or (name and is_secret_name(name)):
        return REDACTED if value not in (None, "") else value
    if isinstance(value, Mapping):
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        rest = others if isinstance(others, Mapping) else None
        return {key: redact_values(each, known.get(key, rest), str(key)) for key, each in value.items()}
    if isinstance(value, list):
        return [redact_values(each, schema.get("items")) for each in value]
    return redact_url(value) if isinstance(value, str) else value


def secret_values(value: Any, schema: Mapping[str, Any] | None = None) -> set[str]:
    """Return the texts that `redact_values` would hide."""
    return _texts(value) - _texts(redact_values(value, schema))


def redact_url(text: str) -> str:
    """Hide the password in every URL of a text, and what its parameters call a secret: `sc://host/;token=…`."""
    if "://" not in text:
        return text
    redacted = _URL_PASSWORD.sub(rf"\g<before>{REDACTED}", text)
    return _URL.sub(lambda url: _URL_PARAMETER.sub(_redact_parameter, url[0]), redacted)


def _redact_parameter(found: re.Match[str]) -> str:
    return f"{found['before']}{REDACTED}" if is_secret_name(found["name"]) else found[0]


def redact_urls(value: Any) -> Any:
    """Return the value with the password of every URL in it hidden, at any depth, and nothing else."""
    if isinstance(value, Mapping):
        return {key: redact_urls(each) for key, each in value.items()}
    if isinstance(value, list):
        return [redact_urls(each) for each in value]
    return redact_url(value) if isinstance(value, str) else value


def url_secrets(value: Any) -> set[str]:
    """Return the passwords and tokens that `redact_urls` would hide."""
    texts = [text for text in _texts(value) if "://" in text]
    passwords = {found["password"] for text in texts for found in _URL_PASSWORD.finditer(text)}
    parameters = (found for text in texts for url in _URL.findall(text) for found in _URL_PARAMETER.finditer(url))
    return (passwords | {found["value"] for found in parameters if is_secret_name(found["name"])}) - {REDACTED}


class Redactor:
    """Replaces known secrets in any text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        self.learn(secrets)

    def copy(self) -> Redactor:
        """Return another one that knows the same: what it learns, this one does not."""
        other = Redactor()
        other._secrets = set(self._secrets)
        return other

    @property
    def secrets(self) -> frozenset[str]:
        """What it replaces, for another process that is to replace the same."""
        return frozenset(self._secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Add secrets: as they are, and as they stand in a traceback or in JSON."""
        for secret in filter(None, secrets):
            self._secrets |= {secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]}

    def __call__(self, text: str) -> str:
        return redact_url(self._without_secrets(text))

    def redact_data(self, value: Any) -> Any:
        """Return data without the known secrets, in keys as well; else they stay what they are, URLs included."""
        if not self._secrets or value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, str):
            return self._without_secrets(value)
        if isinstance(value, Mapping):
            return self._redact_mapping(value)
        if isinstance(value, list | tuple | set | frozenset):
            return [self.redact_data(each) for each in value]
        if hasattr(value, "to_dict"):
            return self.redact_data(value.to_dict())
        # What JSON has no word for is told as text.
        text = value.decode(errors="replace") if isinstance(value, bytes | bytearray) else str(value)
        return value if self._without_secrets(text) == text else REDACTED

    def _redact_mapping(self, value: Mapping[Any, Any]) -> dict[Any, Any]:
        redacted: dict[Any, Any] = {}
        for key, each in value.items():
            name = self._without_secrets(key) if isinstance(key, str) else key
            number = 2
            while name in redacted:  # two secrets are two keys all the same
                name = f"{self._without_secrets(str(key))} {number}"
                number += 1
            redacted[name] = self.redact_data(each)
        return redacted

    def _without_secrets(self, text: str) -> str:
        for secret in sorted(self._secrets, key=len, reverse=True):
            if len(secret) >= _LONG_SECRET:
                text = text.replace(secret, REDACTED)
            else:  # inside other words it would be found everywhere
                text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", REDACTED, text)
        return text


def _texts(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return set().union(*(_texts(each) for each in value.values()))
    if isinstance(value, list):
        return set().union(*(_texts(each) for each in value))
    return {str(value)} if value is not None else set()


Redact = Callable[[str], str]

_lock = threading.Lock()
_active: list[Redact] = []
_undo: list[Callable[[], None]] = []


@contextmanager
def hide_secrets(redact: Redact) -> Iterator[None]:
    """Have nothing printed, logged or warned of meanwhile that `redact` would take out of it."""
    with _lock:
        _active.append(redact)
        if len(_active) == 1:
            _undo.extend(_listen())
    try:
        yield
    finally:
        with _lock:
            _active.remove(redact)
            while not _active and _undo:
                _undo.pop()()


def _listen() -> Iterator[Callable[[], None]]:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None:
            heard = _RedactedStream(stream)
            setattr(sys, name, heard)
            yield lambda name=name, heard=heard, stream=stream: _put_back(name, heard, stream)  # type: ignore[misc]
    make = logging.getLogRecordFactory()

    def make_redacted(*arguments: Any, **options: Any) -> logging.LogRecord:
        return _redact_record(make(*arguments, **options))

    logging.setLogRecordFactory(make_redacted)
    yield lambda: logging.setLogRecordFactory(make)


def _put_back(name: str, heard: object, stream: object) -> None:
    if getattr(sys, name) is heard:  # else somebody has put another one there, and will see to it
        setattr(sys, name, stream)


def _redact_text(text: str) -> str:
    for redact in list(_active):
        text = redact(text)
    return text


def _redact_record(record: logging.LogRecord) -> logging.LogRecord:
    with suppress(Exception):  # a message that cannot be put together: logging says so when it is told, to stderr
        message = record.getMessage()
        redacted = _redact_text(message)
        if redacted != message:
            record.msg, record.args = redacted, None
    if record.exc_info and record.exc_info[0]:
        record.exc_text = _redact_text(
            logging.Formatter().formatException(record.exc_info)
        )  # which formatters take then
    return record


class _RedactedStream:
    """A stream that hides secrets in what is written to it, and is else the stream that it stands for."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(_redact_text(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
