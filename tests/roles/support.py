"""The packages of the guides, installed for a command: the role `quality`, and a metastore that is one JSON file."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from tests.conftest import PROJECT, Mason
from tests.documents import FileBlock, read_document, write_file

DOCS = PROJECT / "docs"


def install_guide(mason: Mason, guide: str, distribution: str = "") -> Path:
    """Lay out what a guide's files are, its package where Python finds it, and return that folder."""
    blocks = [each for each in read_document(DOCS / guide) if isinstance(each, FileBlock)]
    site = mason.folder.parent / "site"
    for block in blocks:
        is_code = block.path.startswith("mason_")
        write_file(block, site if is_code else mason.folder)
    [text] = [each.content for each in blocks if each.path == "pyproject.toml"]
    project = tomllib.loads(text)["project"]
    points = project["entry-points"]
    lines = [
        line for group in points for line in (f"[{group}]", *(f"{key} = {points[group][key]}" for key in points[group]))
    ]
    info = site / f"{(distribution or project['name']).replace('-', '_')}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    mason.variables["PYTHONPATH"] = f"{PROJECT}{os.pathsep}{site}"
    return site
