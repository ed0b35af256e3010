"""Is this machine ready? One finding for each thing that a run will need."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any

from mason import __version__
from mason.clients.discovery import find_broken_plugins, find_client
from mason.configurations.saved import use_configuration
from mason.configurations.valid_config import Engine, ValidConfig
from mason.errors import MasonError, Unsupported
from mason.lineage.sender import HOW_TO_INSTALL as HOW_TO_INSTALL_LINEAGE
from mason.lineage.settings import lineage_settings
from mason.state.home import is_closed_by_mason, read_state
from mason.state.models import Kind
from mason.util.environment import MasonEnvironment
from mason.util.java import HOW_TO_INSTALL, find_java, find_javas
from mason.util.packages import find_version

OLDEST_PYTHON = (3, 11)
LEAST_FREE_BYTES = 2 * 2**30


class FindingStatus(Enum):
    """How a thing stands. LATER is something that can be configured but not used in this version."""

    FINE = auto()
    LATER = auto()
    WRONG = auto()


@dataclass(frozen=True)
class Finding:
    """What was looked at, how it stands, and what to do about it."""

    subject: str
    verdict: FindingStatus
    message: str


def diagnose(env: MasonEnvironment, config_id: str, paths: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield a finding for the programs, the folders, every client of the configuration, and places in its storage."""
    yield _check_python()
    yield _check_java()
    yield _check_spark()
    yield _check_home(env)
    yield _check_state(env)
    yield _check_disk(env)
    yield from _check_lineage(env)
    yield from (Finding("Plug-ins", FindingStatus.WRONG, str(error)) for error in find_broken_plugins())
    yield from _check_configuration(env, config_id, paths)


def _check_python() -> Finding:
    version = f"{platform.python_version()} at {sys.executable}, Mason {__version__}"
    if sys.version_info < OLDEST_PYTHON:
        return Finding(
            "Python", FindingStatus.WRONG, f"{version}. Mason needs {'.'.join(map(str, OLDEST_PYTHON))} or newer."
        )
    return Finding("Python", FindingStatus.FINE, version)


def _check_java() -> Finding:
    java = find_java()
    if java:
        return Finding("Java", FindingStatus.FINE, f"{java.version} at {java.home}")
    others = ", ".join(f"{each.version} at {each.home}" for each in find_javas())
    return Finding("Java", FindingStatus.WRONG, (f"only {others}. " if others else "none found. ") + HOW_TO_INSTALL)


def _check_spark() -> Finding:
    version = find_version("pyspark")
    if version is None:
        return Finding("Spark", FindingStatus.WRONG, "pyspark is not installed. Run: pip install mason-data")
    if not version.startswith("4.1."):
        return Finding(
            "Spark",
            FindingStatus.WRONG,
            f"pyspark {version} is installed; Mason needs 4.1: pip install 'pyspark[connect]~=4.1.4'",
        )
    return Finding("Spark", FindingStatus.FINE, f"pyspark {version}")


def _check_home(env: MasonEnvironment) -> Finding:
    place = env.shorten_home(env.home)
    if env.home.exists() and not env.home.is_dir():
        return Finding("Home", FindingStatus.WRONG, f"{place} is not a folder. Move it away, or set MASON_HOME.")
    if not os.access(_nearest(env.home), os.W_OK):
        return Finding(
            "Home", FindingStatus.WRONG, f"{place} cannot be written to. Make it writable, or set MASON_HOME."
        )
    if env.home.exists() and env.home.stat().st_mode & 0o007 and not is_closed_by_mason(env.home):
        problem = f"{place} is not Mason's alone, and everybody on this machine can look into it"
        return Finding(
            "Home", FindingStatus.FINE, f"{problem}. Run chmod 700 {place}, or set MASON_HOME to a folder of its own."
        )
    return Finding("Home", FindingStatus.FINE, place)


def _check_state(env: MasonEnvironment) -> Finding:
    try:
        store = read_state(env)
        description, count = store.describe(), len(store.list_registrations(Kind.OPERATOR))
    except MasonError as error:
        return Finding("State", FindingStatus.WRONG, " ".join(error.messages))
    if not count:
        description, place = f"{description}, no operators yet", "mason/examples/operators/"
        return Finding("State", FindingStatus.FINE, f'{description}: run "mason register {place}"')
    return Finding("State", FindingStatus.FINE, f"{description}, {count} operators")


def _check_disk(env: MasonEnvironment) -> Finding:
    free = shutil.disk_usage(_nearest(env.home)).free
    room = f"{free / 2**30:.1f} GiB free"
    if free < LEAST_FREE_BYTES:
        return Finding(
            "Disk", FindingStatus.WRONG, f"{room}. Spark wants at least {LEAST_FREE_BYTES // 2**30} GiB to work in."
        )
    return Finding("Disk", FindingStatus.FINE, room)


def _check_lineage(env: MasonEnvironment) -> Iterator[Finding]:
    """Who has not asked for lineage need not hear of it."""
    try:
        settings = lineage_settings(env)
    except MasonError as error:
        yield from (Finding("Lineage", FindingStatus.WRONG, message) for message in error.messages)
        return
    if settings and find_version("openlineage-python") is None:
        yield Finding("Lineage", FindingStatus.WRONG, HOW_TO_INSTALL_LINEAGE)
    elif settings:
        yield Finding("Lineage", FindingStatus.FINE, f"events go to {settings.place}")


def _check_configuration(env: MasonEnvironment, config_id: str, paths: Sequence[str]) -> Iterator[Finding]:
    try:
        config = use_configuration(env, config_id)
    except MasonError as error:
        yield from (Finding("Configuration", FindingStatus.WRONG, message) for message in error.messages)
        return
    yield Finding("Configuration", FindingStatus.FINE, config.id)
    yield from (Finding("Configuration", FindingStatus.LATER, warning) for warning in config.warnings)
    for role, engine in config.engines.items():
        for name in engine.client_names:
            yield from _check_client(engine, role, name)
    yield from _check_reach(config)
    for path in paths:
        yield from _check_place(config, path)


def _check_place(config: ValidConfig, path: str) -> Iterator[Finding]:
    """Whether tables can be read and written at a path."""
    try:
        storage = config.storage.client_for(path)
        troubles = storage.check_place(storage.path(path))
    except Unsupported as error:
        yield Finding(path, FindingStatus.LATER, str(error))
        return
    except MasonError as error:
        troubles = [str(error)]
    if not troubles:
        yield Finding(path, FindingStatus.FINE, "can be listed and written to")
    yield from (Finding(path, FindingStatus.WRONG, trouble) for trouble in troubles)


def _check_reach(config: ValidConfig) -> Iterator[Finding]:
    """What the execution engine needs to read the storage by itself."""
    try:
        reached = config.execution.client.reach(config.storage.client.address())
    except MasonError:
        return  # a client that cannot be used has been told about already
    if reached:
        yield Finding("Packages for Spark", FindingStatus.FINE, reached)


def _check_client(engine: Engine[Any], role: str, name: str) -> Iterator[Finding]:
    subject = f"{name} as {role}"
    package = find_client(name)
    if package is not None and role not in package.roles and role in package.planned_roles:
        yield Finding(subject, FindingStatus.LATER, f"configured; not usable yet: {package.planned_roles[role]}")
        return
    place = remark = ""
    try:
        client = engine.client_named(name)
        place, remark = client.describe_place(), client.remark()
        troubles = client.check()
    except MasonError as error:
        troubles = [str(error)]
    except Exception as error:  # noqa: BLE001 (somebody else's client: the other findings still count)
        troubles = [f"it failed: {type(error).__name__}: {error}"]
    if not troubles:
        ready = f"ready, at {place}" if place else "ready"
        yield Finding(subject, FindingStatus.FINE, f"{ready}. {remark}" if remark else ready)
    asked = f" It is asked at {place}." if place else ""
    yield from (Finding(subject, FindingStatus.WRONG, f"{trouble}{asked}") for trouble in troubles)


def _nearest(path: Path) -> Path:
    """Return the path, or the first folder above it that exists."""
    return path if path.exists() else _nearest(path.parent)
