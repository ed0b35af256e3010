"""SIGKILL of the whole command while it replaces a table on S3; `scripts/kill_s3_merges.py` does it many more times."""

from __future__ import annotations

import random
from pathlib import Path

from scripts.kill_s3_merges import PHASES, S3Site, kill_merges, problems_after
from tests.seaweed import Seaweed


def test_sigkill_at_any_moment_leaves_the_old_table_or_the_new(tmp_path: Path, seaweed: Seaweed) -> None:
    site = S3Site(tmp_path / "site", seaweed)
    site.set_up()

    kills = [kill for phase in PHASES for kill in kill_merges(site, phase, 3, random.Random())]

    assert [kill for kill in kills if kill.outcome == "broken"] == []
    assert problems_after(site) == []


def test_the_kill_loop_catches_a_commit_on_s3_that_is_not_atomic(tmp_path: Path, seaweed: Seaweed) -> None:
    site = S3Site(tmp_path / "site", seaweed, is_broken=True)
    site.set_up()

    kills = kill_merges(site, "commit", 40, random.Random())  # no more than it takes

    assert any(kill.outcome == "broken" for kill in kills)
