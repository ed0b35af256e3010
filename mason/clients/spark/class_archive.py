"""An archive of the classes that Spark loads, from which a JVM starts in about half the time.

Java calls it AppCDS. One is made once for each Java and set of jars, by a Spark that does a little of everything and
writes down at its end what it has loaded (20 s), and is used by every Spark that Mason starts on this machine. It is
never a reason to fail: one that is missing, damaged, somebody else's or made for something else is not used, and made
anew in the background.

What lies in an archive runs as this user. So only a file that this user or root has written, in a folder that nobody
else can write to, is taken.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mason.clients.spark.java_home import java_home
from mason.clients.spark.server.launch import TOKEN_VARIABLE, free_port, spark_environment, spark_home
from mason.clients.spark.settings import RunnerSettings, conf_options, private_conf, private_variables

FOLDER_VARIABLE = "MASON_CLASS_ARCHIVES"
OFF = "off"
MAKER = Path(__file__).parent / "spark_classes.py"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"

_FAILURE = "failure"
_SECONDS_TO_MAKE = 300.0
_SECONDS_BEFORE_ANOTHER_TRY = 24 * 3600.0
_SECONDS_TO_KEEP_UNUSED = 30 * 24 * 3600.0
_OTHERS_MAY_WRITE = 0o022


@dataclass(frozen=True)
class ClassArchive:
    """The archive of one Java and one set of jars, whether it is there or not."""

    java: Path
    file: Path

    @classmethod
    def of(cls, java: Path, variables: Mapping[str, str] = os.environ) -> ClassArchive | None:
        """Return the archive for a Java; None where archives are turned off."""
        folder = _folder(variables)
        return cls(java, folder / f"{_key(java)}.jsa") if folder else None

    @property
    def options(self) -> list[str]:
        """The options that have a JVM use the archive; none as long as there is none to trust."""
        if not self.is_whole:
            return []
        with suppress(OSError):  # the sweep leaves those alone that are used
            os.utime(self._note)
        # A JVM that cannot use it says so on its output, and goes on without.
        return [f"-XX:SharedArchiveFile={self.file}", "-Xshare:auto", "-Xlog:disable"]

    @property
    def is_whole(self) -> bool:
        """Whether the archive is there, as it was written, and by somebody who may."""
        try:
            noted = json.loads(self._note.read_bytes())
            found = self.file.stat()
            trusted = all(_is_trusted(each) for each in (self.file.parent, self.file, self._note))
            return trusted and noted == {"size": found.st_size, "modified": found.st_mtime_ns}
        except (OSError, ValueError):
            return False

    @property
    def failure(self) -> str:
        """Why the last try to make it failed; empty if it did not, or long ago."""
        try:
            if time.time() - self._failure.stat().st_mtime > _SECONDS_BEFORE_ANOTHER_TRY:
                return ""
            return self._failure.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def describe(self) -> str:
        """Say how the archive stands, for people."""
        if self.is_whole:
            return f"Spark starts from an archive of its classes, {self.file} ({self.file.stat().st_size / 1e6:.0f} MB)"
        if self.failure:
            return f"Spark starts without an archive of its classes, since none could be made: {self.failure}"
        return "Spark starts without an archive of its classes: one is made in the background after the next job"

    @property
    def _note(self) -> Path:
        return self.file.with_suffix(".json")

    @property
    def _failure(self) -> Path:
        return self.file.with_suffix(f".{_FAILURE}")

    def make(self) -> bool:
        """Make the archive unless it is there, or another process makes it; return whether it is there then.

        Raises:
            OSError: the folder cannot be written to.
        """
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_trusted(self.file.parent):  # whatever is made there is not used
            self._failure.write_text(f"Others may write to {self.file.parent}.", encoding="utf-8")
            return False
        with open(os.open(self.file.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.is_whole:
                _sweep(self.file.parent, self.file.stem)
                self._make()
        return self.is_whole

    def _make(self) -> None:
        with tempfile.TemporaryDirectory(dir=self.file.parent, prefix=".making-") as folder:
            made = Path(folder) / self.file.name
            said = _run_spark(self.java, made, Path(folder))
            if not made.exists():
                self._failure.write_text(said[-4000:] or "Spark wrote no archive.", encoding="utf-8")
                return
            made.chmod(0o600)
            found = made.stat()
            for each in (self._note, self._failure, self.file):
                each.unlink(missing_ok=True)
            made.rename(self.file)
            note = Path(folder) / "note"
            note.write_text(json.dumps({"size": found.st_size, "modified": found.st_mtime_ns}), encoding="utf-8")
            note.chmod(0o600)
            note.rename(self._note)

    def make_in_background(self) -> None:
        """Have a process of its own make the archive, with what the machine has to spare, and do not wait for it."""
        if self.is_whole or self.failure:
            return
        with suppress(OSError):  # everything works without it
            subprocess.Popen(
                ["nice", "-n", "19", sys.executable, "-m", __name__],
                env={**spark_environment(self.java), FOLDER_VARIABLE: str(self.file.parent)},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )


def with_archive(conf: Mapping[str, str], archive: ClassArchive | None) -> dict[str, str]:
    """Return the settings of a Spark that uses an archive, if there is one.

    They are added when a JVM is started, and are no part of what it is known by: a warm server that was started
    without the archive goes on.
    """
    options = archive.options if archive else []
    quoted = " ".join(f'"{each}"' for each in options)
    return {**conf, JAVA_OPTIONS: f"{conf.get(JAVA_OPTIONS, '')} {quoted}".strip()} if options else dict(conf)


def _folder(variables: Mapping[str, str]) -> Path | None:
    chosen = variables.get(FOLDER_VARIABLE)
    if chosen == OFF:
        return None
    if chosen:
        return Path(chosen)
    home = variables.get("XDG_CACHE_HOME") or (f"{variables['HOME']}/.cache" if variables.get("HOME") else "")
    return Path(home) / "mason" / "spark-classes" if home else None


def _key(java: Path) -> str:
    """Another Java, and other or moved jars, take another archive; so does another way to make it."""
    jars = sorted((jar.path, jar.stat().st_size, jar.stat().st_mtime_ns) for jar in os.scandir(spark_home() / "jars"))
    release = (java / "release").read_text(encoding="utf-8") if (java / "release").exists() else ""
    settings = os.environ.get("SPARK_CONF_DIR", "")
    maker = MAKER.read_text(encoding="utf-8")
    return hashlib.sha256(json.dumps([str(java), release, settings, maker, jars]).encode()).hexdigest()[:16]


def _is_trusted(file: Path) -> bool:
    found = file.lstat()
    return found.st_uid in (0, os.getuid()) and not found.st_mode & _OTHERS_MAY_WRITE


def _sweep(folder: Path, current: str) -> None:
    """Remove archives that nothing has used for a month, and what a killed maker left."""
    now = time.time()
    for note in folder.glob("*.json"):
        if note.stem != current and now - note.stat().st_mtime > _SECONDS_TO_KEEP_UNUSED:
            for each in folder.glob(f"{note.stem}.*"):
                each.unlink(missing_ok=True)
    for left in folder.glob(".making-*"):
        if now - left.stat().st_mtime > 2 * _SECONDS_TO_MAKE:
            shutil.rmtree(left, ignore_errors=True)


def _run_spark(java: Path, archive: Path, folder: Path) -> str:
    """Run a Spark that writes the archive at its end, and return what it said."""
    port = free_port()
    settings = RunnerSettings.of({"runner": {"driver_memory": "1g"}}).local_conf
    conf = {
        **settings,
        **private_conf(folder),
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        JAVA_OPTIONS: f'{settings[JAVA_OPTIONS]} "-XX:ArchiveClassesAtExit={archive}" -Xlog:disable',
    }
    submit = [str(spark_home() / "bin" / "spark-submit"), *conf_options(conf, folder), str(MAKER)]
    # Everybody on this machine reaches the port of its Connect server, which answers nobody without the token.
    environment = {**spark_environment(java), **private_variables(folder), TOKEN_VARIABLE: secrets.token_urlsafe(32)}
    try:
        done = subprocess.run(
            [*submit, str(folder / "table"), f"sc://localhost:{port}"],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            timeout=_SECONDS_TO_MAKE,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stdout


def main() -> int:
    """Make the archive for the Java of this machine, and say where it is."""
    archive = ClassArchive.of(java_home())
    if archive is None:
        sys.stdout.write(f"{FOLDER_VARIABLE} is off: no archive is made.\n")
        return 0
    try:
        made = archive.make()
    except OSError as error:
        sys.stderr.write(f"No archive of Spark's classes was made ({error}). Spark works, and starts more slowly.\n")
        return 1
    if not made:
        sys.stderr.write(f"No archive of Spark's classes was made: {archive.failure}\n")
        return 1
    sys.stdout.write(f"{archive.file}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
