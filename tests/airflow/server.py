"""A real Airflow: api-server, scheduler and dag-processor on a free port of 127.0.0.1, in an environment of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.conftest import PROJECT
from tests.ports import free_port

_START_SECONDS = 120
_COMPONENTS = ("api-server", "scheduler", "dag-processor")
# What an organization may put beside its Airflow: a rule that every DAG has to keep.
_POLICY = """\
from airflow.exceptions import AirflowClusterPolicyViolation


def dag_policy(dag):
    if dag.dag_id.startswith("unwanted"):
        raise AirflowClusterPolicyViolation(f"{dag.dag_id} is not wanted here")
"""


@dataclass(frozen=True)
class Airflow:
    """An Airflow that runs; what a test makes in it goes with it."""

    url: str
    folder: Path
    password: str

    @property
    def dags(self) -> Path:
        return self.folder / "dags"

    def configuration(self, **others: Any) -> dict[str, Any]:
        """Return what a configuration of the client `airflow` says to reach it."""
        told = {"url": self.url, "username": "admin", "password": self.password, "dags_folder": str(self.dags)}
        # Mason is not installed where Airflow is: its tasks call the one that is tested.
        command = ["env", f"PYTHONPATH={PROJECT}", sys.executable, "-m", "mason"]
        return {**told, "command": command, "parse_seconds": 60, **others}


@contextmanager
def a_name(airflow: Airflow) -> Iterator[str]:
    """Yield a name that no DAG has; the files of those that begin so go afterwards, which is enough for Airflow."""
    name = f"flow_{uuid4().hex[:8]}"
    yield name
    for file in airflow.dags.glob(f"mason_{name}*.py"):
        file.unlink()


@contextmanager
def running_airflow(folder: Path) -> Iterator[Airflow]:
    """Start an Airflow that keeps everything below a folder, and stop it at the end."""
    environment = _environment()
    shutil.copytree(environment / "home", folder, dirs_exist_ok=True)
    (folder / "dags").mkdir()
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "airflow_local_settings.py").write_text(_POLICY)
    airflow = Airflow(f"http://127.0.0.1:{free_port()}", folder, uuid4().hex)
    (folder / "passwords.json").write_text(json.dumps({"admin": airflow.password}))
    processes = []
    try:
        for component in _COMPONENTS:
            processes.append(_start(environment, airflow, component))
        _wait_until_open(airflow, processes)
        yield airflow
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)  # its data are thrown away: nothing is worth a slow goodbye
            process.wait()


def _environment() -> Path:
    done = subprocess.run(
        [PROJECT / "scripts" / "install_airflow.sh"],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return Path(done.stdout.strip())


def _start(environment: Path, airflow: Airflow, component: str) -> subprocess.Popen[bytes]:
    port = airflow.url.rpartition(":")[2]
    arguments = {
        "api-server": ["--host", "127.0.0.1", "--port", port, "--workers", "1"],
        "scheduler": ["--skip-serve-logs"],
        "dag-processor": [],
    }
    with open(airflow.folder / f"{component}.log", "w") as log:
        return subprocess.Popen(
            [environment / "bin" / "airflow", component, *arguments[component]],
            cwd=airflow.folder,
            env=_variables(environment, airflow),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _variables(environment: Path, airflow: Airflow) -> Mapping[str, str]:
    kept = {
        name: os.environ[name] for name in ("LANG", "TMPDIR", "JAVA_HOME", "MASON_CLASS_ARCHIVES") if name in os.environ
    }
    settings = {
        "CORE__LOAD_EXAMPLES": "False",
        "CORE__DAGS_FOLDER": str(airflow.dags),
        "CORE__EXECUTION_API_SERVER_URL": f"{airflow.url}/execution/",
        "CORE__PARALLELISM": "4",
        "CORE__SIMPLE_AUTH_MANAGER_USERS": "admin:admin",
        "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(airflow.folder / "passwords.json"),
        "API__BASE_URL": airflow.url,
        "API_AUTH__JWT_SECRET": "0123456789abcdef" * 4,
        "DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{airflow.folder / 'airflow.db'}",
        "DAG_PROCESSOR__REFRESH_INTERVAL": "1",
        "DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "30",
        "DAG_PROCESSOR__BUNDLE_REFRESH_CHECK_INTERVAL": "0",
        "LOGGING__BASE_LOG_FOLDER": str(airflow.folder / "logs"),
        "SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.2",
        "USAGE_DATA_COLLECTION__ENABLED": "False",
    }
    return {
        **kept,
        "PATH": f"{environment / 'bin'}:/usr/bin:/bin",
        "HOME": str(airflow.folder),
        "AIRFLOW_HOME": str(airflow.folder),
        **{f"AIRFLOW__{name}": value for name, value in settings.items()},
    }


def _wait_until_open(airflow: Airflow, processes: list[subprocess.Popen[bytes]]) -> None:
    limit = time.monotonic() + _START_SECONDS
    while time.monotonic() < limit:
        for component, process in zip(_COMPONENTS, processes, strict=True):
            assert process.poll() is None, (airflow.folder / f"{component}.log").read_text()[-3000:]
        if _is_healthy(airflow):
            return
        time.sleep(0.2)
    logs = [(airflow.folder / f"{component}.log").read_text()[-1000:] for component in _COMPONENTS]
    raise AssertionError(f"Airflow did not start within {_START_SECONDS} s: {logs}")


def _is_healthy(airflow: Airflow) -> bool:
    try:
        with urllib.request.urlopen(f"{airflow.url}/api/v2/monitor/health", timeout=5) as answer:
            said = json.load(answer)
    except (OSError, urllib.error.HTTPError):
        return False
    return all(said[part]["status"] == "healthy" for part in ("metadatabase", "scheduler", "dag_processor"))
