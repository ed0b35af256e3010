"""A `mason.yaml` that is not what it should be: one clear message for each problem, all at once, and no traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import write
from tests.projects.conftest import CONFIGURATION, MASON_YAML, Shop


def test_wrong_keys_are_told_with_file_line_and_key_all_at_once(shop: Shop) -> None:
    shop.has({"mason.yaml": "nam: shop\nconfigurations: [a.yaml]\noperators: operators\nroot: 7\n"})

    told = shop.error("operator")

    file = shop.folder / "mason.yaml"
    assert f'{file}:1: nam: unknown key. Did you mean "name"?' in told
    assert f"{file}:2: configurations: must be a mapping, not a list" in told
    assert f"{file}:3: operators: must be a list, not text" in told
    assert f"{file}:4: root: must be text, not a whole number" in told
    assert f'{file}:1: "name" is missing' in told
    assert len(told.strip().splitlines()) == 5


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", 'mason.yaml:1: is empty; it should say at least the name of the project: "name: shop"'),
        ("- a\n", "mason.yaml:1: must be a mapping, not a list"),
        ("name: [shop\n", "mason.yaml:2: broken YAML: "),
        ("name: shop\nname: mart\n", "mason.yaml:2: name: given twice (first on line 1)"),
        ("name: ''\n", "mason.yaml:1: name: "),
    ],
    ids=["empty", "a list", "no YAML", "a key twice", "no name"],
)
def test_a_file_that_is_no_project_is_told_in_one_line(shop: Shop, text: str, told: str) -> None:
    shop.has({"mason.yaml": text})

    assert told in shop.error("operator") and told in shop.error("config") and told in shop.error("workflow")


def test_what_is_not_there_is_told_with_what_is_meant(shop: Shop) -> None:
    text = "name: shop\nconfigurations: {dev: configs/dev.yaml, a b: gone.yaml, c: configs}\ndefault: dve\n"
    shop.has({"mason.yaml": f"{text}operators: [operator]\nworkflows: [configs/dev.yaml]\nroot: configs/dev.yaml\n"})

    told = shop.error("config")

    assert 'mason.yaml:2: configurations.a b: "a b" cannot be the id of a configuration: ' in told
    assert 'mason.yaml:2: configurations.a b: there is no file "gone.yaml"' in told
    assert 'mason.yaml:2: configurations.c: "configs" is not a file' in told
    assert 'mason.yaml:3: default: "dve" is not among the configurations. Did you mean "dev"?' in told
    assert 'mason.yaml:4: operators[0]: there is no folder "operator"' in told
    assert 'mason.yaml:5: workflows[0]: "configs/dev.yaml" is not a folder' in told
    assert 'mason.yaml:6: root: "configs/dev.yaml" is not a folder' in told


def test_paths_that_lead_out_of_the_project_are_refused_by_a_link_too(shop: Shop) -> None:
    write(shop.mason.folder, {"other/a/b/operator.yaml": "command: b\n", "other.yaml": CONFIGURATION})
    (shop.folder / "linked").symlink_to(shop.mason.folder / "other")
    text = "name: shop\nconfigurations: {dev: ../other.yaml}\noperators: [../other, linked]\nworkflows: [/]\nroot: ..\n"
    shop.has({"mason.yaml": text})

    told = shop.error("operator")

    below = f"leads out of the project; only what is below {shop.folder} belongs to it"
    for line, key, path in (
        (2, "configurations.dev", "../other.yaml"),
        (3, "operators[0]", "../other"),
        (3, "operators[1]", "linked"),
        (4, "workflows[0]", "/"),
        (5, "root", ".."),
    ):
        assert f'mason.yaml:{line}: {key}: "{path}" {below}' in told


def test_of_two_above_each_other_the_nearest_counts(shop: Shop) -> None:
    inner = shop.folder / "inner"
    write(inner, {"mason.yaml": "name: inner\nconfigurations: {only: c.yaml}\n", "c.yaml": CONFIGURATION})
    below = shop.below("inner/deep/er")

    inside = shop.mason("config", folder=below)
    outside = shop("config")
    checked = shop.mason("validate", folder=below)

    assert "*  only" in inside.stdout and "dev" not in inside.stdout
    assert "*  dev" in outside.stdout and "only" not in outside.stdout
    assert f"lies in the project of {shop.folder}/mason.yaml, which does not count here" in checked.stderr


def test_one_that_another_user_owns_is_passed_over_with_a_warning(shop: Shop) -> None:
    if os.getuid() != 0:  # only root can give a file away; for others the same is true of no file that they can make
        return
    os.chown(shop.folder / "mason.yaml", 12345, -1)

    passed, chosen = shop("config"), shop("config", MASON_PROJECT=str(shop.folder))

    assert "*  local" in passed.stdout
    assert "mason.yaml belongs to another user and is passed over. If you trust it, set MASON_PROJECT" in passed.stderr
    assert "*  dev" in chosen.stdout and "another user" not in chosen.stderr


def test_a_link_of_another_user_to_a_project_of_ones_own_is_passed_over(shop: Shop) -> None:
    if os.getuid() != 0:  # only root can give a link away
        return
    trap = shop.folder / "trap"
    write(trap, {"c.yaml": CONFIGURATION})
    (trap / "mason.yaml").symlink_to(write(shop.folder / "own", {"mason.yaml": TRAPPED, "c.yaml": ""}) / "mason.yaml")
    os.chown(trap / "mason.yaml", 12345, -1, follow_symlinks=False)

    passed = shop.mason("config", folder=trap)

    assert "trapped" not in passed.stdout
    assert f"{trap}/mason.yaml belongs to another user and is passed over." in passed.stderr


TRAPPED = "name: own\nconfigurations: {trapped: c.yaml}\n"


WITHOUT_ROOTS_POWERS = (
    "import ctypes; libc = ctypes.CDLL(None); head = (ctypes.c_uint32 * 2)(0x20080522, 0); "
    "data = (ctypes.c_uint32 * 6)(); libc.capget(head, data); data[0] &= ~0b110; libc.capset(head, data)"
)
"""Root writes whatever the modes of files say, until it gives that up."""


@pytest.fixture
def read_only(shop: Shop) -> Iterator[Path]:
    """The project where nothing can be written."""
    place = Path(tempfile.mkdtemp())
    shutil.copytree(shop.folder, place / "shop")
    for each in (place, *place.rglob("*")):
        each.chmod(0o555 if each.is_dir() else 0o444)
    yield place / "shop"
    for each in (place, *place.rglob("*")):
        each.chmod(0o755)
    shutil.rmtree(place)


def test_a_project_on_a_read_only_disk_is_listed_and_run_and_says_what_cannot_be_made(
    read_only: Path, tmp_path: Path
) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        start = f"{WITHOUT_ROOTS_POWERS}; import sys; sys.argv[0] = 'mason'; import mason.cli.main as main"
        return subprocess.run(
            [sys.executable, "-c", f"{start}; sys.exit(main.run())", *arguments],
            cwd=read_only,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "MASON_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            check=False,
        )

    listed, ran, made = run("operator"), run("operator", "orders", "hello"), run("new", "operator", "orders", "x")

    assert "orders" in listed.stdout and listed.returncode == 0
    assert "hello with dev" in ran.stdout, ran.stderr
    assert made.returncode == 1 and "Traceback" not in made.stderr
    assert f"{read_only}/operators/orders/x" in made.stderr and "ermission denied" in made.stderr


def test_a_broken_operator_hides_no_other_and_says_what_is_wrong_when_it_is_run(shop: Shop) -> None:
    shop.has({"operators/orders/torn/operator.yaml": "type: [\n"})
    shop.has({"operators/orders/odd/operator.yaml": "type: operator\nnamespace: orders\ncommand: odd\n"})

    listed = shop("operator")
    ran = shop("operator", "orders", "odd")

    assert "hello" in listed.stdout and "odd" in listed.stdout
    assert f"{shop.folder}/operators/orders/torn/operator.yaml:2: broken YAML" in listed.stderr
    assert ran.exit_code == 1
    assert "__init__.py: is missing; it should define the class OrdersOdd" in " ".join(ran.json["Errors"])
    assert shop.info("orders", "hello") == ["hello with dev"]


def test_a_name_that_two_operators_of_a_project_have_is_told_with_both(shop: Shop) -> None:
    copy = shop.folder / "operators" / "again"
    shutil.copytree(shop.folder / "operators" / "orders" / "hello", copy)

    ran = shop("operator", "orders", "hello")

    assert ran.exit_code == 1
    assert ran.json["Errors"] == [f"{shop.folder}/operators/orders/hello: orders:hello is the name of {copy} as well"]


def test_outside_of_a_project_nothing_of_one_is_there(shop: Shop) -> None:
    outside = shop.mason("operator", "orders", "hello")

    assert outside.exit_code == 1 and 'Operator "orders:hello" not found.' in outside.json["Errors"][0]
    assert MASON_YAML and "*  local" in shop.mason("config").stdout
