"""Divides the rows of a table into those that stay and those that go, by where they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from mason.engines.storage.models.location import Location
from mason.pipeline.jobs.row_places import RowPlaces
from mason.pipeline.reading.tasks.sinks import Sink, SinkPlace, table_sink
from mason.pipeline.storage.address import open_filesystem

NAME = "mason.pipeline.jobs.dedupe.sink:make_dividing_sink"


def make_dividing_sink(place: SinkPlace, schema: pa.Schema, options: Mapping[str, Any]) -> DividingSink:
    """Write the rows that stay; and those that go, if there is a folder for them."""
    staying = table_sink(place, schema, options)
    places = RowPlaces(open_filesystem(options["storage"]), options["places"])
    if not options["removed"]:
        return DividingSink(places, staying, None)
    aside = Location(**options["removed"])
    elsewhere = replace(place, filesystem=open_filesystem(aside.storage), folder=aside.path)
    return DividingSink(places, staying, table_sink(elsewhere, schema, {}))


class DividingSink:
    """Two sinks, and the rows that belong to the second."""

    def __init__(self, places: RowPlaces, staying: Sink, going: Sink | None) -> None:
        self._places = places
        self._staying, self._going = staying, going
        self._stack = ExitStack()
        self._removed = 0

    @property
    def files(self) -> Sequence[str]:
        return self._staying.files

    def begin_rows_at(self, file: str, first: int) -> None:
        """Take note of where the next rows stand."""
        self._places.begin_rows_at(file, first)

    def write(self, rows: pa.RecordBatch) -> None:
        going = self._places.among(rows.num_rows)
        if not len(going):
            self._staying.write(rows)
            return
        stays = np.ones(rows.num_rows, bool)
        stays[going] = False
        self._removed += len(going)
        self._staying.write(rows.filter(pa.array(stays)))
        if self._going:
            self._going.write(rows.take(pa.array(going)))

    def result(self) -> Mapping[str, Any]:
        return {"removed": self._removed, "removed_files": list(self._going.files) if self._going else []}

    def __enter__(self) -> DividingSink:
        self._stack.enter_context(self._staying)
        if self._going:
            self._stack.enter_context(self._going)
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)
