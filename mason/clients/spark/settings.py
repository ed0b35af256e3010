"""What a configuration says about how Spark is reached, and the settings that follow from it."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mason.util.atomic_file import write_file

if TYPE_CHECKING:
    from mason.pipeline.storage.address import JavaNeeds

LOG_SETTINGS = Path(__file__).parent / "log4j2.properties"
IVY_SETTINGS = Path(__file__).parent / "ivysettings.xml"

# A task that a killed Python worker took with it is tried again, on one machine too.
LOCAL_MASTER = "local[*,4]"

# It starts sooner, and stays smaller, with the simple collector. With the simple compiler queries would take twice as
# long. A Spark that lives on without the thread that ran out of memory would keep its caller waiting for ever.
LOCAL_JAVA_OPTIONS = "-XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError"

# A JVM that only hands tasks to Python leaves it the cores, when a short job begins, with the simple compiler.
PLACING_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

# No configuration and no caller changes these. Spark would replace `${env:…}` in the text of a statement after Mason
# has checked it, and read any file that is named like a table.
SESSION_GUARDS = {"spark.sql.variable.substitute": "false", "spark.sql.runSQLOnFiles": "false"}

# Every user of the machine reaches loopback, and Spark's ports give whoever asks them blocks of tables, any file that
# the server's user can read, and a place to run code. Of a Spark that is one process nobody needs to know the secret:
# it makes one itself and keeps it in its memory.
LOCAL_GUARDS = {
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.network.crypto.authEngineVersion": "2",
    "spark.network.crypto.cipher": "AES/GCM/NoPadding",
    "spark.network.crypto.saslFallback": "false",
}
_ONE_PROCESS = re.compile(r"local(\[.*\])?")

# Of a socket in the file system: systems allow 103 bytes at the least, and Spark takes 42 for a name.
_LONGEST_SOCKET_FOLDER = 60

# What would mean something else in a file of properties.
_ESCAPED = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t", **{each: f"\\{each}" for each in "\\:=#! "}})

_MOST_MEMORY = 4096
_LEAST_MEMORY = 1024


@dataclass(frozen=True, kw_only=True)
class RunnerSettings:
    """The `runner` of a configuration."""

    type: str = "local"
    url: str = ""
    master: str = ""
    conf: Mapping[str, str] = field(default_factory=dict)
    driver_memory: str = ""
    executors: int | None = None
    packages: tuple[str, ...] = ()
    excluded_packages: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables for the environment of Spark's processes; none of them is a secret."""
    warm: str = "auto"
    dependencies: str = "auto"
    """Whether the Python packages that tasks need are shipped with a job, or present where they run."""
    spark_version: str = ""

    @classmethod
    def of(cls, configuration: Mapping[str, Any]) -> RunnerSettings:
        """Return the settings of a client's configuration; its schema has been checked."""
        runner: Mapping[str, Any] = configuration.get("runner") or {}
        values = {key: value for key, value in runner.items() if key not in ("conf", "packages")}
        conf = {key: spark_text(value) for key, value in (runner.get("conf") or {}).items()}
        return cls(**values, conf=conf, packages=tuple(runner.get("packages") or ()))

    def with_needs(self, needs: JavaNeeds) -> RunnerSettings:
        """Return the settings of a Spark that reads a storage; what the configuration says still wins."""
        return replace(
            self,
            conf={**{f"spark.hadoop.{name}": value for name, value in needs.conf.items()}, **self.conf},
            packages=self.packages + (() if self._brings_own(needs) else needs.packages),
            excluded_packages=(*self.excluded_packages, *needs.excluded),
            variables={**self.variables, **needs.variables},
        )

    def _brings_own(self, needs: JavaNeeds) -> bool:
        """Whether the configuration names the packages itself, in another version say, or as files."""
        names = {":".join(package.split(":")[:2]) for package in needs.packages[:1]}
        own = [*self.packages, self.conf.get("spark.jars", ""), self.conf.get("spark.jars.packages", "")]
        return any(name.partition(":")[2] in text for name in names for text in own)

    @property
    def package_conf(self) -> dict[str, str]:
        """The settings that let Spark fetch the packages."""
        if not self.packages:
            return {}
        # An Ivy folder of its own, and no look into ~/.m2: what a Maven run left half there would stop Spark.
        excluded = {"spark.jars.excludes": ",".join(self.excluded_packages)} if self.excluded_packages else {}
        return {
            "spark.jars.packages": ",".join(self.packages),
            **excluded,
            "spark.jars.ivy": str(_ivy_folder()),
            "spark.jars.ivySettings": str(IVY_SETTINGS),
        }

    @property
    def local_memory(self) -> str:
        """The memory of a Spark on this machine, as Spark writes it."""
        return self.driver_memory or f"{default_memory()}m"

    @property
    def local_conf(self) -> dict[str, str]:
        """The settings of a Spark on this machine; what the configuration says wins over all but the guards."""
        return {
            "spark.master": LOCAL_MASTER,
            "spark.app.name": "mason",
            "spark.driver.host": "localhost",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": self.local_memory,
            "spark.driver.extraJavaOptions": f"{LOCAL_JAVA_OPTIONS} -Dlog4j2.configurationFile={LOG_SETTINGS.as_uri()}",
            "spark.driver.maxResultSize": "0",
            # Spark would end its JVM, and with it everybody's jobs, for a task whose pattern goes too deep for a stack.
            # A JVM without memory ends by itself.
            "spark.executor.killOnFatalError.depth": "0",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.session.timeZone": "UTC",
            **self.package_conf,
            **self.conf,
            **guards(self.conf.get("spark.master", LOCAL_MASTER)),
        }

    @property
    def guards(self) -> dict[str, str]:
        """The settings that the configuration cannot change."""
        if self.type == "connect":
            return SESSION_GUARDS
        return guards(self.master or self.conf.get("spark.master", LOCAL_MASTER))


def guards(master: str) -> dict[str, str]:
    """Return the settings that nobody changes; how a cluster's processes know each other is said by the cluster."""
    return {**SESSION_GUARDS, **(LOCAL_GUARDS if _ONE_PROCESS.fullmatch(master) else {})}


def private_conf(folder: Path) -> dict[str, str]:
    """Return the settings by which a Spark of one process keeps its files and sockets in a folder of this user alone.

    With sockets in the file system a small task costs a third less than through loopback. Spark asks nobody who reaches
    one for a secret, as it does on loopback.
    """
    has_sockets = len(os.fsencode(folder)) <= _LONGEST_SOCKET_FOLDER
    return {
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.python.unix.domain.socket.enabled": spark_text(has_sockets),
        **({"spark.python.unix.domain.socket.dir": str(folder)} if has_sockets else {}),
    }


def private_variables(folder: Path) -> dict[str, str]:
    """Return the variables by which spark-submit starts a JVM whose temporary files are in a folder of this user alone.

    In the usual folder others could read them. It is not a setting: a configuration's own options would replace it.
    """
    return {"SPARK_SUBMIT_OPTS": shlex.quote(f"-Djava.io.tmpdir={folder}")}


def conf_options(conf: Mapping[str, str], folder: Path) -> list[str]:
    """Return the options by which spark-submit finds settings in a file in a folder, which only this user can read.

    Everybody can see arguments, and neither the name of a setting nor its value need say that a secret is in it.
    """
    file = folder / "settings.properties"
    lines = [f"{name.translate(_ESCAPED)}={value.translate(_ESCAPED)}\n" for name, value in conf.items()]
    write_file(file, "".join(lines).encode(), mode=0o600)
    return ["--properties-file", str(file), "--load-spark-defaults"]


def is_fetched(package: str) -> bool:
    """Say whether Spark has fetched a package, `group:name:version`, before."""
    return (_ivy_folder() / "jars" / f"{package.replace(':', '_', 1).replace(':', '-')}.jar").exists()


def _ivy_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mason" / "ivy"


def spark_text(value: object) -> str:
    """Return a setting's value as Spark writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def default_memory(root: Path = Path("/")) -> int:
    """Return the megabytes that a Spark on this machine may take: a quarter, but neither silly little nor a lot."""
    total = min(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *_limits(root)) // 2**20
    return max(min(total // 4, _MOST_MEMORY), min(_LEAST_MEMORY, total // 2))


def _limits(root: Path) -> Iterator[int]:
    """How many bytes the control groups of this process may take (Linux): a container has less than its machine."""
    groups = root / "sys/fs/cgroup"
    yield from _stated_memory(groups / "memory/memory.limit_in_bytes")  # the first version of them
    try:
        paths = [line.partition("::")[2] for line in (root / "proc/self/cgroup").read_text("ascii").splitlines()]
    except OSError:
        paths = []
    for path in filter(None, paths):
        group = groups / path.strip("/")
        for each in (group, *group.parents):
            yield from _stated_memory(each / "memory.max") if each.is_relative_to(groups) else ()
    yield sys.maxsize


def _stated_memory(file: Path) -> Iterator[int]:
    try:
        limit = file.read_text("ascii").strip()
    except OSError:
        return
    if limit.isdigit():  # and not "max"
        yield int(limit)


def is_version(found: str, wanted: str) -> bool:
    """Say whether a version is the one that is wanted, which may be less exact: 4.1.4 is a 4.1."""
    return f"{found}.".startswith(f"{wanted}.")
