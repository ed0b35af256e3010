"""Where jobs write: in the place of what they read, apart from it, never over what came meanwhile or must not go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import pytest

from mason.engines.storage.models.location import Location, TableRef
from mason.errors import BadPath, Conflict
from mason.pipeline.driving.execution import InProcessRunner
from mason.pipeline.jobs.check.checks import Check
from mason.pipeline.jobs.check.job import CheckJob
from mason.pipeline.jobs.check.work import CheckWork
from mason.pipeline.jobs.dedupe.job import DedupeJob, DedupeWork
from mason.pipeline.jobs.explode.job import ExplodeJob
from mason.pipeline.jobs.explode.work import ExplodeWork
from mason.pipeline.jobs.format.job import FormatJob, FormatOptions
from mason.pipeline.jobs.format.work import FormatWork
from mason.pipeline.jobs.merge.job import MergeJob, MergeOptions
from mason.pipeline.jobs.merge.work import MergeWork
from mason.pipeline.jobs.query.job import QueryJob, QueryWork
from mason.pipeline.jobs.summary.job import SummaryJob
from mason.pipeline.jobs.summary.work import SummaryWork
from mason.pipeline.tables.commit import open_table
from mason.pipeline.tables.rejects import read_quarantine

LOCAL = "file:///"


class Work(Protocol):
    def run(self, runner: InProcessRunner, job_id: str, progress: Callable[..., None]) -> Any: ...


def carry_out(work: Work) -> None:
    work.run(InProcessRunner(), uuid4().hex[:16], lambda *_: None)


@dataclass
class Shop:
    """A table of three rows, one bad record, and a file that an incremental merge would add."""

    root: Path

    @property
    def table(self) -> str:
        return str(self.root / "t")

    def merge_new_files(self) -> None:
        options = MergeOptions(incremental=True, schema="id bigint", most_bad_share=1.0)
        carry_out(
            MergeWork.plan(MergeJob(Location(str(self.root / "in")), Location(self.table), options=options).to_job())
        )

    def add(self, name: str, text: str) -> None:
        (self.root / "in").mkdir(exist_ok=True)
        (self.root / "in" / name).write_text(text)

    @property
    def rows(self) -> int:
        commit = open_table(Location(self.table)).current()
        return commit.rows if commit else 0

    @property
    def quarantined(self) -> int:
        return len(list(read_quarantine(Location(self.table))))


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    shop = Shop(tmp_path)
    shop.add("a.csv", "id,name\n1,a\n2,b\n3,c\nx,bad\n")
    shop.merge_new_files()
    assert (shop.rows, shop.quarantined) == (3, 1)
    return shop


def query(shop: Shop, output: str, format_: str = "parquet") -> QueryWork:
    return QueryWork.plan(
        QueryJob(
            statement="select * from t",
            database="shop",
            tables={"t": TableRef("t", Location(shop.table))},
            output=Location(output) if output else None,
            format=format_,
        ).to_job()
    )


IN_PLACE: dict[str, Callable[[Shop, str], Work]] = {
    "dedupe": lambda shop, path: DedupeWork.plan(DedupeJob(path=Location(shop.table), output=Location(path)).to_job()),
    "merge": lambda shop, path: MergeWork.plan(MergeJob(Location(shop.table), Location(path)).to_job()),
    "query": query,
    "format": lambda shop, path: FormatWork.plan(
        FormatJob(Location(shop.table), Location(path), FormatOptions(format="parquet")).to_job()
    ),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_rows_that_were_committed_after_a_table_was_read_are_not_lost_when_it_is_written_anew(
    shop: Shop, name: str
) -> None:
    work = IN_PLACE[name](shop, shop.table)
    shop.add("b.csv", "id,name\n4,d\n5,e\n")
    shop.merge_new_files()

    with pytest.raises(Conflict, match="was changed by another job"):
        carry_out(work)

    assert shop.rows == 5
    shop.merge_new_files()
    assert shop.rows == 5


@pytest.mark.parametrize("way", ["by its path", "by a link"])
@pytest.mark.parametrize("name", IN_PLACE)
def test_a_table_that_is_written_anew_keeps_its_quarantine_and_knows_what_was_merged(
    shop: Shop, name: str, way: str
) -> None:
    (shop.root / "link").symlink_to(shop.table)

    carry_out(IN_PLACE[name](shop, shop.table if way == "by its path" else str(shop.root / "link")))

    assert (shop.rows, shop.quarantined) == (3, 1)
    shop.merge_new_files()
    assert shop.rows == 3, "nothing was new"


def test_a_query_writes_the_table_that_it_reads_in_parquet_only(shop: Shop) -> None:
    with pytest.raises(BadPath, match="in Parquet only"):
        query(shop, shop.table, "csv")


def check(shop: Shop, failures: str) -> CheckWork:
    return CheckWork.plan(
        CheckJob(
            path=Location(shop.table),
            checks=[Check(kind="not_null", name="ids", columns=["id"])],
            failures=Location(failures),
        ).to_job()
    )


APART: dict[str, Callable[[Shop, str], Work]] = {
    "removed rows": lambda shop, path: DedupeWork.plan(
        DedupeJob(path=Location(shop.table), output=Location(shop.table), removed=Location(path)).to_job()
    ),
    "explode": lambda shop, path: ExplodeWork.plan(
        ExplodeJob(path=Location(shop.table), name="t", output=Location(path)).to_job()
    ),
    "check": check,
    "summarize": lambda shop, path: SummaryWork.plan(
        SummaryJob(path=Location(shop.table), output=Location(path)).to_job()
    ),
}


@pytest.mark.parametrize("name", APART)
def test_what_must_be_apart_from_a_table_is_not_written_over_it_by_a_link(shop: Shop, name: str) -> None:
    (shop.root / "link").symlink_to(shop.table)

    with pytest.raises(BadPath, match="apart|lie one in the other"):
        APART[name](shop, str(shop.root / "link"))


@pytest.mark.parametrize("name", [*IN_PLACE, *APART])
def test_a_plan_refuses_an_output_with_tables_in_it(shop: Shop, tmp_path: Path, name: str) -> None:
    other = tmp_path / "others" / "deep" / "one"
    carry_out(MergeWork.plan(MergeJob(Location(str(tmp_path / "in")), Location(str(other))).to_job()))

    with pytest.raises(BadPath, match="there are tables in it: deep/one"):
        {**IN_PLACE, **APART}[name](shop, str(tmp_path / "others"))
