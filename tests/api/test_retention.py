"""A server removes jobs and runs that were kept long enough, if it was told how long that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from mason.state.home import open_state
from mason.state.models import RecordKind
from mason.state.sql_store import SqlStore
from mason.util.environment import MasonEnvironment
from tests.api.conftest import Start
from tests.api.support import prepared, until

LONG_AGO = "2020-01-01T00:00:00.000000+00:00"


def with_old_job(home: Path) -> SqlStore:
    store = open_state(MasonEnvironment(home))
    assert isinstance(store, SqlStore)
    store.add_record(RecordKind.CALL, "old", "succeeded", {"Configuration": "files"})
    store.do_alone(lambda db: db.run("UPDATE records SET created_at = ?, updated_at = ?", (LONG_AGO, LONG_AGO)))
    return store


def test_a_server_removes_what_was_kept_long_enough(tmp_path: Path, start: Start) -> None:
    prepared(tmp_path / "work", tmp_path / "home")
    store = with_old_job(tmp_path / "home")

    server = start(MASON_RETENTION="30d")

    until(lambda: store.get_record(RecordKind.CALL, "old") is None, "the old job is removed")
    assert server.get("/api/job/old").status_code == 404
    server.wait_for_log("Removed 1 jobs and 0 runs that were kept long enough.")
    assert server.stop() == 0


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_time_that_is_none_is_told_before_there_is_a_server(tmp_path: Path, workers: str) -> None:
    mason = prepared(tmp_path / "work", tmp_path / "home")
    (tmp_path / "home/settings.yaml").write_text("retention: forever\n", encoding="utf-8")

    refused = mason("run", "--port", "0", "--workers", workers)

    assert refused.exit_code == 1
    assert 'settings.yaml: retention: "forever" is not a time that something can be kept.' in refused.stderr
    assert "listens" not in refused.stderr
