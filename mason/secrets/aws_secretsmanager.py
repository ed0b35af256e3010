"""Secrets in AWS Secrets Manager: `{{secret:aws-secretsmanager:prod/warehouse#password}}`, by name or by ARN."""

from __future__ import annotations

from mason.clients.aws.connection import AwsConnection, region_of
from mason.clients.aws.credentials import Keys
from mason.clients.aws.service import AwsService
from mason.errors import Unprocessable


def read_secret(place: str) -> str:
    """Return a secret's newest version, with the credentials of the usual chain.

    Raises:
        NotFound: there is no such secret.
        Forbidden: there are no credentials, or they may not read it.
        Unprocessable: it is not text.
        ClientFailed: AWS cannot be reached, or fails.
    """
    connection = AwsConnection(region_of(place), "", Keys.of({}))
    answer = AwsService("secretsmanager", "Secrets Manager", connection).find("get_secret_value", SecretId=place)
    text = answer.get("SecretString")
    if text is None:
        raise Unprocessable("it is binary, not text.")
    return str(text)
