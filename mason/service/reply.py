"""An answer in the one form that every front door shows: a document, a status, and how a command ends with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mason.clients.response import Response
from mason.errors import Interrupted
from mason.operators.failed_code import describe_failure
from mason.operators.operator_response import OperatorResponse
from mason.operators.runner import respond, show_result

Action = Callable[[Response], OperatorResponse]
DescribeBug = Callable[[BaseException], str]


@dataclass(frozen=True)
class Reply:
    """What came of a call. Whatever went wrong is in it."""

    result: OperatorResponse
    document: dict[str, Any]
    """The response in JSON: what a command prints, and the body of a request's answer."""
    cause: BaseException | None = None
    """What was raised, for a caller in this process."""

    @property
    def status(self) -> int:
        return self.result.response.status

    @property
    def exit_code(self) -> int:
        if self.status == Interrupted.status:
            return Interrupted.exit_code
        return 1 if self.result.response.errors else 0


def reply_with(work: Action, describe_bug: DescribeBug = describe_failure) -> Reply:
    """Do the work with a new response, and return what came of it."""
    result, cause = collect(work, describe_bug)
    return Reply(result, show_result(result, describe_bug), cause)


def collect(
    work: Action, describe_bug: DescribeBug = describe_failure
) -> tuple[OperatorResponse, BaseException | None]:
    """Do the work, and return its response and what was raised; for a door that makes the document by itself."""
    raised: list[BaseException] = []

    def run_watched(response: Response) -> OperatorResponse:
        try:
            return work(response)
        except BaseException as error:
            raised.append(error)
            raise

    result = respond(run_watched, describe_bug=describe_bug)
    return result, raised[0] if raised else None
