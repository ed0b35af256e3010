"""What all roles have in common: how a verb becomes a call, and how a client says no."""

from __future__ import annotations

import ast
import functools
import inspect
import logging
import textwrap
import time
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, ParamSpec, TypeVar

from mason.clients.response import Response
from mason.errors import MasonError, Unsupported
from mason.util.environment import MasonEnvironment

LOG = logging.getLogger("mason.clients")

_IS_VERB = "is_verb"
_NOT_IMPLEMENTED = "its author has not implemented it"
_NO_EXCEPTION = "exceptions must derive from BaseException"

P = ParamSpec("P")
T = TypeVar("T")


class Role(ABC):  # noqa: B024 (its verbs are those of its children, the contracts)
    """A technology in one of its roles; a class with this base is the contract of a role."""

    errors: ClassVar[Mapping[type[Exception], type[MasonError]]] = {}
    """The technology's exceptions and what they are for Mason; what is not listed is a bug and keeps its traceback."""

    _environment: MasonEnvironment | None = None

    @property
    def mason_env(self) -> MasonEnvironment:
        """Where Mason keeps what is its own: the home and the state of whoever uses the configuration of this client.

        A client that somebody has built by hand is part of no configuration, and has those of its process.
        """
        return self._environment or MasonEnvironment.of()

    def belong_to(self, env: MasonEnvironment) -> None:
        """Have the home and the state of a configuration that this client is a part of."""
        self._environment = env

    def __init_subclass__(cls, **options: Any) -> None:
        """Have verbs that their author wrote without `@verb` take the response, and refuse, as all others do."""
        super().__init_subclass__(**options)
        for name in () if Role in cls.__bases__ else _contract_verbs(cls):
            found = inspect.getattr_static(cls, name)
            if inspect.isfunction(found) and not hasattr(found, _IS_VERB) and not _is_abstract(found):
                setattr(cls, name, _wrap_whole_method(name, found))

    def check(self) -> list[str]:
        """Return what stands in the way of using this client, one line each; `mason doctor` shows them."""
        return []

    def remark(self) -> str:
        """Return what is worth knowing about this client where nothing is wrong; `mason doctor` shows it."""
        return ""

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
        given, named = _with_response_named(args, kwargs)
        response = named.get("response")
        if not isinstance(response, Response):
            raise TypeError(f"{plain.__name__} needs the response: {plain.__name__}(…, response=resp)")
        began = time.perf_counter()
        try:
            return plain(*given, **named), response
        except Exception as error:
            translated = _translate_error(client, plain, error, response)
            if translated is error:
                raise
            raise translated from error
        finally:
            LOG.debug("%s.%s took %.0f ms", type(client).__name__, plain.__name__, 1000 * (time.perf_counter() - began))

    setattr(call, _IS_VERB, True)
    return call


def unsupported(reason: str) -> Any:
    """Return a verb that this client does not have; the reason is what its user reads."""
    return _UnsupportedVerb(reason)


def support_of(client: type[Role]) -> dict[str, str]:
    """Return the verbs of the client's role, each with the reason why the client does not have it, or nothing."""
    return {name: _refusal(inspect.getattr_static(client, name)) for name in _contract_verbs(client)}


def _contract_verbs(client: type[Role]) -> list[str]:
    return abstract_verbs(next(base for base in client.__mro__ if Role in base.__bases__))


def abstract_verbs(contract: type[Role]) -> list[str]:
    """Return the verbs that a client has to have which fills a role."""
    return sorted(getattr(contract, "__abstractmethods__"))  # noqa: B009 (mypy does not know it)


def _is_abstract(found: object) -> bool:
    return bool(getattr(found, "__isabstractmethod__", False))


def _refusal(found: Any) -> str:
    """Return why a verb is refused: declared with `unsupported`, or by a body that only raises NotImplementedError."""
    declared: str = getattr(found, "unsupported_because", "")
    if declared or not inspect.isfunction(found):
        return declared
    try:
        (function,) = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(found)))).body
    except (OSError, SyntaxError, ValueError):
        return ""  # code that was not written into a file
    body = function.body if isinstance(function, ast.FunctionDef) else []
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]  # its docstring
    match body:
        case [ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError"), args=[ast.Constant(value=str(reason))]))]:
            return reason or _NOT_IMPLEMENTED
        case [ast.Raise(exc=ast.Name(id="NotImplementedError" | "NotImplemented"))]:
            return _NOT_IMPLEMENTED
        case [ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError"), args=[]))]:
            return _NOT_IMPLEMENTED
    return ""


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


def _wrap_whole_method(name: str, plain: Callable[..., T]) -> Callable[..., T]:
    """Return a method that its author wrote as a whole, response and all, with what holds for every verb."""

    @functools.wraps(plain)
    def call(client: Role, *args: Any, **kwargs: Any) -> T:
        given, named = _with_response_named(args, kwargs)
        try:
            return plain(client, *given, **named)
        except (NotImplementedError, TypeError) as error:
            if not _says_no(plain, error):
                raise
            raise _as_unsupported(client, name, error) from error

    setattr(call, _IS_VERB, True)
    return call


def _with_response_named(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """Return the arguments of a call with the response among those that are named, though it was given by position."""
    if args and isinstance(args[-1], Response) and "response" not in kwargs:
        return args[:-1], {**kwargs, "response": args[-1]}
    return args, dict(kwargs)


def _says_no(plain: Callable[..., object], error: Exception) -> bool:
    """Say whether a verb raised NotImplementedError itself (a library's subclass of it says something else), or tried
    to raise NotImplemented, which Python takes for a wrong type.
    """
    if isinstance(error, TypeError):
        return str(error) == _NO_EXCEPTION and "NotImplemented" in plain.__code__.co_names
    return type(error) is NotImplementedError


def _as_unsupported(client: Role, name: str, error: Exception) -> Unsupported:
    reason = str(error) if isinstance(error, NotImplementedError) and str(error) else _NOT_IMPLEMENTED
    return Unsupported(f"{type(client).__name__} does not support {name}: {reason}")


def _translate_error(client: Role, plain: Callable[..., object], error: Exception, response: Response) -> Exception:
    """Return what an error of a verb is for Mason; the error itself where it is a MasonError already, or a bug."""
    if isinstance(error, MasonError):
        return error
    if _says_no(plain, error) and type(error) not in client.errors:
        return _as_unsupported(client, plain.__name__, error)
    for known in type(error).__mro__:
        if known in client.errors:
            return client.errors[known](response.redactor(_text(error)))
    return error


def _text(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return str(error)
