"""Every command block of the README and of the pages is run, as a reader would run it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tests.documents import Command, read_document, run_document

PAGES = sorted(path.relative_to(PROJECT) for path in [*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md")])
GUIDES_FOR_AUTHORS = (
    "docs/write-an-engine.md",
    "docs/write-a-client.md",
    "docs/write-a-job.md",
    "docs/write-an-operator.md",
)  # tests/testing runs these
SET_UP = ("scripts/demo.sh", "scripts/test.sh")  # run from the project's root; the second is what runs this


@pytest.mark.parametrize("page", [page for page in PAGES if str(page) not in GUIDES_FOR_AUTHORS], ids=str)
def test_the_commands_of_a_page_do_what_it_says(page: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    env = {"HOME": str(home), "MASON_HOME": str(home / ".mason"), "MASON_CONFIG": ""}

    run_document(PROJECT / page, tmp_path, env, leave_out=SET_UP)


def test_the_readme_shows_the_two_commands() -> None:
    commands = [each.text for each in read_document(PROJECT / "README.md") if isinstance(each, Command)]

    assert commands[:2] == list(SET_UP)


def test_the_demo_runs() -> None:
    done = subprocess.run(["scripts/demo.sh"], cwd=PROJECT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "price      string" in done.stdout
    assert "14 records in, 13 rows out, 1 quarantined" in done.stdout
    assert 'Column "price" differs between files' in done.stdout
    assert "1 record mended, 1 row added" in done.stdout
    steps = re.split(r"\n\x1b\[1m# ", done.stdout)[1:]
    assert [step for step in steps if "\n$ mason " not in step] == []


def test_every_link_between_the_pages_leads_somewhere() -> None:
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)", (PROJECT / page).read_text(encoding="utf-8")):
            if "://" not in target and not (PROJECT / page).parent.joinpath(target).exists():
                broken.append(f"{page}: {target}")
    assert broken == []


def test_the_page_on_reliability_names_tests_that_exist() -> None:
    page = (PROJECT / "docs" / "reliability.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page)

    assert len(named) > 25
    for file, test in named:
        code = (PROJECT / file).read_text(encoding="utf-8")
        assert not test or re.search(rf"def {test}\(", code), f"{file}::{test}"
