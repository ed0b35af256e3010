"""Which state store a MASON_HOME uses: the file in it, or a database that MASON_STATE or `settings.yaml` names."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from urllib.parse import quote

from mason.errors import InvalidConfiguration
from mason.util.environment import MasonEnvironment, read_settings

_SCHEMES = ("postgresql://", "postgres://")
_REFERENCE = re.compile(r"\{\{\s*(.*?)\s*\}\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def state_address(env: MasonEnvironment) -> str:
    """Return the address of the database that holds the state; nothing when the file in MASON_HOME does.

    Raises:
        InvalidConfiguration: it is not an address, or a variable in it is not set. The address is not in the message.
    """
    source, given = ("MASON_STATE", env.state) if env.state else (_place(env), read_settings(env).get("state"))
    if given is None or given == "":
        return ""
    address = _fill_variables(given, source, env) if isinstance(given, str) else ""
    if not address.startswith(_SCHEMES):
        raise InvalidConfiguration(
            [
                f"{source} is not an address of a state store. It is postgresql://USER:PASSWORD@HOST:PORT/DATABASE; "
                "without it the state is a file in MASON_HOME."
            ]
        )
    return address


def _place(env: MasonEnvironment) -> str:
    return f"{env.shorten_home(env.settings_file)}: state"


def _fill_variables(text: str, source: str, env: MasonEnvironment) -> str:
    """Return the address with the values of the variables that it names, from the environment and `.env` files.

    A value is a part of the address, such as a password, and may have any character in it; the whole of the address is
    taken as it is.
    """
    names = _REFERENCE.findall(text)
    wrong = [name for name in names if not _NAME.fullmatch(name)]
    if wrong:
        raise InvalidConfiguration([f"{source}: {{{{{name}}}}} is not the name of a variable." for name in wrong])
    variables = {**_read_env_files(env), **os.environ} if names else {}
    unset = [name for name in names if name not in variables]
    if unset:
        advice = "Set it in the environment, or in a .env file."
        raise InvalidConfiguration([f"{source}: the variable {name} is not set. {advice}" for name in unset])
    if _REFERENCE.fullmatch(text):
        return variables[names[0]]
    return _REFERENCE.sub(lambda found: quote(variables[found[1]], safe=""), text)


def _read_env_files(env: MasonEnvironment) -> Mapping[str, str]:
    from mason.util.dotenv import env_files, read_env_files  # every command asks for the address; most have none

    return read_env_files(env_files(env.home, env.project))
