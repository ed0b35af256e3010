"""The archive of Spark's classes: made once, used by every Spark, and never a reason to fail."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mason.clients.spark.class_archive import FOLDER_VARIABLE, JAVA_OPTIONS, OFF, ClassArchive, with_archive
from mason.clients.spark.execution import SparkExecutionClient
from mason.clients.spark.java_home import java_home
from mason.clients.spark.server.launch import Launch
from mason.clients.spark.settings import RunnerSettings
from tests.conftest import PROJECT

_SECONDS_TO_MAKE = 240.0

# Prints which archive the JVM of this process has mapped, and whether a task and a query ran.
_COLD = """
import json, sys
from pathlib import Path
from mason.clients.spark.in_process import InProcessRunner, classic_context
from mason.clients.spark.settings import RunnerSettings
from mason.pipeline.work.tasks import without_beats

settings = RunnerSettings.of({"runner": {"type": "local", "warm": "never", "driver_memory": "600m"}})
results = sorted(without_beats(InProcessRunner(settings).run("spark_kernels:echo", [b"one", b"two"])))
process = classic_context(settings.local_conf)._gateway.proc
maps = Path(f"/proc/{process.pid}/maps").read_text()
print(json.dumps({
    "results": [[number, content.decode()] for number, content in results],
    "archives": sorted({line.split()[-1] for line in maps.splitlines() if line.endswith(".jsa")}),
}))
"""


def real_java() -> Path:
    """The Java of this machine: the one that tests run Spark on has an archive of its own."""
    return (java_home() / "release").resolve().parent


def run_cold(folder: Path | str, java: Path) -> dict[str, list[object]]:
    """Run two tasks in a process of its own, and return what came of it."""
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("CI", "SPARK_CONF_DIR")},
        "JAVA_HOME": str(java),
        FOLDER_VARIABLE: str(folder),
        "PYTHONPATH": f"{PROJECT}:{PROJECT / 'tests' / 'spark' / 'kernels'}",
    }
    done = subprocess.run(
        [sys.executable, "-c", _COLD], env=environment, capture_output=True, text=True, check=False, timeout=180
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, list[object]] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> ClassArchive:
    """An archive that was made in the background after a cold command, which did not wait for it."""
    folder = tmp_path_factory.mktemp("classes") / "archives"
    archive = ClassArchive.of(real_java(), {FOLDER_VARIABLE: str(folder)})
    assert archive
    first = run_cold(folder, real_java())
    assert first["results"] == [[0, "done one"], [1, "done two"]]
    assert not any(str(folder) in str(each) for each in first["archives"])
    assert not archive.is_whole, "the command has waited for the archive"
    deadline = time.monotonic() + _SECONDS_TO_MAKE
    while not archive.is_whole:
        assert time.monotonic() < deadline, archive.failure or "no archive was made"
        time.sleep(0.5)
    return archive


@pytest.fixture
def copied(made: ClassArchive, tmp_path: Path) -> ClassArchive:
    """A copy that a test may damage: its note says what it says of the original, times and all."""
    folder = tmp_path / "archives"
    shutil.copytree(made.file.parent, folder, copy_function=shutil.copy2)
    folder.chmod(0o700)
    copy = ClassArchive(made.java, folder / made.file.name)
    assert copy.is_whole and copy.options
    return copy


def test_the_first_cold_command_has_an_archive_made_and_the_next_one_uses_it(made: ClassArchive) -> None:
    told = run_cold(made.file.parent, made.java)

    assert told == {"results": [[0, "done one"], [1, "done two"]], "archives": told["archives"]}
    assert str(made.file) in told["archives"]
    assert made.describe().startswith(f"Spark starts from an archive of its classes, {made.file} (")


def test_a_warm_server_uses_the_archive_and_is_the_same_server_with_and_without_it(made: ClassArchive) -> None:
    settings = RunnerSettings.of({"runner": {"type": "local"}})
    launch = Launch.of(settings, made.java)

    conf = with_archive(launch.conf, made)

    assert f"-XX:SharedArchiveFile={made.file}" in conf[JAVA_OPTIONS]
    assert conf[JAVA_OPTIONS].startswith(launch.conf[JAVA_OPTIONS])
    assert Launch.of(settings, made.java).key == launch.key


def _cut(archive: ClassArchive) -> None:
    with archive.file.open("r+b") as stream:
        stream.truncate(archive.file.stat().st_size // 2)


def _change(archive: ClassArchive) -> None:
    with archive.file.open("r+b") as stream:
        stream.seek(archive.file.stat().st_size // 2)
        stream.write(b"damaged")


def _leave_without_note(archive: ClassArchive) -> None:
    archive.file.with_suffix(".json").unlink()


def _break_note(archive: ClassArchive) -> None:
    archive.file.with_suffix(".json").write_text("{", encoding="utf-8")


def _let_others_write_it(archive: ClassArchive) -> None:
    archive.file.chmod(0o666)


def _let_others_write_its_folder(archive: ClassArchive) -> None:
    archive.file.parent.chmod(0o777)


def _give_away(archive: ClassArchive) -> None:
    if os.getuid():
        pytest.skip("only root gives files away")
    os.chown(archive.file, 12345, 12345)


@pytest.mark.parametrize(
    "damage",
    [
        _cut,
        _change,
        _leave_without_note,
        _break_note,
        _let_others_write_it,
        _let_others_write_its_folder,
        _give_away,
    ],
)
def test_an_archive_that_is_damaged_half_written_or_of_somebody_else_is_not_used(
    copied: ClassArchive, damage: object
) -> None:
    damage(copied)  # type: ignore[operator]

    assert not copied.is_whole
    assert copied.options == []
    assert "without an archive" in copied.describe()


def test_jobs_run_where_no_archive_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")

    told = run_cold(tmp_path / "file" / "archives", java_home())

    assert told["results"] == [[0, "done one"], [1, "done two"]]


def test_two_javas_have_two_archives(tmp_path: Path) -> None:
    found = set()
    for version in ("17.0.1", "17.0.2"):
        java = tmp_path / version
        java.mkdir()
        (java / "release").write_text(f'JAVA_VERSION="{version}"\n', encoding="utf-8")
        archive = ClassArchive.of(java, {"HOME": str(tmp_path)})
        assert archive and archive.file.parent == tmp_path / ".cache" / "mason" / "spark-classes"
        found.add(archive.file)

    assert len(found) == 2


@pytest.fixture
def broken_java(tmp_path: Path) -> Iterator[Path]:
    """A Java that notes that it was asked, and fails."""
    java = tmp_path / "java"
    (java / "bin").mkdir(parents=True)
    (java / "bin" / "java").write_text(f"#!/bin/sh\necho asked >> {tmp_path}/asked\nexit 1\n", encoding="utf-8")
    (java / "bin" / "java").chmod(0o755)
    yield java


def test_a_java_that_cannot_make_an_archive_is_asked_once_and_doctor_says_why(
    broken_java: Path, tmp_path: Path
) -> None:
    archive = ClassArchive.of(broken_java, {FOLDER_VARIABLE: str(tmp_path / "archives")})
    assert archive and not archive.make()
    asked = (tmp_path / "asked").read_text(encoding="utf-8")

    archive.make_in_background()

    time.sleep(1)
    assert (tmp_path / "asked").read_text(encoding="utf-8") == asked
    assert archive.failure and archive.failure in archive.describe()


@pytest.fixture
def quick_java(tmp_path: Path) -> Iterator[Path]:
    """A Java that notes that it was asked, and leaves something in the place of an archive."""
    java = tmp_path / "java"
    (java / "bin").mkdir(parents=True)
    (java / "bin" / "java").write_text(_QUICK_JAVA.format(folder=tmp_path), encoding="utf-8")
    (java / "bin" / "java").chmod(0o755)
    yield java


_QUICK_JAVA = """\
#!/bin/sh
echo asked >> {folder}/asked
sleep 0.5
while [ "$1" != --properties-file ]; do shift; done
archive=$(sed -n 's/.*ArchiveClassesAtExit\\\\=\\([^"]*\\)".*/\\1/p' "$2")
echo classes > "$archive"
exit 1
"""


@pytest.mark.parametrize("damage", [_cut, _leave_without_note, _break_note, _let_others_write_it, _give_away])
def test_an_archive_that_is_not_used_is_made_anew(quick_java: Path, tmp_path: Path, damage: object) -> None:
    archive = ClassArchive.of(quick_java, {FOLDER_VARIABLE: str(tmp_path / "archives")})
    assert archive and archive.make() and archive.make()
    damage(archive)  # type: ignore[operator]
    assert not archive.is_whole

    assert archive.make()

    assert archive.options and archive.file.read_text(encoding="utf-8") == "classes\n"
    assert (tmp_path / "asked").read_text(encoding="utf-8") == "asked\n" * 2


def test_of_several_that_make_an_archive_at_once_one_does_and_the_others_wait(quick_java: Path, tmp_path: Path) -> None:
    archive = ClassArchive.of(quick_java, {FOLDER_VARIABLE: str(tmp_path / "archives")})
    assert archive

    with ThreadPoolExecutor(3) as pool:
        made = list(pool.map(lambda _: archive.make(), range(3)))

    assert made == [True] * 3
    assert (tmp_path / "asked").read_text(encoding="utf-8") == "asked\n"


def test_no_archive_is_made_where_others_could_write_to_it(quick_java: Path, tmp_path: Path) -> None:
    archive = ClassArchive.of(quick_java, {FOLDER_VARIABLE: str(tmp_path / "archives")})
    assert archive
    archive.file.parent.mkdir()
    _let_others_write_its_folder(archive)

    assert not archive.make()

    assert not (tmp_path / "asked").exists()
    assert archive.describe().endswith(f"since none could be made: Others may write to {archive.file.parent}.")


def test_archives_that_nobody_uses_are_swept_and_what_a_killed_maker_left(broken_java: Path, tmp_path: Path) -> None:
    folder = tmp_path / "archives"
    (folder / ".making-x").mkdir(parents=True)
    for name in ("old", "young"):
        (folder / f"{name}.jsa").write_bytes(b"classes")
        (folder / f"{name}.json").write_text("{}", encoding="utf-8")
    for each in (folder / "old.json", folder / ".making-x"):
        os.utime(each, (time.time() - 40 * 24 * 3600,) * 2)
    archive = ClassArchive.of(broken_java, {FOLDER_VARIABLE: str(folder)})
    assert archive

    archive.make()

    assert sorted(each.name for each in folder.glob("*.js*")) == ["young.jsa", "young.json"]
    assert not (folder / ".making-x").exists()


def test_doctor_says_how_the_archive_stands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(real_java()))
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))

    told = SparkExecutionClient({}).remark()

    assert told == ("Spark starts without an archive of its classes: one is made in the background after the next job.")


def test_archives_can_be_turned_off() -> None:
    assert ClassArchive.of(real_java(), {FOLDER_VARIABLE: OFF, "HOME": "/nowhere"}) is None
    assert with_archive({"a": "b"}, None) == {"a": "b"}


def test_a_maker_that_is_killed_leaves_nothing_that_is_used(tmp_path: Path) -> None:
    folder = tmp_path / "archives"
    maker = subprocess.Popen(
        [sys.executable, "-m", "mason.clients.spark.class_archive"],
        env={**os.environ, "JAVA_HOME": str(real_java()), FOLDER_VARIABLE: str(folder), "PYTHONPATH": str(PROJECT)},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not list(folder.glob(".making-*")):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(1)
    os.killpg(maker.pid, signal.SIGKILL)
    maker.wait()

    archive = ClassArchive.of(real_java(), {FOLDER_VARIABLE: str(folder)})
    assert archive and archive.options == []
