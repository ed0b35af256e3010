"""Where a service of AWS is asked: at the address that a configuration gives, else where AWS's own tools would ask.

boto3 finds that by itself, Arrow and Spark's S3A do not: so it is found here, once, for all of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mason.errors import BadInput
from mason.util.redaction import redact_urls

VARIABLE = "AWS_ENDPOINT_URL"
"""The address of every service; with `_S3` and the like behind it, that of one."""
_IGNORED = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"
_KEY = "endpoint_url"
_ADDRESS = re.compile(r"https?://([^\s/@]+@)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(/\S*)?")


@dataclass(frozen=True)
class Endpoint:
    """The address of a server, with its scheme, and where it is written; both are empty for AWS itself."""

    address: str = ""
    source: str = ""

    @classmethod
    def of(cls, service: str, configuration: Mapping[str, Any]) -> Endpoint:
        """Return where a service is asked, by boto3's name for it: by its configuration, a variable, or a profile.

        Raises:
            BadInput: a variable, or the profile, has something else than an address.
        """
        if written := str(configuration.get("endpoint") or ""):
            return cls(_with_scheme(written), "endpoint")
        if _is_true(os.environ.get(_IGNORED, "")):
            return cls()
        found = _of_variables(service) or _of_profile(service) or cls()
        if found.address and not _ADDRESS.fullmatch(found.address):
            raise BadInput(
                f'{found.source} is "{redact_urls(found.address)}", which is not the address of a server.',
                hint="Write one such as https://objects.example.com.",
            )
        return found

    def __str__(self) -> str:
        return f"{redact_urls(self.address)} ({self.source})" if self.address else ""


def is_of_aws(address: str) -> bool:
    """Say whether an address is one of AWS itself, as "" is."""
    host = urlsplit(address).hostname or ""
    return not address or host.endswith((".amazonaws.com", ".amazonaws.com.cn", ".api.aws"))


def _of_variables(service: str) -> Endpoint | None:
    for name in (f"{VARIABLE}_{service.upper()}", VARIABLE):
        if os.environ.get(name):
            return Endpoint(_with_scheme(os.environ[name]), name)
    return None


def _of_profile(service: str) -> Endpoint | None:
    """What the file of AWS's tools says: most have none, and a session of botocore is made for those that do."""
    file = Path(os.environ.get("AWS_CONFIG_FILE") or "~/.aws/config").expanduser()
    try:
        if _KEY not in file.read_text(encoding="utf-8"):
            return None
    except (OSError, UnicodeDecodeError):  # who reads it for credentials says so
        return None
    import botocore.session
    from botocore.exceptions import BotoCoreError

    session = botocore.session.get_session()
    try:
        profile = session.get_scoped_config()
    except BotoCoreError:  # there is no such profile, which is said when it is asked for keys
        return None
    if _is_true(str(profile.get("ignore_configured_endpoint_urls", ""))):
        return None
    services = session.full_config.get("services", {}).get(profile.get("services", ""), {})
    own = services.get(service, {})
    address = (own.get(_KEY) if isinstance(own, Mapping) else "") or profile.get(_KEY)
    return Endpoint(_with_scheme(address), f"{_KEY} in {file}") if address else None


def _with_scheme(written: str) -> str:
    return written if "://" in written else f"https://{written}"


def _is_true(written: str) -> bool:
    return written.lower() == "true"
