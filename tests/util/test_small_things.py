"""Names, .env files, JSON, files that are replaced whole."""

from __future__ import annotations

import errno
import json
import logging
import subprocess
import sys
import time
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from mason.util.atomic_file import write_file
from mason.util.disk_room import is_disk_full
from mason.util.dotenv import parse_env, read_env_files
from mason.util.json_text import compact_json, json_text
from mason.util.names import class_name, did_you_mean, is_config_id, is_identifier
from mason.util.text_table import clip_text, table_lines
from tests.conftest import PROJECT, write


@pytest.mark.parametrize(
    ("namespace", "command", "expected"),
    [
        ("table", "get", "TableGet"),
        ("table", "validated_infer", "TableValidatedInfer"),
        ("namespace1", "workflow5", "Namespace1Workflow5"),
        ("", "tidy_up", "TidyUp"),
    ],
)
def test_the_class_of_a_name_is_its_camel_case(namespace: str, command: str, expected: str) -> None:
    assert class_name(namespace, command) == expected


@pytest.mark.parametrize("name", ["../../x", "a/b", "", ".hidden", "a-b", "a b", "1a", "a" * 64, "ä", "a\n"])
def test_a_name_that_could_leave_its_folder_is_none(name: str) -> None:
    assert not is_identifier(name)


def test_ids_of_configurations_may_have_digits_and_dots() -> None:
    assert is_config_id("1") and is_config_id("eu-west.2")
    assert not any(map(is_config_id, ("", ".x", "a/b", "../x", "a b")))


def test_env_files_are_read_as_shells_would() -> None:
    text = "# comment\nA=1\nexport B = two words \nC='#x' # y\nD=\"q\"\nE=a#b\nF=v # c\nnonsense\nG=\n"

    assert parse_env(text) == {"A": "1", "B": "two words", "C": "#x", "D": "q", "E": "a#b", "F": "v", "G": ""}


def test_the_first_env_file_wins_and_a_missing_one_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("X=1\n")
    (tmp_path / "b").write_text("X=2\nY=3\n")

    assert read_env_files([tmp_path / "none", tmp_path / "a", tmp_path / "b"]) == {"X": "1", "Y": "3"}


@pytest.mark.parametrize(
    "name",
    [
        *("BASH_ENV", "ENV", "PATH", "HOME", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES"),
        *("PYTHONPATH", "PYTHONSTARTUP", "JAVA_HOME", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"),
        *("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS", "PYSPARK_PYTHON", "PYSPARK_SUBMIT_ARGS"),
        *("HADOOP_OPTS", "CLASSPATH", "GCONV_PATH", "bash_env", "MASON_HOME", "MASON_ENV_READ"),
    ],
)
def test_a_name_that_changes_how_programs_start_is_not_taken_from_a_dotenv(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("mason"), "propagate", True)
    write(tmp_path, {".env": f"FINE=1\n# a comment\nexport {name}=/tmp/evil\n"})

    found = read_env_files([tmp_path / ".env", tmp_path / ".env"])

    assert found == {"FINE": "1"}
    (told,) = [each.getMessage() for each in caplog.records]
    assert told.startswith(f"{tmp_path}/.env:3: {name} is not taken from a .env file")
    assert "/tmp/evil" not in told


@pytest.mark.parametrize("name", ["SPARK_REMOTE", "HADOOP_CONF_DIR", "AWS_PROFILE", "ENVIRONMENT", "HOMEPAGE"])
def test_other_names_are_taken_from_a_dotenv(name: str, tmp_path: Path) -> None:
    write(tmp_path, {".env": f"{name}=1\n"})

    assert read_env_files([tmp_path / ".env"]) == {name: "1"}


def test_json_has_a_word_for_everything() -> None:
    value = {1: float("nan"), "t": datetime(2026, 1, 1, tzinfo=UTC), "d": Decimal("1.50"), "s": (1, {"ä"})}

    assert json.loads(json_text({"b": b"\x00\xff", "a": bytearray(b"x")})) == {"b": "AP8=", "a": "eA=="}
    assert compact_json([b"\x00\xff"]) == b'["AP8="]'
    assert json.loads(json_text(value)) == {"1": "nan", "t": "2026-01-01T00:00:00+00:00", "d": "1.50", "s": [1, ["ä"]]}


def test_a_file_that_cannot_be_replaced_stays_as_it_was(tmp_path: Path) -> None:
    write_file(tmp_path / "f", b"old", mode=0o600)
    (tmp_path / "folder").mkdir()

    with pytest.raises(OSError):
        write_file(tmp_path / "folder", b"new")
    assert (tmp_path / "f").read_bytes() == b"old"
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o600
    assert sorted(each.name for each in tmp_path.iterdir()) == ["f", "folder"]


def test_the_nearest_name_is_offered_only_when_it_is_near() -> None:
    assert did_you_mean("tabel", ["table", "job"]) == 'Did you mean "table"?'
    assert did_you_mean("xyz", ["table", "job"]) == ""


def test_a_table_is_folded_on_a_terminal_and_whole_in_a_pipe() -> None:
    rows = [["a", "one two three four five six seven"]]

    assert table_lines(["h", "text"], rows, None)[2] == "a  one two three four five six seven"
    folded = table_lines(["h", "text"], rows, 27)
    assert folded[2:] == ["a  one two three four five", "   six seven"]


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("straße", 6, "straße"),
        ("straßen", 6, "straß…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("e\u0301te\u0301s", 3, "e\u0301t…"),
        ("été", 0, "…"),
    ],
)
def test_a_text_is_clipped_to_the_room_that_it_takes(text: str, width: int, shown: str) -> None:
    assert clip_text(text, width) == shown


def test_a_text_of_100_000_letters_that_are_not_ascii_is_clipped_in_a_moment() -> None:
    began = time.process_time()

    assert clip_text("ß" * 100_000, 10) == f"{'ß' * 9}…"
    assert time.process_time() - began < 5  # a tenth of a second on an idle core; the square of it would be minutes


def test_an_error_that_is_a_cause_of_itself_is_looked_through_once() -> None:
    error, other = ValueError("a division by zero"), ValueError("another")
    error.__cause__, other.__cause__ = other, error
    full = ValueError("a job failed")
    full.__cause__ = OSError(errno.ENOSPC, "No space left on device")

    assert not is_disk_full(error)
    assert is_disk_full(full)


def test_processes_that_are_forked_from_one_give_ids_of_their_own() -> None:
    code = r"""
import os
from mason.util.names import new_id
children = [os.fork() for _ in range(2)]
os.write(1, f"{new_id()}\n".encode())
if all(children):
    [os.waitpid(each, 0) for each in children]
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT)

    ids = result.stdout.split()
    assert len(ids) == len(set(ids)) == 4, result.stdout
