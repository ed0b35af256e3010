"""What all four roles have in common: how a verb becomes a call, and how a client says no."""

from __future__ import annotations

import functools
import inspect
import logging
import time
from abc import ABC
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn, ParamSpec, TypeVar

from mason.clients.response import Response
from mason.errors import MasonError, Unsupported

LOG = logging.getLogger("mason.clients")
ROLES = ("metastore", "execution", "scheduler", "storage")

P = ParamSpec("P")
T = TypeVar("T")


class Role(ABC):  # noqa: B024 (its verbs are its four children's)
    """A technology in one of the four roles."""

    errors: ClassVar[Mapping[type[Exception], type[MasonError]]] = {}
    """The technology's exceptions and what they are for Mason; what is not listed is a bug and keeps its traceback."""

    def check(self) -> list[str]:
        """Return what stands in the way of using this client, one line each; `mason doctor` shows them."""
        return []

    def describe_place(self) -> str:
        """Return where the technology is reached, where that is not the usual place; `mason doctor` shows it."""
        return ""


def verb(plain: Callable[P, T]) -> Callable[P, tuple[T, Response]]:
    """Make a verb out of a method that returns a value and raises.

    The verb returns the value and the response it was given, is timed and logged, and raises only MasonErrors for
    what `errors` of the client lists, with no secret in their text.
    """

    @functools.wraps(plain)
    def call(*args: P.args, **kwargs: P.kwargs) -> tuple[T, Response]:
        client: Role = args[0]  # type: ignore[assignment]
        response: Response = kwargs["response"]  # type: ignore[assignment]
        began = time.perf_counter()
        try:
            return plain(*args, **kwargs), response
        except tuple(client.errors) as error:
            raise _translated(client, error, response) from error
        finally:
            LOG.debug("%s.%s took %.0f ms", type(client).__name__, plain.__name__, 1000 * (time.perf_counter() - began))

    return call


def unsupported(reason: str) -> Any:
    """Return a verb that this client does not have; the reason is what its user reads."""
    return _UnsupportedVerb(reason)


def support_of(client: type[Role]) -> dict[str, str]:
    """Return the verbs of the client's role, each with the reason why the client does not have it, or nothing."""
    contract = next(base for base in client.__mro__ if Role in base.__bases__)
    verbs = sorted(getattr(contract, "__abstractmethods__"))  # noqa: B009 (mypy does not know it)
    return {name: getattr(inspect.getattr_static(client, name), "unsupported_because", "") for name in verbs}


class _UnsupportedVerb:
    def __init__(self, reason: str) -> None:
        self.unsupported_because = reason
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, client: Role | None, owner: type) -> Callable[..., NoReturn]:
        def refuse(*args: object, **kwargs: object) -> NoReturn:
            raise Unsupported(f"{owner.__name__} does not support {self._name}: {self.unsupported_because}")

        return refuse


def _translated(client: Role, error: Exception, response: Response) -> MasonError:
    if isinstance(error, MasonError):
        return error
    for known in type(error).__mro__:
        if known in client.errors:
            return client.errors[known](response.redactor(_text(error)))
    raise error


def _text(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return str(error)
