"""Names of files that are not UTF-8, as disks of other systems have them, where definitions are registered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.support import strict_json
from tests.conftest import Mason
from tests.definitions import write_operator

ODD = os.fsdecode(b"caf\xe9.txt")


@pytest.mark.parametrize("folder", ["", "data/", os.fsdecode(b"d\xe9/")])
def test_a_file_name_that_is_not_utf_8_is_refused_with_one_message(mason: Mason, tmp_path: Path, folder: str) -> None:
    written = write_operator(tmp_path / "src", "new", "one")
    file = written / folder / ODD
    file.parent.mkdir(exist_ok=True)
    file.write_text("x")

    result = mason("register", str(tmp_path / "src"))

    assert result.exit_code == 1
    shown = os.fsencode(file).decode("utf-8", "backslashreplace")
    assert result.stderr.splitlines() == [
        f"error: {shown}: its name is not UTF-8; rename it, or move it out of the folder",
        "error: Nothing was registered.",
    ]
    assert not mason.home.exists()


def test_a_folder_whose_own_name_is_not_utf_8_is_refused(mason: Mason, tmp_path: Path) -> None:
    written = write_operator(tmp_path / os.fsdecode(b"d\xe9"), "new", "one")

    result = mason("register", str(tmp_path))

    assert result.exit_code == 1
    shown = os.fsencode(written).decode("utf-8", "backslashreplace")
    assert result.stderr.splitlines()[0].startswith(f"error: {shown}: its name is not UTF-8; rename it")


def test_what_is_not_registered_may_be_called_as_it_is(mason: Mason, tmp_path: Path) -> None:
    written = write_operator(tmp_path / "src", "new", "one")
    (written / os.fsdecode(b".\xe9")).write_text("x")
    (written / "tests").mkdir()
    (written / "tests" / ODD).write_text("x")
    (tmp_path / "src" / ODD).write_text("x")

    assert mason("register", str(tmp_path / "src")).exit_code == 0
    assert strict_json(mason("operator", "new", "one"))["Errors"] == []


def test_a_configuration_whose_file_name_is_not_utf_8_is_refused_with_one_message(mason: Mason, tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"caf\xe9.yaml")
    file.write_text("id: files\nmetastore_engine: local\n")

    result = mason("config", str(tmp_path))

    assert result.exit_code == 1
    shown = os.fsencode(file).decode("utf-8", "backslashreplace")
    assert result.stderr.splitlines()[0] == f"error: {shown}: its name is not UTF-8; rename it"
    assert "Traceback" not in result.stderr
