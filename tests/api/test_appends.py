"""Sixty calls at once that append to one table: each is answered with 200, and its rows are in the table."""

from __future__ import annotations

import pytest

from mason.pipeline.tables.folder import TableFolder
from tests.api.conftest import Start
from tests.conftest import write
from tests.merge.test_appends import AT_ONCE, at_once

pytestmark = pytest.mark.timeout(300)


def test_sixty_calls_that_append_to_one_table_at_once_all_succeed(start: Start) -> None:
    server = start()
    data = server.mason.folder / "data"
    write(data, {f"in-{number}/a.csv": f"n\n{number}\n" for number in range(AT_ONCE)})
    codes: list[int] = []

    def append(number: int) -> None:
        body = {"input_path": f"in-{number}", "output_path": "out", "mode": "append"}
        reply = server.post("/api/table/merge", json=body, params={"wait": 120}, timeout=150)
        codes.append(reply.status_code)
        assert reply.status_code == 200, reply.text

    assert at_once([lambda n=n: append(n) for n in range(AT_ONCE)]) == []

    current = TableFolder(str(data / "out")).current()
    assert codes == [200] * AT_ONCE
    assert current is not None and (current.number, current.rows) == (AT_ONCE, AT_ONCE)
    assert list(data.glob(".mason/tables/out/staging/*")) == []
