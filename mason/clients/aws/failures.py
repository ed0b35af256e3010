"""What AWS says when it says no, in words that help."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError, NoCredentialsError

from mason.errors import AlreadyExists, BadInput, ClientFailed, Conflict, Forbidden, MasonError, NotFound

_ACTION = re.compile(r"not authorized to perform:? (?P<action>[\w-]+:\w+)")
_DENIED = ("accessdenied", "403", "forbidden", "allaccessdisabled", "accountproblem")
_EXPIRED = ("expiredtoken", "tokenrefreshrequired")
_UNKNOWN_KEY = ("invalidaccesskeyid", "invalidclienttokenid", "unrecognizedclient")
_SKEWED = ("requesttimetooskewed", "requestexpired")
_BUSY = (
    "throttling",
    "throttled",
    "toomanyrequests",
    "requestlimitexceeded",
    "slowdown",
    "provisionedthroughputexceeded",
)
_KINDS: Mapping[str, type[MasonError]] = {
    "entitynotfound": NotFound,
    "resourcenotfound": NotFound,
    "parameternotfound": NotFound,
    "alreadyexists": AlreadyExists,
    "crawlerrunning": Conflict,
    "schedulertransitioning": Conflict,
    "concurrentmodification": Conflict,
    "invalidinput": BadInput,
    "invalidparameter": BadInput,
    "validation": BadInput,
}


@contextmanager
def aws_failures(place: str) -> Iterator[None]:
    """Turn what AWS raises into one of Mason's errors, with one clear sentence that begins with the place.

    Raises:
        Forbidden: the credentials are missing, wrong, expired or not enough.
        NotFound, AlreadyExists, Conflict, BadInput: AWS says so.
        ClientFailed: AWS cannot be reached, is busy, or fails.
    """
    try:
        yield
    except NoCredentialsError as error:
        raise no_credentials(place) from error
    except ClientError as error:
        raise failure(place, code_of(error), str(error.response.get("Error", {}).get("Message", ""))) from error
    except BotoCoreError as error:
        raise describe_unanswered(place, error) from error


def failure(place: str, code: str, text: str) -> MasonError:
    """Return the error for a code of AWS, such as `EntityNotFoundException`."""
    message = refusal(place, code, text)
    if message is not None:
        return message
    known = _explain_code(code)
    if known in _KINDS:
        return _KINDS[known](f"{place}: {_one_line(text) or code}.")
    return ClientFailed(f"{place}: it failed with {code}: {_one_line(text)}".rstrip(": ") + ".")


def refusal(place: str, code: str, text: str) -> MasonError | None:
    """Return the error for what any service may say of who asks, and when; nothing where it is about something else."""
    known = _explain_code(code)
    if known in ("signaturedoesnotmatch", "invalidsignature"):
        return _signature(place, text)
    if known in _UNKNOWN_KEY:
        return Forbidden(f"{place}: the access key is not known there.", hint="Check it, and the endpoint.")
    if known in _EXPIRED:
        return Forbidden(f"{place}: the credentials have expired.", hint="Get new ones.")
    if known in _DENIED:
        return Forbidden(f"{place}: access denied.", hint=_what_is_denied(text))
    if known in _SKEWED:
        return ClientFailed(f"{place}: the clock of this machine differs too much from that of AWS.", hint="Set it.")
    if known in _BUSY:
        return ClientFailed(f"{place}: AWS is too busy for so many requests, also after a while.", hint="Try later.")
    return None


def no_credentials(place: str) -> Forbidden:
    """Return the error of a machine that has no credentials."""
    return Forbidden(
        f"There are no credentials for {place} here.",
        hint="Give access_key and secret_key in the configuration, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    )


def describe_unanswered(place: str, error: BotoCoreError) -> ClientFailed:
    """Return the error of a request that was not answered at all."""
    if isinstance(error, EndpointConnectionError):
        message = str(error).replace("Could not connect to the endpoint URL:", "nothing answers at")
        return ClientFailed(f"{place}: {_one_line(message)}.", hint="Check aws_region, the endpoint and the network.")
    return ClientFailed(f"{place}: {_one_line(str(error))}.")


def code_of(error: ClientError) -> str:
    """Return the code of an error, such as `NoSuchKey`; of an answer without a body, its status."""
    return str(error.response.get("Error", {}).get("Code", ""))


def _explain_code(code: str) -> str:
    return code.replace("_", "").lower().removesuffix("exception")


def _signature(place: str, text: str) -> MasonError:
    """Several things are wrong with a signature by the same code; only the text tells them apart."""
    if "Signature expired" in text or "Signature not yet current" in text:
        return ClientFailed(f"{place}: the clock of this machine differs too much from that of AWS.", hint="Set it.")
    if "valid region" in text:
        return ClientFailed(f"{place}: this endpoint belongs to another region.", hint="Set aws_region.")
    return Forbidden(f"{place}: the secret key does not fit the access key.", hint="Check both.")


def _what_is_denied(text: str) -> str:
    found = _ACTION.search(text)
    if found:
        return f"The credentials are not allowed to do {found['action']}."
    if "Lake Formation" in text:
        return f"{_one_line(text)}."
    return "The credentials are not allowed to do this."


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(". ")
