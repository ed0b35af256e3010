"""Who Mason is for AWS: by the configuration, else by the usual chain of the machine on which it is asked.

Keys travel to the tasks of this machine in a file that this user alone can read; its name is in the address of the
storage, the keys are not. It is such a file as AWS's own tools read, for Spark reads it too: keys stand in it as they
are, a role as the program that assumes it, which AWS's tools ask again before what it gave expires. A task on another
machine follows the usual chain there.
"""

from __future__ import annotations

import configparser
import contextlib
import hashlib
import io
import os
import shlex
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mason.engines.storage.models.credentials import Credentials
from mason.errors import Forbidden
from mason.util.atomic_file import write_file
from mason.util.dotenv import env_files, read_env_files
from mason.util.environment import MasonEnvironment
from mason.util.private_folder import private_folder, runtime_root

if TYPE_CHECKING:
    import boto3

PROFILE = "mason"
_BASE = "mason-base"
_ROLE = "mason_role"
_UNUSED_DAYS = 7
_VARIABLES = {
    "access_key": "AWS_ACCESS_KEY_ID",
    "secret_key": "AWS_SECRET_ACCESS_KEY",
    "session_token": "AWS_SESSION_TOKEN",
}

POINTERS = (
    "AWS_CONFIG_FILE",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_EC2_METADATA_DISABLED",
    "AWS_PROFILE",
    "AWS_ROLE_ARN",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
)
"""Variables that say where the usual chain of AWS looks. They hold no keys."""
# The first that is set counts, though it be empty: so does botocore read them.
_PROFILE_VARIABLES = ("AWS_DEFAULT_PROFILE", "AWS_PROFILE")
_WHERE_STS_IS = ("AWS_CA_BUNDLE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS")


@dataclass(frozen=True, repr=False)
class Keys:
    """Keys that were given, and the role that is assumed with them; what is empty was not given."""

    access_key: str = ""
    secret_key: str = ""
    session_token: str = ""
    role: str = ""
    kept_in: str = field(default="", compare=False)
    """The file in which these keys were found, if that is where they come from."""

    @classmethod
    def of(cls, configuration: Mapping[str, Any]) -> Keys:
        """Return the keys of a configuration, else those of the environment or a `.env` file."""
        given = {name: str(configuration.get(name) or "") for name in _VARIABLES}
        if not given["access_key"]:
            env = MasonEnvironment.of()
            variables = {**read_env_files(env_files(env.home, env.project)), **os.environ}
            given = {name: variables.get(variable, "") for name, variable in _VARIABLES.items()}
        return cls(**given, role=str(configuration.get("aws_role_arn") or ""))

    def keep(self, region: str) -> str:
        """Keep the keys for the tasks of this machine, and return the file in which they find them; "" for none."""
        if self.kept_in or self == Keys():
            return self.kept_in
        file = _folder() / hashlib.sha256(self._as_profiles("", region).encode()).hexdigest()[:32]
        _remove_unused(file.parent)
        if file.exists():
            os.utime(file)
        else:
            write_file(file, self._as_profiles(str(file), region).encode(), mode=0o600)
        return str(file)

    @classmethod
    def read_kept(cls, file: str) -> Keys:
        """Return keys that were kept on this machine; none where they were not, and the usual chain is followed.

        Raises:
            Forbidden: the file's folder belongs to somebody else, or others can look into it.
        """
        if not file or not Path(file).exists():
            return cls()
        private_folder(Path(file).parent)
        profiles = configparser.RawConfigParser()
        profiles.read(file, encoding="utf-8")
        role = profiles.get(PROFILE, _ROLE, fallback="")
        keys = profiles[_BASE if role else PROFILE]
        found = {name: keys.get(variable.lower(), "") for name, variable in _VARIABLES.items()}
        return cls(**found, role=role, kept_in=file)

    def _as_profiles(self, file: str, region: str) -> str:
        """The keys as AWS's tools read them from a file; those that a role is assumed with stand beside it."""
        given = {"access_key": self.access_key, "secret_key": self.secret_key, "session_token": self.session_token}
        keys = {_VARIABLES[name].lower(): value for name, value in given.items() if value}
        profiles = configparser.RawConfigParser()
        if self.role:
            profiles[PROFILE] = {_ROLE: self.role, "credential_process": role_command(file, region)}
        profiles[_BASE if self.role else PROFILE] = keys
        text = io.StringIO()
        profiles.write(text)
        return text.getvalue()

    def session(self, region: str) -> boto3.session.Session:
        """Return the session of these keys, or of the usual chain: environment, profile, container, instance.

        Raises:
            Forbidden: half of the keys is missing, or the profile that is named is not there.
        """
        import boto3
        from botocore.exceptions import ProfileNotFound

        if self.access_key and not self.secret_key:
            message = "There is an access key for AWS, but no secret key that belongs to it."
            raise Forbidden(message, hint="Set AWS_SECRET_ACCESS_KEY, too, or give both in the configuration.")
        if self.role and self.kept_in and not self.access_key:
            return _of_profile(self.kept_in, region)  # the usual chain of this process may be another
        given = {
            "aws_access_key_id": self.access_key or None,
            "aws_secret_access_key": self.secret_key or None,
            "aws_session_token": self.session_token or None,
        }
        try:
            session = boto3.session.Session(region_name=region or None, **given)
        except ProfileNotFound as error:
            variable = next((name for name in _PROFILE_VARIABLES if name in os.environ), _PROFILE_VARIABLES[-1])
            message = f'AWS has no profile "{os.environ.get(variable, "")}" on this machine.'
            raise Forbidden(message, hint=f"Check {variable}.") from error
        return _assume_role(session, self.role) if self.role else session

    def credentials(self, region: str) -> Credentials | None:
        """Return the keys that hold at this moment, and their region: the given ones, or those of the usual chain.

        Raises:
            Forbidden: half of the keys is missing, or the profile that is named is not there.
        """
        if region and self.access_key and self.secret_key and not self.role:
            # A session would take longer to make than a request.
            return Credentials(self.access_key, self.secret_key, self.session_token or None, region)
        session = self.session(region)
        found = session.get_credentials()
        if found is None:
            return None
        keys = found.get_frozen_credentials()
        return Credentials(keys.access_key, keys.secret_key, keys.token, session.region_name or region)

    def as_asked_for(self) -> Keys:
        """Return the keys as the program uses them that assumes the role: with the usual chain of its process."""
        return replace(self, kept_in="")


def role_command(file: str, region: str) -> str:
    """The command that assumes a kept role; whoever runs it may have variables by which it would find itself."""
    found = {name: os.environ.get(name) for name in (*POINTERS, *_WHERE_STS_IS)}
    variables = [f"{name}={value}" for name, value in found.items() if value]
    program = [sys.executable, "-P", "-m", "mason.clients.aws.assumed_role", file, region]
    return shlex.join(["env", "-u", "AWS_PROFILE", "-u", "AWS_SHARED_CREDENTIALS_FILE", *variables, *program])


def _of_profile(file: str, region: str) -> boto3.session.Session:
    import boto3
    import botocore.session

    plain = botocore.session.Session(profile=PROFILE)
    plain.set_config_variable("credentials_file", file)
    return boto3.session.Session(botocore_session=plain, region_name=region or None)


def _assume_role(session: boto3.session.Session, role: str) -> boto3.session.Session:
    """The session of a role; its keys are asked for when they are needed, and again before they expire."""
    import boto3
    import botocore.session
    from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials

    plain = botocore.session.get_session()
    plain.set_config_variable("region", session.region_name)
    fetcher = AssumeRoleCredentialFetcher(
        client_creator=session._session.create_client,
        source_credentials=session.get_credentials(),
        role_arn=role,
        extra_args={"RoleSessionName": "mason"},
    )
    # botocore has no other door for credentials that renew themselves.
    plain._credentials = DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role")
    return boto3.session.Session(botocore_session=plain, region_name=session.region_name)


def _folder() -> Path:
    return private_folder(runtime_root() / "keys")


def _remove_unused(folder: Path) -> None:
    limit = time.time() - _UNUSED_DAYS * 24 * 3600
    for file in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another command removes the same ones
            if file.stat().st_mtime < limit:
                file.unlink()
