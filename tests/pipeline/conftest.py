"""Folders of real files, and what Mason infers from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
import pytest

from mason.engines.storage.models.infer_options import InferOptions
from mason.pipeline.reading.inference import Inferred, infer


class Folder:
    """A folder that a test fills with files and then looks at."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def given(self, name: str, content: str | bytes) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def infer(self, name: str = "", **options: Any) -> Inferred:
        return infer(pafs.LocalFileSystem(), str(self.path / name), InferOptions(**options))

    def types(self, name: str = "", **options: Any) -> dict[str, str]:
        return {column.name: str(column.type) for column in self.infer(name, **options).schema.columns}

    def warnings(self, **options: Any) -> str:
        return "\n".join(self.infer(**options).warnings)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    path = tmp_path / "table"
    path.mkdir()
    return Folder(path)
