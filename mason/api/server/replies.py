"""Every reply has the form of an operator's response: errors, information, warnings, data."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.responses import Response as HttpResponse

import mason
from mason.errors import MasonError, TooMany, Unauthorized
from mason.util.environment import MasonEnvironment
from mason.util.json_text import compact_json

JSON = "application/json"
_ERRORS = ("Error", "Errors", "Reason")
"""Under these words a job, a step or a run says what went wrong."""

_PLACES = ("Folder", "ParameterFile")
"""Under these words a run says where it was started, and which file it was given."""


def json_reply(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Return a document as a reply."""
    return HttpResponse(compact_json(document), status, headers=dict(headers or {}), media_type=JSON)


def document(
    data: Sequence[Any] = (), *, errors: Iterable[str] = (), info: Iterable[str] = (), warnings: Iterable[str] = ()
) -> dict[str, Any]:
    """Return a response as JSON has it."""
    return {"Errors": list(errors), "Info": list(info), "Warnings": list(warnings), "Data": list(data)}


def error_reply(error: MasonError, hide: PathHider | None = None) -> HttpResponse:
    """Return what went wrong, with what helps a client to do better."""
    messages = [hide(each) for each in error.messages] if hide else error.messages
    headers = {}
    if isinstance(error, TooMany):
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"
    return json_reply(document(errors=messages), error.status, headers)


def without_places(run: Any) -> Any:
    """Return a run without the places of this machine that it was started in and with, which no caller can use."""
    return {key: value for key, value in run.items() if key not in _PLACES} if isinstance(run, Mapping) else run


class PathHider:
    """Takes the server's own folders out of a message: a caller knows paths only as they are in its configuration."""

    def __init__(
        self, env: MasonEnvironment, roots: Iterable[str] = (), sources: Iterable[tuple[str, str]] = ()
    ) -> None:
        # Where authors wrote what is registered, which errors of their code name.
        folders = {source: name for source, name in sources if source.startswith("/")}
        for root in (*roots, *(env.roots or ()), "."):
            for place in (os.path.abspath(root), os.path.realpath(root)):  # noqa: PTH100
                folders[place] = ""
        folders[str(env.home)] = "MASON_HOME"
        folders[str(Path(mason.__file__).parent)] = "mason"
        folders[str(Path.home())] = "~"
        folders.pop("/", None)
        self._names = folders
        longest_first = sorted(folders, key=len, reverse=True)
        # A folder's name begins where a word does ("/proc/self/root" is not "/root"), or behind a line's end in a repr.
        self._pattern = re.compile(
            f"(?:(?<![\\w.-])|(?<=\\\\[nrt]))({'|'.join(map(re.escape, longest_first))})(/|(?![.]?[\\w-]))"
        )

    def __call__(self, message: str) -> str:
        return self._pattern.sub(self._hide_value, message)

    def in_errors(self, value: Any) -> Any:
        """Return data with the same done to what they say of something that went wrong, at any depth."""
        if isinstance(value, Mapping):
            return {
                key: self._in_error(each) if key in _ERRORS else self.in_errors(each) for key, each in value.items()
            }
        return [self.in_errors(each) for each in value] if isinstance(value, list | tuple) else value

    def _in_error(self, value: Any) -> Any:
        if isinstance(value, str):
            return self(value)
        return [self._in_error(each) for each in value] if isinstance(value, list | tuple) else value

    def _hide_value(self, match: re.Match[str]) -> str:
        name, slash = self._names[match[1]], match[2]
        return f"{name}{slash}" if name else "" if slash else "."
