"""Cells that lie so far apart that reading their sheet would take all memory."""

from __future__ import annotations

import io
import re
import zipfile

import pytest

from mason.errors import MasonError
from tests.merge.conftest import Merge
from tests.merge.test_sheets import workbook


def with_last_cell(place: str) -> bytes:
    """A workbook of four cells, of which the last one lies elsewhere."""
    packed = io.BytesIO(workbook(Sheet=[["id", "name"], [1, "Ann"]]))
    moved = io.BytesIO()
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(moved, "w") as new:
        for each in old.infolist():
            text = old.read(each)
            if each.filename.startswith("xl/worksheets/"):
                assert b'r="B2"' in text
                text = re.sub(rb'r="B2"', f'r="{place}"'.encode(), text)
            new.writestr(each.filename, text)
    return moved.getvalue()


@pytest.mark.parametrize("place", ["XFD1048576", "ZZ100000", "A99999999999", "AAAAAAAAAA2", "XFE2"])
def test_a_cell_far_away_from_all_others_is_refused_before_it_takes_all_memory(merge: Merge, place: str) -> None:
    merge.given("a.xlsx", with_last_cell(place))

    if place == "A1048576":  # two columns: a million rows are no trouble
        assert len(merge.rows()) >= 1
        return
    with pytest.raises(
        MasonError, match=r"a\.xlsx: \w+\.xml: (4 cells are so far apart|it has a cell beyond XFD1048576)"
    ):
        merge.run()
