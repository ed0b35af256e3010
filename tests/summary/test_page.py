"""The page and the picture: everything is in its place, whatever the names and values are."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest

from mason.pipeline.jobs.summary.page import FOLD, page
from mason.pipeline.jobs.summary.picture import blocks, picture
from mason.pipeline.jobs.summary.sketches.moments import Bin
from mason.pipeline.jobs.summary.summaries import ColumnSummary, Frequent
from mason.pipeline.jobs.summary.value_text import render_value
from mason.util.text_table import room
from tests.summary.conftest import Summarize

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><script>alert(2)</script>",
    "]]><!--",
    "&lt;b&gt;",
    "\x1b[31m\r\n\x00",
    "‮right to left",
]


class Elements(HTMLParser):
    """The elements and attributes of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


ELEMENTS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "p",
        "div",
        "section",
        "svg",
        "rect",
        "table",
        "tr",
    ),
    *("td", "span", "i", "details", "summary"),
}
ATTRIBUTES = {
    *("lang", "charset", "name", "content", "http-equiv", "class", "style", "viewbox", "preserveaspectratio", "role"),
    *("aria-label", "x", "y", "width", "height", "title", "open"),
}


def test_hostile_names_and_values_stay_text(summarize: Summarize, tmp_path: Path) -> None:
    columns: dict[str, list[object]] = dict.fromkeys(HOSTILE, HOSTILE)
    columns |= {f"{name} s": [{name: each} for each in HOSTILE] for name in HOSTILE}
    summarize.given("t.parquet", pa.table(columns))
    file = tmp_path / "page.html"
    summarize.run(html=str(file))
    found = Elements(file.read_text(encoding="utf-8"))
    assert set(found.tags) == ELEMENTS - {"details", "summary"}
    assert {name for name, _ in found.attributes} <= ATTRIBUTES
    assert found.open == []
    for name in HOSTILE[:4]:
        assert name in found.text
    assert "\x1b" not in found.text


def test_a_page_needs_nothing_from_anywhere(summarize: Summarize, tmp_path: Path) -> None:
    summarize.given("t.parquet", pa.table({"n": [1, 2, 2], "t": ["a", "b", None]}))
    file = tmp_path / "page.html"
    summarize.run(html=str(file))
    text = file.read_text(encoding="utf-8")
    assert "http:" not in text
    assert "https:" not in text
    assert "url(" not in text
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text


def test_many_columns_are_folded() -> None:
    columns = [
        ColumnSummary(name=f"c{number}", column=f"c{number}", type="int64", count=1, nulls=0) for number in range(5000)
    ]
    found = Elements(page("t", 1, columns))
    assert found.tags.count("section") == 5000
    assert found.tags.count("details") == 5000 // FOLD
    assert [name for name, _ in found.attributes].count("open") == 1
    assert "Columns 4,951 to 5,000: c4950 … c4999" in found.text


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_picture_fits_the_width(width: int) -> None:
    often = [Frequent("日本語テキスト" * 10, 5), Frequent("\x1b[31mred\n", 3)]
    bins = [Bin(number, number, number % 7) for number in range(20)]
    column = ColumnSummary(
        name="a very long name 🦜 " * 20,
        column="c",
        type="struct<" * 30,
        count=10,
        nulls=2,
        nans=1,
        distinct=5,
        distinct_error=0.04,
        low="a" * 500,
        high="b" * 500,
        mean=1 / 3,
        deviation=0.5,
        quantiles={"P50": "x" * 400},
        quantile_error=0.1,
        frequent=often,
        frequent_error=3,
        lengths=None,
        histogram=bins,
    )
    lines = picture([column], 12, width)
    assert all(room(line) <= width for line in lines)
    assert not any(char in "".join(lines) for char in "\x1b\n")


def test_a_long_name_does_not_push_out_the_type_and_most_is_not_all() -> None:
    column = ColumnSummary(
        name="long name " * 20,
        column="c",
        type="int64",
        count=2000,
        nulls=0,
        nans=None,
        distinct=2,
        distinct_error=0.0,
        frequent=[Frequent(1, 1999)],
    )
    _, _, title, _, often = picture([column], 2000, 60)
    assert title.endswith("…  int64") and room(title) <= 60
    assert often == "  1 (> 99.9 %)"


def test_a_histogram_in_blocks_shows_every_value_there_is() -> None:
    counts = [0, 1, 500, 1000]
    assert blocks([Bin(number, number, count) for number, count in enumerate(counts)]) == " ▁▄█"
    assert blocks([Bin(0, 0, 0)]) == " "
    assert blocks([]) == ""


def test_a_picture_of_a_column() -> None:
    bins = [Bin(0, 5, 2), Bin(5, 9, 8)]
    column = ColumnSummary(
        name="n",
        column="n",
        type="int64",
        count=10,
        nulls=1,
        nans=None,
        distinct=3,
        distinct_error=0.0,
        low=0,
        high=9,
        mean=5.5,
        deviation=2.25,
        quantiles={"P50": 6},
        quantile_error=0.0,
        frequent=[Frequent(9, 6)],
        frequent_error=0,
        lengths=None,
        histogram=bins,
    )
    assert picture([column], 11, 60) == [
        "11 rows, 1 column",
        "",
        "n  int64                                                  ▂█",
        "  10 values, 1 null, 3 distinct",
        "  0 … 9 · median 6 · mean 5.5 · ± 2.25",
        "  9 (60 %)",
    ]


def test_the_figures_of_times_go_on_in_the_next_line_where_the_first_has_no_room() -> None:
    moment = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
    column = ColumnSummary(
        name="t",
        column="t",
        type="timestamp[us, tz=UTC]",
        count=3,
        nulls=0,
        low=moment,
        high=moment,
        mean=moment,
        deviation=60.0,
        quantiles={"P50": moment},
        deviation_unit="second",
    )
    shown_moment = "2026-01-01T12:30:00+00:00"
    assert picture([column], 3, 80)[-4:] == [
        "  3 values, 0 nulls",
        f"  {shown_moment} … {shown_moment}",
        f"  median {shown_moment} · mean {shown_moment}",
        "  ± 60 seconds",
    ]


@pytest.mark.parametrize(
    ("kind", "told"),
    [(pa.date32(), "1 day"), (pa.date64(), "1 day"), (pa.timestamp("us", "UTC"), "86,400 seconds"), (pa.int64(), "1")],
)
def test_the_standard_deviation_of_dates_and_times_has_its_unit(
    summarize: Summarize, kind: pa.DataType, told: str
) -> None:
    days = [date(2026, 1, number) for number in (1, 2, 3)] if pa.types.is_temporal(kind) else [1, 2, 3]
    summarize.given("t.parquet", pa.table({"c": pa.array(days).cast(kind)}))
    (column,) = summarize.run().columns

    assert f"· ± {told}" in "\n".join(picture([column], 3, 200))
    assert f"<td>standard deviation</td><td>{told}</td>" in page("p", 3, [column])


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (4_000_330.25, "4,000,330"),
        (-123_456_789_012.0, "-123,456,789,012"),
        (1.29099444, "1.29099"),
        (0.00001234, "1.234e-05"),
        (6.02e23, "6.02e+23"),
        (math.inf, "inf"),
    ],
)
def test_a_number_is_told_whole_where_that_is_short_enough(value: float, told: str) -> None:
    assert render_value(value, 24) == told
