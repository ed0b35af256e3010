"""Saving configurations, and choosing the one that a command uses."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mason import __version__
from mason.configurations.configuration import Configuration, parse_checked_configuration, parse_configuration
from mason.configurations.valid_config import ValidConfig, validate_configuration
from mason.errors import (
    BadInput,
    ConfigurationNotFound,
    Conflict,
    InvalidConfiguration,
    MasonError,
    NoData,
    PathNotFound,
    StateFailed,
)
from mason.state.home import open_state, read_state
from mason.state.models import SavedConfiguration
from mason.state.store import StateStore
from mason.util.atomic_file import write_file
from mason.util.disk_room import why_not_written
from mason.util.environment import MasonEnvironment
from mason.util.names import is_utf8, readable_path
from mason.util.yaml_file import Problem

BUILT_IN = "local"
_BUILT_IN_FILE = Path(__file__).parent / "local.yaml"


@dataclass(frozen=True)
class ConfigurationsRead:
    """What became of reading the configurations below a path."""

    valid: Sequence[tuple[Path, Configuration]]
    problems: Sequence[str]


def read_configurations(path: Path) -> ConfigurationsRead:
    """Read a configuration file, or every one in a folder and its sub-folders.

    Raises:
        PathNotFound: there is nothing there.
        NoData: the folder has no YAML file.
    """
    valid: list[tuple[Path, Configuration]] = []
    problems: list[str] = []
    for file in _yaml_files(path):
        try:
            valid.append((file, _read_configuration(file)))
        except InvalidConfiguration as error:
            problems += error.messages
    twice = _duplicates(valid)
    refused = {configuration.id.casefold() for configuration, _ in twice}
    accepted = [each for each in valid if each[1].id.casefold() not in refused]
    return ConfigurationsRead(accepted, [*problems, *(text for _, text in twice)])


def save_configurations(env: MasonEnvironment, valid: Sequence[tuple[Path, Configuration]]) -> str | None:
    """Save configurations, and make the first one current when none is: its id is returned then."""
    store = open_state(env)
    _refuse_twins(store, valid)
    store.save_configurations(
        [SavedConfiguration(each.id, each.document.text, str(file), __version__) for file, each in valid]
    )
    for _, each in valid:
        try:
            # Readable by nobody else: a configuration may hold secrets.
            write_file(file_of_configuration(env, each.id), each.document.text.encode(), mode=0o600)
        except OSError as error:
            raise StateFailed(f"{error.filename}: {why_not_written(error, env.home)}.") from error
    if valid and store.get_current_configuration() is None:
        store.set_current_configuration(valid[0][1].id)
        return valid[0][1].id
    return None


def list_configurations(env: MasonEnvironment) -> tuple[list[Configuration], str]:
    """Return what is saved, and the id of the current one; the built-in one is listed while it is current."""
    store = read_state(env)
    current = current_id(store)
    here = store.surroundings.configurations()
    others = [each for each in store.list_configurations() if each.id not in here]
    saved = [
        *(_parse_in_project(store, each) for each in here.values()),
        *(_parse_saved(env, each) for each in sorted(others, key=_natural_order)),
    ]
    if current not in {each.id for each in saved}:
        saved.insert(0, find_configuration(env, store, current))
    return saved, current


def describe_configurations(env: MasonEnvironment) -> list[dict[str, Any]]:
    """Return the configurations as the front doors show them, without their secrets."""
    configurations, current = list_configurations(env)
    return [_describe_configuration(each, is_current=each.id == current) for each in configurations]


def _describe_configuration(configuration: Configuration, *, is_current: bool) -> dict[str, Any]:
    engines: dict[str, list[dict[str, Any]]] = {}
    for role, client, values in configuration.describe_roles():
        engines.setdefault(role, []).append({"Client": client, "Configuration": dict(values)})
    return {"ConfigID": configuration.id, "Current": is_current, "Engines": engines}


def choose_configuration(env: MasonEnvironment, config_id: str) -> None:
    """Make a configuration current.

    Raises:
        ConfigurationNotFound: there is no such configuration.
        BadInput: it is the project that says which one is current.
    """
    store = read_state(env)
    find_configuration(env, store, config_id)
    if store.surroundings.default_configuration:
        raise BadInput(
            f'The mason.yaml of this project says which one is current: "{store.surroundings.default_configuration}".',
            hint=f'Change "default" in it, or use another one for a call: -e {config_id}.',
        )
    open_state(env).set_current_configuration(config_id)


def use_configuration(env: MasonEnvironment, config_id: str = "") -> ValidConfig:
    """Return the configuration for one command: the one named, else that of MASON_CONFIG, else the current one.

    Raises:
        ConfigurationNotFound: there is no such configuration.
        InvalidConfiguration: a variable in it is not set.
    """
    store = read_state(env)
    return validate_configuration(find_configuration(env, store, config_id or current_id(store)), env)


def current_id(store: StateStore) -> str:
    """Return the id of the configuration that is current: in this shell (MASON_CONFIG), the project, or as chosen."""
    chosen = os.environ.get("MASON_CONFIG", "") or store.surroundings.default_configuration
    return chosen or store.get_current_configuration() or BUILT_IN


def find_configuration(env: MasonEnvironment, store: StateStore, config_id: str) -> Configuration:
    """Return the configuration of that id: the project's, else the saved one.

    Raises:
        ConfigurationNotFound: there is no such configuration.
        InvalidConfiguration: it is the project's, and something is wrong with it.
    """
    here = store.surroundings.configurations()
    if config_id in here:
        return _parse_in_project(store, here[config_id])
    saved = {each.id: each for each in store.list_configurations()}
    if config_id in saved:
        return _parse_saved(env, saved[config_id])
    if config_id == BUILT_IN:
        return _place_in_project(store, _read_built_in())
    raise ConfigurationNotFound(config_id, sorted({*here, *saved, BUILT_IN}))


def delete_configuration(env: MasonEnvironment, config_id: str) -> None:
    """Forget a saved configuration; if it was current, the built-in one is from now on.

    Raises:
        ConfigurationNotFound: none of that id is saved.
        BadInput: it is the project's.
    """
    store = read_state(env)
    saved = {each.id for each in store.list_configurations()}
    if config_id not in saved:
        if config_id in store.surroundings.configurations():
            raise BadInput(f'"{config_id}" is a configuration of the project.', hint="Remove it from mason.yaml.")
        if config_id == BUILT_IN:
            raise BadInput(f'"{BUILT_IN}" comes with Mason and is always there.')
        raise ConfigurationNotFound(config_id, sorted(saved))
    open_state(env).delete_configuration(config_id)
    try:
        file_of_configuration(env, config_id).unlink(missing_ok=True)
    except OSError as error:
        raise StateFailed(f"{error.filename}: {why_not_written(error, env.home)}.") from error


def file_of_configuration(env: MasonEnvironment, config_id: str) -> Path:
    """Return the file in MASON_HOME that shows a saved configuration."""
    return env.config_home / f"{config_id}.yaml"


def _read_configuration(file: Path) -> Configuration:
    if not is_utf8(str(file)):
        raise InvalidConfiguration([Problem(readable_path(str(file)), 0, "", "its name is not UTF-8; rename it")])
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidConfiguration([Problem(str(file), 0, "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise InvalidConfiguration([Problem(str(file), 0, "", "is not UTF-8 text")]) from error
    return parse_configuration(text, name=str(file), default_id=file.stem)


def _yaml_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.exists():
        raise PathNotFound(str(path))
    files = sorted(
        file
        for file in path.rglob("*")
        if file.suffix in (".yaml", ".yml")
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    )
    if not files:
        raise NoData(f"{path}: no .yaml or .yml file in it.")
    return files


def _duplicates(valid: Sequence[tuple[Path, Configuration]]) -> list[tuple[Configuration, str]]:
    first: dict[str, Path] = {}
    twice = []
    for file, configuration in valid:
        other = first.setdefault(configuration.id.casefold(), file)  # a file's name may not tell X from x
        if other != file:
            problem = configuration.document.problem(("id",), f'"{configuration.id}" is the id of {other} as well')
            twice.append((configuration, str(problem)))
    return twice


def _refuse_twins(store: StateStore, valid: Sequence[tuple[Path, Configuration]]) -> None:
    saved = {each.id.casefold(): each.id for each in store.list_configurations()}
    for file, configuration in valid:
        other = saved.get(configuration.id.casefold(), configuration.id)
        if other != configuration.id:
            raise Conflict(f'{file}: the id "{configuration.id}" differs from the saved "{other}" only in case.')


def _parse_saved(env: MasonEnvironment, saved: SavedConfiguration) -> Configuration:
    name = env.shorten_home(file_of_configuration(env, saved.id))
    if saved.checked_by == __version__:
        return parse_checked_configuration(saved.text, name=name, default_id=saved.id)
    try:
        return parse_configuration(saved.text, name=name, default_id=saved.id)
    except InvalidConfiguration as error:
        raise MasonError(
            "\n".join(error.messages), hint="It was saved by another version of Mason: run `mason config PATH` again."
        ) from error


def _parse_in_project(store: StateStore, found: SavedConfiguration) -> Configuration:
    """Read a configuration of the project. Its id is what the project calls it."""
    configuration = parse_configuration(found.text, name=found.source, default_id=found.id)
    return _place_in_project(store, replace(configuration, id=found.id))


def _place_in_project(store: StateStore, configuration: Configuration) -> Configuration:
    file, root = store.surroundings.file, store.surroundings.root
    folder = str(file.parent) if file else ""
    return replace(configuration, folder=folder, root=str(root) if root else "")


def _read_built_in() -> Configuration:
    return parse_checked_configuration(_BUILT_IN_FILE.read_text("utf-8"), name=str(_BUILT_IN_FILE), default_id=BUILT_IN)


def _natural_order(saved: SavedConfiguration) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", saved.id)]
