"""S3 as Spark reads it by itself: Hadoop's S3A, without the bundle of all of AWS that it asks for (16 MB, not 700)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from mason.clients.aws.connection import DEFAULT_REGION
from mason.clients.aws.credentials import POINTERS, PROFILE
from mason.clients.s3.connection import S3Connection
from mason.pipeline.storage.address import JavaNeeds

# The version of AWS's SDK that each hadoop-aws was built with.
_SDK = {"3.4.2": "2.29.52"}
_NEWEST = "3.4.2"
_SDK_GROUP = "software.amazon.awssdk"
_SDK_MODULES = ("s3", "s3-transfer-manager", "sts", "apache-client")
_EXCLUDED = (
    f"{_SDK_GROUP}:bundle",
    "software.amazon.encryption.s3:amazon-s3-encryption-client-java",
    "software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3",
)
# Spark's processes get nothing else of the environment; their Python finds profile and certificates by these, too.
_HANDED_ON = (*POINTERS, "AWS_CA_BUNDLE", "AWS_DEFAULT_PROFILE")
_PROVIDERS = ("ProfileCredentialsProvider", "DefaultCredentialsProvider")


def needs_of(connection: S3Connection, hadoop: str, environment: Mapping[str, str] = os.environ) -> JavaNeeds:
    """Return what S3A needs to reach the store."""
    version = hadoop or _NEWEST
    sdk = _SDK.get(version, _SDK[_NEWEST])
    packages = [f"org.apache.hadoop:hadoop-aws:{version}", *(f"{_SDK_GROUP}:{name}:{sdk}" for name in _SDK_MODULES)]
    variables = {name: environment[name] for name in _HANDED_ON if environment.get(name)}
    if key_file := connection.keys.keep(connection.region or DEFAULT_REGION):
        variables |= {"AWS_SHARED_CREDENTIALS_FILE": key_file, "AWS_PROFILE": PROFILE}
    return JavaNeeds(
        root="s3a://", packages=tuple(packages), excluded=_EXCLUDED, conf=_settings(connection), variables=variables
    )


def _settings(connection: S3Connection) -> dict[str, str]:
    settings = {
        "endpoint": connection.endpoint,
        "endpoint.region": connection.region or DEFAULT_REGION,
        "path.style.access": "true" if connection.path_style else "false",
        "connection.ssl.enabled": "false" if connection.endpoint.startswith("http://") else "true",
        "aws.credentials.provider": ",".join(f"{_SDK_GROUP}.auth.credentials.{name}" for name in _PROVIDERS),
        # A store that is not there is said to be so after seconds; with what is usual it takes minutes.
        "attempts.maximum": "3",
        "retry.limit": "3",
        "connection.establish.timeout": "5s",
    }
    return {f"fs.s3a.{name}": value for name, value in settings.items() if value}
