"""`.env` files: variables that a person keeps beside their project instead of in their shell.

A name that changes how programs start is never taken from one: whoever can write the file could otherwise run code with
the next Spark, Java or shell that Mason starts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

ALREADY_READ = "MASON_ENV_READ"
"""Set where a server has read its `.env`: neither it nor a process that it starts reads one again."""

_LINE = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*?)\s*")
_QUOTED = re.compile(r"""(?P<quote>["'])(?P<text>.*)(?P=quote)\s*(?:#.*)?""")

_REFUSED = frozenset(
    # Shells
    {"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "PS4", "CDPATH", "SHELL", "PATH", "HOME"}
    # The loader and libraries that load code
    | {"GCONV_PATH", "LOCPATH", "GLIBC_TUNABLES", "OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES"}
    # Java
    | {"CLASSPATH", "_JAVA_OPTIONS"}
    # Where Mason's own files are is settled before a .env is read
    | {"MASON_HOME", "MASON_PROJECT", "MASON_STATE", "MASON_RUNTIME_DIR", ALREADY_READ}
)
_REFUSED_BEGINNINGS = (
    *("LD_", "DYLD_", "BASH_FUNC_", "MALLOC_"),
    *("PYTHON", "PYSPARK_", "JAVA_", "JDK_", "SPARK_", "HADOOP_", "YARN_"),
)
_ALLOWED = frozenset(
    {"SPARK_LOCAL_DIRS", "SPARK_LOCAL_HOSTNAME", "SPARK_LOCAL_IP", "SPARK_MASTER", "SPARK_PUBLIC_DNS", "SPARK_REMOTE"}
    | {"SPARK_CONNECT_AUTHENTICATE_TOKEN", "SPARK_USER", "SPARK_VERSION"}
    | {"HADOOP_CONF_DIR", "HADOOP_USER_NAME", "YARN_CONF_DIR"}
)
"""They say where Spark and its cluster are and who asks, not what is run here."""

_warned: set[str] = set()


def env_files(home: Path, project: str = "", *, only_own: bool = False) -> list[Path]:
    """Return the `.env` files that count, the strongest first; none where a server has read its own already.

    Args:
        project: the folder of the project, if this is in one.
        only_own: leave out the working directory and the user's home.
    """
    if os.environ.get(ALREADY_READ):
        return []
    own = [*([Path(project)] if project else []), home]
    return [folder / ".env" for folder in (own if only_own else [*own, Path.cwd(), Path.home()])]


def read_once(home: Path, project: str = "") -> None:
    """Take what `.env` in a project and in a home define into the environment; no such file is read from now on.

    A server's calls write files. What they wrote must not become its environment, nor that of what it starts.
    """
    for name, value in read_env_files(env_files(home, project, only_own=True)).items():
        os.environ.setdefault(name, value)
    os.environ[ALREADY_READ] = "1"


def read_env_files(files: Iterable[Path]) -> dict[str, str]:
    """Return what the files define; the first file that defines a name wins. A missing file defines nothing.

    A name that changes how programs start is left out, with a warning.
    """
    found: dict[str, str] = {}
    for file in files:
        try:
            content = file.read_bytes()
        except (FileNotFoundError, NotADirectoryError, PermissionError, IsADirectoryError):
            continue
        # A stray byte in a comment must not keep every command from running: it matters only where it is used.
        text = content.decode("utf-8-sig", errors="replace")
        for line, name, value in _definitions(text):
            if changes_how_programs_start(name):
                _warn(file, line, name)
            else:
                found.setdefault(name, value)
    return found


def parse_env(text: str) -> dict[str, str]:
    """Parse `NAME=value` lines: `export` and quotes are allowed, `#` begins a comment, other lines are passed over."""
    return {name: value for _, name, value in _definitions(text)}


def changes_how_programs_start(name: str) -> bool:
    """Say whether a variable could make a program that Mason starts run other code, or look for Mason elsewhere."""
    plain = name.upper()
    return plain not in _ALLOWED and (plain in _REFUSED or plain.startswith(_REFUSED_BEGINNINGS))


def _definitions(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the number of each line that defines a variable, its name and its value."""
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match and not line.lstrip().startswith("#"):
            yield number, match["name"], _unquote(match["value"])


def _warn(file: Path, line: int, name: str) -> None:
    """Warn of a name, once: a command may read a file several times."""
    import logging  # every command reads this module, and hardly one has to warn

    place = f"{file}:{line}: {name}"
    if place not in _warned:
        _warned.add(place)
        message = "%s is not taken from a .env file: it changes how programs start. Set it in the environment instead."
        logging.getLogger("mason.util").warning(message, place)


def _unquote(value: str) -> str:
    quoted = _QUOTED.fullmatch(value)
    if quoted:
        return quoted["text"]
    return re.split(r"\s+#", value, maxsplit=1)[0]
