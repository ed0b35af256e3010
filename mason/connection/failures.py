"""A response with errors as the exception that Python code catches: one of Mason's tree, with the response's words."""

from __future__ import annotations

from mason import errors
from mason.connection.call_response import CallResponse
from mason.errors import MasonError, Problems

# Of the tree itself: what else is loaded has errors of its own, which say more than a status does.
_BY_STATUS = {each.status: each for each in MasonError.__subclasses__() if each.__module__ == errors.__name__}


def raise_errors_of(response: CallResponse, cause: BaseException | None = None) -> CallResponse:
    """Return a response that has no errors.

    Args:
        cause: what was raised where the call was run, if that was this process.

    Raises:
        MasonError: it has some. The response itself is the `record` of the error.
        KeyboardInterrupt: ctrl-C was the cause.
    """
    if isinstance(cause, KeyboardInterrupt):
        raise cause
    if response.status < 400 and not response.errors:
        return response
    raise _failure(response, cause) from cause


def _failure(response: CallResponse, cause: BaseException | None) -> MasonError:
    said = isinstance(cause, MasonError) and tuple(cause.messages) == response.errors  # no secret was taken out
    error = cause if said and isinstance(cause, MasonError) else _of_status(response)
    error.record = response
    return error


def _of_status(response: CallResponse) -> MasonError:
    kind = _BY_STATUS.get(response.status, MasonError)
    if kind.status == Problems.status:
        return Problems(response.errors)
    return kind("\n".join(response.errors))
