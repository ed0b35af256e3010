"""What is handed to users: the locks, the wheel, the pages made from the code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from scripts.draw_pictures import PICTURES, draw_pictures
from scripts.generate_docs import cli_page, support_page
from tests.conftest import EXAMPLES, PROJECT

LOCKS = (
    "requirements.lock",
    "requirements-build.lock",
    "requirements-dev.lock",
    "requirements-airflow.lock",
    "requirements-ministack.lock",
    "requirements-aws.lock",
)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_a_version_and_hashes_and_no_address(lock: str) -> None:
    text = (PROJECT / lock).read_text()
    entries = re.split(r"\n(?=\S)", text.strip())

    assert "://" not in text and "--index" not in text and "--find-links" not in text
    for entry in entries:
        assert re.match(r"[a-z0-9.\-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_each_lock_that_is_installed_holds_the_smaller_ones() -> None:
    base, aws, dev = (
        set(re.findall(r"^[a-z0-9.\-]+==\S+", (PROJECT / lock).read_text(), re.M))
        for lock in ("requirements.lock", "requirements-aws.lock", "requirements-dev.lock")
    )

    assert base < aws < dev
    assert {each.partition("==")[0] for each in aws - base} == {
        "boto3",
        "botocore",
        "jmespath",
        "s3transfer",
        "urllib3",
    }


@pytest.mark.parametrize("given", [["--extras"], ["--extras", "gcp"], ["--development"]])
def test_the_installer_refuses_what_it_does_not_know(given: list[str]) -> None:
    done = subprocess.run(
        [PROJECT / "scripts" / "install.sh", *given], capture_output=True, text=True, check=False, timeout=30
    )

    assert done.returncode == 2
    assert "takes" in done.stderr and len(done.stderr.splitlines()) == 1


def test_every_direct_dependency_is_locked() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    locked = (PROJECT / "requirements.lock").read_text()

    for dependency in project["dependencies"]:
        name = re.match(r"[a-z-]+", dependency)
        assert name and f"{name[0]}==" in locked, dependency


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(PROJECT),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (file,) = folder.glob("mason_data-*.whl")
    return zipfile.ZipFile(file).namelist()


@pytest.mark.parametrize(
    "path",
    [
        "mason/py.typed",
        "mason/entry_points.txt",
        "mason/engines/metastore/role.json",
        "mason/configurations/schema.json",
        "mason/configurations/local.yaml",
        "mason/operators/operator_tests/schema.json",
        "mason/operators/registration/schema.json",
        "mason/project/templates/init/shared/mason.yaml",
        "mason/workflows/definition/schema.json",
        "mason/clients/glue/schema.json",
        "mason/testing/__init__.py",
        "mason/examples/operators/table/get/operator.yaml",
        "mason/examples/operators/table/get/__init__.py",
        "mason/examples/configs/config_1.yaml",
        "mason/examples/parameters/table_get.yaml",
        "mason/examples/data/suppliers/acme/2026-01.csv",
    ],
)
def test_the_wheel_has_all_that_a_user_needs(wheel: list[str], path: str) -> None:
    assert path in wheel


def test_the_wheel_has_nothing_else(wheel: list[str]) -> None:
    assert [path for path in wheel if not path.startswith(("mason/", "mason_data-"))] == []
    assert [path for path in wheel if "__pycache__" in path] == []


@pytest.mark.parametrize(("page", "made"), [("docs/cli.md", cli_page), ("docs/clients/support.md", support_page)])
def test_the_pages_made_from_the_code_are_up_to_date(page: str, made: object) -> None:
    assert callable(made)
    assert (PROJECT / page).read_text(encoding="utf-8") == made(), "run scripts/generate_docs.py"


def test_the_pictures_of_the_guides_are_those_that_the_script_draws() -> None:
    drawn = draw_pictures()

    assert drawn == {each.name: each.read_text(encoding="utf-8") for each in PICTURES.iterdir()}, "draw them again"
    for text in drawn.values():
        assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"


def test_the_help_of_the_group_says_what_each_command_says_of_itself() -> None:
    from mason.cli.commands import find_commands

    assert {"completion", "config", "operator", "run", "scheduled", "spark", "workflow"} <= set(find_commands())
    for name, found in find_commands().items():
        command = found.load()
        assert command.name == name and command.hidden == found.hidden and command.help is not None
        assert command.help.splitlines()[0] == found.summary


def test_no_module_is_too_long() -> None:
    long = [
        f"{file.relative_to(PROJECT)}: {count}"
        for file in (PROJECT / "mason").rglob("*.py")
        if (count := len(file.read_text().splitlines())) > 400
    ]
    assert long == []


def test_the_examples_that_the_documents_name_are_there() -> None:
    for path in (
        "configs/config_1.yaml",
        "configs/config_2.yaml",
        "configs/config_3.yaml",
        "parameters/table_get.yaml",
    ):
        assert (EXAMPLES / path).is_file()
    for script in ("scripts/install.sh", "scripts/test.sh", "scripts/demo.sh", "docker_build", "docker_attach"):
        assert Path(PROJECT / script).stat().st_mode & 0o111


def test_rooms_are_small_and_files_are_not_crumbs() -> None:
    modules = [path for path in PROJECT.glob("mason/**/*.py") if path.name != "__init__.py"]
    rooms = Counter(path.parent.relative_to(PROJECT) for path in modules)
    others = [path for path in modules if "clients" not in path.parts]
    crumbs = [path for path in others if len(path.read_text(encoding="utf-8").splitlines()) < 60]

    assert {str(room): files for room, files in rooms.items() if files > 20} == {}
    assert len(crumbs) <= 0.15 * len(others), f"{len(crumbs)} of {len(others)} files have fewer than 60 lines"


def test_every_error_says_when_it_is_raised() -> None:
    classes: dict[str, tuple[str, list[str], str]] = {}
    for module in PROJECT.glob("mason/**/*.py"):
        for each in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(each, ast.ClassDef):
                bases = [ast.unparse(base).rpartition(".")[2] for base in each.bases]
                place = f"{module.relative_to(PROJECT)}:{each.lineno}"
                classes[f"{place} {each.name}"] = (each.name, bases, ast.get_docstring(each) or "")
    errors = {"MasonError", "Exception", "ValueError"}
    while more := {name for name, bases, _ in classes.values() if errors.intersection(bases)} - errors:
        errors |= more
    silent = [place for place, (name, _, text) in classes.items() if name in errors and "Raised when" not in text]
    assert silent == []


def test_nothing_asks_whether_a_storage_is_a_disk() -> None:
    """Arrow's name for its own file system of disks is the one exception: it becomes the scheme of their addresses."""
    asking = re.compile(r"is_local\(|[!=]= \"(local|file)\"|\"(local|file)\" [!=]=|startswith\(\"file:")
    found = [
        f"{module.relative_to(PROJECT)}: {line.strip()}"
        for module in PROJECT.glob("mason/pipeline/**/*.py")
        for line in module.read_text(encoding="utf-8").splitlines()
        if asking.search(line)
    ]
    assert found == ['mason/pipeline/storage/address.py: return _DISKS if name == "local" else name']


def test_no_function_or_class_has_a_name_that_says_nothing() -> None:
    banned = {"told", "shown", "kept", "stand_at", "look", "gather", "carried"}
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for module in PROJECT.glob("mason/**/*.py"):
        tree = ast.parse(module.read_text(encoding="utf-8"))
        named = {each.name.strip("_") for each in ast.walk(tree) if isinstance(each, kinds)}
        assert not named & banned, f"{module.relative_to(PROJECT)}: {sorted(named & banned)}"
