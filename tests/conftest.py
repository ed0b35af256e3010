"""What most tests need: a home of their own, and the command line as a user has it."""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mason.util.environment import MasonEnvironment
from tests import servers, zygote
from tests.together import group_of

if TYPE_CHECKING:
    from tests.cluster import Cluster, Sparks
    from tests.postgres import Postgres

PROJECT = Path(__file__).parent.parent
EXAMPLES = PROJECT / "mason" / "examples"
LONGEST_SECONDS = 120

# A Spark that finds no archive of its classes has one made in the background, which would take the cores of the tests.
os.environ["MASON_CLASS_ARCHIVES"] = "off"


@pytest.fixture(scope="module", autouse=True)
def collected_garbage() -> Iterator[None]:
    """What a module's tests leave open is told as theirs, and not as that of a test in whose time it is found."""
    yield
    gc.collect()


@dataclass(frozen=True)
class Result:
    """What a command printed, and how it ended."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> dict[str, Any]:
        """The whole of stdout, which must be one JSON document."""
        value: dict[str, Any] = json.loads(self.stdout)
        return value


@dataclass
class Mason:
    """The command line in a folder and a home of its own: `mason("operator", "table", "get")`."""

    folder: Path
    home: Path
    variables: dict[str, str] = field(default_factory=dict)

    def __call__(
        self, *arguments: str, variables: Mapping[str, str] | None = None, folder: Path | None = None
    ) -> Result:
        where, environment = folder or self.folder, self.environment(variables)
        if type(self) is Mason and zygote.can_fork({**self.variables, **(variables or {})}):
            done = zygote.run(arguments, where, environment, LONGEST_SECONDS)
        else:
            done = subprocess.run(
                [*self.argv, *arguments],
                cwd=where,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LONGEST_SECONDS,
                check=False,
            )
        return Result(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command and do not wait for it."""
        return subprocess.Popen(
            [*self.argv, *arguments],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def argv(self) -> list[str]:
        return [sys.executable, "-m", "mason"]

    def environment(self, variables: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {
            name: os.environ[name]
            for name in ("PATH", "LANG", "JAVA_HOME", "MASON_CLASS_ARCHIVES")
            if name in os.environ
        }
        user_home = {"HOME": str(self.folder), "MASON_HOME": str(self.home), "PYTHONPATH": str(PROJECT)}
        return {**kept, **user_home, **self.variables, **(variables or {})}

    def register_examples(self) -> Mason:
        """Have the operators that come with Mason: a new home is a copy of one in which the command registered them."""
        if type(self) is not Mason or self.home.exists() or "MASON_STATE" in self.variables:
            return self._registered_examples()
        shutil.copytree(_home_with_examples(), self.home, symlinks=True)
        return self

    def _registered_examples(self) -> Mason:
        result = self("register", str(EXAMPLES / "operators"))
        assert result.exit_code == 0, result.stderr
        return self


@functools.cache
def _home_with_examples() -> Path:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Mason(folder, folder / "home")._registered_examples().home


@pytest.fixture
def mason(tmp_path: Path) -> Mason:
    folder = tmp_path / "work"
    folder.mkdir()
    return Mason(folder, tmp_path / "home")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """A cluster of Spark, for the tests that `tests/together.py` keeps in one process."""
    from tests.cluster import standalone_cluster

    return servers.running("cluster", lambda: standalone_cluster(tmp_path_factory.mktemp("cluster")))


@pytest.fixture(scope="module")
def sparks(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Sparks:
    """A warm Spark and one behind Connect, for the same tests."""
    from tests.cluster import all_sparks

    return servers.running("sparks", lambda: all_sparks(cluster, tmp_path_factory.mktemp("sparks")))


@pytest.fixture
def env(tmp_path: Path) -> MasonEnvironment:
    return MasonEnvironment(tmp_path / "home")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL, started when the first test asks for it."""
    from tests.postgres import running_postgres

    with running_postgres() as server:
        yield server


@pytest.fixture
def database(postgres: Postgres) -> Iterator[str]:
    """The address of an empty database."""
    from mason.state.postgres_connections import connections_to

    address = postgres.new_database()
    yield address
    connections_to(address).close()


def write(root: Path, files: Mapping[str, str]) -> Path:
    """Write text files below a folder and return the folder."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def pytest_configure() -> None:
    """Have ctrl-C work: what is started in the background ignores it, and so would all that the tests start."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Have the collector of garbage leave alone what is there for good: thousands of tests, and all their modules."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Stop the servers of a group after its last test."""
    if nextitem is None or group_of(nextitem.nodeid) != group_of(item.nodeid):
        servers.stop_all()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep tests together that share a server."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return Together(config, log)
