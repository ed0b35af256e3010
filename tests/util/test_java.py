"""Spark gets a Java that it can run on, whatever `java` on the path is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mason.util.java import find_java, find_javas


def install(folder: Path, version: str) -> Path:
    """Put a program there that says of itself what a Java of that version says."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))


def test_the_java_of_java_home_is_taken_when_it_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(install(tmp_path / "mine", "21.0.1")))
    install(tmp_path / "jvm" / "java-17", "17.0.15")

    java = find_java([str(tmp_path / "jvm")])

    assert java is not None and (java.version, java.home.name) == (21, "mine")


def test_a_java_that_is_too_new_does_not_serve_and_an_older_one_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(install(tmp_path / "new", "25") / "bin") + ":/bin:/usr/bin")
    install(tmp_path / "jvm" / "a-java-8", "1.8.0_412")
    install(tmp_path / "jvm" / "b-java-17", "17.0.15")

    java = find_java([str(tmp_path / "jvm")])

    assert java is not None and java.home.name == "b-java-17"
    assert [each.version for each in find_javas([str(tmp_path / "jvm")])] == [25, 1, 17]


def test_without_a_java_that_serves_there_is_none(tmp_path: Path) -> None:
    install(tmp_path / "jvm" / "java-25", "25")
    (tmp_path / "jvm" / "broken" / "bin").mkdir(parents=True)
    (tmp_path / "jvm" / "broken" / "bin" / "java").write_text("not a program")

    assert find_java([str(tmp_path / "jvm")]) is None


def test_scripts_can_ask_for_it() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mason.util.java"], capture_output=True, text=True, check=False, env={}
    )

    assert done.returncode == 0 and (Path(done.stdout.strip()) / "bin" / "java").exists()
