"""The program that assumes a role for AWS's tools, Spark's among them: `credential_process` in their files.

What it prints goes to the tool that started it, through a pipe; it stands in no file and no argument.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC

from mason.clients.aws.credentials import Keys


def role_keys(file: str, region: str) -> dict[str, object]:
    """Return the keys of the role that is kept in a file, as AWS's tools want to be told."""
    session = Keys.read_kept(file).as_asked_for().session(region)
    credentials = session.get_credentials()
    assert credentials is not None, "a role's credentials are there before they are asked for"
    keys = credentials.get_frozen_credentials()
    until = getattr(credentials, "_expiry_time", None)
    return {
        "Version": 1,
        "AccessKeyId": keys.access_key,
        "SecretAccessKey": keys.secret_key,
        "SessionToken": keys.token,
        "Expiration": until.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if until else None,
    }


if __name__ == "__main__":
    json.dump(role_keys(*sys.argv[1:]), sys.stdout)
