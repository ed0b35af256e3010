"""Secrets in AWS Parameter Store: `{{secret:aws-ssm:/prod/warehouse/password}}`, by name or by ARN."""

from __future__ import annotations

from mason.clients.aws.connection import AwsConnection, region_of
from mason.clients.aws.credentials import Keys
from mason.clients.aws.service import AwsService


def read_secret(place: str) -> str:
    """Return a parameter's value, decrypted, with the credentials of the usual chain.

    Raises:
        NotFound: there is no such parameter.
        Forbidden: there are no credentials, or they may not read it.
        ClientFailed: AWS cannot be reached, or fails.
    """
    connection = AwsConnection(region_of(place), "", Keys.of({}))
    store = AwsService("ssm", "Parameter Store", connection)
    return str(store.find("get_parameter", Name=place, WithDecryption=True)["Parameter"]["Value"])
