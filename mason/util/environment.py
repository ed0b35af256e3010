"""Where Mason keeps what is its own on this machine, and what holds for a MASON_HOME as a whole.

That is `settings.yaml` in it; each key is also a variable `MASON_…`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mason.errors import InvalidConfiguration
from mason.util.names import did_you_mean

PROJECT_FILE = "mason.yaml"
"""What makes a folder a project; see `mason.project`."""

SERVED_VARIABLE = "MASON_SERVED"
"""Is set where a call of the REST API runs, in a process that ends: the server outlives it, as does its Spark."""

STATE_ID_VARIABLE = "MASON_STATE_ID"
"""What a server tells the processes that it starts: the id of its state, and the home that this is for."""


@dataclass(frozen=True)
class MasonEnvironment:
    """The home folder and the folders in it; MASON_HOME chooses another home than `~/.mason/`."""

    home: Path
    roots: tuple[str, ...] | None = None
    """Where the paths of local storage must stay: anywhere (None, as for a command), or below these folders.

    None of them (an empty tuple) means the root of each configuration.
    """
    state: str = field(default="", repr=False)
    """Where the state is kept, when MASON_STATE says it; not shown, since it may hold a password."""
    state_id: str = ""
    """The state that a server has opened, for itself and for what it starts: no other one will do."""
    project: str = ""
    """The folder with the `mason.yaml` of the project that this is in."""
    project_version: str = ""
    """What a server took of the project at its start, by the id of its record; it sees nothing newer."""
    offers_packaged: bool = True
    """Whether the operators that nobody registers can be used: those of packages, and Mason's own."""

    @classmethod
    def of(cls, variables: Mapping[str, str] = os.environ) -> MasonEnvironment:
        chosen = variables.get("MASON_HOME", "")
        home = Path(os.path.abspath(os.path.expanduser(chosen or "~/.mason")))  # noqa: PTH100, PTH111
        state_id, _, its_home = variables.get(STATE_ID_VARIABLE, "").partition("@")
        return cls(
            home,
            state=variables.get("MASON_STATE", ""),
            state_id=state_id if its_home == str(home) else "",
            project=find_project(variables.get("MASON_PROJECT", "")),
        )

    @property
    def variables(self) -> dict[str, str]:
        """What another process has to be told to have the same home and state."""
        state = {"MASON_STATE": self.state} if self.state else {}
        state_id = {STATE_ID_VARIABLE: f"{self.state_id}@{self.home}"} if self.state_id else {}
        return {"MASON_HOME": str(self.home), **state, **state_id}

    @property
    def config_home(self) -> Path:
        return self.home / "configurations"

    @property
    def operator_home(self) -> Path:
        return self.home / "registered_operators"

    @property
    def workflow_home(self) -> Path:
        return self.home / "registered_workflows"

    @property
    def object_home(self) -> Path:
        """Checkouts by digest; the registered folders point into it."""
        return self.home / "objects"

    @property
    def data_home(self) -> Path:
        """Where the calls of a server have their files, if no configuration and no `--root` says where."""
        return self.home / "data"

    @property
    def settings_file(self) -> Path:
        return self.home / "settings.yaml"

    @property
    def state_file(self) -> Path:
        return self.home / "state.db"

    def shorten_home(self, path: Path) -> str:
        """Return the path as a person would write it, with `~` for their home folder."""
        text, user = str(path), os.path.expanduser("~")  # noqa: PTH111
        return "~" + text[len(user) :] if text == user or text.startswith(user + os.sep) else text


def find_project(chosen: str = "") -> str:
    """Return the folder of the project that is chosen, or that the working directory lies in; nothing outside of any.

    The nearest `mason.yaml` counts. One that another user owns is passed over, with a warning: in a folder that all may
    write to, such as /tmp, it would have whoever works below it run that user's code. So is a link of another user's,
    wherever it leads: the folders that the file names are looked for beside the link.
    """
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))  # noqa: PTH100, PTH111
    try:
        place = os.getcwd()  # noqa: PTH109 (every command asks)
    except OSError:  # it is gone
        return ""
    while True:
        file = os.path.join(place, PROJECT_FILE)  # noqa: PTH118
        if os.path.isfile(file) and _is_own(file):  # noqa: PTH113
            return place
        above = os.path.dirname(place)  # noqa: PTH120
        if above == place:
            return ""
        place = above


def _is_own(file: str) -> bool:
    owners = {os.lstat(file).st_uid, os.stat(file).st_uid}  # noqa: PTH116
    if owners <= {0, os.getuid()}:
        return True
    if file not in _warned:
        import logging  # hardly anybody has to be warned

        _warned.add(file)
        message = "%s belongs to another user and is passed over. If you trust it, set MASON_PROJECT to its folder."
        logging.getLogger("mason.util").warning(message, file)
    return False


_warned: set[str] = set()

KEYS = (
    *("call_memory", "call_output", "call_processes", "call_seconds"),
    *("field_bytes", "lineage", "result_bytes", "retention", "state"),
)


def read_settings(env: MasonEnvironment) -> Mapping[str, Any]:
    """Return what `settings.yaml` says; nothing where there is none.

    Raises:
        InvalidConfiguration: it cannot be read, or has a key that is none.
    """
    try:
        if os.stat(env.settings_file).st_size == 0:  # noqa: PTH116 (every command asks)
            return {}
    except OSError:
        return {}
    from mason.util.yaml_file import YamlProblem, read_yaml

    try:
        document = read_yaml(env.settings_file, name=env.shorten_home(env.settings_file))
    except YamlProblem as error:
        raise InvalidConfiguration([error.problem]) from error
    if document.value is None:
        return {}
    if not isinstance(document.value, Mapping):
        raise InvalidConfiguration([document.problem((), "this is not a list of keys with their values")])
    problems = [
        document.problem(
            (key,), f'"{key}" is not a setting. {did_you_mean(key, KEYS) or f"There are: {_list_settings()}."}'
        )
        for key in document.value
        if key not in KEYS
    ]
    if problems:
        raise InvalidConfiguration(problems)
    return document.value


def _list_settings() -> str:
    return ", ".join(KEYS)
