"""What S3 says when it says no, in words that help; botocore and Arrow each have a spelling of their own for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ParamValidationError

from mason.clients.aws.failures import code_of, describe_unanswered, no_credentials, refusal
from mason.errors import BadPath, ClientFailed, MasonError, NotEmpty, PathNotFound, Unsupported

_ARROW = re.compile(
    r"AWS Error (?P<code>\w+) during (?P<call>\w+) operation(?: \(HTTP status (?P<status>\d+)\))?: ?(?P<text>.*)"
)
_REGION = re.compile(r"expecting '([\w-]+)'")
_NEEDED = {
    "ETag": ("ETag", "whether an object was changed"),
    "LastModified": ("Last-Modified", "how old an object is"),
}
_OTHER_REGION = ("permanentredirect", "301", "authorizationheadermalformed", "incorrectendpoint")


@contextmanager
def s3_failures(path: str) -> Iterator[None]:
    """Turn what S3 raises into one of Mason's errors, with one clear message about the path.

    Raises:
        PathNotFound: there is no such bucket or object.
        BadPath: what names it cannot be a bucket, or a key.
        Forbidden: the credentials are wrong, expired or not enough.
        ClientFailed: the store cannot be reached, fails, or lies in another region.
    """
    try:
        yield
    except NoCredentialsError as error:
        raise no_credentials("S3") from error
    except ClientError as error:
        raise failure(path, *_of_botocore(error)) from error
    except ParamValidationError as error:
        raise _not_asked(path, error) from error
    except BotoCoreError as error:
        raise describe_unanswered(_name_path(path), error) from error
    except FileNotFoundError as error:
        raise PathNotFound(f"s3://{path}") from error
    except OSError as error:
        found = _ARROW.search(str(error))
        raise failure(path, found["code"], found["status"] or "", found["text"]) if found else error from error


def require_attribute(path: str, answer: Mapping[str, Any], name: str, client: Any) -> Any:
    """Return what the store says of an object, by botocore's name for it: `ETag`, `LastModified`.

    Raises:
        Unsupported: it says nothing of the kind, as AWS always does.
    """
    if name in answer:
        return answer[name]
    header, use = _NEEDED[name]
    raise Unsupported(
        f"The store at {client.meta.endpoint_url} says no {header} of s3://{path}: without it Mason cannot tell {use}.",
        hint="Use a store that says it, and see that no proxy takes it away.",
    )


def is_of_arrow(error: OSError) -> bool:
    """Say whether an error is what Arrow makes of an answer of the store."""
    return "AWS Error" in str(error)


def failure(path: str, code: str, status: str, text: str) -> MasonError:
    """Return the error for a code of S3, such as `NoSuchBucket` or Arrow's `NO_SUCH_BUCKET`."""
    known = code.replace("_", "").lower()
    place = _name_path(path)
    if known in ("unknown", ""):
        known = status
    refused = refusal(place, known, text)
    if refused is not None:
        return refused
    if known == "nosuchbucket":
        bucket = path.partition("/")[0]
        return PathNotFound(f"s3://{bucket}", hint=f'There is no bucket "{bucket}".')
    if known in ("nosuchkey", "404", "resourcenotfound", "notfound"):
        return PathNotFound(place)
    if known in _OTHER_REGION:
        found = _REGION.search(text)
        return ClientFailed(
            f"{place}: the bucket is in another region{f', {found[1]}' if found else ''}.", hint="Set aws_region."
        )
    if known == "invalidbucketname":
        return BadPath(f'"{path.partition("/")[0]}" cannot be the name of a bucket: {text}')
    if known == "keytoolongerror":
        return BadPath(
            f"{place}: its key, or a part of it, is longer than this store takes; AWS takes 1,024 bytes in all.",
            hint="Choose a shorter name.",
        )
    if known == "networkconnection":
        return ClientFailed(
            f"{place}: the store cannot be reached: {text.rpartition('Details: ')[2]}".rstrip(". ") + ".",
            hint="Check aws_region, the endpoint and the network.",
        )
    if known == "bucketnotempty":
        return NotEmpty(f"{place} is not empty.", hint="Remove what is in it first.")
    return ClientFailed(f"{place}: S3 failed with {code}: {text}".rstrip(". ") + ".")


def _name_path(path: str) -> str:
    """What messages call a path; without one it is the store that was asked."""
    return f"s3://{path}" if path else "S3"


def _not_asked(path: str, error: ParamValidationError) -> MasonError:
    """What botocore itself refuses: its words are many, and only the name of a bucket is a user's."""
    if "Invalid bucket name" not in str(error):
        return describe_unanswered(f"s3://{path}", error)
    bucket = path.partition("/")[0]
    return BadPath(f'"{bucket}" cannot be the name of a bucket.', hint="Write s3://bucket/key, or bucket/key.")


def _of_botocore(error: ClientError) -> tuple[str, str, str]:
    details = error.response.get("Error", {})
    status = str(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", ""))
    return code_of(error), status, str(details.get("Message", ""))
