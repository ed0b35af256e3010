"""What the suites of all roles demand alike: of a verb's answer, of its errors, and of a verb that a client lacks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, cast

import pytest

from mason.clients.engines.role import Role, support_of
from mason.clients.response import Response
from mason.errors import MasonError, Unsupported

P = ParamSpec("P")


def tests_verbs(*verbs: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Mark a test as one of these verbs.

    For a client that declares one of them unsupported, the test turns into the demand that the client refuses it.
    """

    def mark(test: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(test)
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            client = cast(Role, kwargs["client"])
            refused = [each for each in verbs if is_refused(client, each)]
            if not refused:
                test(*args, **kwargs)

        return run

    return mark


def is_refused(client: Role, verb: str) -> bool:
    """Say whether the client declares the verb unsupported, having checked that it refuses it with that reason."""
    reason = support_of(type(client))[verb]
    if reason:
        with fails_with(Unsupported, saying=reason):
            getattr(client, verb)(*_any_arguments(client, verb), response=Response())
    return bool(reason)


def answer(verb: Callable[..., Any], *arguments: object) -> Any:
    """Call a verb as an operator does and return its value."""
    value, _ = verb(*arguments, response=Response())
    return value


def check_answer(verb: Callable[..., Any], *arguments: object) -> None:
    """Call a verb and check that it answers with a value and the very response it was given, without errors."""
    response = Response()
    answered = verb(*arguments, response=response)
    assert isinstance(answered, tuple), "a verb answers with a value and the response"
    assert len(answered) == 2, "a verb answers with a value and the response"
    assert answered[1] is response, "a verb gives back the response that it was given"
    assert not response.errors, "a verb raises what goes wrong; the caller puts it into the response"


@contextmanager
def fails_with(expected: type[MasonError], *, saying: str = "") -> Iterator[None]:
    """Check that what is done inside fails with exactly this class of error."""
    with pytest.raises(MasonError) as caught:
        yield
    assert type(caught.value) is expected
    assert saying in str(caught.value)


def _any_arguments(client: Role, verb: str) -> list[str]:
    contract = next(each for each in type(client).__mro__ if verb in getattr(each, "__abstractmethods__", ()))
    parameters = inspect.signature(getattr(contract, verb)).parameters.values()
    return ["mason" for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD and each.name != "self"]
