"""Makes what a test starts from, before its operators run."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from mason.clients.response import Response
from mason.configurations.valid_config import ValidConfig
from mason.engines.storage.models.infer_options import InferOptions
from mason.errors import DatabaseNotFound, MasonError
from mason.operators.operator_tests.case import Given, GivenFile, GivenTable
from mason.operators.operator_tests.given_rows import write_rows

_FROM_RUN = re.compile(r"\{\{\s*(\w+)\.([\w.]+)\s*\}\}")


class GivenFailed(MasonError):
    """Raised when what a test starts from cannot be made. 500 · exit 1"""


def make_given(given: Given, config: ValidConfig, folder: Path) -> None:
    """Write the files below a folder and make the databases and tables.

    Raises:
        GivenFailed: one of them cannot be made.
    """
    try:
        for file in given.files:
            _write(file, folder / file.path)
        for database in given.databases:
            config.metastore.client.create_database(database, response=Response())
        for table in given.tables:
            _save(table, config)
    except (MasonError, OSError, pa.ArrowException) as error:
        raise GivenFailed(f"given: {error}") from error


def fill_parameters(parameters: Mapping[str, Any], results: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the parameters with `{{run.Key}}` filled from what the runs before had in their data.

    Raises:
        GivenFailed: they had no such thing.
    """

    def fill_value(value: Any) -> Any:
        return _FROM_RUN.sub(lambda found: _find_result(found, results), value) if isinstance(value, str) else value

    return {name: fill_value(value) for name, value in parameters.items()}


def _find_result(found: re.Match[str], results: Mapping[str, Mapping[str, Any]]) -> str:
    value: Any = results.get(found[1])
    for key in found[2].split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None:
        raise GivenFailed(f"{found[0]}: no run before has that in its data")
    return str(value)


def _write(given: GivenFile, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if given.source is not None:
        shutil.copyfile(given.source, file)
    elif given.rows is not None:
        write_rows(given, file)
    else:
        file.write_bytes(given.text.encode())


def _save(given: GivenTable, config: ValidConfig) -> None:
    metastore, storage, response = config.metastore.client, config.storage.client, Response()
    try:
        metastore.get_database(given.database, response=response)
    except DatabaseNotFound:
        metastore.create_database(given.database, response=response)
    path = storage.path(given.path)
    table, _ = storage.infer_table(path, given.database, given.name, InferOptions(), response=response)
    metastore.save_table(table, response=response)
