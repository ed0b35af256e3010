"""How the process of a warm server is started: its command, its environment, and the key of all that it depends on."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from mason.clients.spark.code import code_digest, distributions, python_path
from mason.clients.spark.settings import RunnerSettings, conf_options, private_conf

# Whatever else is in the environment (credentials of a cloud, say) must not live on in a server.
KEPT_VARIABLES = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "SPARK_LOCAL_DIRS", "SPARK_CONF_DIR")

# These differ between a shell and cron, but not what a worker does: the PATH only finds bash.
_NO_DEPENDENCY = ("PATH", "USER", "LOGNAME")

_SETTINGS_THAT_NAME_FILES = (
    "spark.jars",
    "spark.files",
    "spark.archives",
    "spark.submit.pyFiles",
    "spark.driver.extraClassPath",
)

TOKEN_VARIABLE = "SPARK_CONNECT_AUTHENTICATE_TOKEN"

_SERVER_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
_SERVER_CONF = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    # Sessions outlive the commands, and a cached plan would show a command the files of the one before it.
    "spark.connect.session.planCache.enabled": "false",
    # The job of a command that was killed is given up after this time.
    "spark.connect.execute.manager.detachedTimeout": "60s",
    "spark.connect.session.manager.defaultSessionTimeout": "24h",
    # Spark asks tasks to end, and a join in compiled code does not listen. This says so in the log: see `Keeper`.
    "spark.task.reaper.enabled": "true",
    "spark.task.reaper.pollingInterval": "2500ms",
    "spark.task.reaper.threadDump": "false",
}


@dataclass(frozen=True)
class Launch:
    """All that a server is started from."""

    conf: Mapping[str, str]
    environment: Mapping[str, str]

    @classmethod
    def of(cls, settings: RunnerSettings, java: Path) -> Launch:
        return cls({**_SERVER_CONF, **settings.local_conf}, {**spark_environment(java), **settings.variables})

    @property
    def key(self) -> str:
        """A digest of everything that the server's workers depend on: another key is another server."""
        parts = {
            "code": code_digest(),
            "python": [sys.executable, sys.version, distributions()],
            "conf": dict(self.conf),
            "environment": {name: value for name, value in self.environment.items() if name not in _NO_DEPENDENCY},
            "files": [_stamp(file) for file in self._files()],
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    def _files(self) -> Iterator[Path]:
        """The files that a server reads besides: its Java, its jars, and the settings that no configuration names."""
        yield Path(self.environment["JAVA_HOME"]) / "release"
        for name in _SETTINGS_THAT_NAME_FILES:
            for each in filter(None, re.split(r"[,:]+", self.conf.get(name, "").replace("file:/", "/"))):
                place = each.partition("#")[0]  # what follows is its name where Spark unpacks it
                yield from map(Path, sorted(glob(place)) or [place])  # noqa: PTH207 (it takes absolute ones)
        home = self.environment.get("SPARK_CONF_DIR") or Path(self.environment["SPARK_HOME"]) / "conf"
        yield from sorted(Path(home).glob("*"))

    def as_json(self) -> str:
        return json.dumps({"key": self.key, "conf": dict(self.conf)})


def _stamp(file: Path) -> list[str | int]:
    try:
        found = file.stat()
    except OSError:
        return [str(file)]
    return [str(file), found.st_size, found.st_mtime_ns]


def spark_home() -> Path:
    """Return where pyspark keeps Spark, without importing it."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.origin:
        raise ModuleNotFoundError("No module named 'pyspark'", name="pyspark")
    return Path(spec.origin).parent


def hadoop_version() -> str:
    """Return the version of Hadoop that Spark was built with; empty where its jars do not say."""
    names = [each.name for each in (spark_home() / "jars").glob("hadoop-client-api-*.jar")]
    return names[0].removeprefix("hadoop-client-api-").removesuffix(".jar") if names else ""


def spark_environment(java: Path, variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of a Spark process: what Spark needs, and nothing else of this process's."""
    passed_on = {name: variables[name] for name in KEPT_VARIABLES if variables.get(name)}
    return {
        **passed_on,
        "JAVA_HOME": str(java),
        "SPARK_HOME": str(spark_home()),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": python_path(),
    }


def server_command(conf: Mapping[str, str], port: int, scratch: Path) -> list[str]:
    """Return the command of a server; no secret is in it, since everybody can see it."""
    settings = {**private_conf(scratch), **conf, "spark.connect.grpc.binding.port": str(port)}
    options = conf_options(settings, scratch)
    return [str(spark_home() / "bin" / "spark-submit"), *options, "--class", _SERVER_CLASS, "spark-internal"]


def free_port() -> int:
    """Return a port that the system says is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
