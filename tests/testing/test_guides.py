"""The guides for authors do what they say."""

import shutil
import tomllib
from pathlib import Path

import pytest

from tests.documents import FileBlock, read_document, run_document

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A user who has never used Mason, and works in a folder whose packages Python finds."""
    home = tmp_path / "home"
    home.mkdir()
    return {
        "HOME": str(home),
        "MASON_HOME": str(home / ".mason"),
        "MASON_CONFIG": "",
        "PYTHONPATH": str(_project(tmp_path)),
    }


def test_the_guide_to_clients(tmp_path: Path, env: dict[str, str]) -> None:
    install(DOCS / "write-a-client.md", _project(tmp_path))

    run_document(DOCS / "write-a-client.md", _project(tmp_path), env)


def test_the_guide_to_operators(tmp_path: Path, env: dict[str, str]) -> None:
    run_document(DOCS / "write-an-operator.md", _project(tmp_path), env)


def test_the_guide_to_jobs(tmp_path: Path, env: dict[str, str]) -> None:
    install(DOCS / "write-a-job.md", _project(tmp_path))

    run_document(DOCS / "write-a-job.md", _project(tmp_path), env)


def test_the_guide_to_engines(tmp_path: Path, env: dict[str, str]) -> None:
    install(DOCS / "write-an-engine.md", _project(tmp_path))

    run_document(DOCS / "write-an-engine.md", _project(tmp_path), env)


def test_the_client_of_the_guide_is_not_found_without_its_entry_point(tmp_path: Path, env: dict[str, str]) -> None:
    project = _project(tmp_path)
    install(DOCS / "write-a-client.md", project)
    shutil.rmtree(project / "installed.dist-info")

    with pytest.raises(AssertionError, match='there is no client "json_file"'):
        run_document(DOCS / "write-a-client.md", project, env)


def install(guide: Path, project: Path) -> None:
    """Do what `pip install -e .` would: put the entry points of the guide's pyproject.toml where Python looks."""
    [text] = [
        each.content for each in read_document(guide) if isinstance(each, FileBlock) and each.path == "pyproject.toml"
    ]
    groups = tomllib.loads(text)["project"]["entry-points"]
    lines = [line for group, points in groups.items() for line in (f"[{group}]", *_assignments(points))]
    (project / "installed.dist-info").mkdir()
    (project / "installed.dist-info" / "entry_points.txt").write_text("\n".join(lines))


def _assignments(points: dict[str, str]) -> list[str]:
    return [f"{name} = {module}" for name, module in points.items()]


def _project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    return project
