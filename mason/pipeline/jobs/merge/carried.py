"""What a table that is written anew from its own rows takes along: what was set aside, and where its rows came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow.fs as pafs

from mason.pipeline.jobs.merge.sources_merged import Sources
from mason.pipeline.storage.blocks import read_bytes, write_bytes
from mason.pipeline.storage.files import make_folder
from mason.pipeline.tables.commit import TableStore
from mason.pipeline.tables.rejects import FOLDER


def carry_quarantine(filesystem: pafs.FileSystem, table: str, staging: str) -> None:
    """Stage what the table has in quarantine: these records are not among its rows, and would be lost without it."""
    selector = pafs.FileSelector(f"{table}/{FOLDER}", allow_not_found=True)
    for info in filesystem.get_file_info(selector):
        make_folder(filesystem, f"{staging}/{FOLDER}")
        write_bytes(filesystem, f"{staging}/{FOLDER}/{info.base_name}", read_bytes(filesystem, info.path))


def sources_to_keep(table: TableStore) -> Mapping[str, Any]:
    """Return the files that the table was merged from, as a commit keeps them: an incremental merge asks for them."""
    return {path: list(fingerprint) for path, fingerprint in Sources.of(table.lineage()).known.items()}
