"""The Dockerfile's steps work in a clean copy of the project with an empty environment.

There is no Docker engine where Mason is tested: this runs the steps themselves. It shows all but the base image.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from mason.api.server.settings import ServerSettings
from tests.conftest import PROJECT


@dataclass
class Container:
    """A folder that plays the container's `/`, and the variables that the Dockerfile has set so far."""

    root: Path
    variables: dict[str, str] = field(default_factory=lambda: {"PATH": "/usr/local/bin:/usr/bin:/bin"})
    folder: str = "/"
    command: list[str] = field(default_factory=list)

    def here(self, text: str) -> str:
        """Return a text with the container's places as they are outside of it."""
        return re.sub(r"(?<![\w.])/app\b", f"{self.root}/app", text)

    def run(self, command: str) -> str:
        env = {name: self.here(value) for name, value in self.variables.items()}
        env |= {"PYTHON": shutil.which("python3.11") or "python3"}
        env |= {name: os.environ[name] for name in os.environ if name.startswith("PIP_")}
        env |= {"PIP_NO_COMPILE": "1"}  # a third of the time, for commands that are run once
        env |= {"PIP_CACHE_DIR": str(Path.home() / ".cache" / "pip")}  # what was fetched, and checked, once
        where = self.here(self.folder) if self.folder != "/" else str(self.root)
        done = subprocess.run(
            ["bash", "-ec", self.here(command)], cwd=where, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr


def instructions(text: str) -> list[tuple[str, str]]:
    lines = text.replace("\\\n", " ").splitlines()
    return [
        (word, rest) for line in lines if line and not line.startswith("#") for word, _, rest in [line.partition(" ")]
    ]


def follow(container: Container, text: str) -> None:
    for word, rest in instructions(text):
        if word == "ENV":
            name, _, value = rest.partition("=")
            container.variables[name] = value.replace("$PATH", container.variables["PATH"])
        elif word == "WORKDIR":
            container.folder = rest
            Path(container.here(rest)).mkdir(parents=True, exist_ok=True)
        elif word == "COPY":
            source, target = shlex.split(rest)
            assert source == "."
            files = subprocess.run(
                ["git", "ls-files", "-co", "--exclude-standard"],
                cwd=PROJECT,
                capture_output=True,
                text=True,
                check=True,
            )
            for file in files.stdout.splitlines():
                place = Path(container.here(target)) / file
                if (PROJECT / file).is_file():
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(PROJECT / file, place)
        elif word == "RUN" and not rest.startswith("apt-get"):  # the test machine has its packages
            container.run(rest)
        elif word == "CMD":
            container.command = json.loads(rest)
        else:
            assert word in ("FROM", "EXPOSE", "RUN", "VOLUME"), word


@pytest.mark.timeout(900)
def test_the_steps_of_the_dockerfile_work_in_a_clean_copy(tmp_path: Path) -> None:
    container = Container(tmp_path / "container")
    container.root.mkdir()

    follow(container, (PROJECT / "Dockerfile").read_text())

    listing = container.run("mason operator")
    assert "table" in listing and "infer" in listing
    assert "table" in container.run("mason workflow")
    assert container.command[:2] == ["mason", "run"]
    assert container.run("python -c 'import boto3; print(boto3.__name__)'") == "boto3\n"


def test_a_step_that_fails_is_noticed(tmp_path: Path) -> None:
    container = Container(tmp_path)

    with pytest.raises(AssertionError, match="mason register nowhere"):
        follow(container, "FROM x\nRUN false && mason register nowhere\n")


def test_what_mason_knows_is_in_a_volume_that_outlives_the_container() -> None:
    words = instructions((PROJECT / "Dockerfile").read_text())
    [volume] = [rest for word, rest in words if word == "VOLUME"]
    after = words[words.index(("VOLUME", volume)) :]

    assert ("ENV", f"MASON_HOME={volume}") in words
    assert "RUN" not in [word for word, _ in after]  # Docker would throw away what they write there
    named = [each.partition(":")[0] for each in compose()["volumes"] if each.partition(":")[2] == volume]
    assert named == ["mason-home"]
    assert named[0] in yaml.safe_load((PROJECT / "docker-compose.yml").read_text())["volumes"]


def test_compose_publishes_the_port_on_this_machine_only() -> None:
    assert compose()["ports"] == ["127.0.0.1:5000:5000"]


def test_a_container_that_is_stopped_may_take_as_long_as_the_server_does_to_end_what_runs() -> None:
    service = compose()

    assert int(service["stop_grace_period"].removesuffix("s")) >= ServerSettings().stop_seconds + 15
    assert service["init"]  # processes that the server started and that outlive it need somebody who buries them


def compose() -> dict[str, Any]:
    """Return the service of docker-compose.yml."""
    service: dict[str, Any] = yaml.safe_load((PROJECT / "docker-compose.yml").read_text())["services"]["mason"]
    return service
